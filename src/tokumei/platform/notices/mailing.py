"""Mail for those who want it: each notice at once, or a day's together; to confirmed addresses alone."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tokumei.platform.accounts import letters
from tokumei.platform.accounts.models import User
from tokumei.platform.jobs.queue import begin
from tokumei.platform.notices.models import Mailing, Notice, Preferences

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


def _post(user: User, what: str, origin: str, **facts: Any) -> None:
    language = user.language or translation.get_language()
    begin(letters.KIND, secrets.token_hex(16), what=what, user=user.pk, origin=origin, language=language, **facts)


def write_notice(user: User, payload: Mapping[str, Any]) -> Written:
    """Write the letter of one notice."""
    return _write(user, payload["origin"], [_of(user, payload["notice"])])


def write_digest(user: User, payload: Mapping[str, Any]) -> Written:
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
