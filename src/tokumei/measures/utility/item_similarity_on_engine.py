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
from tokumei.engines.draws import place, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility import item_similarity as here
from tokumei.measures.utility.item_similarity import Floats, Matrix, Weigh
from tokumei.measures.utility.purchases import top_items as most_bought

Columns = sparse.csc_array[Any]
# Cells of users and items that are in memory at once, and numbers of the items' products.
MOST_CELLS = 8_000_000
MOST_PRODUCTS = 32_000_000


def item_cf(part: here.ItemCf, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare all that was bought, in purchases or in pieces."""
    part.check_options()
    counts_rows = part.count == "purchases"
    return score("item-cf", before, after, here.as_it_is, counts_rows=counts_rows, diagonal=part.diagonal)


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
    name: str,
    before: EngineHistory,
    after: EngineHistory,
    weigh: Weigh,
    items: list[str] | None = None,
    *,
    counts_rows: bool = False,
    diagonal: bool = False,
) -> Score:
    """Compare the similarities of both."""
    sold = before.fetch(before.kept.select("item").distinct())["item"].sort()
    # Where the items that are compared stand among all that are sold.
    at = {item: number for number, item in enumerate(sold)}
    chosen = np.array([at[item] for item in (sold if items is None else items)], np.int64)
    named = ((before, "before"), (after, "after"))
    sides = [_Side.of(history, side, weigh, sold, counts_rows=counts_rows) for history, side in named]
    squares = [one.squares()[chosen] for one in sides]
    # An item that counts for nobody is similar to none in the original, so its pairs are never compared.
    used = np.flatnonzero(squares[0])
    panels = [_Panels(side, chosen[used]) for side in sides]
    scale, scale_after = (here.inverse_norms(one[used]) for one in squares)
    value = here.distance(len(used), scale, scale_after, panels[0].products, panels[1].products, diagonal=diagonal)
    return Score(name, value, best=0, worst=1)


@dataclass(frozen=True, eq=False)
class _Side:
    """The sums of users and items of one history, kept on its engine by numbers: text takes several times as long."""

    history: EngineHistory
    # Number of the user, number of the item among all that are sold in the original, and the sum.
    cells: Any
    n_parts: int
    weigh: Weigh
    n_items: int

    @classmethod
    def of(cls, history: EngineHistory, name: str, weigh: Weigh, sold: pl.Series, *, counts_rows: bool) -> _Side:
        counts_rows = counts_rows or "quantity" not in history.roles
        if not (counts_rows or history.staged.is_whole):
            raise InputError.of("whole quantities, or the local engine", file=history.staged.name, column="quantity")
        rows = history.kept
        everyone = rows.select(who=rows.customer).distinct()
        # In any order: which numbers stand together changes no sum.
        users = history.keep(f"users-{name}", everyone.mutate(user=place(None, [everyone.who])))
        items = history.given(f"items-{name}", pl.DataFrame({"what": sold, "number": np.arange(len(sold))}))
        numbered = rows.inner_join(users, rows.customer == users.who).inner_join(items, rows["item"] == items.what)
        sums = numbered.group_by("user", "number").aggregate(
            total=lambda some: some.count() if counts_rows else some.quantity.sum().cast("int64")
        )
        n_parts = max(1, math.ceil(history.staged.n_kept / MOST_CELLS))
        # The same for all measures of one run that count alike.
        kept = f"user-{'rows' if counts_rows else 'items'}-{name}"
        return cls(history, history.keep(kept, sums), n_parts, weigh, len(sold))

    def squares(self) -> Floats:
        """Sum the squares of each item's column, of how often each sum stands there."""
        counted = self.history.fetch(self.cells.group_by("number", "total").aggregate(n=lambda some: some.count()))
        weights = self.weigh(counted["total"].to_numpy()).astype(np.float64)
        squares: Floats = np.bincount(
            counted["number"].to_numpy(), weights * weights * counted["n"].to_numpy(), minlength=self.n_items
        ).astype(np.float64)
        return squares

    def matrix(self, part: int, used: Any) -> Columns:
        """Return some of the users with all that they bought of the items used, by columns."""
        is_in_part = self.cells.user % whole_number(self.n_parts) == whole_number(part)
        cells = self.history.fetch(self.cells.filter(is_in_part).select("user", "number", "total"))
        column_of = np.full(self.n_items, -1, np.int32)
        column_of[used] = np.arange(len(used))
        users = (cells["user"].to_numpy() // self.n_parts).astype(np.int32)
        columns = column_of[cells["number"].to_numpy()]
        weights = self.weigh(cells["total"].to_numpy()).astype(np.float64)
        counts = (columns >= 0) & (weights != 0)
        shape = int(users.max(initial=-1)) + 1, len(used)
        matrix: Columns = sparse.coo_array((weights[counts], (users[counts], columns[counts])), shape=shape).tocsc()
        return matrix


class _Panels:
    """The products of all pairs of items, some items' at a time; the next ones when these are asked for."""

    def __init__(self, side: _Side, used: Any) -> None:
        self.side, self.used = side, used
        blocks = max(1, MOST_PRODUCTS // max(1, len(used)) // here.BLOCK_ITEMS)
        self.height = blocks * here.BLOCK_ITEMS
        self.start = -self.height
        self.panel: Floats = np.zeros((0, 0))

    def products(self, start: int) -> Matrix:
        """Return the products of the block of items from `start` (rows) with all from there on (columns)."""
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
            # Each pair of items is asked for once, with the later one in the column. The block stands on the right:
            # what is added up at once is then a row of it, and not one of all items.
            for top in range(0, height, here.BLOCK_ITEMS):
                bottom = min(top + here.BLOCK_ITEMS, height)
                some = counts[:, top:].T @ counts[:, top:bottom].tocsr()
                self.panel[top:bottom, top:] += some.toarray().T
