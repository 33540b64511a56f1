"""Key pairs by which dossiers and the documents of the exchange are signed: Ed25519, as `cryptography` has it."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.core.chain import digest_of
from tokumei.core.errors import InputError, MissingExtra, NotAllowed
from tokumei.data.files.disk import check_is_file

LENGTH = 32
PRIVATE, PUBLIC = ".key", ".pub"
HEADER = "tokumei-ed25519 "


@dataclass(frozen=True)
class PrivateKey:
    """The secret half of a key pair; the public half is its `public`."""

    secret: bytes = field(repr=False)

    @classmethod
    def fresh(cls) -> PrivateKey:
        """Draw a key."""
        return cls(_ed25519().Ed25519PrivateKey.generate().private_bytes_raw())

    @property
    def public(self) -> str:
        """The public half, as text."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, content: bytes) -> str:
        """Sign some bytes."""
        return base64.b64encode(self._key.sign(content)).decode()

    @property
    def _key(self) -> Any:
        return _ed25519().Ed25519PrivateKey.from_private_bytes(self.secret)


def is_signed_by(public: str, content: bytes, signature: str) -> bool:
    """Whether a signature of these bytes is by this key."""
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True))
        key.verify(base64.b64decode(signature, validate=True), content)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def fingerprint(public: str) -> str:
    """Return the short form of a public key that people compare."""
    return digest_of(public.encode())[:16]


def write_keys(name: Path | str, key: PrivateKey) -> tuple[Path, Path]:
    """Write NAME.key, which only its owner can read, and NAME.pub; keys that exist are never overwritten."""
    private, public = Path(f"{name}{PRIVATE}"), Path(f"{name}{PUBLIC}")
    for path in (private, public):
        if path.exists():
            raise NotAllowed(f"{path} exists; a key is never overwritten, since it may have signed.")
    write_secret(private, f"{HEADER}{base64.b64encode(key.secret).decode()}\n")
    public.write_text(f"{HEADER}{key.public}\n", encoding="ascii")
    return private, public


def write_secret(path: Path, text: str) -> None:
    """Write a new file that only its owner can read, from its first byte on."""
    if not path.parent.is_dir():
        raise InputError.of("a folder that exists", file=path.parent)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
        handle.write(text)


def read_private(path: Path | str) -> PrivateKey:
    """Read the secret half of a key pair; a file that others can read is refused."""
    path = check_is_file(path)
    if path.stat().st_mode & 0o077:
        raise NotAllowed(f"{path} can be read by others than its owner (chmod 600 makes it yours alone).")
    return PrivateKey(_read(path))


def read_public(path: Path | str) -> str:
    """Read the public half of a key pair."""
    return base64.b64encode(_read(check_is_file(path))).decode()


def _read(path: Path) -> bytes:
    try:
        text = path.read_text(encoding="ascii")
        key = base64.b64decode(text.removeprefix(HEADER).strip(), validate=True) if text.startswith(HEADER) else b""
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != LENGTH:
        raise InputError.of("a key written by 'tokumei exchange keys'", file=path)
    return key


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise MissingExtra("Signing", "exchange") from None
    return ed25519
