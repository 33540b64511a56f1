"""The key that backups are signed with: it lies outside of the data folder, so that no backup holds it."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from tokumei.core.errors import InputError

VARIABLE = "TOKUMEI_BACKUP_KEY"


def key_file() -> Path:
    """Return the path of the key, unless the environment holds the key itself."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "tokumei" / "backup-key"


def sign(manifest: bytes) -> str:
    """Sign a manifest; the first time, the key is drawn."""
    return hmac.new(_known_key() or _new_key(), manifest, hashlib.sha256).hexdigest()


def is_signed(manifest: bytes, signature: str) -> bool:
    """Whether the key of this machine signed a manifest."""
    key = _known_key()
    return key is not None and hmac.compare_digest(hmac.new(key, manifest, hashlib.sha256).hexdigest(), signature)


def _known_key() -> bytes | None:
    given = os.environ.get(VARIABLE)
    if given:
        return given.encode()
    return key_file().read_bytes().strip() if key_file().is_file() else None


def _new_key() -> bytes:
    path, drawn = key_file(), secrets.token_urlsafe(48)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(drawn + "\n")
    except OSError:
        raise InputError.of("a key that backups are signed with", column=VARIABLE) from None
    return drawn.encode()
