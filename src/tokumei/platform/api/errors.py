"""Errors of the API: one JSON shape, the statuses of the pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError, TokumeiError
from tokumei.platform.api.services import NotLoggedIn
from tokumei.platform.error_pages import bad_request, not_found, status_of
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
