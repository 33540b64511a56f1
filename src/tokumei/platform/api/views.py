"""The pages about the API: a user's tokens, and the guide to the operations."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.core.text import Json
from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.accounts.forms import DisplayNameField, OwnPasswordForm
from tokumei.platform.accounts.models import User
from tokumei.platform.api import services
from tokumei.platform.api.models import Scope
from tokumei.platform.api.server import api


class TokenForm(OwnPasswordForm):
    """Asks for what a token is for; the password too, since a token outlives an open session."""

    name = DisplayNameField(
        label=gettext_lazy("Name"), help_text=gettext_lazy("To tell it from others: the program or the machine.")
    )
    scope = forms.ChoiceField(label=gettext_lazy("It may"), initial=Scope.SUBMIT)
    days = forms.TypedChoiceField(
        label=gettext_lazy("It works for"),
        initial="90",
        coerce=int,
        empty_value=None,
        required=False,
        choices=[
            ("7", gettext_lazy("A week")),
            ("30", gettext_lazy("A month")),
            ("90", gettext_lazy("Three months")),
            ("365", gettext_lazy("A year")),
            ("", gettext_lazy("Until it is revoked")),
        ],
    )
    field_order = ("name", "scope", "days", "current_password")

    def __init__(self, *given: object, user: User, **options: object) -> None:
        super().__init__(*given, user=user, **options)
        # What one cannot do oneself is no use to a program.
        field = self.fields["scope"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [choice for choice in Scope.choices if user.may_organize or choice[0] != Scope.ORGANIZE]


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
    return redirect_saying(request, _("The token is revoked."), "tokens:mine")


@access("anyone")
def guide(request: HttpRequest) -> HttpResponse:
    """List the operations of the API, as their description has them."""
    schema: Json = api.get_openapi_schema()
    groups: dict[str, list[dict[str, object]]] = {}
    for address, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                groups.setdefault(_(operation["tags"][0]), []).append(_line(address, method, operation))
    return render(request, "api/guide.html", {"groups": groups})


def _line(address: str, method: str, operation: Json) -> Json:
    body = operation.get("requestBody", {}).get("content", {})
    return {
        "method": method.upper(),
        "path": address,
        "says": _(operation["description"]),
        "query": [one["name"] for one in operation["parameters"] if one["in"] == "query"],
        "takes": next(iter(body), ""),
        "needs_token": "security" in operation,
    }


app_name = "tokens"
urlpatterns = [
    path("tokens", tokens, name="mine"),
    path("tokens/<int:token>/revoke", revoke, name="revoke"),
    path("api", guide, name="guide"),
]
