"""Deleting an account for good: all that tells of a person goes; a tombstone stays for records that point to it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts import second_factor
from tokumei.platform.accounts.models import User

log = logging.getLogger("tokumei.accounts")
# Asked in the order of the apps: each refuses with NotAllowed, or lets go of what it keeps of the person.
BEFORE_DELETING: list[Callable[[User], None]] = []


def delete_account(user: User) -> None:
    """Delete an account, all or nothing; its row stays, without name, address and password."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not others.exists():
            raise NotAllowed(_("The last admin cannot be deleted. Make somebody else an admin first."))
        for let_go in BEFORE_DELETING:
            let_go(user)
        second_factor.switch_off(user)
        for tries in (AccessAttempt, AccessLog, AccessFailureLog):
            tries.objects.filter(username__iexact=user.username).delete()
            tries.objects.filter(username__iexact=user.email).delete()
        # Drawn, so that nobody can have signed up by it, and so that it tells nothing.
        user.username = user.display_name = f"deleted-{secrets.token_hex(8)}"
        user.email, user.language, user.verified_at = "", "", None
        user.is_active = user.is_organizer = user.is_superuser = False
        user.session_number += 1
        user.deleted_at = timezone.now()
        user.set_unusable_password()
        user.save()
    log.warning("account deleted", extra={"facts": {"account": user.pk}})
