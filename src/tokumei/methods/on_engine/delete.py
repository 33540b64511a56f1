"""Deleting rows on an engine: counts decide there and here, and a narrow table of row numbers is what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from tokumei.data.history_columns import SCHEMA
from tokumei.engines.draws import BITS, number, whole_number
from tokumei.engines.engine_history import EngineHistory, first_rows
from tokumei.methods.history.delete import Delete, compared_without

# A customer alone with what is compared gives away so many units; six of these are less than 2³¹.
UNITS = 300_000_000
UNIT_BITS = 31
# What chance is drawn for.
ORDER = ("delete",)


def delete(method: Delete, history: EngineHistory, *, seed: int, name: str) -> EngineHistory:
    """Delete by the rules of the method, in their order, never more than the largest share."""
    method.check_options()
    n_rows = history.staged.n_rows
    there = history.kept
    # Row numbers in an order of their own, so that a rule that is cut short does not spare the end of the file.
    ordered = there.mutate(order=history.draws(seed, *ORDER).whole())
    n_gone = 0 if history.is_complete else n_rows - int(history.fetch(there.aggregate(n=there.count()))["n"][0])
    # A hair is added, since 0.29 · 100 is 28.999….
    n_most = int(method.most * n_rows + 1e-9)
    gone: Any = None
    for rule, (candidates, orders, n_wanted) in enumerate(_rules(method, history, ordered, n_rows)):
        left = candidates if gone is None else candidates.anti_join(gone, "row")
        listed = left.select("row", *orders)
        # What every row may be is looked up again sooner than written down and read.
        listed = listed if candidates is ordered else history.keep(f"{name}-candidates-{rule}", listed)
        n_listed = int(history.fetch(listed.aggregate(n=listed.count()))["n"][0])
        n = min(n_wanted, max(0, n_most - n_gone), n_listed)
        if not n:
            continue
        chosen = listed.select("row") if n == n_listed else first_rows(history, listed, orders, n)
        gone = history.keep(f"{name}-gone-{rule}", chosen if gone is None else gone.union(chosen))
        n_gone += n
    return history if gone is None else history.without(gone)


def drawn_for_delete(method: Delete) -> dict[tuple[str, ...], int]:  # noqa: ARG001 - Whatever it deletes.
    """Return how many numbers are drawn for each row, by their purpose."""
    return {ORDER: 1}


def _rules(method: Delete, history: EngineHistory, rows: Any, n_rows: int) -> Iterator[tuple[Any, dict[str, int], int]]:
    """Yield for each rule the rows it would delete, by what they are ordered, and how many of them at most."""
    by_chance = {"order": BITS}
    if method.once:
        items = rows.group_by("item").aggregate(n=lambda some: some.count())
        yield rows.semi_join(items.filter(items.n == whole_number(1)), "item"), by_chance, n_rows
    if method.price_deviations:
        prices = history.fetch(rows.group_by("price").aggregate(n=lambda some: some.count()))
        if prices.height:
            least, most = _usual(prices.sort("price"), method.price_deviations)
            yield rows.filter((rows.price < number(least)) | (rows.price > number(most))), by_chance, n_rows
    if method.telling:
        compared = compared_without([role for role in SCHEMA if role not in history.roles])
        orders = {"hidden": UNIT_BITS, **by_chance}
        yield _given_away(rows, compared), orders, round(method.telling * n_rows)
    if method.random:
        yield rows, by_chance, round(method.random * n_rows)


def _usual(prices: pl.DataFrame, deviations: float) -> tuple[float, float]:
    """Return the ends of what is near the mean, of distinct prices in order and how often each stands."""
    price, n = prices["price"].to_numpy(), prices["n"].to_numpy()
    mean = float((price * n).sum() / n.sum())
    deviation = float(np.sqrt(((price - mean) ** 2 * n).sum() / n.sum()))
    # A hair is added, since the mean of equal prices can differ from them in its last digit.
    far = deviations * deviation + 1e-9
    return mean - far, mean + far


def _given_away(rows: Any, compared: Sequence[tuple[str, ...]]) -> Any:
    """Return how little each row gives away: the most units less 1 / customers alike, for each comparison."""
    grouped = rows.mutate(group=rows.item.substr(0, 2))
    hidden = whole_number(len(compared) * UNITS)
    for at, columns in enumerate(compared):
        # Distinct customers in two steps, which engines do out of memory.
        alike = (
            grouped.select("customer", *columns)
            .distinct()
            .group_by(list(columns))
            .aggregate(**{f"n_{at}": lambda some: some.count()})
        )
        names = {f"alike_{at}_{column}": column for column in columns}
        right = alike.rename(names)
        on = [grouped[column] == right[name] for name, column in names.items()]
        grouped = grouped.inner_join(right, on).drop(*names)
        # A whole number of units: engines would add up fractions in orders of their own.
        hidden = hidden - (whole_number(UNITS) - whole_number(UNITS) % grouped[f"n_{at}"]) // grouped[f"n_{at}"]
    return grouped.mutate(hidden=hidden)
