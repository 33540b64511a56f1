"""Purchases whose cells are coarsened one by one, whoever bought them: simple releases of PWSCUP 2018."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History

# Items that follow each other in the shop's list are mostly alike.
ITEMS_A_SET = 10
# A range of prices goes from a whole number to just under the next.
CENTS, CENT = 0.99, 0.01


@dataclass(frozen=True)
class CoarseCells:
    """Write a number for each customer, and cells that say less; a column not chosen stays as it is.

    | original                       | released, all columns                                          |
    |--------------------------------|----------------------------------------------------------------|
    | 12352, 2011/2/16, 22728, 4, 12 | 7, [2011/2/1;2011/2/28], {22720;…;22729}, [4;4.99], [8;15]     |
    """

    dates: bool = False
    items: bool = False
    numbers: bool = False
    hides_items: bool = False

    def anonymize(self, original: History, *, seed: int) -> GeneralizedHistory:
        """Write the rows in their order."""
        frame = original.frame
        customers = pl.Series("customer", original.customers)
        names = pl.Series(generator(seed, "pseudonyms").permutation(len(customers)) + 1).cast(pl.String)
        cells = replace(
            GeneralizedHistory.of(original, name="A"),
            customer=frame["customer"].replace_strict(customers, names, return_dtype=pl.String),
        )
        if self.dates:
            cells = replace(cells, date=_ranges(frame["date"].dt.month_start(), frame["date"].dt.month_end()))
        if self.items:
            cells = replace(cells, item=_neighbors(frame["item"]))
        if self.hides_items:
            cells = replace(cells, item=SetCells.of(pl.repeat(None, frame.height, dtype=pl.String, eager=True)))
        if self.numbers:
            whole = frame["price"].floor()
            cells = replace(
                cells,
                # Nothing costs 0.
                price=_ranges(whole.clip(lower_bound=CENT), (whole + CENTS).round(2)),
                quantity=_doublings(frame["quantity"]),
            )
        return cells


def _ranges(low: pl.Series, high: pl.Series) -> RangeCells:
    kind = pl.repeat(Kind.RANGE.value, len(low), dtype=pl.UInt8, eager=True)
    return RangeCells(kind.alias("kind"), low.alias("low"), high.alias("high"))


def _doublings(quantity: pl.Series) -> RangeCells:
    """Return the range of each quantity from one power of two to the next: 1, 2–3, 4–7, …; 0 is alone."""
    # Exact, where a logarithm may fall a hair short of a whole number.
    exponent = np.frexp(quantity.to_numpy().astype(np.float64))[1].astype(np.int64)
    low = np.where(exponent > 0, 2 ** np.maximum(exponent - 1, 0), 0)
    high = np.minimum(np.where(exponent > 0, 2 * low - 1, 0), 999_999)
    return _ranges(pl.Series(low), pl.Series(high))


def _neighbors(item: pl.Series) -> SetCells:
    """Return each item with its neighbors in alphabetical order, always the same set for the same item."""
    items = item.unique().sort()
    sets = pl.DataFrame({"item": items, "number": np.arange(len(items)) // ITEMS_A_SET}).with_columns(
        members=pl.col("item").implode().over("number", mapping_strategy="join")
    )
    members = item.to_frame("item").join(sets, on="item", how="left", maintain_order="left")["members"]
    kind = pl.repeat(Kind.SET.value, len(item), dtype=pl.UInt8, eager=True)
    return SetCells(kind.alias("kind"), members)
