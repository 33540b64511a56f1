"""The workbench for one person on their own machine: a local owner, let in by a link that works once."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from pathlib import Path

from django.conf import settings
from django.urls import reverse

from tokumei.data.files.atomic import write_text
from tokumei.platform.accounts.models import User
from tokumei.platform.workbench.services import begin_piece

OWNER, LINK = "owner", "studio-link.json"


def local_owner() -> User:
    """Return the one account of this machine; no password opens it."""
    found = User.objects.filter(username=OWNER).first()
    return found or User.objects.create_user(OWNER, f"{OWNER}@localhost.invalid", None, display_name="Me")


def make_link(file: Path | None, kind: str) -> str:
    """Return the one-time address that lets its owner in and leads to the given file."""
    owner = local_owner()
    address = reverse("workbench:start")
    if file is not None:
        address = reverse("workbench:columns", args=[begin_piece(owner, path=file, kind=kind).key])
    token = secrets.token_urlsafe(32)
    write_text(_place(), json.dumps({"sha256": _digest(token), "to": address}))
    _place().chmod(0o600)
    return reverse("workbench:enter", args=[token])


def use_link(token: str) -> tuple[User, str] | None:
    """Return whom a link lets in and where it leads; None for any other link, and the second time."""
    if not settings.IS_STUDIO:
        return None
    try:
        found = json.loads(_place().read_text(encoding="utf-8"))
        if not hmac.compare_digest(found["sha256"], _digest(token)):
            return None
        # Of two who come at once, one finds nothing to remove.
        _place().unlink()
    except (OSError, ValueError, KeyError):
        return None
    return local_owner(), str(found["to"])


def _place() -> Path:
    return Path(settings.DATA) / LINK


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
