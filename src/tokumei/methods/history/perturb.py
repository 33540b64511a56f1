"""Cells moved a little, at random, within what the contests allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.engines.item_sets import Floats, positions
from tokumei.methods.history.steps import Changed, HistoryStep, all_rows

# The most that the contests' files can hold: what is no more stays so.
MOST_PRICE, MOST_QUANTITY = 99_999.99, 999_999
# An amount keeps as many decimals as it had: the first of these that it can be written with, or the last.
PRICE_DECIMALS, WEIGHT_DECIMALS = (2, 4, 6), (3, 6)
# Where all are whole, as those in yen.
WHOLE = (0,)
# What floating point adds to a whole number of smallest parts.
HAIR = 1e-6
# Items that begin alike are of one kind, as far as the contests' attackers know.
GROUP_CHARACTERS = 2


@dataclass(frozen=True)
class Perturb(HistoryStep):
    """Move dates, quantities, prices and items a little at random.

    | original                        | released                        |
    |---------------------------------|---------------------------------|
    | 2011/2/28, 22431, 1.95, 60      | 2011/2/26, 22431, 1.91, 63      |

    A date stays in its month, a price keeps its decimals (two at least, unless all prices are whole) and its sign, as
    those of refunds, and a quantity never becomes 0 (rounding leaves small quantities as they are). An exchanged item
    becomes one of the same group, drawn as often as the group's items are bought, which may be the same again; its
    price and quantity stay. An option of 0 leaves its column alone.
    """

    days: int = field(default=3, metadata={"help": "Most days a date moves, within its month."})
    quantities: float = field(default=0.1, metadata={"help": "Most that a quantity changes, as a share of itself."})
    prices: float = field(default=0.05, metadata={"help": "Most that a price changes, as a share of itself."})
    items: float = field(
        default=0.0, metadata={"help": "Share of rows whose item is exchanged for one with the same two characters."}
    )
    hides_times: bool = field(
        default=False,
        metadata={"help": "Write 0:00 as the time of every purchase."},
    )
    whole_baskets: bool = field(
        default=True, metadata={"help": "Move all that a customer bought on a day to the same new date."}
    )

    def change(self, history: History, *, seed: int) -> Changed:
        """Change the cells of the rows that are not deleted."""
        self.check_options()
        rows = history.frame.with_row_index("row")
        is_kept = pl.col("customer").is_not_null()
        kept = rows.filter(is_kept)
        if self.days:
            kept = self._move_dates(kept, generator(seed, "perturb", "days"))
        if self.hides_times:
            # What has no time at all stays so.
            kept = kept.with_columns(time=pl.when(pl.col("time").is_not_null()).then(pl.time(0, 0)))
        if self.quantities:
            kept = self._change_quantities(kept, generator(seed, "perturb", "quantities"))
        if self.prices:
            kept = self._change_prices(kept, generator(seed, "perturb", "prices"))
        if self.items:
            kept = self._exchange_items(kept, generator(seed, "perturb", "items"))
        frame = pl.concat([kept, rows.filter(~is_kept)]).sort("row").drop("row")
        return Changed(History(frame, history.name), all_rows(history))

    def check_options(self) -> None:
        """Refuse options beyond their ends."""
        if self.days < 0:
            raise InputError.of("0 or more days", option="days", value=self.days)
        for name in ("quantities", "prices", "items"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))

    def _move_dates(self, kept: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        """Draw each date evenly from the days of its month that are near enough."""
        together = kept.select(pl.struct("customer", "date").rank("dense")).to_series()
        luck = rng.random(kept.height)
        if self.whole_baskets:
            luck = luck[positions(together)]
        date = pl.col("date")
        # Days of an even draw, cut at the month's ends before drawing: no heap of rows on the first and the last.
        earliest = pl.max_horizontal(date.cast(pl.Int32) - self.days, date.dt.month_start().cast(pl.Int32))
        latest = pl.min_horizontal(date.cast(pl.Int32) + self.days, date.dt.month_end().cast(pl.Int32))
        moved = earliest + (pl.Series(luck) * (latest - earliest + 1)).floor().cast(pl.Int32)
        return kept.with_columns(date=moved.cast(pl.Date))

    def _change_quantities(self, kept: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        amounts, factors = kept["quantity"].to_numpy(), _factors(kept.height, self.quantities, rng)
        if kept.schema["quantity"].is_float():
            # Weighed goods: decimals stay decimals.
            return kept.with_columns(quantity=pl.Series(_scaled(amounts, factors, WEIGHT_DECIMALS)))
        changed = _scaled(amounts, factors, WHOLE, MOST_QUANTITY)
        return kept.with_columns(quantity=pl.Series(changed).cast(pl.Int64))

    def _change_prices(self, kept: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        amounts, factors = kept["price"].to_numpy(), _factors(kept.height, self.prices, rng)
        decimals = WHOLE if np.all(np.abs(amounts - np.rint(amounts)) < HAIR) else PRICE_DECIMALS
        return kept.with_columns(price=pl.Series(_scaled(amounts, factors, decimals, MOST_PRICE)))

    def _exchange_items(self, kept: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        """Replace the item of a share of the rows by that of a row of the same group."""
        group = positions(kept["item"].str.slice(0, GROUP_CHARACTERS))
        by_group = np.argsort(group, kind="stable")
        sizes = np.bincount(group)
        starts = np.cumsum(sizes) - sizes
        drawn = by_group[starts[group] + np.floor(rng.random(len(group)) * sizes[group]).astype(np.int64)]
        is_exchanged = rng.permutation(len(group)) < round(self.items * len(group))
        return kept.with_columns(item=kept["item"].gather(np.where(is_exchanged, drawn, np.arange(len(group)))))


def _scaled(amounts: npt.NDArray[Any], factors: Floats, decimals: Sequence[int], most: float = math.inf) -> Floats:
    """Multiply amounts, and round each to its decimals; none changes its sign, becomes 0 or comes beyond most."""
    own, changed = np.abs(amounts), np.abs(amounts * factors)
    out = np.zeros(len(own))
    is_open = np.ones(len(own), np.bool_)
    for number in decimals:
        parts = own * 10.0**number
        here = is_open & ((np.abs(parts - np.rint(parts)) < HAIR) | (number == decimals[-1]))
        out[here] = np.maximum(np.round(changed[here], number), 10.0**-number)
        is_open &= ~here
    sizes: Floats = np.sign(amounts) * np.where(own <= most, np.minimum(out, most), out)
    return sizes


def _factors(n: int, most: float, rng: np.random.Generator) -> Floats:
    """Draw factors evenly from 1 − most to 1 + most."""
    return 1 + most * (2 * rng.random(n) - 1)
