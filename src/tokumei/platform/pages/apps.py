"""The app's name for Django, what it listens to, and the places on shared pages that other apps fill when ready.

NAVIGATION.append(NavLink(gettext_lazy("Contests"), "contests:list"))
HOME.append(contests_on_home)      # request → Section, or None to show nothing
DASHBOARD.append(my_contests)      # the same, above it, for who is logged in
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.apps import AppConfig
from django.conf import settings
from django.core.signals import got_request_exception
from django.http import HttpRequest
from django.utils.functional import Promise


@dataclass(frozen=True)
class NavLink:
    """A link at the top of every page; `for_users` ones are shown to who is logged in only."""

    text: str | Promise
    route: str
    for_users: bool = False

    @property
    def app(self) -> str:
        """The app whose pages light the link up."""
        return self.route.partition(":")[0]


@dataclass(frozen=True)
class PageSection:
    """A part of the home page: a template and what it is filled with."""

    template: str
    context: Mapping[str, object] = field(default_factory=dict)


NAVIGATION: list[NavLink] = []
HOME: list[Callable[[HttpRequest], PageSection | None]] = []
DASHBOARD: list[Callable[[HttpRequest], PageSection | None]] = []


def navigation(request: HttpRequest) -> dict[str, object]:
    """Return the navigation links for every template."""
    user = getattr(request, "user", None)
    is_user = user is not None and user.is_authenticated
    match = request.resolver_match
    return {
        "navigation": [entry for entry in NAVIGATION if _is_shown(entry, is_user)],
        "is_studio": settings.IS_STUDIO,
        "current_app": match.app_name if match else "",
        # Where the choice of language leads back to; the answer to a form has no address of its own.
        "here": request.get_full_path() if request.method == "GET" else "",
    }


def _is_shown(entry: NavLink, is_user: bool) -> bool:
    """Whether a link is shown: on one's own machine, that of the workbench alone."""
    if settings.IS_STUDIO:
        return entry.app == "workbench"
    return is_user or not entry.for_users


class PagesConfig(AppConfig):
    """Pages that belong to no domain: home, language, errors, health."""

    name = "tokumei.platform.pages"
    label = "pages"

    def ready(self) -> None:
        """Have every failure logged, and the space on the disk told."""
        from tokumei.platform.files.incoming import free_bytes
        from tokumei.platform.metrics import GAUGES, Gauge
        from tokumei.platform.middleware import log_failure

        GAUGES.append(lambda: [Gauge("disk_free_bytes", "Bytes that can still be written.", free_bytes())])
        got_request_exception.connect(log_failure, dispatch_uid="log_failure")
