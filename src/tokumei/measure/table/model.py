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

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import check_seed, generator
from tokumei.data.table import Table
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.measure.registry import Sees
from tokumei.measure.spread import Floats, Ints, Labeled, SpreadColumn, spread_columns

Bools = npt.NDArray[np.bool_]
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
    seed: int = field(default=1, metadata={"help": "Decides which rows are held out."})
    hierarchies: Mapping[str, Hierarchy] = field(
        default_factory=dict, metadata={"help": "Of the columns whose labels come from one."}
    )
    numeric: tuple[str, ...] = field(default=(), metadata={"help": "Columns of numbers among those that are text."})

    sees: ClassVar[Sees] = Sees.ROWS

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not 0 < self.held_out < 1:
            raise InputError.of("a share between 0 and 1", column="held_out", value=self.held_out)

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Train on both, test on rows of the original that neither saw."""
        columns = {one.name: one for one in spread_columns(original, released, self.hierarchies, self.numeric)}
        target = self.target or next(iter(original.sensitive), "")
        if target not in columns or len(columns) < 2:
            expected = f"a column to learn and others to learn from, of {', '.join(columns)}"
            raise InputError.of(expected, file=original.name, column="target", value=target)
        wanted, others = columns[target], [one for name, one in columns.items() if name != target]
        source = _checked_rows(rows, original.n_rows, released.n_rows)
        is_test = _held_out([wanted, *others], source, self.held_out, self.seed)
        classes, released_classes = _classes(wanted)
        features, released_features = (_features(others, side) for side in (_before, _after))
        test = features[is_test], classes[is_test]
        known = classes[~is_test]
        is_told = ~is_test[source] & (released_classes != UNTOLD)
        from_original = self._worth(features[~is_test], known, *test)
        from_release = self._worth(released_features[is_told], released_classes[is_told], *test)
        blind = self._worth_of(np.array([_most_frequent(known)]), np.ones((len(test[1]), 1)), test[1])
        inputs = {"target": target, "original": from_original, "release": from_release, "most_frequent": blind}
        loss, baseline = max(0.0, from_original - from_release), max(0.0, from_original - blind)
        return Score("model", loss, best=0, worst=1, baseline=baseline, inputs=inputs | {"tested": int(is_test.sum())})

    def _worth(self, features: Floats, classes: Ints, test: Floats, truth: Ints) -> float:
        """Train a classifier and tell how right it is about the rows held out."""
        values = np.unique(classes)
        if len(values) < 2:
            # Nothing to tell apart: the one class, or none, is named for all.
            return self._worth_of(values, np.ones((len(truth), len(values))), truth)
        # Sorted, so that the order of rows cannot change a digit of what is learned.
        order = np.lexsort([*features.T, classes])
        made = _make_classifier(self.classifier)
        with warnings.catch_warnings():
            # A model that has not settled after so many rounds is as good as it gets here.
            warnings.simplefilter("ignore")
            made.fit(features[order], classes[order])
            # Equal rows together, as the place of a row in a matrix may change its last digit, and a tie would be none.
            distinct, at = np.unique(test, axis=0, return_inverse=True)
            chances = np.round(made.predict_proba(distinct), DIGITS)[at.reshape(-1)]
        return self._worth_of(values, chances, truth)

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


def _area_under_curve(chances: Floats, is_it: Bools) -> float:
    """Give the chance that one of the class ranks above one of the others, ties counting half."""
    n_in, n_out = int(is_it.sum()), int((~is_it).sum())
    if not n_in or not n_out:
        return 1.0
    _, index, counts = np.unique(chances, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return (math.fsum(ranks[is_it]) - n_in * (n_in + 1) / 2) / (n_in * n_out)


def _make_classifier(name: str) -> Any:
    if name == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=8, random_state=0)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def _features(columns: list[SpreadColumn], of_table: Callable[[SpreadColumn], Labeled]) -> Floats:
    """Give each row as numbers: means in spreads of the original, and the shares of the bins of other columns."""
    parts = []
    for column in columns:
        side = of_table(column)
        if not column.is_numeric:
            parts.append(side.shares(*column.bins)[side.codes])
            continue
        values = _numbers(column, column.original)
        there = values[~np.isnan(values)]
        center, spread = (float(there.mean()), float(there.std())) if len(there) else (0.0, 0.0)
        found = (_numbers(column, side) - center) / (spread or 1.0)
        # A missing number says nothing, as one in the middle does.
        parts.append(np.nan_to_num(found, nan=0.0)[:, None])
    return np.hstack(parts)


def _classes(column: SpreadColumn) -> tuple[Ints, Ints]:
    """Give the class of each row of both tables: the value, or whether a number is above the original's median."""
    if column.is_numeric:
        numbers, released = _numbers(column, column.original), _numbers(column, column.released)
        there = numbers[~np.isnan(numbers)]
        median = float(np.median(there)) if len(there) else 0.0
        # A missing number is not above it.
        return (numbers > median).astype(np.int64), (released > median).astype(np.int64)
    bins, _ = column.bins
    return _told(column.original, bins)[column.original.codes], _told(column.released, bins)[column.released.codes]


def _numbers(column: SpreadColumn, side: Labeled) -> Floats:
    """Give the number that each row stands for, the mean of its label's."""
    return column.moments(side)[0][side.codes]


def _told(side: Labeled, bins: Ints) -> Ints:
    """Give the bin of the value that each label tells, or UNTOLD."""
    out = np.full(side.sets.n_labels, UNTOLD)
    is_single = side.sets.sizes[side.sets.label] == 1
    out[side.sets.label[is_single]] = bins[side.sets.first[is_single]]
    return out


def _held_out(columns: list[SpreadColumn], source: Ints, share: float, seed: int) -> Bools:
    """Choose the rows of the original to test on, by what they and their released rows say and not by their order."""
    ours, theirs = (_ranks([side(column).codes for column in columns]) for side in (_before, _after))
    n_rows = len(ours)
    own = np.full(n_rows, len(theirs))
    np.minimum.at(own, source, theirs)
    n_tested = round(share * n_rows)
    if not 0 < n_tested < n_rows:
        raise InputError.of("rows to learn from and rows to test on", column="held_out", value=f"{n_rows:,} rows")
    order = np.lexsort([own, ours])
    chosen = np.zeros(n_rows, bool)
    chosen[order[generator(seed, "held out").permutation(n_rows)[:n_tested]]] = True
    return chosen


def _before(column: SpreadColumn) -> Labeled:
    return column.original


def _after(column: SpreadColumn) -> Labeled:
    return column.released


def _ranks(columns: list[Ints]) -> Ints:
    """Give equal rows equal numbers, in the order of what they say."""
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1)


def _checked_rows(rows: pl.Series, n_rows: int, n_released: int) -> Ints:
    source = rows.cast(pl.Int64, strict=False).fill_null(-1).to_numpy()
    if len(source) != n_released or not (source.min() >= 0 and source.max() < n_rows):
        raise InputError.of(f"a row of the original for each of {n_released:,} rows", column=rows.name)
    return source


def _most_frequent(classes: Ints) -> int:
    values, counts = np.unique(classes, return_counts=True)
    return int(values[counts.argmax()])
