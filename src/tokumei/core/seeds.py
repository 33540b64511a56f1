"""Randomness that arrives as a seed: the same seed gives the same numbers on every machine."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from tokumei.core.errors import InputError
from tokumei.core.text import Text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LARGEST_SEED = 2**63 - 1
# How a recipe says that what its rows got was drawn by `key_of` and `words_of_rows`, or by an engine likewise.
DRAWN_BY = "md5 of key and row"


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


def key_of(seed: int, *purpose: str | int) -> str:
    """Return the key of one purpose under a seed, as 32 hexadecimal digits.

    >>> key_of(1, "delete") == key_of(1, "delete"), key_of(1, "delete") == key_of(2, "delete")
    (True, False)
    """
    check_seed(seed)
    words = "\0".join([str(seed), *map(str, purpose)])
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()


def words_of_rows(key: str, n_rows: int) -> npt.NDArray[np.uint64]:
    """Draw four numbers below 2³² for each row, by the key and its number, as `counting.draws` does on an engine.

    >>> words_of_rows(key_of(1, "pram"), 2).shape
    (2, 4)
    """
    import numpy as np

    keyed = hashlib.md5(key.encode(), usedforsecurity=False)
    drawn = bytearray(16 * n_rows)
    for row in range(n_rows):
        digest = keyed.copy()
        digest.update(str(row).encode())
        drawn[16 * row : 16 * row + 16] = digest.digest()
    return np.frombuffer(bytes(drawn), ">u4").reshape(n_rows, 4).astype(np.uint64)


def order_of_rows(seed: int, method: str, n_rows: int) -> npt.NDArray[np.int64]:
    """Draw the order in which a method releases rows, the same on every engine."""
    import numpy as np

    words = words_of_rows(key_of(seed, method), n_rows)
    return np.lexsort((words[:, 1], words[:, 0])).astype(np.int64)


def check_seed(seed: object) -> None:
    """Refuse what cannot be written in a recipe and read back the same."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise InputError.of(Text("a whole number from {n} to {m}", n=0, m=LARGEST_SEED), option="seed", value=seed)


def fresh_seed() -> int:
    """Draw a seed nobody can guess, for work that was not given one and for a contest's secret."""
    return secrets.randbelow(LARGEST_SEED + 1)
