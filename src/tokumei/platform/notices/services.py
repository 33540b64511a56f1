"""Telling people, and what they do with what they are told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, QuerySet
from django.utils import timezone

from tokumei.platform.accounts.models import User
from tokumei.platform.compiled import CompiledQuery
from tokumei.platform.notices.mailing import mail_at_once
from tokumei.platform.notices.models import Notice, NoticeKind, Preferences

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
    **facts: Any,
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
