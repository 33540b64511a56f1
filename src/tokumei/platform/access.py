"""Who may see a page: every view says so here, and a test walks all of them.

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
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, get_args

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tokumei.platform.accounts.models import User
from tokumei.platform.addresses import is_loopback

Level = Literal["anyone", "operator", "user", "member", "captain", "organizer", "admin"]
LEVELS: tuple[Level, ...] = get_args(Level)

View = Callable[..., HttpResponseBase]
Find = Callable[..., Mapping[str, Any]]


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
        def checked(request: HttpRequest, **captured: Any) -> HttpResponseBase:
            if request.method not in declared.methods:
                from tokumei.platform.error_pages import method_not_allowed

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
