"""By whose clock times are shown: the zone that somebody chose, else the browser's, else the server's.

What the rules count by, such as the attempts of a day, goes by the server's clock for everybody.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

# Set by a script with the zone of the browser.
COOKIE = "tokumei_zone"


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of all zones with a place, in order."""
    places = (zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/"))
    return *sorted(places), "UTC"


def keep_time(handle: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Show times by the clock of whoever asks."""

    def kept(request: HttpRequest) -> HttpResponseBase:
        user = request.user
        chosen = user.time_zone if user.is_authenticated else ""
        wanted = chosen or request.COOKIES.get(COOKIE, "")
        # A name that is no zone may come from anybody, and is let go.
        with timezone.override(ZoneInfo(wanted) if wanted in time_zones() else None):
            return handle(request)

    return kept
