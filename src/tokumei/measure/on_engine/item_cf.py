"""Item–item similarities of a history on an engine: users' sums are made there, and multiplied here part by part.

Users are independent, so that the products of all are the sum of those of some. Sums of whole numbers are exact: the
digits are those of the same measure in memory, however the users are divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.counting.draws import BITS, Draws, whole_number
from tokumei.counting.engine_history import EngineHistory
from tokumei.measure.on_engine.rows import most_bought
from tokumei.measure.utility import _item_cf as here
from tokumei.measure.utility._item_cf import Floats, Matrix, Weigh

# Cells of users and items that are in memory at once, and numbers of the items' products.
MOST_CELLS = 4_000_000
MOST_PRODUCTS = 32_000_000


def item_cf_supply(part: here.ItemCfSupply, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare whole dozens, up to a number of them."""
    part.check_options()
    return score("item-cf-supply", before, after, lambda total: np.minimum(here.in_dozens(total), part.most_dozens))


def item_cf_retail(_: Any, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare pieces below a dozen."""
    return score("item-cf-retail", before, after, here.below_a_dozen)


def item_cf_top(part: here.ItemCfTop, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare who bought the most bought items."""
    part.check_options()
    return score("item-cf-top", before, after, here.is_bought, most_bought(before, part.k))


def item_item(part: here.ItemItem, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare as in 2018."""
    items = most_bought(before, here.TOP) if part.kind == "top" else None
    return score(f"item-item {part.kind}", before, after, part.weigh, items)


def score(
    name: str, before: EngineHistory, after: EngineHistory, weigh: Weigh, items: list[str] | None = None
) -> Score:
    """Compare the similarities of both."""
    if items is None:
        items = before.fetch(before.kept.select("item").distinct())["item"].sort().to_list()
    listed = pl.Series(items, dtype=pl.String)
    sides = [_Side.of(history, side, weigh, listed) for history, side in ((before, "before"), (after, "after"))]
    squares = [one.squares() for one in sides]
    # An item that counts for nobody is similar to none in the original, so its pairs are never compared.
    used = np.flatnonzero(squares[0])
    panels = [_Panels(side, used) for side in sides]
    scale, scale_after = (here.inverse_norms(one[used]) for one in squares)
    value = here.distance(len(used), scale, scale_after, panels[0].products, panels[1].products)
    return Score(name, value, best=0, worst=1)


@dataclass(frozen=True, eq=False)
class _Side:
    """The sums of users and items of one history, kept on its engine, in parts that no user is divided among."""

    history: EngineHistory
    cells: Any
    n_parts: int
    weigh: Weigh
    items: pl.Series

    @classmethod
    def of(cls, history: EngineHistory, name: str, weigh: Weigh, items: pl.Series) -> _Side:
        if not history.staged.is_whole:
            raise InputError.of("whole quantities, or the local engine", file=history.staged.name, column="quantity")
        rows = history.kept
        sums = rows.group_by("customer", "item").aggregate(
            total=lambda some: some.quantity.sum().cast("int64") if "quantity" in history.roles else some.count()
        )
        bits = max(0, math.ceil(math.log2(max(1, history.staged.n_kept) / MOST_CELLS)))
        draws = Draws.of(history.engine, "", sums.customer)
        part = draws.whole() >> (BITS - bits) if bits else whole_number(0)
        # The same for all measures of one run.
        return cls(history, history.keep(f"user-items-{name}", sums.mutate(part=part)), 1 << bits, weigh, items)

    def squares(self) -> Floats:
        """Sum the squares of each item's column, of how often each sum stands there."""
        counted = self.history.fetch(self.cells.group_by("item", "total").aggregate(n=lambda some: some.count()))
        column = counted["item"].cast(pl.Enum(self.items), strict=False).to_physical()
        is_listed = column.is_not_null().to_numpy()
        weights = self.weigh(counted["total"].to_numpy()).astype(np.float64)
        n = counted["n"].to_numpy()
        squares: Floats = np.bincount(
            column.drop_nulls().to_numpy(), (weights * weights * n)[is_listed], minlength=len(self.items)
        ).astype(np.float64)
        return squares

    def matrix(self, part: int, used: Any) -> Matrix:
        """Give the users of one part and what each bought of the items used."""
        some = self.cells.filter(self.cells.part == whole_number(part))
        cells = self.history.fetch(some.select("customer", "item", "total"))
        users = pl.Enum(cells["customer"].unique())
        column = cells["item"].cast(pl.Enum(self.items), strict=False).to_physical()
        is_listed = column.is_not_null().to_numpy()
        rows = cells["customer"].cast(users).to_physical().to_numpy()[is_listed].astype(np.int32)
        weights = self.weigh(cells["total"].to_numpy()[is_listed]).astype(np.float64)
        places = rows, column.drop_nulls().to_numpy().astype(np.int32)
        matrix: Matrix = sparse.coo_array((weights, places), shape=(len(users.categories), len(self.items))).tocsr()
        matrix.eliminate_zeros()
        used_alone: Matrix = matrix[:, used]
        return used_alone


class _Panels:
    """The products of all pairs of items, some items' at a time; the next ones when these are asked for."""

    def __init__(self, side: _Side, used: Any) -> None:
        self.side, self.used = side, used
        blocks = max(1, MOST_PRODUCTS // max(1, len(used)) // here.BLOCK_ITEMS)
        self.height = blocks * here.BLOCK_ITEMS
        self.start = -self.height
        self.panel: Floats = np.zeros((0, 0))

    def products(self, start: int) -> Matrix:
        """Give the products of the block of items from `start` (rows) with all from there on (columns)."""
        if not self.start <= start < self.start + self.height:
            self._fill(start)
        top = start - self.start
        block: Matrix = sparse.csr_array(self.panel[top : top + here.BLOCK_ITEMS, top:])
        return block

    def _fill(self, start: int) -> None:
        n_items = len(self.used)
        self.start, height = start, min(self.height, n_items - start)
        self.panel = np.zeros((height, n_items - start))
        for part in range(self.side.n_parts):
            counts = self.side.matrix(part, self.used)[:, start:]
            # Of two items that are compared once, the pair that nobody asks for is not multiplied.
            for top in range(0, height, here.BLOCK_ITEMS):
                block = counts[:, top : min(top + here.BLOCK_ITEMS, height)].T.tocsr()
                some = (block @ counts[:, top:]).tocsr()
                row = np.repeat(np.arange(top, top + block.shape[0]), np.diff(some.indptr))
                self.panel[row, some.indices + top] += some.data
