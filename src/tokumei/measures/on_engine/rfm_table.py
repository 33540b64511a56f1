"""Segments of customers by recency, frequency and money, counted where the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.draws import number, rounded, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility.rfm_table import MONEY_UNIT, RfmTable

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
