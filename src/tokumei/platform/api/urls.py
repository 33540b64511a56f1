"""The addresses of the API, each with who may call it."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

from tokumei.platform.access import Access, View, declare
from tokumei.platform.api.operations.router import router
from tokumei.platform.api.server import api
from tokumei.platform.error_pages import method_not_allowed

app_name = "api"
# By the paths of operations as Django writes them; the description of the API and its root are not among them.
METHODS = {
    route.strip("/").replace("{", "<").replace("}", ">"): frozenset(
        method for operation in view.operations for method in operation.methods
    )
    for route, view in router.path_operations.items()
}
# Where a token is got, and where one reads how.
OPEN = {"", "openapi.json", "tokens"}


def _guarded(pattern: URLPattern) -> URLPattern:
    """Note who may call an address, and answer other methods in the shape of every error."""
    route = str(pattern.pattern)
    methods = METHODS.get(route, frozenset({"GET"}))

    call: View = pattern.callback

    @wraps(call)
    def view(request: HttpRequest, **captured: Any) -> HttpResponseBase:
        if request.method not in methods:
            return method_not_allowed(request, sorted(methods))
        return call(request, **captured)

    declared = declare(view, Access("anyone" if route in OPEN else "user", methods))
    return path(route, declared, name=pattern.name)


_found, _, _ = api.urls
_operations = [_guarded(pattern) for pattern in _found if isinstance(pattern, URLPattern)]
urlpatterns = [path("v1/", (_operations, "ninja", "v1"))]
