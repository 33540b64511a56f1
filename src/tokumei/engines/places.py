"""Where rows stand within groups, as expressions of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis


def place(group: Any, order: Sequence[Any]) -> Any:
    """Count up the rows of each group, or all rows for None, in an order that leaves no two alike, from 0."""
    return ibis.row_number().over(ibis.window(group_by=group, order_by=list(order))).cast("int64")


def beside(value: Any, group: Any, order: Sequence[Any]) -> tuple[Any, Any]:
    """Return the values of the next and the previous row in the same group; missing where there is none."""
    within = ibis.window(group_by=group, order_by=list(order))
    return value.lead().over(within), value.lag().over(within)
