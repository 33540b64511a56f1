"""The API put together: its operations, its errors in one JSON shape, its description, and its addresses.

Each address says who may call it; the statuses of errors are those of the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from http.client import responses
from importlib import import_module
from importlib.metadata import version
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation
from ninja.schema import NinjaGenerateJsonSchema

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError, TokumeiError
from tokumei.platform.access import Access, View, bad_request, declare, method_not_allowed, not_found, status_of
from tokumei.platform.api.apps import OPERATIONS
from tokumei.platform.api.operations import router
from tokumei.platform.api.schemas import Error
from tokumei.platform.api.services import NotLoggedIn
from tokumei.platform.messages import without_folders


def handle_errors(api: NinjaAPI) -> None:
    """Have the API answer every error in the one shape; what is no user's error ends as the server's own 500."""
    handlers: dict[type[Exception], Callable[..., HttpResponse]] = {
        TokumeiError: answer,
        ValidationError: _answer_invalid,
        AuthenticationError: _answer_stranger,
        HttpError: bad_request,
        SuspiciousOperation: bad_request,
        MultiPartParserError: bad_request,
        Http404: not_found,
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def answer(request: HttpRequest, error: TokumeiError) -> HttpResponse:
    """Answer an error that is meant for a user."""
    if isinstance(error, NotLoggedIn):
        response = JsonResponse(error.as_dict(), status=401)
        response["WWW-Authenticate"] = "Bearer"
        return response
    status = status_of(error)
    # Whatever was not found, the answer is the same to the byte.
    return not_found(request) if status == 404 else JsonResponse(without_folders(error).as_dict(), status=status)


def _answer_stranger(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return answer(request, NotLoggedIn(_("The token is missing, wrong, revoked or expired.")))


def _answer_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answer values that do not fit; an address with a name that nothing can have leads nowhere."""
    if any(fault["loc"][0] == "path" for fault in error.errors):
        return not_found(request)
    faults = [Fault(str(fault["msg"]), column=_place(fault["loc"])) for fault in error.errors]
    return answer(request, InputError(faults[:LISTED_FAULTS], len(faults)))


def _place(loc: Any) -> str:
    # The first two are where the value stands in the request and the name of the function's argument.
    parts = loc[2:] if loc[0] == "body" and len(loc) > 2 else loc[1:]
    return ".".join(str(part) for part in parts) or str(loc[0])


# Any operation may be refused for these reasons; 413 and 507 where something is sent.
REFUSALS = (400, 401, 403, 404, 413, 429, 503, 507)


class Api(NinjaAPI):
    """Names each operation by its function, as the guide and programs made from the description call it."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the operation's name as its id."""
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **_given: object) -> OpenAPISchema:
        """Describe the API; that takes a second, so that it is done once."""
        return self._description

    @cached_property
    def _description(self) -> OpenAPISchema:
        """Add how operations are refused, which is the same for all: each would make eight models of its own of it."""
        described = super().get_openapi_schema()
        error = Error.model_json_schema(
            ref_template=REF_TEMPLATE, mode="serialization", schema_generator=NinjaGenerateJsonSchema
        )
        described["components"]["schemas"] |= error.pop("$defs") | {Error.__name__: error}
        content = {"application/json": {"schema": {"$ref": REF_TEMPLATE.format(model=Error.__name__)}}}
        refusals = {status: {"description": responses[status], "content": content} for status in REFUSALS}
        for methods in described["paths"].values():
            for operation in methods.values():
                operation["responses"] |= refusals
        return described


# Importing a module is what puts its operations on the router.
for _module in OPERATIONS:
    import_module(_module)
api = Api(
    title="Tokumei",
    version=version("tokumei"),
    description="What teams and organizers do on the pages, for programs. Every error has the same shape.",
    urls_namespace="api:v1",
    # The guide is a page of ours: ready-made ones load scripts from elsewhere.
    docs_url=None,
)
handle_errors(api)
api.add_router("", router)


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
    def view(request: HttpRequest, **captured: object) -> HttpResponseBase:
        if request.method not in methods:
            return method_not_allowed(request, sorted(methods))
        return call(request, **captured)

    declared = declare(view, Access("anyone" if route in OPEN else "user", methods))
    return path(route, declared, name=pattern.name)


_found, _rest, _rest = api.urls
_operations = [_guarded(pattern) for pattern in _found if isinstance(pattern, URLPattern)]
urlpatterns = [path("v1/", (_operations, "ninja", "v1"))]
