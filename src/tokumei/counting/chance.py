"""Numbers of chance that stand beside the rows of a history: a key and the number of a row decide them, nothing else.

They are drawn here as the rows are read, so that an engine reads a column where it would compute a digest, which costs
it ten times as much. The generator counts (Philox, by Salmon, Moraes, Dror and Shaw, 2011): any run of rows is drawn
without those before it, and however the rows are divided each gets the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

# Numbers of 64 bits that the generator gives at each step of its counter.
A_STEP = 4
# Of one draw: the upper and the lower half of such a number.
HALF_BITS = 32


def drawn_numbers(key: str, first: int, n: int) -> npt.NDArray[np.uint64]:
    """Draw 64 bits for each of n rows, from a number of a row on, by a key of 32 hexadecimal digits.

    >>> key = "00112233445566778899aabbccddeeff"
    >>> (drawn_numbers(key, 0, 10)[7:] == drawn_numbers(key, 7, 3)).all()
    True
    """
    bits = np.random.Philox(key=int(key, 16), counter=first // A_STEP)
    numbers: npt.NDArray[np.uint64] = bits.random_raw(first % A_STEP + n)[first % A_STEP :]
    return numbers


def chance_columns(key: str, n_words: int) -> list[str]:
    """Name the columns of one or two draws from 0 to 2³² − 1."""
    return [f"chance_{key[:16]}_{at}" for at in range(n_words)]


def chance_frame(chances: Mapping[str, int], first: int, n: int) -> pl.DataFrame:
    """Give the draws of a run of rows, for each key as many as are asked for."""
    columns: dict[str, npt.NDArray[np.uint64]] = {}
    for key, n_words in chances.items():
        numbers = drawn_numbers(key, first, n)
        halves = (numbers >> np.uint64(HALF_BITS), numbers & np.uint64(2**HALF_BITS - 1))
        columns |= dict(zip(chance_columns(key, n_words), halves, strict=False))
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.UInt64)).cast(pl.UInt32)
