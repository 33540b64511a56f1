"""Limits on how often something may be done: by an address, a user or a name.

allow("sign_up", network_of(client_address(request)), at_most=20, within=timedelta(hours=1))
"""

from __future__ import annotations

from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from tokumei.platform.accounts.models import Deed, User
from tokumei.platform.errors import TooMany


def allow(kind: str, who: str, *, at_most: int, within: timedelta, said: str = "") -> None:
    """Note that somebody does something, or raise TooMany when they did it too often already."""
    now = timezone.now()
    with transaction.atomic():
        _wait_for_others(_digest(kind, who))
        Deed.objects.filter(until__lt=now).delete()
        refuse_if_spent(kind, who, at_most=at_most, said=said)
        Deed.objects.create(digest=_digest(kind, who), until=now + within)


def refuse_if_spent(kind: str, who: str, *, at_most: int, said: str = "") -> None:
    """Raise TooMany when somebody did something too often already; note nothing."""
    if Deed.objects.filter(digest=_digest(kind, who), until__gte=timezone.now()).count() >= at_most:
        raise TooMany(said or _("That was tried too often. Please wait a while and try again."))


def alone(user: User) -> None:
    """Lock this user's counters until the transaction ends, so that concurrent requests cannot all find room."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _wait_for_others(digest: str) -> None:
    """Lock the counter until this attempt is noted, so that concurrent requests cannot all find room for one more."""
    # On SQLite, where a transaction that writes is alone, there is nothing to do.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(digest[:15], 16)])


def _digest(kind: str, who: str) -> str:
    # Keyed, so that the table tells no addresses, not even to who tries all of them.
    return salted_hmac("tokumei.throttle", f"{kind}\0{who}", algorithm="sha256").hexdigest()
