"""Who buys an item, counted where the rows are."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.core.score import Score
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.on_engine.rows import check_aligned, most_bought
from tokumei.measures.utility.buyers import Buyers


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
