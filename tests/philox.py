"""Philox by Salmon, Moraes, Dror and Shaw (2011) in plain Python: four numbers of 64 bits, ten rounds."""

from __future__ import annotations

WORD = 2**64 - 1
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
# The golden ratio and the root of 3, less 1, of which the keys of rounds are made.
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def philox_step(key: int, counter: int) -> list[int]:
    """Return the four numbers of one counter."""
    x = [counter >> 64 * at & WORD for at in range(4)]
    keys = [key & WORD, key >> 64]
    for _ in range(10):
        low, high = MULTIPLIERS[0] * x[0], MULTIPLIERS[1] * x[2]
        x = [(high >> 64) ^ x[1] ^ keys[0], high & WORD, (low >> 64) ^ x[3] ^ keys[1], low & WORD]
        keys = [(one + step) & WORD for one, step in zip(keys, WEYL, strict=True)]
    return x


def philox_number(key: int, row: int) -> int:
    """Return the number of a row; NumPy counts up before it draws, so that the first counter is 1."""
    return philox_step(key, row // 4 + 1)[row % 4]
