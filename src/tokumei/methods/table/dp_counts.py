"""Noisy counts in place of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.methods.perturbation import Original, Perturbed
from tokumei.methods.tabulating.budget import Ledger
from tokumei.methods.tabulating.labeled import LabeledClasses
from tokumei.methods.tabulating.noise import Noise, noisy_counts

# More cells than these are noise for the most part, and fill the memory.
MOST_CELLS = 5_000_000
# With less the noise is larger than the whole numbers that a float can tell apart, and its last digits tell the count.
LEAST_EPSILON = 1e-9
MISSING, ROWS = "(missing)", "rows"


@dataclass(frozen=True)
class DpCounts:
    """Publish contingency tables with noise, so that no outcome is much likelier with a person than without.

    ε-differential privacy (Dwork et al. 2006): the chances of any outcome differ by a factor of e^ε at most, whatever
    an attacker knows. Every combination of labels is published, with rows or without; a table chosen by looking at the
    data would tell of it, so levels are yours to name, and columns without a hierarchy are refused. With several tables
    the budget is shared equally. What was spent is kept in the recipe, in a chain of entries that a digest seals; name
    it as `earlier` the next time, all of them where releases went on side by side, and more than the budget is refused.
    Geometric noise is the default: Laplace noise of floating point numbers can give digits away (Mironov 2012). Every
    release draws its noise anew, and the seed is not kept: two releases with the same noise differ by what changed in
    the data. A seed is taken only for a release that is to be reproducible, and then nothing is promised.

    Example: five people, sex with the leaves f and m, ε = ln 3: noise z has chance 1/2 · 3^−|z|.

    | sex | counted | noise | published |
    |-----|---------|-------|-----------|
    | f   | 3       | −1    | 2         |
    | m   | 2       | 0     | 2         |
    """

    epsilon: float = field(default=1.0, metadata={"help": "ε: how much likelier an outcome may become, e^ε times."})
    levels: tuple[str, ...] = field(
        default=(), metadata={"help": "Level of each column, such as age=1,sex=0; 0 where not named."}
    )
    ways: int = field(default=0, metadata={"help": "Columns of each table: 1, 2, …; 0 makes one table of all."})
    noise: Noise = field(default="geometric", metadata={"help": "geometric or laplace."})
    neighbors: Literal["add-or-remove", "replace"] = field(
        default="add-or-remove", metadata={"help": "What one person may do: be there or not, or be another."}
    )
    is_clamped: bool = field(default=True, metadata={"help": "Write counts below 0 as 0."})
    budget: float | None = field(default=None, metadata={"help": "The ε that all releases of the table may spend."})
    earlier: tuple[str, ...] = field(
        default=(), metadata={"help": "Recipes of the releases before, to add what they spent."}
    )

    # Whoever runs it draws the noise anew every time, or says that nothing is promised.
    spends_budget: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.earlier, str):
            object.__setattr__(self, "earlier", (self.earlier,))
        if not 0 < self.epsilon < math.inf:
            raise InputError.of("a number above 0", option="epsilon", value=self.epsilon)
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise InputError.of("a number above 0", option="budget", value=self.budget)
        if self.ways < 0:
            raise InputError.of("0 or a number of columns", option="ways", value=self.ways)

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Count, add noise, and give one line for every cell there could be."""
        ledger = Ledger.read(self.earlier).spend(self.epsilon, self.budget)
        columns = list(original.quasi_identifiers)
        for column in columns:
            if column == ROWS:
                raise InputError.of(f"another name: '{ROWS}' is the column of counts", column=column)
            if column not in original.hierarchies:
                raise InputError.of("a hierarchy: the values that occur are not to be told", column=column)
        classes = LabeledClasses.of(original, columns)
        levels = self._levels(classes, columns)
        tables = self._tables(classes, levels)
        random = generator(seed, "dp-counts")
        each = self.epsilon / len(tables)
        if each < LEAST_EPSILON:
            expected = f"at least {LEAST_EPSILON:g} for each of {len(tables):,} tables"
            raise InputError.of(expected, option="epsilon", value=self.epsilon)
        parts = [self._table(classes, columns, levels, indices, each, random) for indices in tables]
        facts = {
            "levels": dict(zip(columns, levels, strict=True)),
            "tables": [{"columns": [columns[index] for index in indices], "epsilon": each} for indices in tables],
            "spent": ledger.spent,
            "budget": ledger.budget,
            "chain": [one.as_dict() for one in ledger.entries.values()],
        }
        promise = Score("epsilon", ledger.spent, best=0, worst=math.inf, inputs={"this_release": self.epsilon})
        frame = pl.concat(parts, how="diagonal").select(*columns, ROWS)
        return Perturbed(frame, None, {"epsilon": promise}, facts)

    def _table(
        self,
        classes: LabeledClasses,
        columns: Sequence[str],
        levels: Sequence[int],
        indices: Sequence[int],
        epsilon: float,
        random: np.random.Generator,
    ) -> pl.DataFrame:
        """Return one table; a column that is not in it has no cells, which are empty where tables are put together."""
        shape = [classes.n_labels(index, levels[index]) for index in indices]
        cells = np.ravel_multi_index([classes.labels(index, levels[index]) for index in indices], shape)
        counts = np.bincount(cells, classes.sizes, math.prod(shape)).astype(np.int64)
        sensitivity = 1 if self.neighbors == "add-or-remove" else 2
        noisy = noisy_counts(counts, epsilon, sensitivity, self.noise, random)
        if self.is_clamped:
            noisy = np.maximum(noisy, 0)
        labels = np.unravel_index(np.arange(math.prod(shape)), shape)
        frame = pl.DataFrame(
            [
                # A missing value is written out, since an empty cell says that a table lacks the column.
                pl.Series(
                    columns[index], [MISSING if text is None else text for text in classes.texts(index, levels[index])]
                ).gather(label)
                for index, label in zip(indices, labels, strict=True)
            ]
        )
        return frame.with_columns(pl.Series(ROWS, noisy).cast(pl.Int64 if self.noise == "geometric" else pl.Float64))

    def _tables(self, classes: LabeledClasses, levels: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the columns of each table, by their places; together they must not have too many cells."""
        n_columns = len(levels)
        tables, n_cells = [], 0
        for indices in combinations(range(n_columns), self.ways or n_columns):
            tables.append(indices)
            n_cells += math.prod(classes.n_labels(index, levels[index]) for index in indices)
            if n_cells > MOST_CELLS:
                expected = f"at most {MOST_CELLS:,} cells in all tables: coarser levels, or fewer columns"
                raise InputError.of(expected, option="levels", value=f"{n_cells:,} or more")
        if not tables:
            raise InputError.of(f"1 to {n_columns} columns a table", option="ways", value=self.ways)
        return tables

    def _levels(self, classes: LabeledClasses, columns: Sequence[str]) -> list[int]:
        named: dict[str, int] = {}
        for text in self.levels:
            name, mark, level = text.partition("=")
            if name not in columns or not mark or not level.isdecimal():
                raise InputError.of(f"column=level, with one of {', '.join(columns)}", option="levels", value=text)
            named[name] = int(level)
            classes.attributes[columns.index(name)].hierarchy.check_level(int(level))
        return [named.get(column, 0) for column in columns]
