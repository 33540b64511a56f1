"""The pages about the API: a user's tokens, and the guide to the operations."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.platform.access import UserRequest, access
from tokumei.platform.api import services
from tokumei.platform.api.forms import TokenForm
from tokumei.platform.api.server import api

METHODS = ("get", "post", "put", "delete")


@access("user", methods="GET POST")
def tokens(request: UserRequest) -> HttpResponse:
    """List the user's tokens, and make one, which is shown in the answer and never again."""
    form, made = TokenForm(request.POST or None, user=request.user), ""
    if form.is_valid():
        given = form.cleaned_data
        _token, made = services.make_token(
            request.user, name=given["name"], scope=given["scope"], days=given["days"] or None
        )
        form = TokenForm(user=request.user)
    shown = {"form": form, "made": made, "tokens": services.tokens_of(request.user)}
    return render(request, "api/tokens.html", shown)


@access("user", methods="POST")
def revoke(request: UserRequest, token: int) -> HttpResponse:
    """Make a token void."""
    services.revoke(request.user, token)
    messages.success(request, _("The token is revoked."))
    return redirect("tokens:mine")


@access("anyone")
def guide(request: HttpRequest) -> HttpResponse:
    """List the operations of the API, as their description has them."""
    schema: dict[str, Any] = api.get_openapi_schema()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                groups.setdefault(_(operation["tags"][0]), []).append(_line(path, method, operation))
    return render(request, "api/guide.html", {"groups": groups})


def _line(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {})
    return {
        "method": method.upper(),
        "path": path,
        "says": _(operation["description"]),
        "query": [one["name"] for one in operation["parameters"] if one["in"] == "query"],
        "takes": next(iter(body), ""),
        "needs_token": "security" in operation,
    }
