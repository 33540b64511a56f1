"""Mean prices by who the customers are, counted where the rows are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tokumei.core.score import Score
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.on_engine.rows import check_aligned
from tokumei.measures.utility.crosstab import Crosstab

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
