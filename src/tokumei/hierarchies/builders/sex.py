"""Two values that only the top joins."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import check_covers, hierarchy_of


@dataclass(frozen=True)
class Sex:
    """Sex is told or not told: male and female become *.

    The values are always all there, so that a table of women only has the same levels as any other.
    """

    values: tuple[str, ...] = field(
        default=("male", "female"), metadata={"help": "The values as the column writes them."}
    )

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2 or len(set(self.values)) < len(self.values):
            raise InputError.of("two or more values that differ", option="values", value=", ".join(self.values))

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column that holds no other value."""
        return check_covers(hierarchy_of(attribute, [self.values]), values)
