"""Items in categories in the place of articles."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.hierarchies.files import read_hierarchy
from tokumei.hierarchies.items import roll_up
from tokumei.methods.steps import Changed, HistoryStep, all_rows


@dataclass(frozen=True)
class RollUp(HistoryStep):
    """Put the category of each item in its place, by an item hierarchy.

    | original, released at level 0 | level 1   | level 2 |
    |-------------------------------|-----------|---------|
    | green tea                     | tea       | drinks  |
    | orange juice                  | juice     | drinks  |

    The hierarchy is a file as for tables: a line an item, the item first and what it is called at each level after it.
    Without one, the category of an item is its first characters, two as in the contests. Dates, prices and quantities
    stay as they are.
    """

    hierarchy: str | None = field(
        default=None,
        metadata={
            "help": "File of the item hierarchy; none: items are cut to their first characters.",
            "is_file": True,
        },
    )
    level: int = field(default=1, metadata={"help": "Level of the hierarchy, 0 for the items themselves."})
    characters: int = field(default=2, metadata={"help": "First characters that are kept without a hierarchy."})

    def change(self, history: History, *, seed: int) -> Changed:  # noqa: ARG002 - Nothing is drawn.
        """Roll the items up."""
        if self.characters < 1:
            raise InputError.of("one character or more", option="characters", value=self.characters)
        if self.level < 0:
            raise InputError.of("0 or more", option="level", value=self.level)
        if self.hierarchy is not None:
            return Changed(roll_up(history, read_hierarchy(self.hierarchy, "item"), self.level), all_rows(history))
        kinds = history.frame.with_columns(pl.col("item").str.slice(0, self.characters))
        return Changed(History(kinds, history.name) if self.level else history, all_rows(history))
