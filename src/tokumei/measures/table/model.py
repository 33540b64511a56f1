"""How well a model learns from a release."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError, needing
from tokumei.core.score import Score
from tokumei.core.seeds import check_seed, generator
from tokumei.core.text import Text, counted
from tokumei.data.table import Table
from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import Sees
from tokumei.measures.table.spread import Floats, Ints, Labeled, SpreadColumn, spread_columns

Bools = npt.NDArray[np.bool_]
# One of both tables.
Side = Callable[[SpreadColumn], Labeled]
# A class that no released label stands for alone.
UNTOLD = -1
# Chances nearer than that are the same: machines differ in the last digits.
DIGITS = 9


@dataclass(frozen=True)
class Model:
    """How much worse a classifier is that learned from the release: 0 if no worse, 1 if it lost all that it told apart.

    Sees X, Y and I. A classifier of scikit-learn learns one column from the others, once from rows of the original and
    once from the released rows of the same people, and is tested on rows of the original that were held out from both.
    The score is how much the area under its curve (or its accuracy) falls, at least 0; that of either is among the
    inputs. The area of several classes is the mean of each against the rest. Numbers are learned as above the
    original's median or not, of more than fifty values the rarer ones as one. A released label is the mean of the
    numbers it stands for, or its share of each value; a label to be learned that stands for several values is left out.
    The baseline is the loss of always naming the most frequent class. Everything is decided by the seed and by what the
    rows say, not by their order. LeFevre, DeWitt and Ramakrishnan (2006) judge releases by such a use.

    Example: eight people of towns A and B earn 1 to 4 and 5 to 8. An untouched copy teaches to tell the income by the
    town, as the original does: 0. A release that says * for every town teaches nothing: all are ranked alike, the area
    falls from 1 to 1/2, and the score is 1/2, which is also the baseline.
    """

    target: str = field(default="", metadata={"help": "Column to learn; the first sensitive one if none is named."})
    classifier: Literal["logistic", "tree"] = field(
        default="logistic", metadata={"help": "logistic (regression) or tree (of decisions)."}
    )
    metric: Literal["auc", "accuracy"] = field(
        default="auc", metadata={"help": "auc (area under the curve) or accuracy (share right)."}
    )
    held_out: float = field(default=0.3, metadata={"help": "Share of the original's rows to test on."})
    most_rows: int = field(
        default=20_000, metadata={"help": "Learn and test on so many rows at most, drawn from a larger table."}
    )
    seed: int = field(default=1, metadata={"help": "Decides which rows are drawn and held out."})
    hierarchies: Mapping[str, Hierarchy] = field(
        default_factory=dict, metadata={"help": "Of the columns whose labels come from one."}
    )
    numeric: tuple[str, ...] = field(default=(), metadata={"help": "Columns of numbers among those that are text."})

    sees: ClassVar[Sees] = Sees.ROWS

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not 0 < self.held_out < 1:
            raise InputError.of("a share between 0 and 1", option="held_out", value=self.held_out)
        if self.most_rows < 2:
            raise InputError.of("a whole number from 2 on", option="most_rows", value=self.most_rows)

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Train on both, test on rows of the original that neither saw."""
        columns = {one.name: one for one in spread_columns(original, released, self.hierarchies, self.numeric)}
        target = self.target or next(iter(original.sensitive), "")
        if target not in columns or len(columns) < 2:
            expected = Text("a column to learn and others to learn from, of {names}", names=", ".join(columns))
            raise InputError.of(expected, file=original.name, option="target", value=target)
        wanted, others = columns[target], [one for name, one in columns.items() if name != target]
        source = _checked_rows(rows, original.n_rows, released.n_rows)
        is_learned, is_test = self._drawn([wanted, *others], source)
        classes, released_classes = _classes(wanted)
        test = _Rows.of(others, _before, np.flatnonzero(is_test), classes)
        known = _Rows.of(others, _before, np.flatnonzero(is_learned), classes)
        told = np.flatnonzero(is_learned[source] & (released_classes != UNTOLD))
        from_original = self._worth(known, test)
        from_release = self._worth(_Rows.of(others, _after, told, released_classes), test)
        blind = self._worth_of(np.array([_most_frequent(known.classes)]), np.ones((len(test), 1)), test.classes)
        inputs = {"target": target, "original": from_original, "release": from_release, "most_frequent": blind}
        inputs |= {"learned": len(known), "tested": len(test)}
        loss, baseline = max(0.0, from_original - from_release), max(0.0, from_original - blind)
        return Score("model", loss, best=0, worst=1, baseline=baseline, inputs=inputs)

    def _drawn(self, columns: list[SpreadColumn], source: Ints) -> tuple[Bools, Bools]:
        """Choose the rows of the original to learn from and to test on: by what they and their releases say."""
        ours, theirs = (_ranks(columns, side) for side in (_before, _after))
        n_rows = len(ours)
        own = np.full(n_rows, len(theirs))
        np.minimum.at(own, source, theirs)
        n_drawn = min(n_rows, self.most_rows)
        n_tested = round(self.held_out * n_drawn)
        if not 0 < n_tested < n_drawn:
            raise InputError.of(
                "rows to learn from and rows to test on", option="held_out", value=counted(n_rows, "row")
            )
        order = np.lexsort([own, ours])[generator(self.seed, "held out").permutation(n_rows)]
        is_learned, is_test = np.zeros((2, n_rows), bool)
        is_test[order[:n_tested]] = True
        is_learned[order[n_tested:n_drawn]] = True
        return is_learned, is_test

    def _worth(self, known: _Rows, test: _Rows) -> float:
        """Train a classifier and tell how right it is about the rows held out."""
        values = np.unique(known.classes)
        if len(values) < 2:
            # Nothing to tell apart: the one class, or none, is named for all.
            return self._worth_of(values, np.ones((len(test), len(values))), test.classes)
        # Sorted, so that the order of rows cannot change a digit of what is learned.
        order = np.lexsort([known.rank, known.classes])
        made = _make_classifier(self.classifier)
        from threadpoolctl import threadpool_limits

        # One thread: the matrices are small, and threads that wait for each other take ten times as long.
        with threadpool_limits(1), warnings.catch_warnings():
            # A model that has not settled after so many rounds is as good as it gets here.
            warnings.simplefilter("ignore")
            made.fit(known.features[order], known.classes[order])
            # Equal rows once, as the place of a row in a matrix may change its last digit, and a tie would be none.
            _, first, at = np.unique(test.rank, return_index=True, return_inverse=True)
            chances = np.round(made.predict_proba(test.features[first]), DIGITS)[at]
        return self._worth_of(values, chances, test.classes)

    def _worth_of(self, values: Ints, chances: Floats, truth: Ints) -> float:
        """Judge the chances that a model gives each class, a column each."""
        if self.metric == "accuracy":
            return float((values[chances.argmax(axis=1)] == truth).mean()) if len(values) else 0.0
        column = {int(value): chances[:, index] for index, value in enumerate(values)}
        nothing = np.zeros(len(truth))
        shares, areas = [], []
        for value in np.unique(truth):
            is_it = truth == value
            shares.append(float(is_it.mean()))
            areas.append(_area_under_curve(column.get(int(value), nothing), is_it))
        return math.fsum(share * area for share, area in zip(shares, areas, strict=True)) / math.fsum(shares)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows of a table: their features, the class of each, and equal numbers for equal features."""

    features: Floats
    classes: Ints
    rank: Ints

    @classmethod
    def of(cls, columns: list[SpreadColumn], side: Side, rows: Ints, classes: Ints) -> _Rows:
        return cls(_features(columns, side, rows), classes[rows], _ranks(columns, side)[rows])

    def __len__(self) -> int:
        return len(self.classes)


def _area_under_curve(chances: Floats, is_it: Bools) -> float:
    """Return the chance that one of the class ranks above one of the others, ties counting half."""
    n_in, n_out = int(is_it.sum()), int((~is_it).sum())
    if not n_in or not n_out:
        return 1.0
    _, index, counts = np.unique(chances, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return (math.fsum(ranks[is_it]) - n_in * (n_in + 1) / 2) / (n_in * n_out)


def _make_classifier(name: str) -> Any:
    if name == "tree":
        with needing("The measure 'model'", "learning"):
            from sklearn.tree import DecisionTreeClassifier
        return DecisionTreeClassifier(max_depth=8, random_state=0)
    with needing("The measure 'model'", "learning"):
        from sklearn.linear_model import LogisticRegression
    return LogisticRegression(max_iter=200)


def _features(columns: list[SpreadColumn], side: Side, rows: Ints) -> Floats:
    """Return rows as numbers: means in spreads of the original, and the shares of the bins of other columns."""
    parts = []
    for column in columns:
        if not column.is_numeric:
            shares = column.original_shares if side is _before else column.released_shares
            parts.append(shares[side(column).codes[rows]])
            continue
        values = _numbers(column, column.original)
        there = values[~np.isnan(values)]
        center, spread = (float(there.mean()), float(there.std())) if len(there) else (0.0, 0.0)
        found = (_numbers(column, side(column))[rows] - center) / (spread or 1.0)
        # A missing number says nothing, as one in the middle does.
        parts.append(np.nan_to_num(found, nan=0.0)[:, None])
    return np.hstack(parts)


def _classes(column: SpreadColumn) -> tuple[Ints, Ints]:
    """Return the class of each row of both tables: the value, or whether a number is above the original's median."""
    if column.is_numeric:
        numbers, released = _numbers(column, column.original), _numbers(column, column.released)
        there = numbers[~np.isnan(numbers)]
        median = float(np.median(there)) if len(there) else 0.0
        # A missing number is not above it.
        return (numbers > median).astype(np.int64), (released > median).astype(np.int64)
    bins, _ = column.bins
    return _told(column.original, bins)[column.original.codes], _told(column.released, bins)[column.released.codes]


def _numbers(column: SpreadColumn, side: Labeled) -> Floats:
    """Return the number that each row stands for, the mean of its label's."""
    return column.moments(side)[0][side.codes]


def _told(side: Labeled, bins: Ints) -> Ints:
    """Return the bin of the value that each label tells, or UNTOLD."""
    out = np.full(side.sets.n_labels, UNTOLD)
    is_single = side.sets.sizes[side.sets.label] == 1
    out[side.sets.label[is_single]] = bins[side.sets.first[is_single]]
    return out


def _before(column: SpreadColumn) -> Labeled:
    return column.original


def _after(column: SpreadColumn) -> Labeled:
    return column.released


def _ranks(columns: list[SpreadColumn], side: Side) -> Ints:
    """Return equal numbers for equal rows, in the order of what they say."""
    sides = [side(column) for column in columns]
    codes = [one.codes.astype(np.int32) for one in sides]
    return group_rows(codes, [one.sets.n_labels for one in sides], len(codes[0])).group_of


def _checked_rows(rows: pl.Series, n_rows: int, n_released: int) -> Ints:
    source = rows.cast(pl.Int64, strict=False).fill_null(-1).to_numpy()
    if len(source) != n_released or not (source.min() >= 0 and source.max() < n_rows):
        raise InputError.of(f"a row of the original for each of {n_released:,} rows", column=rows.name)
    return source


def _most_frequent(classes: Ints) -> int:
    values, counts = np.unique(classes, return_counts=True)
    return int(values[counts.argmax()])
