"""Whether a hierarchy fits a column: the values it lacks, the leaves nobody uses, and its own shape."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from tokumei.core.errors import shown
from tokumei.engines.recoding import read_as
from tokumei.hierarchies.hierarchy import Hierarchy

LISTED_VALUES = 5


@dataclass(frozen=True)
class HierarchyCheck:
    """What a hierarchy looks like and how it fits a column; without a column the last three are empty.

    `clashing_leaves` are leaves that read as the same value of the column, as `1` and `01` in a column of
    whole numbers: which of them is meant cannot be told.
    """

    attribute: str
    n_leaves: int
    n_levels: int
    n_labels: tuple[int, ...]
    has_single_top: bool
    is_nested: bool
    missing_values: tuple[str, ...] = ()
    unused_leaves: tuple[str, ...] = ()
    clashing_leaves: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether every value of the column has one label at every level."""
        return not self.missing_values and not self.clashing_leaves

    @property
    def remarks(self) -> list[str]:
        """What a user should know, in sentences, the worst first."""
        out = []
        if self.missing_values:
            out.append(f"The hierarchy lacks values of the column: {_listed(self.missing_values)}.")
        if self.clashing_leaves:
            out.append(f"Leaves read as one and the same value: {_listed(self.clashing_leaves)}.")
        if not self.is_nested:
            out.append("Levels cross: not every level follows from the one before.")
        if not self.has_single_top:
            out.append(f"The coarsest level still tells {self.n_labels[-1]:,} labels apart.")
        if self.unused_leaves:
            out.append(f"The column never holds {_listed(self.unused_leaves)}.")
        return out


def check_hierarchy(hierarchy: Hierarchy, values: pl.Series | None = None) -> HierarchyCheck:
    """Look at a hierarchy, and at how it fits the values of a column if they are given."""
    shape = HierarchyCheck(
        attribute=hierarchy.attribute,
        n_leaves=len(hierarchy.leaves),
        n_levels=len(hierarchy.levels),
        n_labels=tuple(len(level) for level in hierarchy.levels),
        has_single_top=hierarchy.has_single_top,
        is_nested=hierarchy.is_nested,
    )
    if values is None:
        return shape
    column = _as_compared(values)
    leaves = _read_leaves(hierarchy, column.dtype)
    is_clash = pl.col("value").is_not_null() & pl.col("value").is_duplicated()
    used = leaves.join(pl.DataFrame({"value": column}), on="value", how="semi")["leaf"]
    return replace(
        shape,
        missing_values=tuple(missing_values(hierarchy, values).cast(pl.String).to_list()),
        unused_leaves=tuple(leaves.filter(~pl.col("leaf").is_in(used.implode()))["leaf"].to_list()),
        clashing_leaves=tuple(leaves.filter(is_clash)["leaf"].to_list()),
    )


def missing_values(hierarchy: Hierarchy, values: pl.Series) -> pl.Series:
    """Return the values of a column that the hierarchy lacks, each once, in order; missing ones need no leaf."""
    column = _as_compared(values)
    distinct = pl.DataFrame({"value": column.drop_nulls().unique()})
    return distinct.join(_read_leaves(hierarchy, column.dtype), on="value", how="anti")["value"].sort()


def _as_compared(values: pl.Series) -> pl.Series:
    """Return a column as recodings compare it: categories by their text."""
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values


def _read_leaves(hierarchy: Hierarchy, dtype: pl.DataType) -> pl.DataFrame:
    """Return each leaf as text and as a value of the type, which is missing where it cannot be read."""
    leaves = pl.Series("leaf", list(hierarchy.leaves), pl.String)
    return pl.DataFrame({"leaf": leaves, "value": read_as(leaves, dtype)})


def _listed(values: tuple[str, ...]) -> str:
    names = ", ".join(shown(value) for value in values[:LISTED_VALUES])
    n_more = len(values) - LISTED_VALUES
    return f"{names} and {n_more:,} more" if n_more > 0 else names
