"""Rows drawn column by column from decision trees, each grown on the columns before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tokumei.core.errors import InputError, needing
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.methods.perturbing.perturbation import Floats, Ints, Original
from tokumei.methods.synthetic.columns import Column, read_column
from tokumei.methods.synthetic.constraints import Constrained
from tokumei.methods.synthetic.copula import USUAL_RARE, check_rare
from tokumei.methods.synthetic.synthesizer import Drawn, Synthesizer, check_drawable

# Trees are grown on so many rows at most; all rows fall into their leaves.
MOST_GROWN = 50_000


@dataclass(frozen=True, kw_only=True)
class SequentialTrees(Synthesizer):
    """Draw rows column by column: each value is that of a row of the table in the same leaf of a decision tree.

    Sequential CART (Reiter 2005; Nowok, Raab and Dibben 2016). The first column is drawn by its own shares. For each
    further one a tree is grown on the columns before it until its leaves have `least` rows; a new row falls into a leaf
    by the values drawn so far, and takes the value of one of the leaf's rows. A missing value is one more value.
    Columns go from few different values to many, or as `sequence` says. `is_proper` grows each tree on rows drawn with
    replacement, so that the uncertainty of the model is in the release, too.

    Numbers are drawn evenly within the short ranges they are cut into, and no label or range stands for fewer than
    `rare` rows: no extreme is repeated by itself. Sums, orders and codes with a parent are kept as by `copula`. There
    is no promise, and more leaks than of a copula: a row of a leaf is taken as it is, so that a combination of values
    that the trees tell apart comes back as often as it was there, and whoever knows all but one value of a person reads
    the leaf's `least` values of the last one. Attack the release before it is handed over.

    Example: with least=2 a tree splits four rows by sex; a new f takes the illness of row 1 or of row 2.

    | row | sex | illness |
    |-----|-----|---------|
    | 1   | f   | flu     |
    | 2   | f   | cold    |
    | 3   | m   | flu     |
    | 4   | m   | flu     |
    """

    least: int = field(default=5, metadata={"help": "Fewest rows in a leaf."})
    rare: int = field(
        default=USUAL_RARE, metadata={"help": "Labels and numbers of fewer rows than this are not written."}
    )
    sequence: tuple[str, ...] = field(default=(), metadata={"help": "Columns to draw first, in this order."})
    is_proper: bool = field(default=False, metadata={"help": "Grow each tree on rows drawn with replacement."})
    constraints: tuple[str, ...] = field(
        default=(), metadata={"help": "What holds in every row: total=a+b, start<=end, city->state."}
    )
    finds: bool = field(default=True, metadata={"help": "Look for what holds in every row, and keep it."})

    gives_away: ClassVar[str] = (
        "Rows are nobody's, but nothing is promised: combinations of values that the trees tell apart come back as "
        "often as they were there. 'tokumei attack table membership' tells what the release says of single people."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rare(self.rare)
        if self.least < 1:
            raise InputError.of("at least 1", option="least", value=self.least)

    def draw(self, original: Original, n_rows: int, *, seed: int) -> Drawn:
        """Grow the trees, and draw rows column by column."""
        check_drawable(original, self)
        random = generator(seed, "sequential-trees")
        told = Constrained.of(original, self.constraints, self.rare, finds=self.finds)
        columns = [read_column(told.original, name, self.rare, random) for name in self._order(told)]
        n = n_rows or original.n_rows
        known: list[tuple[Column, Ints]] = []
        with step("growing trees", len(columns)) as bar:
            for column in columns:
                known.append((column, self._drawn(column, known, n, random)))
                bar.advance()
        frame = pl.DataFrame([column.write(pieces, random) for column, pieces in known])
        order = [column.name for column in columns]
        return Drawn(
            told.restored(frame),
            facts={"constraints": told.words, "rare": self.rare, "least": self.least, "order": order},
        )

    def _order(self, told: Constrained) -> list[str]:
        frame = told.original.frame
        for name in self.sequence:
            if name not in told.columns:
                raise InputError.of(f"a released column: {', '.join(told.columns)}", option="sequence", value=name)
        first = [name for name in dict.fromkeys(self.sequence) if name in frame.columns]
        others = [name for name in frame.columns if name not in first]
        return [*first, *sorted(others, key=lambda name: frame[name].n_unique())]

    def _drawn(self, column: Column, known: Sequence[tuple[Column, Ints]], n: int, random: np.random.Generator) -> Ints:
        """Draw the piece of each new row, given the pieces of the columns before."""
        n_fitted = len(column.pieces)
        rows = random.integers(n_fitted, size=n_fitted) if self.is_proper else np.arange(n_fitted)
        target = column.pieces[rows]
        if not known or column.n_pieces < 2:
            return target[random.integers(n_fitted, size=n)]
        grown = rows if n_fitted <= MOST_GROWN else random.choice(rows, MOST_GROWN, replace=False)
        score = scores_of_pieces(column, column.pieces[grown])
        told, new = np.empty((n_fitted, len(known)), np.float32), np.empty((n, len(known)), np.float32)
        for index, (other, pieces) in enumerate(known):
            # Labels stand by the mean of what is to be drawn, so that one cut can part any (Breiman et al. 1984).
            value = ordered_by(other, other.pieces[grown], score[column.pieces[grown]])
            told[:, index], new[:, index] = value[other.pieces[rows]], value[pieces]
        tree = _tree(column, self.least, int(random.integers(2**31)))
        value = score if column.is_number else np.arange(column.n_pieces, dtype=np.float64)
        sample = slice(None) if n_fitted <= MOST_GROWN else random.choice(n_fitted, MOST_GROWN, replace=False)
        tree.fit(told[sample], value[target[sample]])
        return drawn_from_leaves(tree.apply(told), target, tree.apply(new), random)


def _tree(column: Column, least: int, seed: int) -> Any:
    with needing("The method 'sequential-trees'", "learning"):
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    kind = DecisionTreeRegressor if column.is_number else DecisionTreeClassifier
    return kind(min_samples_leaf=least, random_state=seed)


def scores_of_pieces(column: Column, pieces: Ints) -> Floats:
    """Return a number for each piece: the middle of a range, and for labels their place by how often they are.

    A missing number stands below all others, by as much as they span.
    """
    if column.low is None or column.high is None:
        counts = np.bincount(pieces, minlength=column.n_pieces)
        return np.argsort(np.argsort(-counts, kind="stable"), kind="stable").astype(np.float64)
    middle = (column.low + column.high) / 2
    span = float(np.ptp(middle)) if len(middle) else 0.0
    below = [float(middle.min()) - (span or 1.0) if len(middle) else 0.0] if column.has_missing else []
    return np.concatenate((middle, below))


def ordered_by(column: Column, pieces: Ints, score: Floats) -> Floats:
    """Return what stands for each piece of a column that a tree is grown on."""
    if column.is_number:
        return scores_of_pieces(column, pieces)
    counts = np.bincount(pieces, minlength=column.n_pieces)
    means = np.bincount(pieces, score, column.n_pieces) / np.maximum(counts, 1)
    return np.where(counts > 0, means, score.mean())


def drawn_from_leaves(leaf_of: Ints, target: Ints, new_leaf: Ints, random: np.random.Generator) -> Ints:
    """Draw for each new row the target of a row that is in the same leaf."""
    order = np.argsort(leaf_of, kind="stable")
    ordered = leaf_of[order]
    first = np.searchsorted(ordered, new_leaf, side="left")
    n = np.searchsorted(ordered, new_leaf, side="right") - first
    return np.asarray(target[order[first + np.floor(random.random(len(first)) * n).astype(np.int64)]])
