"""Two-way tables in place of rows: safe to publish together, and the rows that can be drawn from them.

Rows count as labels of each column's levels. Every count published is 0 or at least k. The two-way tables form a tree,
each sharing a column with others at levels of which one follows from the other. Rows of such tables can be matched one
table after another, so that every class that may have rows at all may have as many as the smallest count it lies in
(Dobra and Fienberg 2000): adding up and subtracting shows no class to be smaller than k.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.local.encoding import encode_rows, flat_hierarchy
from tokumei.methods.local.task import Codes, Ints, LocalAttribute
from tokumei.methods.perturbing.perturbation import Original, Perturbed

# The columns of the tables beside that of counts; and a missing value where an empty cell says something else.
LONG = ("column", "label", "other_column", "other_label")
ROWS, MISSING = "rows", "(missing)"


@dataclass(frozen=True, eq=False)
class LabeledClasses:
    """The classes of rows with equal values: how many rows each has, and its label at any level of any column."""

    attributes: tuple[LocalAttribute, ...]
    sizes: Ints

    @classmethod
    def of(cls, original: Original, columns: Sequence[str]) -> LabeledClasses:
        """Count the rows of some columns; a column without a hierarchy has its values and nothing coarser but all."""
        trees = {name: _tree(name, original.hierarchies, original.frame[name]) for name in columns}
        task = encode_rows(original.frame, trees, []).task
        return cls(task.attributes, task.sizes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    def n_labels(self, index: int, level: int) -> int:
        """Return the number of labels of a level, the missing value's among them."""
        return self.attributes[index].hierarchy.n_labels_with_missing(level)

    def label_of_leaves(self, index: int, level: int) -> Codes:
        """Return the label of each leaf, the missing value's leaf last."""
        return self.attributes[index].hierarchy.codes_with_missing(level).astype(np.int32)

    def labels(self, index: int, level: int) -> Codes:
        """Return the label of each class at a level."""
        return self.label_of_leaves(index, level)[self.attributes[index].leaf_of]

    def texts(self, index: int, level: int) -> list[str | None]:
        """Return the words of each label; the missing value has none."""
        hierarchy = self.attributes[index].hierarchy
        labels = hierarchy.levels[level].labels
        return [*labels] if hierarchy.says_nothing(level) else [*labels, None]

    def counts(self, index: int, level: int) -> Ints:
        """Count the rows of each label."""
        return np.bincount(self.labels(index, level), self.sizes, self.n_labels(index, level)).astype(np.int64)


def _tree(name: str, hierarchies: Mapping[str, Hierarchy], values: pl.Series) -> Hierarchy:
    return (hierarchies.get(name) or flat_hierarchy(name, values)).with_top()


@dataclass(frozen=True, eq=False)
class TwoWayTable:
    """The counts of two columns at a level each: for the cells that have rows, their labels and their number."""

    indices: tuple[int, int]
    levels: tuple[int, int]
    labels: tuple[Ints, Ints]
    counts: Ints
    # How much one column tells of the other, in nats.
    information: float


def finest_safe_level(classes: LabeledClasses, index: int, k: int) -> int:
    """Return the level with the most labels whose counts are all 0 or at least k; the top always is."""
    n_levels = len(classes.attributes[index].hierarchy.levels)
    for level in range(n_levels):
        counts = classes.counts(index, level)
        if _is_safe(counts, k):
            return level
    return n_levels - 1


def safe_tree(classes: LabeledClasses, finest: list[int], k: int) -> list[TwoWayTable]:
    """Choose safe two-way tables that form no circle and tell the most (the tree of Chow and Liu 1968)."""
    candidates = []
    for first, second in itertools.combinations(range(len(finest)), 2):
        best = _most_telling(classes, (first, second), (finest[first], finest[second]), k)
        if best is not None:
            candidates.append(best)
    candidates.sort(key=lambda table: (-table.information, table.indices))
    tree_of = list(range(len(finest)))
    chosen = []
    for table in candidates:
        one, other = (tree_of[index] for index in table.indices)
        if one != other:
            chosen.append(table)
            tree_of = [one if tree == other else tree for tree in tree_of]
    return chosen


def draw_rows(
    classes: LabeledClasses, finest: list[int], tree: list[TwoWayTable], n_rows: int, random: np.random.Generator
) -> list[Ints]:
    """Draw rows that follow from the published counts alone: by column the label of each row at its finest level."""
    drawn: dict[int, Ints] = {}
    for index, parent in _from_the_roots(len(finest), tree):
        counts = classes.counts(index, finest[index])
        if parent is None:
            drawn[index] = random.choice(len(counts), n_rows, p=counts / counts.sum())
            continue
        is_first = parent.indices[0] == index
        mine, theirs = (0, 1) if is_first else (1, 0)
        other = parent.indices[theirs]
        coarse = _coarser(classes, other, finest[other], parent.levels[theirs])[drawn[other]]
        picked = _draw_given(parent.labels[theirs], parent.labels[mine], parent.counts, coarse, random)
        # Within a coarse label the finer ones are drawn by their own counts.
        to_coarse = _coarser(classes, index, finest[index], parent.levels[mine])
        drawn[index] = _draw_given(to_coarse, np.arange(len(counts)), counts, picked, random)
    return [drawn[index] for index in range(len(finest))]


def _most_telling(
    classes: LabeledClasses, indices: tuple[int, int], finest: tuple[int, int], k: int
) -> TwoWayTable | None:
    """Return the safe table of two columns that tells most of the one by the other, if any tells something."""
    best: TwoWayTable | None = None
    for levels in itertools.product(*(_levels_above(classes, *pair) for pair in zip(indices, finest, strict=True))):
        if min(classes.n_labels(*pair) for pair in zip(indices, levels, strict=True)) == 1:
            continue
        table = _count(classes, indices, levels)
        if _is_safe(table.counts, k) and table.information > (best.information if best else 1e-12):
            best = table
    return best


def _levels_above(classes: LabeledClasses, index: int, finest: int) -> list[int]:
    """Return a level and those that follow from it."""
    hierarchy = classes.attributes[index].hierarchy
    return [level for level in range(len(hierarchy.levels)) if level == finest or hierarchy.finer[finest, level]]


def _count(classes: LabeledClasses, indices: tuple[int, int], levels: tuple[int, ...]) -> TwoWayTable:
    labels = [classes.labels(index, level) for index, level in zip(indices, levels, strict=True)]
    radices = [classes.n_labels(index, level) for index, level in zip(indices, levels, strict=True)]
    cells = group_rows(labels, radices, len(classes.sizes))
    counts = cells.sums(classes.sizes)
    first, second = (one[cells.a_row_of].astype(np.int64) for one in labels)
    shares = counts / counts.sum()
    one, other = (np.bincount(label, shares)[label] for label in (first, second))
    information = float(np.sum(shares * np.log(shares / (one * other))))
    return TwoWayTable(indices, (levels[0], levels[1]), (first, second), counts, information)


def _is_safe(counts: Ints, k: int) -> bool:
    return bool(counts[counts > 0].min(initial=k) >= k)


def _coarser(classes: LabeledClasses, index: int, fine: int, coarse: int) -> Ints:
    """Return the label at a coarse level of each label at a fine one."""
    out = np.zeros(classes.n_labels(index, fine), np.int64)
    out[classes.label_of_leaves(index, fine)] = classes.label_of_leaves(index, coarse)
    return out


def _from_the_roots(n_indices: int, tree: list[TwoWayTable]) -> Iterator[tuple[int, TwoWayTable | None]]:
    """Yield each column after the one it hangs on, with the table between them; a root has none."""
    seen: set[int] = set()
    for root in range(n_indices):
        if root in seen:
            continue
        seen.add(root)
        yield root, None
        open_indices = [root]
        while open_indices:
            parent = open_indices.pop()
            for table in tree:
                child = sum(table.indices) - parent
                if parent in table.indices and child not in seen:
                    seen.add(child)
                    open_indices.append(child)
                    yield child, table


def _draw_given(known: Ints, wanted: Ints, weights: Ints, given: Ints, random: np.random.Generator) -> Ints:
    """Draw for each given label one of the wanted ones that stand beside it, by their weights."""
    order = np.lexsort((wanted, known))
    known, wanted, upto = known[order], wanted[order], np.cumsum(weights[order])
    start = np.concatenate(([0], upto))[np.searchsorted(known, given, side="left")]
    end = upto[np.searchsorted(known, given, side="right") - 1]
    at = start + np.floor(random.random(len(given)) * (end - start)).astype(np.int64)
    return wanted[np.searchsorted(upto, at, side="right")]


@dataclass(frozen=True)
class Marginals:
    """Publish the counts of each column and of pairs of columns, checked together, or rows drawn from those counts.

    Every count is 0 or at least k. Each column stands at its finest level for which that is so; the two-way tables are
    the most telling ones that form a tree. Then no class of fewer than k people follows from all tables together, and
    rows drawn from them tell nothing more. Beside tables that are out already (`beside`) that need not be so: all are
    attacked together, and refused if they prove a group of fewer than k. The number of rows is published, and which
    levels were safe. After Kifer and Gehrke (2006), with the bounds of Dobra and Fienberg (2000).

    Example: eight people, k = 2.

    | sex | age | smokes |
    |-----|-----|--------|
    | f   | 20s | yes    |
    | f   | 20s | yes    |
    | f   | 20s | yes    |
    | f   | 30s | no     |
    | m   | 20s | yes    |
    | m   | 30s | no     |
    | m   | 30s | no     |
    | m   | 30s | no     |

    Published are f 4, m 4; 20s 4, 30s 4; yes 4, no 4; and age by smoking: 20s and yes 4, 30s and no 4. Sex by age would
    show one woman in her thirties, and sex by smoking the same one: neither is published.
    """

    k: int = field(default=5, metadata={"help": "Fewest people that a published count stands for."})
    publish: Literal["tables", "rows"] = field(
        default="tables", metadata={"help": "The counts themselves, or rows drawn from them: tables or rows."}
    )
    beside: tuple[str, ...] = field(
        default=(),
        metadata={"help": "Count tables of the same people that are out already, as a.csv,b.csv; all are checked."},
    )
    anyway: bool = field(
        default=False, metadata={"help": "Publish tables that prove a group under k beside others; the recipe says so."}
    )

    # It releases no rows of people, so that a k that is asked of a release can only mean its own.
    has_own_k: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.beside, str):
            object.__setattr__(self, "beside", (self.beside,))
        if self.beside and self.publish != "tables":
            raise InputError.of("tables: rows that are drawn are no counts", option="publish", value=self.publish)
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Count columns and pairs of columns, and give the counts or rows drawn from them."""
        columns = list(original.quasi_identifiers)
        if original.n_rows < self.k:
            raise CannotAnonymize(Text("There are {n:,} rows, fewer than k = {k:,}.", n=original.n_rows, k=self.k))
        classes = LabeledClasses.of(original, columns)
        finest = [finest_safe_level(classes, index, self.k) for index in range(len(columns))]
        tree = safe_tree(classes, finest, self.k)
        counts = [classes.counts(index, level) for index, level in enumerate(finest)]
        smallest = min(int(one[one > 0].min()) for one in [*counts, *(table.counts for table in tree)])
        facts = {
            "levels": dict(zip(columns, finest, strict=True)),
            "tables": [[columns[index] for index in table.indices] for table in tree],
        }
        if self.publish == "rows":
            drawn = draw_rows(classes, finest, tree, original.n_rows, generator(seed, "marginals"))
            frame = pl.DataFrame(
                [_column(classes, *one) for one in zip(columns, range(len(finest)), finest, drawn, strict=True)]
            )
        else:
            frame = _tables(classes, columns, finest, tree)
        return Perturbed(frame, None, {"k": Score("smallest-count", smallest, best=math.inf, worst=0)}, facts)


def _column(classes: LabeledClasses, name: str, index: int, level: int, labels: Ints) -> pl.Series:
    return pl.Series(name, classes.texts(index, level), pl.String).gather(labels)


def _tables(
    classes: LabeledClasses, columns: Sequence[str], finest: Sequence[int], tree: Sequence[TwoWayTable]
) -> pl.DataFrame:
    """Write one line a cell: the column and its label, the other column and its label where there is one, the rows."""
    parts = []
    for index, (name, level) in enumerate(zip(columns, finest, strict=True)):
        counts = classes.counts(index, level)
        there = np.flatnonzero(counts)
        label = _column(classes, "label", index, level, there)
        parts.append(_cells(name, label, None, None, counts[there]))
    for table in tree:
        labels = [
            _column(classes, "label", *one) for one in zip(table.indices, table.levels, table.labels, strict=True)
        ]
        one, other = (columns[index] for index in table.indices)
        parts.append(_cells(one, labels[0], other, labels[1], table.counts))
    return pl.concat(parts)


def _cells(
    column: str, label: pl.Series, other: str | None, other_label: pl.Series | None, counts: Ints
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "column": pl.Series([column] * len(counts), dtype=pl.String),
            "label": label,
            "other_column": pl.Series([other] * len(counts), dtype=pl.String),
            "other_label": pl.Series([None] * len(counts), dtype=pl.String) if other_label is None else other_label,
            ROWS: counts,
        }
    )


def counts_by_column(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return a count table with a column for each attribute; one as `marginals` writes it has them in its cells.

    | column | label | other_column | other_label | rows |      | sex | age | rows |
    |--------|-------|--------------|-------------|------|  →   |-----|-----|------|
    | sex    | f     |              |             | 4    |      | f   |     | 4    |
    | sex    | f     | age          | 20s         | 3    |      | f   | 20s | 3    |
    """
    if not set(LONG) <= set(frame.columns) or set(columns) & set(LONG):
        return frame

    def label(name: str) -> pl.Expr:
        own = pl.when(pl.col("column") == name).then(pl.col("label").fill_null(MISSING))
        return own.when(pl.col("other_column") == name).then(pl.col("other_label").fill_null(MISSING)).alias(name)

    texts = frame.with_columns(pl.col(LONG).cast(pl.String))
    # A line of a column that nobody asked for is of no group of people that the others tell.
    asked = texts.filter(pl.all_horizontal(pl.col("column", "other_column").is_in(list(columns)).fill_null(True)))
    return asked.with_columns(label(name) for name in columns).drop(LONG)
