"""A contest's secret: 32 bytes that every seed and every digest of a secret file follow from."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.seeds import check_seed

LENGTH = 32
BLOCK = 1024 * 1024


@dataclass(frozen=True)
class Secret:
    """The key of a contest, which only its organizer holds until the end.

    The log shows no more than its commitment. Nobody can try 2²⁵⁶ keys against that; but a key made from a small seed
    can be found by trying seeds, so that a contest that matters draws its key afresh.
    """

    key: bytes = field(repr=False)

    @classmethod
    def fresh(cls) -> Secret:
        """Draw a key that nobody can guess."""
        return cls(secrets.token_bytes(LENGTH))

    @classmethod
    def of_seed(cls, seed: int) -> Secret:
        """Return the key of a seed, for rehearsals, simulations and tests."""
        check_seed(seed)
        return cls(hashlib.sha256(f"tokumei contest seed {seed}".encode()).digest())

    @classmethod
    def read(cls, path: Path) -> Secret:
        """Read the key from the contest's secret folder."""
        try:
            text = path.read_text(encoding="ascii")
            found = cls(bytes.fromhex(text))
        except (OSError, ValueError):
            text, found = "", cls(b"")
        if len(found.key) != LENGTH or found.written() != text:
            raise InputError.of(f"the contest's key, {2 * LENGTH} hexadecimal digits", file=path)
        return found

    def written(self) -> str:
        """Return the key as its file holds it."""
        return f"{self.key.hex()}\n"

    @property
    def commitment(self) -> str:
        """A hash that binds the organizer to the key and tells nothing of it."""
        return hashlib.sha256(b"tokumei contest commitment" + self.key).hexdigest()

    def seed(self, *purpose: str | int) -> int:
        """Return the seed of one purpose; it reveals nothing of the key or of any other seed."""
        message = json.dumps(["seed", *purpose]).encode()
        return int.from_bytes(hmac.digest(self.key, message, "sha256")[:8], "big") >> 1

    def digest(self, path: Path) -> str:
        """Return the keyed hash of a secret file.

        A plain hash in a log that others see would let an attacker try out guesses at the truth until one fits.
        """
        mac = hmac.new(self.key, b"file", "sha256")
        with path.open("rb") as handle:
            while block := handle.read(BLOCK):
                mac.update(block)
        return mac.hexdigest()


def public_digest(path: Path) -> str:
    """Return the SHA-256 of a public file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
