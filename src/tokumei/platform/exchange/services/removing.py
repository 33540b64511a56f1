"""Removing an offer for good: table, desk and documents go, and what was told of it in the log stays as a tombstone."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.exchange.desk import DeskFolder, entomb
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import at_desk, desk_key
from tokumei.platform.exchange.models import OPEN_STATES, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.services.desks import changing_folder
from tokumei.platform.files.packed import has_store
from tokumei.platform.files.shared import unshare

log = logging.getLogger("tokumei.exchange")
KEPT = ("public.jsonl", "public.head.json")


def remove(published: PublishedOffer, user: User, *, typed: str) -> None:
    """Remove an offer for good; who does it types its short name, since nothing brings it back.

    Releases stay with those to whom they were given, and the team's registry still knows the people by keyed hashes: a
    later offer of them is refused as before.
    """
    if typed.strip() != published.slug:
        raise NotAllowed(_("Type the short name of the offer: it is removed for good."))
    with transaction.atomic():
        locked = PublishedOffer.objects.select_for_update().get(pk=published.pk)
        if locked.state == OfferState.MAKING:
            raise NotAllowed(_("The offer is being made. Wait until it is."))
        if locked.state == OfferState.REMOVED:
            return
        with changing_folder(locked) as folder:
            told = _entomb(locked, folder)
            if has_store():
                _remove_files(folder)
        open_requests = locked.requests.filter(state__in=OPEN_STATES)
        open_requests.update(state=RequestState.INVALID, problem=_("The offer was removed."), answered=timezone.now())
        for name, value in told.items():
            setattr(locked, name, value)
        locked.state, locked.removed = OfferState.REMOVED, timezone.now()
        locked.words, locked.trouble, locked.wanted, locked.attack = "", "", {}, {}
        locked.save()
        locked.trusted.all().delete()
    if not has_store():
        # Not before the row says so: what is gone cannot be brought back.
        _remove_files(locked.place)
    unshare(locked.table_place)
    if locked.table_place.is_dir():
        raise OSError(f"{locked.table_place} could not be removed")
    published.refresh_from_db()
    facts = {"offer": locked.slug, "by": user.pk, "log_lines": locked.log_lines, "log_hash": locked.log_hash}
    log.warning("an offer was removed for good", extra={"facts": facts})


def _entomb(published: PublishedOffer, folder: Path) -> dict[str, Any]:
    """End the logs of a hosted desk; that of a desk at home ends where it was last received."""
    if not published.is_hosted or not (folder / "private").is_dir():
        return {}
    with at_desk(folder):
        head = entomb(DeskFolder(folder), desk_key(folder))
    return {"log_lines": head.number, "log_hash": head.hash}


def _remove_files(folder: Path) -> None:
    """Remove all but the public log; what cannot be removed is an error, since its owner counts on it."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in KEPT:
            path.unlink()
