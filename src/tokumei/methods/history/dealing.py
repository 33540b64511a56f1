"""Groups of customers, and their purchases dealt out within them in blocks of one row of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.text import Json
from tokumei.data.history import History
from tokumei.engines.item_sets import Floats, Ints
from tokumei.methods.history.steps import Changed

OPEN = -1


def classes_by(original: History, column: str, n_classes: int) -> Ints:
    """Return the class of each row by a column of numbers: equal values in one, and about as many rows in each."""
    values = original.frame[column].cast(pl.Float64)
    ordered = values.drop_nulls().sort().to_numpy()
    # Values up to an end are in its class. None is the greatest of all, so that there is a class above each.
    below = ordered[ordered < ordered.max(initial=-np.inf)]
    ends = {
        min(ordered[len(ordered) * number // n_classes - 1], below[-1]) for number in range(1, n_classes) if len(below)
    }
    return np.searchsorted(sorted(ends), values.fill_null(0).to_numpy(), "left").astype(np.int64)


def cells_of(original: History, classes: Ints | None = None) -> pl.Series:
    """Return the cell of each row, which is its month, counted from 0, or its month and class; deleted rows in none."""
    months = (original.period - (original.periods or [0])[0]).cast(pl.Int64)
    return months if classes is None else months * (int(classes.max(initial=0)) + 1) + pl.Series(classes)


def rows_by_cell(original: History, classes: Ints | None = None) -> tuple[pl.Series, Ints]:
    """Return the customers in alphabetical order and the rows of each (down) in each cell (across)."""
    customers = pl.Series("customer", original.customers, pl.String)
    n_classes = 1 if classes is None else int(classes.max(initial=0)) + 1
    n_rows = np.zeros((len(customers), len(original.periods) * n_classes), np.int64)
    rows = original.frame.select("customer", cell=cells_of(original, classes)).drop_nulls()
    rows = rows.join(pl.DataFrame({"customer": customers, "at": np.arange(len(customers))}), on="customer")
    np.add.at(n_rows, (rows["at"].to_numpy(), rows["cell"].to_numpy()), 1)
    return customers, n_rows


@dataclass(frozen=True, eq=False)
class Groups:
    """Customers in alphabetical order, their rows in each cell, and the group of each (−1: left open).

    classes: the class of each row of the original, where cells are months and classes and not months alone.
    """

    customers: pl.Series
    n_rows: Ints
    labels: Ints
    classes: Ints | None = None

    @cached_property
    def members(self) -> list[Ints]:
        """The customers of each group, by number."""
        order = np.argsort(self.labels, kind="stable")
        order = order[self.labels[order] >= 0]
        return np.split(order, np.flatnonzero(np.diff(self.labels[order])) + 1) if len(order) else []

    @property
    def promise(self) -> Json:
        """The bound, what it is made of, and how far a draw may lie from it."""
        n, n_open, n_groups = len(self.labels), int((self.labels == OPEN).sum()), len(self.members)
        return {
            "bound": (n_open + n_groups) / max(1, n),
            "bound_deviation": math.sqrt(n_groups) / max(1, n),
            "open": n_open,
            "groups": n_groups,
            "smallest_group": min((len(one) for one in self.members), default=0),
        }

    @property
    def promise_of_rows(self) -> Json:
        """The bound on purchases given to their buyers, where rows and days are dealt out, and what it is made of."""
        return {
            "attribution_bound": (self.open_rows + sum(self.blocks)) / max(1, self.rows_left),
            "open_rows": self.open_rows,
            "blocks": sum(self.blocks),
        }

    @cached_property
    def blocks(self) -> list[int]:
        """The blocks of each group, which are the rows that each of its customers keeps."""
        return [int(self.n_rows[one].min(axis=0).sum()) for one in self.members]

    @property
    def open_rows(self) -> int:
        """The rows of open customers."""
        return int(self.n_rows[self.labels == OPEN].sum())

    @property
    def rows_left(self) -> int:
        """The rows that are released."""
        return self.open_rows + sum(n * len(one) for n, one in zip(self.blocks, self.members, strict=True))

    @property
    def rows_cut(self) -> int:
        """The rows that are not released."""
        return int(self.n_rows.sum()) - self.rows_left

    @property
    def open_share(self) -> float:
        """The share of the released rows that open customers have."""
        return self.open_rows / max(1, self.rows_left)


def deal(original: History, groups: Groups, deals: str, rng: np.random.Generator) -> pl.DataFrame:
    """Deal the purchases of each group out to as many bundles as it has customers.

    Gives the columns row (of the original), day_of (the row whose day it gets), cell, group and bundle; open
    customers are not among them. In every cell the bundles of a group have as many rows as its customer with the
    fewest, drawn alike from all.
    """
    rows = _rows_of_groups(original, groups)
    least, who, cell = (rows[name].to_numpy() for name in ("least", "number", "cell"))
    # All rows of a basket get one number, so that baskets stay together in the order that is drawn.
    basket = (
        np.arange(rows.height)
        if deals == "rows"
        else rows.select(pl.struct("number", "date").rank("dense")).to_series().to_numpy()
    )
    drawn = rng.random(int(basket.max(initial=0)) + 1)[basket]
    order = np.lexsort((np.arange(rows.height), drawn, cell, who))
    rank = np.empty(rows.height, np.int64)
    rank[order] = _rank_in_runs(who[order], cell[order])
    kept = np.flatnonzero(rank < least)
    if deals == "rows":
        return deal_blocks(rows[kept], *rng.random((2, len(kept))))
    turn = np.empty(rows.height, np.int64)
    turn[order] = _turn_in_runs(who[order], cell[order], basket[order])
    # Each turn begins with another customer, and each month too: this is what makes the dealing even.
    seat = (rows["seat"].to_numpy() + turn + cell) % np.maximum(1, rows["size"].to_numpy())
    group = rows["group"].to_numpy()
    kept = kept[np.lexsort((rank[kept], seat[kept], turn[kept], cell[kept], group[kept]))]
    bundle = _rank_in_runs(group[kept], cell[kept]) // np.maximum(1, least[kept])
    dealt = rows[kept].select("row", pl.col("row").alias("day_of"), "cell", "group")
    return dealt.with_columns(bundle=pl.Series(bundle))


def deal_blocks(rows: pl.DataFrame, by_label: Floats, by_day: Floats) -> pl.DataFrame:
    """Deal the rows of each block out to bundles, and their days to the rows, each in the order of its own numbers.

    The j-th rows of all customers of a group in a cell are a block. In it the row with the least number of `by_label`
    goes to the first bundle, and gets the day of the row with the least number of `by_day`.
    """
    who, cell, group = (rows[name].to_numpy() for name in ("number", "cell", "group"))
    # Of one day in the order of the original: what was bought must not tell which block it is in.
    order = np.lexsort((rows["row"].to_numpy(), rows["date"].to_numpy(), cell, who))
    block = np.empty(rows.height, np.int64)
    block[order] = _rank_in_runs(who[order], cell[order])
    label, day = (np.lexsort((numbers, block, cell, group)) for numbers in (by_label, by_day))
    dealt = rows[label].select("row", rows["row"].gather(day).alias("day_of"), "cell", "group")
    return dealt.with_columns(bundle=pl.Series(_rank_in_runs(group[label], cell[label], block[label])))


def draw_holders(groups: Groups, rng: np.random.Generator) -> list[Ints]:
    """Draw for each group which customer gets which bundle: the permutation that nobody can know."""
    return [rng.permutation(members) for members in groups.members]


def put_in_place(
    original: History, groups: Groups, dealt: pl.DataFrame, holders: list[Ints], *, hides_baskets: bool
) -> Changed:
    """Put the bundles in the place of their holders' rows, still under the holders' own names.

    Which of a holder's rows a purchase replaces is nobody's to see; those near in date and price are chosen.
    """
    firsts = np.cumsum([0, *(len(one) for one in groups.members)])
    holder = np.concatenate([*holders, np.zeros(0, np.int64)]).astype(np.int64)
    frame = original.frame
    source = np.where(frame["customer"].is_null().to_numpy(), -1, np.arange(original.n_rows))
    slots = _rows_of_groups(original, groups).sort("number", "cell", "date", "price", "row")
    source[slots["row"].to_numpy()] = -1
    life = firsts[dealt["group"].to_numpy()] + dealt["bundle"].to_numpy()
    contents = dealt.with_columns(
        pl.Series("holder", holder[life]),
        pl.Series("date", frame["date"].gather(dealt["day_of"])),
        pl.Series("price", frame["price"].gather(dealt["row"])),
    ).sort("holder", "cell", "date", "price", "row")
    cells = slots.group_by("number", "cell", maintain_order=True).agg(n=pl.len())
    cells = cells.with_columns(start=pl.col("n").cum_sum() - pl.col("n"))
    cells = contents.join(cells, left_on=["holder", "cell"], right_on=["number", "cell"], maintain_order="left")
    rank = _rank_in_runs(cells["holder"].to_numpy(), cells["cell"].to_numpy())
    n_here = cells.select(pl.len().over("holder", "cell")).to_series().to_numpy()
    # Spread over the holder's rows in order of time: strictly rising, since there are no more purchases than rows.
    spread = ((2 * rank + 1) * cells["n"].to_numpy()) // (2 * np.maximum(1, n_here))
    place = slots["row"].to_numpy()[cells["start"].to_numpy() + spread]
    source[place] = cells["row"].to_numpy()
    day_of = source.copy()
    day_of[place] = cells["day_of"].to_numpy()
    return _moved(original, source, day_of, groups, hides_baskets=hides_baskets)


def _rows_of_groups(original: History, groups: Groups) -> pl.DataFrame:
    """Return the rows of grouped customers, each with its group, the seat in it, and the least rows there."""
    members = groups.members
    number = np.concatenate([*members, np.zeros(0, np.int64)]).astype(np.int64)
    sizes = np.array([len(one) for one in members], np.int64)
    who = pl.DataFrame(
        {
            "customer": groups.customers.gather(number),
            "number": number,
            "group": np.repeat(np.arange(len(members)), sizes),
            "size": np.repeat(sizes, sizes),
            "seat": np.concatenate([*(np.arange(size) for size in sizes), np.zeros(0, np.int64)]).astype(np.int64),
        }
    )
    rows = original.frame.select("customer", "date", "price", cell=cells_of(original, groups.classes))
    rows = rows.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    found = rows.join(who, on="customer", how="inner", maintain_order="left")
    least = np.zeros((len(members), groups.n_rows.shape[1]), np.int64)
    for at, one in enumerate(members):
        least[at] = groups.n_rows[one].min(axis=0)
    return found.with_columns(least=pl.Series(least[found["group"].to_numpy(), found["cell"].to_numpy()]))


def _moved(original: History, source: Ints, day_of: Ints, groups: Groups, *, hides_baskets: bool) -> Changed:
    """Write the purchase of the source row and the day of another in the place of each row; −1 leaves it deleted."""
    frame = original.frame
    is_kept = pl.Series(source >= 0)
    moved = frame.drop("customer")[np.maximum(source, 0)] if frame.height else frame.drop("customer")
    moved = moved.with_columns(
        frame["customer"], frame["date"].gather(np.maximum(day_of, 0)) if frame.height else "date"
    )
    moved = moved.select(frame.columns)
    if hides_baskets and groups.members:
        is_open = moved["customer"].is_in(groups.customers.filter(pl.Series(groups.labels == OPEN)).to_list())
        time = pl.when(pl.col("time").is_not_null()).then(pl.time(0, 0))
        moved = moved.with_columns(pl.when(is_open).then("time").otherwise(time).alias("time"))
        # Of everybody, since a column that only some rows have cannot be read again.
        if frame["invoice"].drop_nulls().n_unique() > 1:
            moved = moved.with_columns(invoice=pl.lit(None, frame.schema["invoice"]))
    history = History(moved.with_columns(pl.when(is_kept).then(pl.all())), original.name)
    return Changed(history, pl.Series("row", np.where(source >= 0, source, np.arange(original.n_rows))))


def _rank_in_runs(*keys: Ints) -> Ints:
    """Count from 0 within each run of equal keys."""
    n = len(keys[0])
    is_first = _is_first(*keys)
    starts = np.maximum.accumulate(np.where(is_first, np.arange(n), 0)) if n else np.zeros(0, np.int64)
    rank: Ints = np.arange(n) - starts
    return rank


def _turn_in_runs(who: Ints, cell: Ints, basket: Ints) -> Ints:
    """Count the baskets from 0 within each customer and month."""
    if not len(who):
        return np.zeros(0, np.int64)
    begins = np.cumsum(_is_first(who, cell, basket))
    starts = np.maximum.accumulate(np.where(_is_first(who, cell), begins, 0))
    turn: Ints = begins - starts
    return turn


def _is_first(*keys: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mark the start of each run of equal keys."""
    is_first = np.zeros(len(keys[0]), bool)
    is_first[:1] = True
    for key in keys:
        is_first[1:] |= key[1:] != key[:-1]
    return is_first
