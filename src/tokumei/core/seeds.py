"""Randomness that arrives as a seed: the same seed gives the same numbers on every machine."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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


def words_of_rows(key: str, n_rows: int, first: int = 0) -> npt.NDArray[np.uint32]:
    """Draw four numbers below 2³² for each row from a number on: the MD5 of the key and the number of the row.

    >>> words_of_rows(key_of(1, "pram"), 9, first=3).tolist() == words_of_rows(key_of(1, "pram"), 12)[:, 3:].tolist()
    True
    """
    import numpy as np

    words = np.empty((4, n_rows), np.uint32)
    start = first
    while start < first + n_rows:
        # Numbers of as many digits make texts of one length; so many rows at once stay near the processor.
        end = min(first + n_rows, start + MD5_ROWS, 10 ** len(str(start)))
        words[:, start - first : end - first] = _md5(key, start, end)
        start = end
    # The digits of a digest begin with the lowest byte of each word.
    return words.byteswap()


MD5_ROWS = 8192
# By RFC 1321: what four words begin as, and for each quarter of the 64 rounds how three of them are mixed, which word
# of the text is added (at factor · round + offset), and how far the sum is turned.
BEGIN = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
MIXED: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda b, c, d: d ^ (b & (c ^ d)),
    lambda b, c, d: c ^ (d & (b ^ c)),
    lambda b, c, d: b ^ c ^ d,
    lambda b, c, d: c ^ (b | ~d),
)
STEPS = ((1, 0), (5, 1), (3, 5), (7, 0))
TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))


def _md5(key: str, start: int, end: int) -> list[npt.NDArray[np.uint32]]:
    """Return the MD5 of a key before each number, all of as many digits, as four words.

    One call of a library for each row takes ten times as long.
    """
    import numpy as np

    prefix, n_digits = key.encode(), len(str(start))
    text = np.zeros((end - start, 64), np.uint8)
    text[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
    left = np.arange(start, end)
    for at in reversed(range(len(prefix), len(prefix) + n_digits)):
        left, digit = np.divmod(left, 10)
        text[:, at] = digit + ord("0")
    text[:, len(prefix) + n_digits] = 0x80
    block = np.ascontiguousarray(text.view("<u4").T)
    block[14] = 8 * (len(prefix) + n_digits)
    a, b, c, d = (np.full(end - start, word, np.uint32) for word in BEGIN)
    for at in range(64):
        part, (factor, offset) = at // 16, STEPS[at // 16]
        mixed = MIXED[part](b, c, d)
        mixed += a
        mixed += block[(factor * at + offset) % 16]
        mixed += np.uint32(abs(math.sin(at + 1)) * 2**32)
        turn = TURNS[part][at % 4]
        a, d, c, b = d, c, b, b + (mixed << np.uint32(turn) | mixed >> np.uint32(32 - turn))
    return [word + np.uint32(begin) for word, begin in zip((a, b, c, d), BEGIN, strict=True)]


def places_of_rows(seed: int, method: str, n_rows: int, first: int = 0) -> npt.NDArray[np.int64]:
    """Draw by what a method orders the rows that it releases, from a number of a row on."""
    import numpy as np

    upper, lower, _, _ = words_of_rows(key_of(seed, method), n_rows, first).astype(np.uint64)
    # Shifted by 2⁶³, since engines have no larger whole number.
    places: npt.NDArray[np.int64] = ((upper << np.uint64(32) | lower) ^ np.uint64(2**63)).view(np.int64)
    return places


def order_of_rows(seed: int, method: str, n_rows: int) -> npt.NDArray[np.int64]:
    """Draw the order in which a method releases rows, the same on every engine."""
    import numpy as np

    return np.argsort(places_of_rows(seed, method, n_rows), kind="stable")


def check_seed(seed: object) -> None:
    """Refuse what cannot be written in a recipe and read back the same."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise InputError.of(Text("a whole number from {n} to {m}", n=0, m=LARGEST_SEED), option="seed", value=seed)


def fresh_seed() -> int:
    """Draw a seed nobody can guess, for work that was not given one and for a contest's secret."""
    return secrets.randbelow(LARGEST_SEED + 1)
