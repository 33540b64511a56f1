"""Error pages, and the one table from an error to its status."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.platform.errors import DiskFull, NotReady, TooMany
from tokumei.platform.files.space import is_out_of_space
from tokumei.platform.messages import describe_error

log = logging.getLogger("tokumei.pages")

# The first kind that fits decides; what is not listed is a 400.
STATUS_OF_ERROR: tuple[tuple[type[TokumeiError], int], ...] = (
    (TooMany, 429),
    (NotFound, 404),
    (NotAllowed, 403),
    (InputError, 400),
    (DiskFull, 507),
    (NotReady, 503),
)
# Programs are never sent a page: they get the error in the shape that the commands print.
FOR_PROGRAMS = "/api/"
NAME_OF_STATUS = {
    400: "InputError",
    401: "NotLoggedIn",
    403: "NotAllowed",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "TooLarge",
    429: "TooMany",
    503: "NotReady",
    507: "DiskFull",
}


def status_of(error: TokumeiError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in STATUS_OF_ERROR if isinstance(error, kind)), 400)


def page_for(request: HttpRequest, error: TokumeiError) -> HttpResponse:
    """Render the page of an error that is meant for a user."""
    status = status_of(error)
    # Whatever was not found, the page is the same.
    return not_found(request) if status == 404 else error_page(request, status, said=describe_error(error))


def error_page(request: HttpRequest, status: int, *, said: str = "") -> HttpResponse:
    """Render a page that says what went wrong and what to do."""
    title, text = _words(status)
    if request.path_info.startswith(FOR_PROGRAMS):
        return JsonResponse({"error": NAME_OF_STATUS[status], "message": said or title}, status=status)
    context: dict[str, Any] = {"status": status, "title": title, "text": said or text}
    return render(request, "pages/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request that cannot be understood."""
    if isinstance(exception, (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)):
        return too_large(request)
    return error_page(request, 400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request that the rules forbid."""
    return error_page(request, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer for what is not there, and alike for what somebody may not see."""
    return error_page(request, 404)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer when the server itself failed, or has no space left; tells the number by which operators find it."""
    number = getattr(request, "id", "")
    status = 507 if is_out_of_space(sys.exception()) else 500
    title, text = _words(status)
    if request.path_info.startswith(FOR_PROGRAMS):
        name = NAME_OF_STATUS.get(status, "InternalError")
        return JsonResponse({"error": name, "message": f"{title}. {text} {number}"}, status=status)
    shown = {"status": status, "title": title, "text": text, "request_id": number}
    try:
        return render(request, "pages/error.html", shown, status=status)
    except Exception:
        # Even the page may fail, as when the database that knows the user is gone; a few words never do.
        log.exception("the error page failed", extra={"facts": {"request": number}})
        return HttpResponse(f"{title}. {text} {number}", status=status, content_type="text/plain; charset=utf-8")


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that did not come from one of our pages."""
    said = _("This form was open too long or did not come from this site. Go back, reload the page and try again.")
    return error_page(request, 403, said=said)


def too_large(request: HttpRequest) -> HttpResponse:
    """Answer a request that carries too much."""
    return error_page(request, 413)


def method_not_allowed(request: HttpRequest, methods: Sequence[str]) -> HttpResponse:
    """Answer a request by a method that the page does not know."""
    response = error_page(request, 405)
    response["Allow"] = ", ".join(methods)
    return response


def locked_out(request: HttpRequest, response: HttpResponse, credentials: dict[str, Any]) -> HttpResponse:
    """Answer who tried too many passwords."""
    said = _("There were too many attempts to log in. Wait 15 minutes and try again, or reset the password.")
    return error_page(request, 429, said=said)


def _words(status: int) -> tuple[str, str]:
    if status == 400:
        return _("The request was not understood"), _("Go back, check what you entered and try again.")
    if status == 403:
        return _("That is not allowed"), _("You cannot do this, or not now.")
    if status == 404:
        return _("There is nothing here"), _("The address is wrong, or the page is not for you to see.")
    if status == 405:
        return _("That cannot be done here"), _("Go back and use the buttons of the page.")
    if status == 413:
        return _("That is too large"), _("What you sent is larger than this server accepts. Send less at once.")
    if status == 429:
        return _("Too many requests"), _("Please wait a while and try again.")
    if status == 503:
        return _("Not ready yet"), _("It is being made. Please try again in a moment.")
    if status == 507:
        return _("The server is full"), _("There is no space left. Please try again later.")
    return _("Something went wrong here"), _("It is a fault of the server, not yours. Please try again later.")
