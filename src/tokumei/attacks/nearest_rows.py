"""The attackers of PWSCUP 2015, who look for the nearest row of the original, and how right their guesses of rows are.

They compare quasi-identifiers, and then draw or compare one sensitive column; or sensitive values alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.table import Table
from tokumei.measures.table.pair import Floats, Ints, TablePair


def judge_rows(guess: pl.Series, rows: pl.Series, n_known: int) -> Score:
    """Return the share of published rows whose row of the original was found, from 0 (nobody, best) to 1.

    `guess` and `rows` count alike, both from 0 or both from 1; a missing guess is wrong. The baseline is drawing one of
    the `n_known` rows for each at random; the interval is of 95 %, rows being the trials.
    """
    if len(guess) != len(rows):
        raise InputError.of(f"a guess for each of {len(rows):,} rows", value=f"{len(guess):,}")
    n_right = int((guess == rows).fill_null(False).sum())
    return Score(
        "row success",
        n_right / max(1, len(rows)),
        best=0,
        worst=1,
        interval=wilson_interval(n_right, len(rows)),
        baseline=1 / max(1, n_known),
    )


NOBODY = -1


@dataclass(frozen=True, eq=False)
class SharedClasses:
    """The classes of both tables by their quasi-identifiers: equal numbers are equal values."""

    known: Ints
    published: Ints

    @classmethod
    def of(cls, pair: TablePair) -> SharedClasses:
        """Assign numbers to the classes of both tables."""
        both = np.concatenate([pair.codes, pair.released_codes])
        if both.shape[1] == 0:
            # Without a quasi-identifier everyone looks the same.
            number = np.zeros(len(both), np.int64)
        else:
            number = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
        return cls(number[: pair.n_rows], number[pair.n_rows :])

    @property
    def n_candidates(self) -> Ints:
        """For each published row the number of known rows in its class."""
        n_classes = int(max(self.known.max(), self.published.max())) + 1
        return np.bincount(self.known, minlength=n_classes)[self.published]


def nearest_rows(classes: SharedClasses, values: Floats, published_values: Floats) -> Ints:
    """Return for each published row the known row of its class with the nearest value, or NOBODY in an empty class.

    Of two values as near the lower is taken, of equal values the first row.
    """
    # By class, then by value, then by row: one key tells class and value.
    distinct = np.unique(np.concatenate([values, published_values]))
    keys = classes.known * len(distinct) + np.searchsorted(distinct, values)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    wanted = classes.published * len(distinct) + np.searchsorted(distinct, published_values)
    above = np.searchsorted(sorted_keys, wanted)
    # The last lower key, and the first row that has it.
    below = np.searchsorted(sorted_keys, sorted_keys[np.maximum(above - 1, 0)])
    gaps, indices = [], []
    for index, is_there in ((below, above > 0), (np.minimum(above, len(order) - 1), above < len(order))):
        row = order[index]
        is_there = is_there & (classes.known[row] == classes.published)
        gaps.append(np.where(is_there, np.abs(values[row] - published_values), np.inf))
        indices.append(np.where(is_there, row, NOBODY))
    nearest: Ints = np.where(gaps[0] <= gaps[1], indices[0], indices[1])
    return nearest


def as_guess(rows: npt.NDArray[np.int64]) -> pl.Series:
    """Return rows as a guess: NOBODY is missing."""
    guess = pl.Series("row", rows, dtype=pl.Int64)
    return guess.set(guess == NOBODY, None)


def sensitive_index(table: Table, column: str, number: int) -> int:
    """Index, among the sensitive columns, of the named one, or else of the column of this number in the table.

    Columns are counted from 1, as the contest of 2015 did.
    """
    if not column:
        if number > len(table.frame.columns):
            raise InputError.of(f"a column to compare, as there is no column {number}", file=table.name)
        column = table.frame.columns[number - 1]
    if column not in table.sensitive:
        raise InputError.of(f"a sensitive column: {', '.join(table.sensitive)}", file=table.name, value=column)
    return table.sensitive.index(column)


@dataclass(frozen=True)
class IdRand:
    """Draw one of the people with the quasi-identifiers of a released row (E1 IdRand of PWSCUP 2015).

    Knowledge: the original; sees X and Y. Aim: whose each released row is. Success: the row is that person's; 0 nobody,
    1 all. Where nobody has these values there is no guess.

    Example: four people have the values a, b, a and c; the first, the second and the last are released as a, b and d.
    The first is drawn from two, the second is the only b, and nobody has d: (1/2 + 1 + 0) / 3 = 1/2 is expected to be
    found. Drawing anybody would find 1/4.
    """

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:
        """Draw a row of the class of each published row."""
        classes = SharedClasses.of(TablePair.of(knowledge, published))
        order = np.argsort(classes.known, kind="stable")
        n_candidates = classes.n_candidates
        first = np.searchsorted(classes.known[order], classes.published)
        drawn = generator(seed, "id-rand").integers(0, np.maximum(n_candidates, 1))
        index = np.minimum(first + drawn, len(order) - 1)
        return as_guess(np.where(n_candidates > 0, order[index], NOBODY))

    def expect(self, knowledge: Table, published: Table, rows: pl.Series) -> Score:
        """Return the share of rows that guesses are expected to find: what no luck of a draw can change.

        `rows` holds the true row of each published row, counted from 0.
        """
        pair = TablePair.of(knowledge, published)
        classes = SharedClasses.of(pair)
        is_there = classes.known[pair.checked_rows(rows)] == classes.published
        chances = np.where(is_there, 1 / np.maximum(classes.n_candidates, 1), 0.0)
        value = math.fsum(chances) / len(chances)
        return Score("id-rand", value, best=0, worst=1, baseline=1 / pair.n_rows)


ID_SA_COLUMN = 15


@dataclass(frozen=True)
class IdSa:
    """Of the people with the quasi-identifiers of a released row, take the nearest in one sensitive column.

    E2 IdSA of PWSCUP 2015, which compared the 15th column. Knowledge: the original; sees X and Y. Aim: whose each
    released row is. Success: the row is that person's; 0 nobody, 1 all. Where nobody has these values there is no
    guess; of values as near the lower is taken, of equal ones the first row, which is our choice.

    Example: to 5 in class b both 1 and 9 are as near, so the lower is taken; nobody has c. The guess is the row of a
    person who is known.

    | row | known  | released | guess |
    |-----|--------|----------|-------|
    | 0   | (a, 1) | (a, 4)   | 1     |
    | 1   | (a, 5) | (b, 4)   | 2     |
    | 2   | (b, 1) | (b, 5)   | 2     |
    | 3   | (b, 9) | (c, 1)   | none  |
    """

    column: str = field(default="", metadata={"help": "Sensitive column; the 15th of the table if none is named."})

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:  # noqa: ARG002
        """Return the nearest row of the class of each published row."""
        index = sensitive_index(knowledge, self.column, ID_SA_COLUMN)
        pair = TablePair.of(knowledge, published)
        return as_guess(nearest_rows(SharedClasses.of(pair), pair.amounts[:, index], pair.released_amounts[:, index]))


SA21_COLUMN = 21


@dataclass(frozen=True)
class Sa21:
    """Take the person who is nearest in one sensitive column, whatever the other columns say.

    E4 SA21 of PWSCUP 2015, which compared the 21st column. Knowledge: the original; sees X and Y. Aim: whose each
    released row is. Success: the row is that person's; 0 nobody, 1 all. Changed quasi-identifiers do not help against
    it. Of values as near the lower is taken, of equal ones the first row, which is our choice.

    Example: people with 10, 20, 30 and 20 are rows 0 to 3. For released rows with 12, 20, 27 and 25 the guesses are
    rows 0, 1, 2 and 1: of both with 20 the first is taken, and 25 is as near to 20 as to 30, of which 20 is the lower.
    """

    column: str = field(default="", metadata={"help": "Sensitive column; the 21st of the table if none is named."})

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:  # noqa: ARG002
        """Return the nearest row for each published row."""
        index = sensitive_index(knowledge, self.column, SA21_COLUMN)
        pair = TablePair.of(knowledge, published)
        everyone = SharedClasses(np.zeros(pair.n_rows, np.int64), np.zeros(pair.n_released, np.int64))
        return as_guess(nearest_rows(everyone, pair.amounts[:, index], pair.released_amounts[:, index]))


@dataclass(frozen=True)
class Sort:
    """Sort both tables by the sum of sensitive values and match them by rank (E3 Sort of PWSCUP 2015).

    Knowledge: the original; sees X and Y. Aim: whose each released row is. Success: the row is that person's; 0 nobody,
    1 all. Noise that leaves the order alone does not help against it. Where rows are gone the ranks are stretched
    evenly, and equal sums stay in the order of rows; both are our choice.

    Example: the sums of four people are 4, 1, 3 and 2, those of four released rows 30, 10, 20 and 40. By rank these are
    the third, the first, the second and the last, so the guesses are rows 2, 1, 3 and 0.
    """

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:  # noqa: ARG002
        """Return the row of the same rank for each published row."""
        pair = TablePair.of(knowledge, published)
        order = np.argsort(pair.amounts.sum(axis=1), kind="stable")
        published_order = np.argsort(pair.released_amounts.sum(axis=1), kind="stable")
        # The middle of each rank, so that neither end is favored.
        ranks = (2 * np.arange(pair.n_released) + 1) * pair.n_rows // (2 * pair.n_released)
        rows = np.empty(pair.n_released, np.int64)
        rows[published_order] = order[ranks]
        return as_guess(rows)
