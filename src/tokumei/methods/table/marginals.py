"""Two-way tables in place of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.methods.local.task import Ints
from tokumei.methods.perturbation import Original, Perturbed
from tokumei.methods.tabulating.labeled import LabeledClasses
from tokumei.methods.tabulating.two_way import TwoWayTable, draw_rows, finest_safe_level, safe_tree


@dataclass(frozen=True)
class Marginals:
    """Publish the counts of each column and of pairs of columns, checked together, or rows drawn from those counts.

    Every count is 0 or at least k. Each column stands at its finest level for which that is so; the two-way tables are
    the most telling ones that form a tree. Then no class of fewer than k people follows from all tables together, and
    rows drawn from them tell nothing more. The number of rows is published, and which levels were safe. After Kifer and
    Gehrke (2006), with the bounds of Dobra and Fienberg (2000).

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

    # It releases no rows of people, so that a k that is asked of a release can only mean its own.
    has_own_k: ClassVar[bool] = True

    def __post_init__(self) -> None:
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
            "rows": counts,
        }
    )
