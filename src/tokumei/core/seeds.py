"""Randomness that arrives as a seed: the same seed gives the same numbers on every machine."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from tokumei.core.errors import InputError
from tokumei.core.text import Text

if TYPE_CHECKING:
    import numpy as np

LARGEST_SEED = 2**63 - 1


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return the random stream of one purpose under a seed.

    Streams of different purposes are independent, so that adding a step to a program does not change
    the numbers that the other steps draw.
    """
    import numpy as np

    check_seed(seed)
    words = [seed]
    for part in purpose:
        # Not hash(): Python salts it anew in every process.
        digest = hashlib.blake2b(str(part).encode(), digest_size=8).digest()
        words.append(int.from_bytes(digest, "little"))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def check_seed(seed: object) -> None:
    """Refuse what cannot be written in a recipe and read back the same."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise InputError.of(Text("a whole number from {n} to {m}", n=0, m=LARGEST_SEED), option="seed", value=seed)


def fresh_seed() -> int:
    """Draw a seed nobody can guess, for work that was not given one and for a contest's secret."""
    return secrets.randbelow(LARGEST_SEED + 1)
