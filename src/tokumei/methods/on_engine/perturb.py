"""Perturbing cells on an engine: every new cell is a function of its row, so that one pass does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tokumei.core.errors import InputError
from tokumei.engines.draws import Draws, at_least, between, either, number, rounded, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.methods.history.perturb import (
    HAIR,
    MOST_PRICE,
    MOST_QUANTITY,
    PRICE_DECIMALS,
    WEIGHT_DECIMALS,
    WHOLE,
    Perturb,
)

# What chance is drawn for.
DAYS, AMOUNTS = ("perturb", "days"), ("perturb", "amounts")


def perturb(method: Perturb, history: EngineHistory, *, seed: int, name: str) -> EngineHistory:  # noqa: ARG001
    """Move dates, quantities and prices; deleted rows stay missing."""
    method.check_options()
    if method.items:
        raise InputError.of("items=0 on an engine: exchanging items needs the local one", option="engine")
    table = history.table
    amounts = history.draws(seed, *AMOUNTS)
    rows = table
    cells: dict[str, Any] = {}
    if method.days:
        days = (history.basket_draws if method.whole_baskets else history.draws)(seed, *DAYS)
        # In a column of its own, as below: an engine computes again what is mentioned again inside a condition.
        rows = table.mutate(day_drawn=days.whole())
        cells["date"] = _moved(rows, method.days, Draws((rows.day_drawn,)))
    if method.hides_times and "time" in history.roles:
        cells["time"] = either(rows.time.notnull(), whole_number(0), None)
    rows = rows.mutate(**cells)
    if method.quantities:
        factor = _factor(method.quantities, amounts.share(0))
        # Weighed goods: decimals stay decimals.
        is_whole = history.staged.is_whole
        decimals, most = (WHOLE, MOST_QUANTITY) if is_whole else (WEIGHT_DECIMALS, None)
        rows = _scaled(rows, "quantity", factor, decimals, most)
        rows = rows.mutate(quantity=rows.quantity.cast("int64")) if is_whole else rows
    if method.prices:
        factor = _factor(method.prices, amounts.share(1))
        rows = _scaled(rows, "price", factor, WHOLE if _are_whole(history) else PRICE_DECIMALS, MOST_PRICE)
    there = rows.customer.notnull()
    cells = {column: either(there, rows[column], None) for column in ("date", "time", "quantity", "price")}
    return replace(history, table=rows.mutate(**cells).select(*table.columns))


def drawn_for_perturb(method: Perturb) -> dict[tuple[str, ...], int]:
    """Return how many numbers are drawn for each row, by their purpose."""
    return {AMOUNTS: 2, **({DAYS: 1} if method.days and not method.whole_baskets else {})}


def _are_whole(history: EngineHistory) -> bool:
    """Whether all prices are whole, as those in yen."""
    price = history.kept.price
    broken = history.kept.filter((price - rounded(price)).abs() >= number(HAIR))
    return history.fetch(broken.select("row").limit(1)).is_empty()


def _moved(rows: Any, days: int, draws: Draws) -> Any:
    """Draw a day evenly from those of the month that are near enough."""
    earliest = between(rows.date - whole_number(days), rows["first"], rows["last"])
    latest = between(rows.date + whole_number(days), rows["first"], rows["last"])
    return earliest + draws.below(latest - earliest + whole_number(1))


def _scaled(rows: Any, column: str, factor: Any, decimals: Sequence[int], most: float | None) -> Any:
    """Multiply a column, and round it to its decimals: it never changes its sign, becomes 0 or comes beyond most."""
    rows = rows.mutate(amount=rows[column].cast("float64"))
    rows = rows.mutate(own=rows.amount.abs(), changed=(rows.amount * factor).abs())
    *fewer, last = decimals
    size = _at_least_one_part(rows.changed, last)
    for one in reversed(fewer):
        parts = rows.own * number(10.0**one)
        size = either((parts - rounded(parts)).abs() < number(HAIR), _at_least_one_part(rows.changed, one), size)
    rows = rows.mutate(size=size)
    if most is not None:
        is_beyond = (rows.own <= number(most)) & (rows["size"] > number(most))
        rows = rows.mutate(size=either(is_beyond, number(most), rows["size"]))
    amount, size = rows.amount, rows["size"]
    return rows.mutate(**{column: either(amount < number(0), -size, either(amount > number(0), size, number(0)))})


def _at_least_one_part(size: Any, decimals: int) -> Any:
    """Round a size to so many decimals, but not to 0."""
    return at_least(rounded(size, 10**decimals), number(10.0**-decimals))


def _factor(most: float, share: Any) -> Any:
    """Draw a factor evenly from 1 − most to 1 + most."""
    return number(1) + number(most) * (number(2) * share - number(1))
