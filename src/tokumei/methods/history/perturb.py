"""Cells moved a little, at random, within what the contests allow."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator, key_of
from tokumei.engines.changing import ChangingRows, Rows
from tokumei.engines.draws import BITS, drawn_alike, drawn_numbers
from tokumei.engines.item_sets import Floats, positions
from tokumei.engines.staging import months_of
from tokumei.methods.history.steps import StepAnywhere

# The most that the contests' files can hold: what is no more stays so.
MOST_PRICE, MOST_QUANTITY = 99_999.99, 999_999
# An amount keeps as many decimals as it had: the first of these that it can be written with, or the last.
PRICE_DECIMALS, WEIGHT_DECIMALS = (2, 4, 6), (3, 6)
# Where all are whole, as those in yen.
WHOLE = (0,)
# Of a number that is drawn for a row, the upper half moves its date or its quantity, the lower its price.
HALF, LOWER_HALF = np.uint64(BITS), np.uint64(2**BITS - 1)
# What floating point adds to a whole number of smallest parts.
HAIR = 1e-6
# Items that begin alike are of one kind, as far as the contests' attackers know.
GROUP_CHARACTERS = 2


@dataclass(frozen=True)
class Perturb(StepAnywhere):
    """Move dates, quantities, prices and items a little at random.

    | original                        | released                        |
    |---------------------------------|---------------------------------|
    | 2011/2/28, 22431, 1.95, 60      | 2011/2/26, 22431, 1.91, 63      |

    A date stays in its month, a price keeps its decimals (two at least, unless all prices are whole) and its sign, as
    those of refunds, and a quantity never becomes 0 (rounding leaves small quantities as they are). An exchanged item
    becomes one of the same group, drawn as often as the group's items are bought, which may be the same again; its
    price and quantity stay. An option of 0 leaves its column alone; a column that the history lacks needs none.
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

    def change_rows(self, rows: Rows, *, seed: int) -> Rows:
        """Change the cells of the rows that are not deleted."""
        self.check_options()
        changed = {name for name in ("item", "price", "quantity") if name not in rows.absent}
        decimals = WHOLE if self.prices and "price" in changed and _are_whole(rows) else PRICE_DECIMALS
        return rows.mapped(partial(self._changed, seed=seed, decimals=decimals, changed=changed))

    def _changed(
        self, rows: pl.DataFrame, first: int, *, seed: int, decimals: Sequence[int], changed: Collection[str]
    ) -> pl.DataFrame:
        """Change the cells of rows, the first of which stands at a place."""
        cells: dict[str, pl.Series | pl.Expr] = {}
        if self.days:
            cells["date"] = self._moved(rows, first, key_of(seed, "perturb", "days"))
        if self.hides_times:
            # What has no time at all stays so.
            cells["time"] = pl.when(pl.col("time").is_not_null()).then(pl.time(0, 0))
        numbers = drawn_numbers(key_of(seed, "perturb", "amounts"), first, rows.height)
        if self.quantities and "quantity" in changed:
            is_whole = not rows.schema["quantity"].is_float()
            # Weighed goods: decimals stay decimals.
            to, most = (WHOLE, MOST_QUANTITY) if is_whole else (WEIGHT_DECIMALS, math.inf)
            scaled = _scaled(rows["quantity"], _factors(numbers >> HALF, self.quantities), to, most)
            cells["quantity"] = scaled.cast(rows.schema["quantity"])
        if self.prices and "price" in changed:
            factors = _factors(numbers & LOWER_HALF, self.prices)
            cells["price"] = _scaled(rows["price"], factors, decimals, MOST_PRICE)
        if self.items and "item" in changed:
            cells["item"] = self._exchanged(rows["item"], generator(seed, "perturb", "items"))
        return rows.with_columns(**cells)

    def check_options(self) -> None:
        """Refuse options beyond their ends."""
        if self.days < 0:
            raise InputError.of("0 or more days", option="days", value=self.days)
        for name in ("quantities", "prices", "items"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))

    def _moved(self, rows: pl.DataFrame, first: int, key: str) -> pl.Series:
        """Draw each date evenly from the days of its month that are near enough."""
        date = rows["date"].to_physical().cast(pl.Int64)
        if self.whole_baskets:
            drawn = drawn_alike(key, date, rows["customer"])
        else:
            drawn = pl.Series((drawn_numbers(key, first, rows.height) >> HALF).astype(np.int64))
        month = months_of(rows["date"]).with_columns(date=date, drawn=drawn)
        # Days of an even draw, cut at the month's ends before drawing: no heap of rows on the first and the last.
        earliest = pl.max_horizontal(pl.col("date") - self.days, "first")
        latest = pl.min_horizontal(pl.col("date") + self.days, "last")
        moved = earliest + (pl.col("drawn") * (latest - earliest + 1)) // 2**BITS
        # Of a deleted row, which has no date, there is no end to cut at.
        return month.select(pl.when(pl.col("date").is_not_null()).then(moved).cast(pl.Int32).cast(pl.Date)).to_series()

    def _exchanged(self, items: pl.Series, rng: np.random.Generator) -> pl.Series:
        """Replace the item of a share of the rows by that of a row of the same group."""
        kept = items.is_not_null().arg_true().to_numpy()
        group = positions(items.drop_nulls().str.slice(0, GROUP_CHARACTERS))
        by_group = np.argsort(group, kind="stable")
        sizes = np.bincount(group)
        starts = np.cumsum(sizes) - sizes
        drawn = by_group[starts[group] + np.floor(rng.random(len(group)) * sizes[group]).astype(np.int64)]
        is_exchanged = rng.permutation(len(group)) < round(self.items * len(group))
        source = np.arange(len(items))
        source[kept[is_exchanged]] = kept[drawn[is_exchanged]]
        return items.gather(source)


def _are_whole(rows: ChangingRows) -> bool:
    """Whether all prices are whole, as those in yen."""
    import narwhals as nw

    price = nw.col("price")
    broken = rows.rows.filter((price - (price + 0.5).floor()).abs() >= HAIR)
    return rows.collect(broken.select("row").head(1)).is_empty()


def _scaled(amounts: pl.Series, factors: Floats, decimals: Sequence[int], most: float) -> pl.Series:
    """Multiply amounts, and round each to its decimals; none changes its sign, becomes 0 or comes beyond most."""
    values = amounts.cast(pl.Float64).fill_null(0.0).to_numpy()
    own, changed = np.abs(values), np.abs(values * factors)
    *fewer, last = decimals
    sizes = _rounded(changed, last)
    for number in reversed(fewer):
        parts = own * 10.0**number
        sizes = np.where(np.abs(parts - np.rint(parts)) < HAIR, _rounded(changed, number), sizes)
    sizes = np.where(own <= most, np.minimum(sizes, most), sizes)
    scaled = pl.Series(np.sign(values) * sizes)
    return scaled.zip_with(amounts.is_not_null(), amounts.cast(pl.Float64)) if amounts.null_count() else scaled


def _rounded(sizes: Floats, decimals: int) -> Floats:
    """Round sizes to so many decimals, halves up, but not to 0."""
    per_unit = 10.0**decimals
    rounded: Floats = np.maximum(np.floor(sizes * per_unit + 0.5) / per_unit, 1 / per_unit)
    return rounded


def _factors(drawn: npt.NDArray[np.uint64], most: float) -> Floats:
    """Make factors from 1 − most to 1 + most of numbers below 2³²."""
    factors: Floats = 1 + most * (2 * (drawn / 2**BITS) - 1)
    return factors
