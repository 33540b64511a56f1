"""People of whom a drawn row is a copy: in all columns, or in all but one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.seeds import generator

Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

# Of numbers that have more values, two in the same hundredth of the people count as equal but for one cell.
MOST_VALUES, N_PARTS = 100, 100
# Of fewer columns, most people agree with somebody in all but one.
FEWEST_COLUMNS = 3


def copied_people(people: pl.DataFrame, drawn: pl.DataFrame, columns: Sequence[str]) -> tuple[Flags, Flags | None]:
    """Return for each of the people whether a drawn row equals theirs in all columns, and whether in all but one.

    For the second, numbers of many values are equal if as many of the people have less, by hundredths; of fewer than
    three columns it is None. Columns whose drawn values are labels of coarser levels equal nobody's.

    Example: of a person (f, 20, flu), a drawn (f, 20, flu) is a copy and (f, 20, cold) one but for a cell.
    """
    exact = [_words(people[name], drawn[name], name, is_coarse=False) for name in columns]
    is_copied = np.isin(_sum([mine for mine, _ in exact]), _sum([theirs for _, theirs in exact]))
    if len(columns) < FEWEST_COLUMNS:
        return is_copied, None
    coarse = [_words(people[name], drawn[name], name, is_coarse=True) for name in columns]
    mine, theirs = _sum([one for one, _ in coarse]), _sum([one for _, one in coarse])
    is_near = is_copied.copy()
    for own, other in coarse:
        # Words are added up modulo 2^64, so that one column less is one subtraction.
        is_near |= np.isin(mine - own, theirs - other)
    return is_copied, is_near


def _sum(words: Sequence[Words]) -> Words:
    return np.asarray(np.sum(words, axis=0, dtype=np.uint64))


def _words(mine: pl.Series, theirs: pl.Series, name: str, *, is_coarse: bool) -> tuple[Words, Words]:
    """Return a random word for each value of a column, the same for equal values of both tables."""
    both = pl.concat([mine.cast(pl.String), theirs.cast(pl.String)])
    numbers = both.cast(pl.Float64, strict=False)
    if numbers.null_count() == both.null_count():
        both = numbers
        if is_coarse and both.n_unique() > MOST_VALUES:
            known = np.sort(both[: len(mine)].drop_nulls().to_numpy())
            at = np.searchsorted(known, both.fill_null(float("nan")).to_numpy(), side="right")
            both = pl.Series((at * N_PARTS // max(1, len(known))).astype(np.int64)).set(both.is_null(), None)
    codes = both.rank("dense").fill_null(0).to_numpy()
    random = generator(0, "copies", name)
    words = random.integers(0, 2**64, int(codes.max(initial=0)) + 1, dtype=np.uint64)[codes]
    return words[: len(mine)], words[len(mine) :]
