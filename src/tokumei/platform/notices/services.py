"""Telling people: notices, mail for those who want it, and a calendar of deadlines.

Mail goes out for each notice at once, or for a day's together, to confirmed addresses alone. The calendar is iCalendar
(RFC 5545), at an address per person that nobody can guess.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tokumei.core.text import JsonView
from tokumei.platform.accounts import services
from tokumei.platform.accounts.models import User
from tokumei.platform.jobs.queue import begin
from tokumei.platform.middleware import CompiledQuery
from tokumei.platform.notices.models import Mailing, Notice, NoticeKind, Preferences

DAY = timedelta(days=1)
# Nobody's mailbox is flooded: what is more waits in the inbox.
LETTERS_AN_HOUR = 20
MOST_IN_A_DIGEST = 50
Written = tuple[str, str]


def mail_at_once(notice: Notice) -> None:
    """Send a notice to who wants it at once."""
    wanted = Preferences.objects.filter(user=notice.user, mailing=Mailing.AT_ONCE).first()
    if wanted is None or notice.kind not in wanted.kinds or not notice.user.is_verified:
        return
    now = timezone.now()
    if Notice.objects.filter(user=notice.user, mailed_at__gte=now - timedelta(hours=1)).count() >= LETTERS_AN_HOUR:
        return
    Notice.objects.filter(pk=notice.pk).update(mailed_at=now)
    _post(notice.user, "notice", wanted.origin, notice=notice.pk)


def send_digests() -> None:
    """Send the day's notices to those who want them together and have not read them; called now and then."""
    due = timezone.now() - DAY
    wanting = Preferences.objects.filter(mailing=Mailing.DIGEST, digest_at__lte=due)
    for number in wanting.filter(user__verified_at__isnull=False).values_list("pk", flat=True):
        with transaction.atomic():
            # Several watchers may look at once: who comes second finds it done.
            wanted = wanting.select_for_update().select_related("user").filter(pk=number).first()
            if wanted is not None:
                _send_digest(wanted)


def _send_digest(wanted: Preferences) -> None:
    now = timezone.now()
    fresh = Notice.objects.filter(user=wanted.user, kind__in=wanted.kinds, read_at=None, mailed_at=None, at__lte=now)
    numbers = list(fresh.values_list("pk", flat=True)[:MOST_IN_A_DIGEST])
    Preferences.objects.filter(pk=wanted.pk).update(digest_at=now)
    if numbers:
        Notice.objects.filter(pk__in=numbers).update(mailed_at=now)
        _post(wanted.user, "digest", wanted.origin, notices=numbers)


def _post(user: User, what: str, origin: str, **facts: object) -> None:
    language = user.language or translation.get_language()
    begin(services.LETTER, secrets.token_hex(16), what=what, user=user.pk, origin=origin, language=language, **facts)


def write_notice(user: User, payload: JsonView) -> Written:
    """Write the letter of one notice."""
    return _write(user, payload["origin"], [_of(user, payload["notice"])])


def write_digest(user: User, payload: JsonView) -> Written:
    """Write the letter of a day."""
    found = list(Notice.objects.filter(user=user, pk__in=payload["notices"]))
    if not found:
        raise Notice.DoesNotExist
    return _write(user, payload["origin"], found)


def _of(user: User, number: int) -> Notice:
    return Notice.objects.get(user=user, pk=number)


def _write(user: User, origin: str, notices: list[Notice]) -> Written:
    # The address may be another by now, which nobody has confirmed.
    User.objects.get(pk=user.pk, verified_at__isnull=False, is_active=True)
    n = len(notices)
    if n == 1:
        subject = notices[0].in_words
    else:
        subject = ngettext("%(n)d notice from Tokumei", "%(n)d notices from Tokumei", n) % {"n": n}
    words = {"user": user, "notices": notices, "origin": origin, "settings": _("Change what is mailed to you:")}
    # A subject is one line, whatever a contest is called.
    return " ".join(subject.split()), render_to_string("notices/letter.txt", words)


# An inbox keeps this many; older ones that were read make room.
MOST_KEPT = 500
# At the head of every page.
UNREAD = CompiledQuery(
    lambda user: (
        Notice.objects.filter(user=user, read_at=None)
        .order_by()
        .values("user_id")
        .annotate(n=Count("pk"))
        .values_list("n")
    ),
    int,
)


def notify(
    users: Iterable[User],
    kind: NoticeKind,
    says: str,
    *,
    link: str = "",
    text: str = "",
    text_ja: str = "",
    **facts: object,
) -> None:
    """Put a notice into inboxes, and mail it to those who want that; called in the transaction of what happened.

    says: an English sentence that is translated when read, with `%(name)s` for facts.
    """
    known = {user.pk: user for user in users if user.is_active and user.deleted_at is None}
    for user in known.values():
        made = Notice.objects.create(
            user=user, kind=kind, says=says, facts=facts, text=text, text_ja=text_ja, link=link
        )
        _make_room(user)
        mail_at_once(made)


def has_unread(user: User, kind: NoticeKind, link: str) -> bool:
    """Whether somebody was told already of this and has not looked."""
    return Notice.objects.filter(user=user, kind=kind, link=link, read_at=None).exists()


def notices_of(user: User) -> QuerySet[Notice]:
    """Return a user's notices, newest first."""
    return Notice.objects.filter(user=user)


def n_unread(user: User) -> int:
    """Count what somebody has not looked at."""
    found = UNREAD(user.pk)
    return found[0][0] if found else 0


def mark_read(user: User, notice: int | None = None) -> Notice | None:
    """Note that somebody looked at a notice, or at all of them; gives the one."""
    wanted = notices_of(user) if notice is None else notices_of(user).filter(pk=notice)
    found = None if notice is None else wanted.first()
    wanted.filter(read_at=None).update(read_at=timezone.now())
    return found


def preferences_of(user: User) -> Preferences:
    """Return a user's notification preferences."""
    found = Preferences.objects.filter(user=user).first()
    return found or Preferences(user=user, kinds=list(NoticeKind.values))


def change_preferences(user: User, *, mailing: str, kinds: list[str], origin: str) -> None:
    """Choose what is mailed and when; `origin` is where links in letters lead."""
    facts = {"mailing": mailing, "kinds": kinds, "origin": origin, "digest_at": timezone.now()}
    Preferences.objects.update_or_create(user=user, defaults=facts)


def renew_calendar(user: User) -> None:
    """Make the address of a calendar void; there is a new one."""
    made = preferences_of(user)
    made.calendar_number += 1
    made.save()


def forget(user: User) -> None:
    """Remove what somebody was told, with their account."""
    Notice.objects.filter(user=user).delete()
    Preferences.objects.filter(user=user).delete()


def _make_room(user: User) -> None:
    kept = notices_of(user)
    if kept.count() > MOST_KEPT:
        # What was read goes first, and the oldest of it.
        oldest = kept.exclude(read_at=None).last() or kept.last()
        if oldest is not None:
            oldest.delete()


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


def unread(request: HttpRequest) -> dict[str, object]:
    """Count the unread notices of who is logged in; only pages that show the number ask for it."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {"n_unread": SimpleLazyObject(lambda: n_unread(user))}
