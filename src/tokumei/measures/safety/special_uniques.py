"""Rows that few columns are enough to single out: minimal sample uniques, and the scores of SUDA2 made of them.

A minimal sample unique of a row is a set of columns by which it is alone while it is not by any part of the set
(Elliot, Manning, Mayes, Gurd and Bane 2005; Manning, Haglin and Keane 2008). A row that has one of fewer than all
columns is a special unique: likelier to be alone in the population, too, than one that all columns together single out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.text import Json, Text

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
# A table of counts with so many cells is quicker than sorting.
MOST_CELLS = 4_000_000
# Rows times sets of columns: some minutes, and at most an eighth as many bytes.
MOST_LOOKS = 1_000_000_000
MOST_LISTED = 10
# The share of the population that sdcMicro takes a sample for.
DIS_FRACTION = 0.01


@dataclass(frozen=True)
class UniqueSet:
    """Some columns: how many rows each combination of their values has, and the rows that they minimally single out."""

    members: tuple[int, ...]
    sizes: Codes
    is_minimal: Mask


def minimal_uniques(codes: Sequence[Codes], largest: int, whose: Codes | None = None) -> Iterator[UniqueSet]:
    """Look at all sets of up to so many columns, the small ones first.

    codes: a number for each value of each column. whose: the person of each row; a combination of one person alone is
    unique, in however many of their rows.
    """
    alone_by: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}
    for size in range(1, min(largest, len(codes)) + 1):
        found: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}
        for members in combinations(range(len(codes)), size):
            is_alone, sizes = rows_alone([codes[one] for one in members], whose)
            is_minimal = is_alone
            if size > 1:
                # Whoever is alone by a part of a part is alone by the part.
                parts = [alone_by[part] for part in combinations(members, size - 1)]
                by_part = np.unpackbits(np.bitwise_or.reduce(parts), count=len(is_alone)).astype(bool)
                is_minimal = is_alone & ~by_part
            if size < largest:
                found[members] = np.packbits(is_alone)
            yield UniqueSet(members, sizes, is_minimal)
        alone_by = found


def rows_alone(codes: Sequence[Codes], whose: Codes | None = None) -> tuple[Mask, Codes]:
    """Return for each row whether its combination is unique, and how many rows each combination has."""
    packed, n_cells = codes[0], int(codes[0].max(initial=0)) + 1
    for one in codes[1:]:
        width = int(one.max(initial=0)) + 1
        if n_cells * width > np.iinfo(np.int64).max // 2:
            packed = np.unique(packed, return_inverse=True)[1]
            n_cells = int(packed.max(initial=0)) + 1
        packed, n_cells = packed * width + one, n_cells * width
    if n_cells > MOST_CELLS:
        packed = pl.Series(packed).rank("dense").cast(pl.Int64).to_numpy()
    counts = np.bincount(packed)
    if whose is None:
        return counts[packed] == 1, counts[counts > 0]
    anybody = np.zeros(len(counts), np.int64)
    anybody[packed] = whose
    others = np.bincount(packed[whose != anybody[packed]], minlength=len(counts))
    return others[packed] == 0, counts[counts > 0]


def numbered(column: pl.Series) -> Codes:
    """Return a number for each value of a column, from 1; a missing value is 0."""
    return column.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def suda_weight(size: int, n_columns: int, largest: int) -> float:
    """Return what one minimal sample unique adds to a row's score: the product of n_columns - i for i from its size on.

    With sets of up to all columns it is (n_columns - size)!, as `original_scores` of sdcMicro has it.

    >>> suda_weight(1, 4, 3), suda_weight(2, 4, 3), suda_weight(3, 4, 3)
    (6.0, 2.0, 1.0)
    """
    return float(math.prod(n_columns - at for at in range(size, largest)))


def suda_share(size: int, n_columns: int) -> float:
    """Return what it adds by the other scoring of sdcMicro: (2^(n_columns - size) - 1) over the sets of that size.

    >>> suda_share(1, 4), suda_share(2, 4), suda_share(4, 4)
    (1.75, 0.5, 0.0)
    """
    return (2.0 ** (n_columns - size) - 1) / math.comb(n_columns, size)


@dataclass(frozen=True)
class SpecialUniques:
    """The scores of SUDA2: of rows, and what columns and values contribute to them."""

    columns: Sequence[str]
    largest: int
    has_original_scores: bool
    fraction: float
    # In the order of the rows.
    scores: Floats
    # The chance that a match with somebody unique is right, by data intrusion simulation (Skinner and Elliot 2002),
    # handed out by score.
    dis_scores: Floats
    # Columns of the smallest minimal sample unique of each row; 0 where there is none.
    smallest: npt.NDArray[np.int64]
    n_minimal: dict[int, int]
    # Share of all scores that sets with a column, or with a value of it, make up.
    by_column: dict[str, float]
    by_value: dict[str, dict[str, float]]
    # Rows that all columns together single out, and those in classes of two.
    n_alone: int
    n_in_pairs: int

    @property
    def n_special(self) -> int:
        """Rows that fewer than all columns single out."""
        return int(((self.smallest > 0) & (self.smallest < len(self.columns))).sum())

    def as_dict(self) -> Json:
        """Return the scores as JSON shows them; rows are counted from 1, values by what they contribute.

        Without a class of two there is nothing to estimate DIS by: by its definition every match would be right.
        """
        riskiest = np.argsort(-self.scores, kind="stable")[:MOST_LISTED].tolist()
        return {
            "columns": list(self.columns),
            "largest_set": self.largest,
            "original_scores": self.has_original_scores,
            "dis_fraction": self.fraction,
            "minimal_uniques": {str(size): n for size, n in self.n_minimal.items()},
            "rows_alone": self.n_alone,
            "special_uniques": self.n_special,
            "by_column": self.by_column,
            "by_value": self.by_value,
            "dis_highest": float(self.dis_scores.max(initial=0.0)) if self.n_in_pairs else None,
            "riskiest": [
                {
                    "row": at + 1,
                    "score": float(self.scores[at]),
                    "dis_score": float(self.dis_scores[at]) if self.n_in_pairs else None,
                    "smallest": int(self.smallest[at]),
                }
                for at in riskiest
                if self.smallest[at]
            ],
        }


def special_uniques(
    frame: pl.DataFrame,
    columns: Sequence[str],
    *,
    largest: int | None = None,
    original_scores: bool = True,
    fraction: float = DIS_FRACTION,
    whose: pl.Series | None = None,
) -> SpecialUniques:
    """Score rows by their minimal sample uniques of up to so many columns; of all, if no number is given.

    A missing value is in no minimal sample unique, as in sdcMicro. fraction: the share of the population that the rows
    are, for the data intrusion simulation; it takes the rows in classes of one and of two.

    >>> people = pl.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    >>> found = special_uniques(people, ["a", "b", "c"])
    >>> found.scores.tolist(), found.by_column
    ([2.0, 4.0, 2.0], {'a': 0.5, 'b': 0.375, 'c': 0.375})
    """
    n_columns, n_rows = len(columns), frame.height
    most = n_columns if largest is None else min(largest, n_columns)
    if most < 1:
        raise InputError.of("sets of at least 1 column", option="suda", value=most)
    n_sets = n_sets_of(n_columns, most)
    if n_sets * n_rows > MOST_LOOKS:
        expected = Text(
            "a smaller number of columns in a set: these are {n:,} sets over {rows:,} rows", n=n_sets, rows=n_rows
        )
        raise InputError.of(expected, option="suda", value=most)
    codes = [numbered(frame[name]) for name in columns]
    people = None if whose is None else numbered(whose)
    scores, smallest = np.zeros(n_rows), np.zeros(n_rows, np.int64)
    # Of each value of each column, the weights of the sets that it is in.
    sums = [np.zeros(int(one.max(initial=0)) + 1) for one in codes]
    n_minimal = dict.fromkeys(range(1, most + 1), 0)
    with step("looking for special uniques", n_sets) as bar:
        for one in minimal_uniques(codes, most, people):
            size = len(one.members)
            rows = np.flatnonzero(one.is_minimal)
            for member in one.members:
                rows = rows[codes[member][rows] > 0]
            weight = suda_weight(size, n_columns, most) if original_scores else suda_share(size, n_columns)
            scores[rows] += weight
            for member in one.members:
                sums[member] += weight * np.bincount(codes[member][rows], minlength=len(sums[member]))
            smallest[rows[smallest[rows] == 0]] = size
            n_minimal[size] += len(rows)
            bar.advance()
    total, n_in_pairs = float(scores.sum()), _in_pairs(codes, people)
    return SpecialUniques(
        list(columns),
        most,
        original_scores,
        fraction,
        scores,
        dis_scores(scores, n_columns, n_in_pairs, fraction),
        smallest,
        n_minimal,
        {name: float(sums[at].sum()) / total if total else 0.0 for at, name in enumerate(columns)},
        {name: _by_value(frame[name], codes[at], sums[at]) for at, name in enumerate(columns)},
        int(rows_alone(codes, people)[0].sum()),
        n_in_pairs,
    )


def n_sets_of(n_columns: int, largest: int) -> int:
    """Return how many sets of up to so many columns there are."""
    return sum(math.comb(n_columns, size) for size in range(1, min(largest, n_columns) + 1))


def dis_scores(scores: Floats, n_columns: int, n_in_pairs: int, fraction: float) -> Floats:
    """Return the chance that a match of each row is right: DIS-SUDA, as sdcMicro defines it.

    Of U rows alone and P in classes of two, DIS is U f / (U f + P (1 − f)) for a sampled share f. A row with score s
    gets 1 / (1 + (U / DIS − U) / (s^q Σ s^−q)), where q = 1 + (8 − columns) / 20; U / DIS − U is P (1 − f) / f.
    """
    q = 1 + (8 - n_columns) / 20
    is_scored = scores > 0
    out = np.zeros_like(scores)
    powers = scores[is_scored] ** q
    out[is_scored] = 1 / (1 + n_in_pairs * (1 - fraction) / fraction / (powers * (1 / powers).sum()))
    return out


def _in_pairs(codes: Sequence[Codes], people: Codes | None) -> int:
    """Count the rows, or people, in classes of two by all columns."""
    keys = pl.DataFrame({str(at): one for at, one in enumerate(codes)})
    whole = keys if people is None else keys.with_columns(pl.Series("people", people))
    n_people = pl.len() if people is None else pl.col("people").n_unique()
    sizes = whole.group_by(keys.columns).agg(n_people.alias("n"))["n"]
    return 2 * int((sizes == 2).sum())


def _by_value(column: pl.Series, codes: Codes, sums: Floats) -> dict[str, float]:
    """Return the values of a column that contribute most, with their shares of what it contributes."""
    total = float(sums.sum())
    if not total:
        return {}
    a_row_of = np.zeros(len(sums), np.int64)
    a_row_of[codes] = np.arange(len(codes))
    most = [at for at in np.argsort(-sums, kind="stable")[:MOST_LISTED].tolist() if sums[at] > 0]
    return {str(column[int(a_row_of[at])]): float(sums[at]) / total for at in most}
