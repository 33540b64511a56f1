"""Rows deleted because they give their customer away, or at random."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.engines.item_sets import Floats, Ints
from tokumei.methods.steps import Changed, HistoryStep, without_rows

# What the six sample attackers of PWSCUP 2017 compare; `group` is an item's first two characters.
COMPARED = (
    ("date", "quantity"),
    ("group", "price"),
    ("group", "quantity"),
    ("date", "group"),
    ("group", "price", "quantity"),
    ("group", "date", "quantity"),
)


@dataclass(frozen=True)
class Delete(HistoryStep):
    """Delete the rows that are singular, then those that give most away, then some at random.

    | rule                | deletes                                                                          |
    |---------------------|----------------------------------------------------------------------------------|
    | `once`              | items with a single row in the whole history                                     |
    | `price_deviations`  | prices beyond the mean by more than so many standard deviations                  |
    | `telling`           | the share of rows that fewest customers share by date, kind of item, price, quantity |
    | `random`            | a share of the rows, each with the same chance                                   |

    The rules apply in this order, each to the rows that those before it left, and stop when the largest share
    is reached. Shares are of all rows, those deleted earlier included. A deleted row is missing in every column. Of a
    history that lacks prices or items, as visits do, `telling` compares what it has.
    """

    once: bool = field(default=True, metadata={"help": "Delete items bought only once."})
    price_deviations: float = field(
        default=4.0, metadata={"help": "Standard deviations from the mean beyond which a price is deleted; 0: none is."}
    )
    telling: float = field(default=0.0, metadata={"help": "Share of rows to delete that give most away."})
    random: float = field(default=0.0, metadata={"help": "Share of rows to delete at random."})
    most: float = field(default=0.5, metadata={"help": "Largest share of rows that may be deleted in all."})

    def change(self, history: History, *, seed: int) -> Changed:
        """Delete rows; the others stay as they are."""
        self.check_options()
        rows = history.frame.with_row_index("row").filter(pl.col("customer").is_not_null())
        # In random order, so that a rule that is cut short does not spare the end of the file.
        rows = rows[generator(seed, "delete").permutation(rows.height)]
        is_deleted = history.frame["customer"].is_null().to_numpy().copy()
        # A hair is added, since 0.29 · 100 is 28.999….
        n_most = int(self.most * history.n_rows + 1e-9)
        compared = compared_without(history.absent)
        for candidates, n_wanted in self._rules(rows, history.n_rows, compared):
            left = candidates[~is_deleted[candidates]]
            n_allowed = max(0, n_most - int(is_deleted.sum()))
            is_deleted[left[: min(n_wanted, n_allowed)]] = True
        return without_rows(history, is_deleted)

    def _rules(
        self, rows: pl.DataFrame, n_rows: int, compared: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[Ints, int]]:
        """Yield for each rule the rows it would delete, first ones first, and how many of them at most."""
        number = rows["row"].to_numpy()
        if self.once:
            yield number[rows.select(pl.col("item").is_unique()).to_series().to_numpy()], n_rows
        if self.price_deviations and rows.height:
            price = rows["price"].to_numpy()
            # A hair is added, since the mean of equal prices can differ from them in its last digit.
            yield number[np.abs(price - price.mean()) > self.price_deviations * price.std() + 1e-9], n_rows
        if self.telling:
            yield number[np.argsort(-_giveaway(rows, compared), kind="stable")], round(self.telling * n_rows)
        yield number, round(self.random * n_rows)

    def check_options(self) -> None:
        """Refuse options beyond their ends."""
        for name in ("telling", "random", "most"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if self.price_deviations < 0:
            raise InputError.of("0 or more", option="price_deviations", value=self.price_deviations)


def compared_without(absent: Collection[str]) -> Sequence[tuple[str, ...]]:
    """Return what attackers can compare of a history that lacks some columns; dates alone if nothing else."""
    gone = {"group" if column == "item" else column for column in absent}
    return [columns for columns in COMPARED if not gone & set(columns)] or [("date",)]


def _giveaway(rows: pl.DataFrame, compared: Sequence[tuple[str, ...]]) -> Floats:
    """Return how much each row gives away: 1 / the number of customers alike, summed over what attackers compare."""
    grouped = rows.with_columns(group=pl.col("item").str.slice(0, 2))
    chances = [1 / pl.col("customer").n_unique().over(columns) for columns in compared]
    return grouped.select(pl.sum_horizontal(chances).round(9)).to_series().to_numpy()
