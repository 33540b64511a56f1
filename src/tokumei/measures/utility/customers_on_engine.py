"""Who buys what, mean prices and segments of customers, counted where the rows are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.draws import number, rounded, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility.customers import MONEY_UNIT, Buyers, Crosstab, RfmTable
from tokumei.measures.utility.purchases_on_engine import check_aligned, most_bought


def buyers(part: Buyers, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare the buyers of the items most bought; a released row belongs to whom it did."""
    part.check_options()
    items = most_bought(before, part.n_items)
    original = before.kept.select("item", pseudonym="customer", owner="customer")
    master = part.released_master
    if master is not None:
        released = after.kept.select("item", pseudonym="customer", owner="customer")
    else:
        check_aligned(before, after)
        owners = before.table.select(owner_row="row", owner="customer")
        rows = after.kept.select("row", "item", pseudonym="customer")
        released = rows.inner_join(owners, rows.row == owners.owner_row).select("item", "pseudonym", "owner")
        master = part.master
    counts = (_counts(part, before, *one, items) for one in ((original, part.master), (released, master)))
    return part.compare(items, *counts)


def _counts(
    part: Buyers, history: EngineHistory, rows: Any, master: pl.DataFrame | None, items: list[str]
) -> pl.DataFrame:
    """Count the buyers of each item and group."""
    listed = history.engine.labels(pl.DataFrame({"listed": items}, schema={"listed": pl.String}))
    bought = rows.semi_join(listed, rows.item == listed.listed).distinct()
    by = [f"group_{at}" for at in range(len(part.by))] if master is not None else []
    if master is not None:
        groups = part.groups(master)
        right = history.engine.labels(groups.rename(dict(zip(groups.columns, ["group_customer", *by], strict=True))))
        bought = bought.left_join(right, bought.owner == right.group_customer)
    counted = bought.group_by("item", *by).aggregate(n=lambda some: some.count())
    return history.fetch(counted.select("item", *by, "n"))


Means = dict[tuple[object, ...], float]


def crosstab(part: Crosstab, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare the tables of both; a released row belongs to whom it did."""
    owners = before.table.select(owner_row=before.table.row, owner=before.table.customer)
    released = after.kept.select("row", "price")
    if part.master is not None:
        check_aligned(before, after)
        released = released.inner_join(owners, released.row == owners.owner_row)
    else:
        released = released.mutate(owner=released.row)
    original = before.kept.select("price", owner=before.kept.customer)
    one, other = (_means(part, before, rows.select("price", "owner")) for rows in (original, released))
    errors = [abs(mean - other.get(cell, 0.0)) for cell, mean in one.items()]
    return Score("crosstab", math.fsum(errors) / max(1, len(errors)), best=0, worst=math.inf)


def _means(part: Crosstab, history: EngineHistory, rows: Any) -> Means:
    """Return the mean price of each cell, by how often each price stands there: sums are exact in fractions."""
    by: list[str] = []
    if part.master is not None:
        attributes = part.attributes(part.master)
        by = [f"cell_{at}" for at in range(len(part.by))]
        names = dict(zip(attributes.columns, ["cell_customer", *by], strict=True))
        right = history.engine.labels(attributes.rename(names))
        rows = rows.left_join(right, rows.owner == right.cell_customer).select("price", *by)
    counted = history.fetch(rows.group_by([*by, "price"]).aggregate(n=lambda some: some.count()))
    sums: dict[tuple[object, ...], list[Any]] = {}
    for *cell, price, n in counted.select(*by, "price", "n").iter_rows():
        found = sums.setdefault(tuple(cell), [Fraction(0), 0])
        found[0] += Fraction(price) * n
        found[1] += n
    return {cell: float(total) / n for cell, (total, n) in sums.items()}


Ints = npt.NDArray[np.int64]
NAMES = ("recency", "frequency", "money")


def rfm_table(part: RfmTable, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare the tables of both; the edges of the ranks are those of the original's customers."""
    part.check_options()
    sides = [_customer_values(history, name) for history, name in ((before, "before"), (after, "after"))]
    if not before.staged.n_kept:
        return Score("rfm-table", float(after.staged.n_kept > 0), best=0, worst=1)
    edges = {name: part.edges(_values(before, sides[0], name)) for name in NAMES}
    one, other = (_table(before, values, edges, part.n_ranks) for values in sides)
    return part.score(one, other)


def _customer_values(history: EngineHistory, name: str) -> Any:
    """Return recency, frequency and money of each customer, by way of the days of each: no day is counted twice."""
    if not history.staged.is_whole:
        raise InputError.of("whole quantities, or the local engine", file=history.staged.name, column="quantity")
    rows = history.kept
    spent = rounded(rows.price * number(MONEY_UNIT)).cast("int64") * rows.quantity
    days = rows.mutate(spent=spent).group_by("customer", "date").aggregate(spent=lambda some: some.spent.sum())
    customers = days.group_by("customer").aggregate(
        recency=lambda some: some.date.max(),
        frequency=lambda some: some.count(),
        money=lambda some: some.spent.sum().cast("int64"),
    )
    return history.keep(f"rfm-{name}", customers.select(*NAMES))


def _values(history: EngineHistory, customers: Any, name: str) -> Ints:
    """Return all values of one of the three in order, from their counts."""
    counted = history.fetch(
        customers.select(value=customers[name]).group_by("value").aggregate(n=lambda some: some.count())
    ).sort("value")
    return np.repeat(counted["value"].to_numpy(), counted["n"].to_numpy())


def _table(history: EngineHistory, customers: Any, edges: dict[str, Ints], n_ranks: int) -> Ints:
    """Count the customers of each cell."""
    cell = whole_number(0)
    for name, last in edges.items():
        rank = whole_number(0)
        for edge in last.tolist():
            rank = rank + (customers[name] > whole_number(edge)).ifelse(1, 0)
        cell = cell * whole_number(n_ranks) + rank
    counted = history.fetch(customers.select(cell=cell).group_by("cell").aggregate(n=lambda some: some.count()))
    table = np.zeros(n_ranks ** len(edges), np.int64)
    table[counted["cell"].to_numpy()] = counted["n"].to_numpy()
    return table
