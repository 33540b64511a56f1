"""Rows drawn from a Gaussian copula: each column's own shares, joined by correlations of normal scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.methods.perturbing.perturbation import Floats, Ints, Original
from tokumei.methods.synthetic.columns import Column, read_column
from tokumei.methods.synthetic.constraints import Constrained
from tokumei.methods.synthetic.synthesizer import Drawn, Synthesizer, check_drawable

# Rows that the order of labels is learned from, and how often.
ORDERING_ROWS, ORDERING_ROUNDS = 100_000, 15
# Points of the normal distribution by which two columns' scores are compared, and halvings of a correlation's range.
N_POINTS, N_HALVINGS = 100, 14
MOST_CORRELATED = 0.999
LEAST_EIGENVALUE = 1e-6
# Below, a column is the same in all rows that are compared; and what keeps a matrix from having no inverse.
LEAST_VARIANCE, RIDGE = 1e-9, 1e-3
ROWS_AT_ONCE = 200_000
# Labels and numbers of fewer rows are not written.
USUAL_RARE = 5
# Values of so many rows have a copula of their own, of which there are so many at most, and the name of having one.
FEWEST_IN_GROUP, MOST_GROUPS, ONE_COPULA = 300, 20, "none"
# Rows of everybody that are mixed into the shares of a group, and parts of a column by which pairs are compared.
MIXED_ROWS, MOST_PARTS = 20.0, 20


@dataclass(frozen=True, eq=False)
class Scores:
    """A column as steps of a normal variable: the score of each step is its mean, of each row that of its step."""

    step_of: Ints
    counts: Floats

    @cached_property
    def ends(self) -> Floats:
        """Where each step ends but the last, on the normal axis."""
        shares = np.cumsum(self.counts) / self.counts.sum()
        return np.asarray(ndtri(np.clip(shares[:-1], 0, 1)))

    @cached_property
    def means(self) -> Floats:
        """The mean of the normal variable within each step."""
        ends = np.concatenate(([-np.inf], self.ends, [np.inf]))
        density = np.exp(-np.square(ends) / 2) / math.sqrt(2 * math.pi)
        width = np.diff(ndtr(ends))
        return np.where(width > 0, -np.diff(density) / np.where(width > 0, width, 1), 0.0)

    @property
    def is_constant(self) -> bool:
        """Whether there is one step alone."""
        return int((self.counts > 0).sum()) < 2

    def at(self, points: Floats) -> Floats:
        """Return the score of the step that each point lies in."""
        return np.asarray(self.means[np.searchsorted(self.ends, points, side="right")])


@dataclass(frozen=True, kw_only=True)
class Copula(Synthesizer):
    """Draw rows from Gaussian copulas: the shares of each column and one correlation for each two, by group.

    Each column is cut into steps of a normal variable as wide as its values are frequent (Nelsen 2006). Numbers that
    many rows share and labels are steps, other numbers short ranges; labels stand in the order that agrees best with
    the other columns (reciprocal averaging), and whether a number is missing is a column of its own. The correlation of
    two normal variables is the one at which the means of their steps vary together as they do in the table, so that
    coarse columns do not weaken it; the matrix is made positive definite. New rows are normal variables with these
    correlations, written as steps and drawn evenly within a range of numbers.

    One copula loses what a column of labels says of two others together, so that each value of one column (`by`) with
    300 rows or more has a copula of its own: of the column whose pairs with the others a single copula misses most. In
    its shares 20 rows of everybody are mixed, so that a value of few rows in a group stands for nobody.

    No value of fewer than `rare` rows is written, and no extreme number. Sums, orders and codes with a parent that hold
    in all rows hold in the release (`constraints`, and `finds` for those in the data). What three columns say together
    that no two do is lost, but for those with `by`. There is no promise: shares
    and correlations are the table's own, and how much they tell of one person grows as rows become few.

    Example: of eight rows, half f and half m, with smokers 3 of 4 among f and 1 of 4 among m, the means of the steps
    are ±0.80, their product 0.32 on average, and the correlation sin(π/4) = 0.71: then the signs agree in 3 of 4 rows.
    """

    rare: int = field(
        default=USUAL_RARE, metadata={"help": "Labels and numbers of fewer rows than this are not written."}
    )
    constraints: tuple[str, ...] = field(
        default=(), metadata={"help": "What holds in every row: total=a+b, start<=end, city->state."}
    )
    finds: bool = field(default=True, metadata={"help": "Look for what holds in every row, and keep it."})
    by: str = field(
        default="",
        metadata={
            "help": "Column whose values have a copula each, or none; if not said, the one that a single copula misses "
            "most."
        },
    )

    # Told with the release: whoever holds it in hand should not take it for a promise.
    gives_away: ClassVar[str] = (
        "Rows are nobody's, but nothing is promised: the release tells the shares of each column and how each two go "
        "together. 'tokumei attack table membership' tells what it says of single people."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rare(self.rare)

    def draw(self, original: Original, n_rows: int, *, seed: int) -> Drawn:
        """Estimate shares and correlations, and draw rows."""
        check_drawable(original, self)
        random = generator(seed, "copula")
        told = Constrained.of(original, self.constraints, self.rare, finds=self.finds)
        columns = [read_column(told.original, name, self.rare, random) for name in told.original.frame.columns]
        n = n_rows or original.n_rows
        by, group_of = self._groups(columns, random)
        with step("correlations"):
            drawn = drawn_by_group(columns, group_of, n, random)
        frame = pl.DataFrame([one.write(pieces, random) for one, pieces in zip(columns, drawn, strict=True)])
        return Drawn(told.restored(frame), facts={"constraints": told.words, "rare": self.rare, "by": by})

    def _groups(self, columns: Sequence[Column], random: np.random.Generator) -> tuple[str, Ints]:
        """Return the column whose groups have a copula each, and the group of each row."""
        n_rows = len(columns[0].pieces)
        if self.by == ONE_COPULA:
            return ONE_COPULA, np.zeros(n_rows, np.int64)
        named = [one for one in columns if one.name == self.by]
        if self.by and not named:
            known = ", ".join(one.name for one in columns)
            raise InputError.of(Text("a drawn column, or none: {known}", known=known), option="by", value=self.by)
        groups = {one.name: groups_of(one) for one in named or columns}
        groups = {name: found for name, found in groups.items() if found.max(initial=0)}
        if not groups:
            return ONE_COPULA, np.zeros(n_rows, np.int64)
        name = self.by or worst_by(columns, list(groups), random)
        return name, groups[name]


def groups_of(column: Column) -> Ints:
    """Return the group of each row: of each value with enough rows its own, and one of all others.

    Where the others are too few they are with the smallest of the groups. One group alone is none.
    """
    counts = np.bincount(column.pieces, minlength=column.n_pieces)
    common = np.flatnonzero(counts >= FEWEST_IN_GROUP)
    if not 1 <= len(common) <= MOST_GROUPS:
        return np.zeros(len(column.pieces), np.int64)
    common = common[np.argsort(-counts[common], kind="stable")]
    n_else = len(column.pieces) - int(counts[common].sum())
    group = np.full(column.n_pieces, len(common) if n_else >= FEWEST_IN_GROUP else len(common) - 1)
    group[common] = np.arange(len(common))
    return np.asarray(group[column.pieces])


def worst_by(columns: Sequence[Column], names: Sequence[str], random: np.random.Generator) -> str:
    """Return the column of these whose pairs with the others one copula of all rows misses most, in L1 distance."""
    n = min(len(columns[0].pieces), ORDERING_ROWS)
    drawn = drawn_by_group(columns, np.zeros(len(columns[0].pieces), np.int64), n, random)
    parts = [np.arange(one.n_pieces) * MOST_PARTS // max(one.n_pieces, MOST_PARTS) for one in columns]
    real = [part[one.pieces] for part, one in zip(parts, columns, strict=True)]
    new = [part[one] for part, one in zip(parts, drawn, strict=True)]

    def missed(at: int) -> float:
        others = [other for other in range(len(columns)) if other != at]
        return sum(_distance((real[at], real[other]), (new[at], new[other])) for other in others)

    places = {one.name: at for at, one in enumerate(columns)}
    return max(names, key=lambda name: missed(places[name]))


def _distance(one: tuple[Ints, Ints], other: tuple[Ints, Ints]) -> float:
    counts = [np.bincount(a * MOST_PARTS + b, minlength=MOST_PARTS**2) / max(1, len(a)) for a, b in (one, other)]
    return float(np.abs(counts[0] - counts[1]).sum())


def drawn_by_group(columns: Sequence[Column], group_of: Ints, n: int, random: np.random.Generator) -> list[Ints]:
    """Draw the pieces of each column from a copula for each group of rows; groups get their share of the new rows.

    The shares of values in a group are mixed with those of all rows, as if so many more rows were in it: a value of
    one row in a group stands for nobody.
    """
    sizes = np.bincount(group_of)
    line = np.concatenate(([0], np.floor(np.cumsum(sizes) / sizes.sum() * n + 0.5))).astype(np.int64)
    whole = [np.bincount(one.pieces, minlength=one.n_pieces) / len(one.pieces) for one in columns]
    found = [np.empty(n, np.int64) for _ in columns]
    mixed = random.permutation(n)
    for group in range(len(sizes)):
        rows = np.flatnonzero(group_of == group)
        parts = columns if len(sizes) == 1 else [replace(one, pieces=one.pieces[rows]) for one in columns]
        # What divides the groups stays what it is in each.
        more = [
            share * (MIXED_ROWS if len(sizes) > 1 and len(np.unique(one.pieces)) > MOST_GROUPS else 0)
            for share, one in zip(whole, parts, strict=True)
        ]
        places = mixed[line[group] : line[group + 1]]
        for column, pieces in zip(found, _drawn(parts, more, len(places), random), strict=True):
            column[places] = pieces
    return found


def _drawn(columns: Sequence[Column], more: Sequence[Floats], n: int, random: np.random.Generator) -> list[Ints]:
    """Draw so many rows from one copula, as pieces of each column."""
    places = label_orders(columns)
    scores = scores_of(columns, places, more)
    lower = np.linalg.cholesky(positive_definite(correlations(scores)))
    ends = [one.ends for one in scores]
    drawn = np.empty((len(scores), n), np.int32)
    for start in range(0, n, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, n - start)
        normal = lower @ random.standard_normal((len(scores), size))
        for index in range(len(scores)):
            drawn[index, start : start + size] = np.searchsorted(ends[index], normal[index], side="right")
    return _as_pieces(columns, places, drawn.astype(np.int64))


def check_rare(rare: int) -> None:
    """Refuse a number of rows below 1."""
    if rare < 1:
        raise InputError.of("at least 1", option="rare", value=rare)


def scores_of(columns: Sequence[Column], places: Sequence[Ints], more: Sequence[Floats] = ()) -> list[Scores]:
    """Return the steps of each column; of numbers with missing values, a second for whether one is missing.

    more: rows of each piece to count besides.
    """
    found = []
    for at, (column, place) in enumerate(zip(columns, places, strict=True)):
        added = more[at] if more else np.zeros(column.n_pieces)
        if column.is_number and column.has_missing:
            known = np.where(column.is_missing, -1, column.pieces)
            found.append(_counted(known, max(column.n_pieces - 1, 1), added[: max(column.n_pieces - 1, 1)]))
            found.append(_counted(column.is_missing.astype(np.int64), 2, np.array([added[:-1].sum(), added[-1]])))
        else:
            found.append(_counted(place[column.pieces], column.n_pieces, added[np.argsort(place, kind="stable")]))
    return found


def _counted(steps: Ints, n_steps: int, more: Floats) -> Scores:
    counts = np.bincount(steps[steps >= 0], minlength=n_steps) + more
    return Scores(steps, counts if counts.sum() else counts + 1)


def label_orders(columns: Sequence[Column]) -> list[Ints]:
    """Return the place of each piece: of labels in the order that agrees best with the other columns.

    Reciprocal averaging: a row's score is the mean of its pieces' scores, and a label's that of its rows.
    """
    n_rows = min(len(columns[0].pieces), ORDERING_ROWS) if columns else 0
    taken = [column.pieces[:n_rows] for column in columns]
    sizes = [np.maximum(np.bincount(one, minlength=c.n_pieces), 1) for one, c in zip(taken, columns, strict=True)]
    places = [np.arange(column.n_pieces) for column in columns]
    values = [_standard(np.arange(c.n_pieces, dtype=np.float64)[one]) for one, c in zip(taken, columns, strict=True)]
    for _ in range(ORDERING_ROUNDS):
        total = np.sum(values, axis=0)
        for index, column in enumerate(columns):
            if column.is_number:
                continue
            others = total - values[index]
            means = np.bincount(taken[index], others, column.n_pieces) / sizes[index]
            values[index] = _standard(means[taken[index]])
            total = others + values[index]
            places[index] = np.argsort(np.argsort(means, kind="stable"), kind="stable")
    return places


def _standard(values: Floats) -> Floats:
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros(len(values))


def correlations(scores: Sequence[Scores]) -> Floats:
    """Estimate the correlation of each two normal variables, from the rows in which neither is missing."""
    is_known = np.array([one.step_of >= 0 for one in scores], np.float32)
    means = np.array([np.where(one.step_of >= 0, one.means[one.step_of], 0) for one in scores], np.float32)
    n = np.maximum((is_known @ is_known.T).astype(np.float64), 1)
    both = (means @ is_known.T).astype(np.float64) / n
    together = (means @ means.T).astype(np.float64) / n - both * both.T
    within = (np.square(means) @ is_known.T).astype(np.float64) / n - np.square(both)
    found = np.eye(len(scores))
    unknown = []
    for i, one in enumerate(scores):
        for j in range(i):
            if one.is_constant or scores[j].is_constant:
                continue
            if min(within[i, j], within[j, i]) <= LEAST_VARIANCE:
                unknown.append((i, j))
            else:
                # Where one is missing the other may vary less: what is compared is how closely they go together.
                spread = math.sqrt(within[i, i] * within[j, j] / (within[i, j] * within[j, i]))
                found[i, j] = found[j, i] = correlation(one, scores[j], float(together[i, j]) * spread)
    for i, j in unknown:
        # A number and whether it is missing are never seen together: what the other columns say of both.
        rest = [at for at in range(len(scores)) if at not in (i, j)]
        others = found[np.ix_(rest, rest)] + RIDGE * np.eye(len(rest))
        told = float(found[i, rest] @ np.linalg.solve(others, found[rest, j])) if rest else 0.0
        found[i, j] = found[j, i] = min(max(told, -MOST_CORRELATED), MOST_CORRELATED)
    return found


def correlation(one: Scores, other: Scores, covariance: float) -> float:
    """Return the correlation of two normal variables whose steps' means have a covariance; found by halving."""
    points = np.asarray(ndtri((np.arange(N_POINTS) + 0.5) / N_POINTS))
    mine = one.at(points)
    mine = mine - mine.mean()
    low, high = -MOST_CORRELATED, MOST_CORRELATED
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        theirs = other.at(middle * points[:, None] + math.sqrt(1 - middle**2) * points).mean(axis=1)
        if float(mine @ theirs) / N_POINTS < covariance:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def positive_definite(matrix: Floats) -> Floats:
    """Return a near matrix of correlations whose eigenvalues are all above 0."""
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    scale = 1 / np.sqrt(np.diag(raised))
    return np.asarray(raised * scale[:, None] * scale)


def _as_pieces(columns: Sequence[Column], places: Sequence[Ints], drawn: Ints) -> list[Ints]:
    """Return the piece of each new row in each column, from the steps that were drawn."""
    found, at = [], 0
    for column, place in zip(columns, places, strict=True):
        if column.is_number and column.has_missing:
            found.append(np.where(drawn[at + 1] == 1, column.n_pieces - 1, drawn[at]))
            at += 2
        else:
            found.append(np.argsort(place, kind="stable")[drawn[at]])
            at += 1
    return found
