"""Dummy rows on an engine: who lacks what is decided here, by item sets; the rows beside which dummies stand are there.

With the same seed the dummies are those of the method in memory, row by row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.seeds import generator, key_of
from tokumei.engines.chance import DrawnBeside
from tokumei.engines.draws import whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.engines.item_sets import ItemSets
from tokumei.engines.places import place
from tokumei.methods.history.dummies import Dummies, Places, found_of, missing_items


def dummies(method: Dummies, history: EngineHistory, *, seed: int, name: str) -> EngineHistory:
    """Add dummies between the rows, which get other numbers in the same order."""
    there = history.kept
    sets = ItemSets.of_pairs(history.fetch(there.select("customer", "item").distinct()))
    if len(sets.customers) == 0:
        return history
    labels = method.assign(sets, seed=seed)
    missing = missing_items(sets, labels)
    history = replace(history, found={**history.found, **found_of(labels)})
    if missing.is_empty():
        return history
    n_of = {
        column: history.fetch(there.group_by(column).aggregate(n=lambda some: some.count()))
        for column in ("customer", "item")
    }
    places = Places.drawn(missing, n_of, generator(seed, "dummies", "rows"))
    drawn = _drawn_rows(history, missing, places, name)
    beside = history.fetch(drawn.select("dummy", "beside")).sort("dummy")["beside"].to_numpy()
    before, how_far = places.gaps(beside)
    in_gap = _numbered_within(before, how_far)
    # So many numbers for each row and the dummies before it, the last of them its own: no row waits for another's.
    width = int(in_gap.max()) + 2
    numbers = pl.DataFrame({"dummy": np.arange(len(before)), "number": before * width + in_gap})
    # Chance of their own: that of the row beside them would change a dummy as its neighbor is changed.
    drawn_before = history.staged.drawn
    own = DrawnBeside({key_of(seed, "dummies", key): n for key, n in drawn_before.of_rows.items()})
    chance = own.for_rows(0, len(before)).cast(pl.Int64)
    chance.columns = [f"own_{column}" for column in drawn_before.row_columns]
    numbers = numbers.hstack(chance)
    made = _made_rows(history, drawn, history.given(f"{name}-numbers", numbers))
    rows = history.table.mutate(row=history.table.row * whole_number(width) + whole_number(width - 1))
    together = rows.select(*rows.columns).union(history.keep(f"{name}-dummies", made).select(*rows.columns))
    staged = replace(history.staged, n_rows=history.staged.n_rows + missing.height)
    return replace(history, table=together, staged=staged, n_numbers=(history.n_numbers + 1) * width)


def _drawn_rows(history: EngineHistory, missing: pl.DataFrame, places: Places, name: str) -> Any:
    """Find the drawn rows by their number among those of the customer, and of the item."""
    listed = missing.select(
        dummy=pl.int_range(pl.len(), dtype=pl.Int64),
        who="customer",
        what="item",
        of_customer=pl.Series(places.of_customer),
        of_item=pl.Series(places.of_item),
    )
    wanted = history.given(f"{name}-wanted", listed)
    owned, sold = (_counted_up(history, column, row) for column, row in (("customer", "beside"), ("item", "like")))
    found = wanted.inner_join(owned, [wanted.who == owned.customer, wanted.of_customer == owned.at_customer])
    found = found.select("dummy", "what", "of_item", "beside")
    found = found.inner_join(sold, [found.what == sold.item, found.of_item == sold.at_item])
    return history.keep(f"{name}-drawn", found.select("dummy", "what", "beside", "like"))


def _counted_up(history: EngineHistory, column: str, row: str) -> Any:
    """Count up the rows of each value of a column, from 0, in their order."""
    there = history.kept
    at = place(there[column], [there.row])
    return there.select(**{column: there[column], f"at_{column}": at, row: there.row})


def _made_rows(history: EngineHistory, drawn: Any, numbers: Any) -> Any:
    """Return each dummy with the invoice, date and time of its customer's row, and price and quantity of its item's."""
    amounts = {"its_price": "price", "its_quantity": "quantity", "like_row": "row"}
    theirs = history.kept.select(**{name: history.kept[column] for name, column in amounts.items()})
    chance = {column: f"own_{column}" for column in history.staged.drawn.row_columns}
    numbered = drawn.inner_join(numbers, drawn.dummy == numbers.dummy).select(
        "number", "what", "beside", "like", *chance.values()
    )
    priced = numbered.inner_join(theirs, numbered["like"] == theirs.like_row)
    own = history.kept
    joined = own.inner_join(priced, own.row == priced.beside)
    own_chance = {column: joined[name] for column, name in chance.items()}
    cells = {"item": joined.what, "price": joined.its_price, "quantity": joined.its_quantity}
    return joined.mutate(row=joined.number, **cells, **own_chance)


def _numbered_within(before: np.ndarray[Any, Any], how_far: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Count up the dummies of each gap in their order."""
    order = np.lexsort((how_far, before))
    gaps = before[order]
    starts = np.flatnonzero(np.append(True, gaps[1:] != gaps[:-1]))
    within = np.empty(len(order), np.int64)
    within[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return within
