"""A calendar of deadlines in iCalendar (RFC 5545), at an address per person that nobody can guess."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from tokumei.platform.accounts.models import User
from tokumei.platform.notices.models import Preferences

LINE_BYTES = 75


@dataclass(frozen=True)
class Event:
    """One moment: a name that stays the same, what happens, when, and the page that tells more."""

    name: str
    says: str
    at: datetime
    link: str = ""


# Asked for the events of somebody; other apps add theirs.
EVENTS: list[Callable[[User], Iterable[Event]]] = []


def token_of(user: User) -> str:
    """Return the unguessable part of a calendar's address; it is stored nowhere."""
    number = Preferences.objects.filter(user=user).values_list("calendar_number", flat=True).first() or 0
    # A new password voids it, as it ends sessions: whoever was in the account may have seen the address.
    facts = f"{user.pk}:{number}:{user.get_session_auth_hash()}"
    digest = salted_hmac("tokumei.calendar", facts, algorithm="sha256").hexdigest()
    return f"{user.pk}-{digest[:40]}"


def owner_of(token: str) -> User | None:
    """Return the owner of a calendar address; None if it is invented or was renewed."""
    number = token.partition("-")[0]
    if not (number.isascii() and number.isdecimal() and len(number) < 18):
        return None
    user = User.objects.filter(pk=int(number), is_active=True).first()
    return user if user is not None and constant_time_compare(token_of(user), token) else None


def calendar_of(user: User, origin: str) -> str:
    """Write somebody's deadlines."""
    host = origin.partition("://")[2] or "tokumei"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tokumei//Deadlines//EN", f"X-WR-CALNAME:{_text(_name())}"]
    stamp = _moment(timezone.now())
    for find in EVENTS:
        for event in find(user):
            lines += [
                "BEGIN:VEVENT",
                f"UID:{event.name}@{host}",
                f"DTSTAMP:{stamp}",
                f"DTSTART:{_moment(event.at)}",
                f"SUMMARY:{_text(event.says)}",
                *([f"URL:{origin}{event.link}"] if event.link else []),
                "END:VEVENT",
            ]
    lines.append("END:VCALENDAR")
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _name() -> str:
    return _("Deadlines at Tokumei")


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return " ".join(escaped.split())


def _folded(line: str) -> str:
    """Break a line after at most 75 bytes, and never within a character."""
    parts: list[str] = []
    part = ""
    for character in line:
        room = LINE_BYTES if not parts else LINE_BYTES - 1
        if len((part + character).encode()) > room:
            parts.append(part)
            part = ""
        part += character
    return "\r\n ".join([*parts, part])
