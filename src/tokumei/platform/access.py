"""Who may see a page: every view says so here, and a test walks all of them. What everybody else gets is here, too.

    @access("captain", of=teams.find, methods="GET POST")
    def remove_member(request: UserRequest, team: Team, member: int) -> HttpResponse: ...

| level     | who                                                                     | everybody else gets           |
|-----------|-------------------------------------------------------------------------|-------------------------------|
| anyone    | all                                                                     |                               |
| operator  | a program with the metrics token, or one on this machine                | 404                           |
| user      | who is logged in                                                        | the log-in page               |
| member    | members of the team that `of` looks at                                  | log-in page, or 404           |
| captain   | its captain                                                             | log-in page, or 404           |
| organizer | organizers and admins; with `of`, those of the contest that it looks at | log-in page, or 404           |
| admin     | site admins                                                             | log-in page, or 404           |

`of(request, level, **what the URL captured)` gives the objects that take the place of what the URL captured, or raises
Http404. What is not there and what one may not see are the same 404. A visitor who is not logged in is sent to log in
before anything is looked up, so that nothing can be learned from the answer.

The client's address comes first, then the error pages with the one table from an error to its status, then the levels.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Literal, get_args

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.platform.accounts.models import User
from tokumei.platform.files.incoming import is_out_of_space
from tokumei.platform.messages import DiskFull, NotReady, TooMany, describe_error

UNKNOWN = "0.0.0.0"  # noqa: S104 - it stands for no address; nothing is bound to it.


def client_address(request: HttpRequest) -> str:
    """Return the client's address: the last one that the proxy added, or else the peer's."""
    given = request.META.get("REMOTE_ADDR", "")
    if settings.IS_SECURE:
        # Only the last entry is the proxy's own word; all before it may be made up by the client.
        given = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() or given
    try:
        return str(ipaddress.ip_address(given))
    except ValueError:
        return UNKNOWN


def network_of(address: str) -> str:
    """Return the network by which requests are counted: an IPv6 client has a whole /64 to itself."""
    parsed = ipaddress.ip_address(address)
    return address if parsed.version == 4 else str(ipaddress.ip_network(f"{address}/64", strict=False))


def is_loopback(request: HttpRequest) -> bool:
    """Whether the request was made on this machine; never so behind a proxy, where all requests look it."""
    if settings.IS_SECURE or "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META:
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def redirect_saying(request: HttpRequest, said: str, to: str, **where: object) -> HttpResponse:
    """Redirect to a page that begins with what was done."""
    messages.success(request, said)
    return redirect(reverse(to, kwargs=where) if where else to)


def next_page(request: HttpRequest, otherwise: str = "pages:home") -> str:
    """Return the page that a form asks to continue to, if it is on this site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    # A path only: a full address, even of this host, is never needed.
    if is_ours and wanted.startswith("/"):
        return wanted
    return reverse(otherwise)


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
    context: dict[str, object] = {"status": status, "title": title, "text": said or text}
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


def locked_out(request: HttpRequest, response: HttpResponse, credentials: dict[str, object]) -> HttpResponse:
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


Level = Literal["anyone", "operator", "user", "member", "captain", "organizer", "admin"]
LEVELS: tuple[Level, ...] = get_args(Level)

View = Callable[..., HttpResponseBase]
Find = Callable[..., Mapping[str, object]]


class UserRequest(HttpRequest):
    """A request of somebody who is logged in, for the annotations of views."""

    user: User


@dataclass(frozen=True)
class Access:
    """Who may call a view, and by which methods."""

    level: Level
    methods: frozenset[str]
    of: Find | None = None


@dataclass(frozen=True)
class Route:
    """One URL pattern with its view; `access` is missing where the view does not declare it."""

    pattern: str
    name: str
    view: View
    access: Access | None


def access(level: Level, *, of: Find | None = None, methods: str = "GET") -> Callable[[View], View]:
    """Declare and enforce who may call a view; `methods` are separated by blanks."""
    if (level in {"member", "captain"}) and of is None:
        raise TypeError(f"a view for a {level} must say of what: access({level!r}, of=…)")
    declared = Access(level, _methods(methods), of)

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, **captured: object) -> HttpResponseBase:
            if request.method not in declared.methods:
                return method_not_allowed(request, sorted(declared.methods))
            if level == "operator":
                if not is_operator(request):
                    raise Http404
            elif level != "anyone":
                if not request.user.is_authenticated:
                    # Where a form was sent to, there may be nothing to see.
                    return redirect_to_login(
                        request.get_full_path() if request.method == "GET" else reverse("pages:home")
                    )
                if not _has_level(request.user, declared):
                    raise Http404
            found = {} if of is None else of(request, level, **captured)
            return view(request, **(captured | dict(found)))

        return declare(checked, declared)

    return decorate


def declare(view: View, declared: Access) -> View:
    """Note who may call a view that enforces it by itself, as those of the API do."""
    view.access = declared  # type: ignore[attr-defined]
    return view


def is_operator(request: HttpRequest) -> bool:
    """Whether a request may read the server's own figures."""
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    return is_loopback(request)


def routes(patterns: Sequence[URLPattern | URLResolver] | None = None, prefix: str = "") -> Iterator[Route]:
    """Walk every URL pattern of the server."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        where = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, where)
        else:
            yield Route(where, pattern.name or "", pattern.callback, getattr(pattern.callback, "access", None))


def _has_level(user: User, declared: Access) -> bool:
    if declared.level == "admin":
        return user.is_superuser
    if declared.level == "organizer" and declared.of is None:
        return user.is_organizer or user.is_superuser
    # Members, captains and the organizers of one contest are told apart by `of`.
    return True


def _methods(methods: str) -> frozenset[str]:
    named = frozenset(methods.split())
    return named | {"HEAD"} if "GET" in named else named
