"""Perturbing cells on an engine: every new cell is a function of its row, so that one pass does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokumei.anonymize.history.perturb import (
    HAIR,
    MOST_PRICE,
    MOST_QUANTITY,
    PRICE_DECIMALS,
    WEIGHT_DECIMALS,
    WHOLE,
    Perturb,
)
from tokumei.core.errors import InputError
from tokumei.counting.draws import Draws, between, either, number, rounded, whole_number
from tokumei.counting.engine_history import EngineHistory


def perturb(method: Perturb, history: EngineHistory, *, seed: int, name: str) -> EngineHistory:  # noqa: ARG001
    """Move dates, quantities and prices; deleted rows stay missing."""
    method.check_options()
    if method.items:
        raise InputError.of("items=0 on an engine: exchanging items needs the local one", option="engine")
    rows = history.table
    cells: dict[str, Any] = {}
    if method.days:
        by = ("date", "customer") if method.whole_baskets else ("row",)
        cells["date"] = _moved(rows, method.days, history.draws(seed, "perturb", "days", by=by))
    if method.hides_times and "time" in history.roles:
        cells["time"] = either(rows.time.notnull(), whole_number(0), None)
    draws = history.draws(seed, "perturb", "amounts")
    if method.quantities:
        amounts, factor = rows.quantity.cast("float64"), _factor(method.quantities, draws.share(0))
        if history.staged.is_whole:
            cells["quantity"] = _scaled(amounts, factor, WHOLE, MOST_QUANTITY).cast("int64")
        else:
            # Weighed goods: decimals stay decimals.
            cells["quantity"] = _scaled(amounts, factor, WEIGHT_DECIMALS)
    if method.prices:
        factor = _factor(method.prices, draws.share(1))
        decimals = WHOLE if _are_whole(history) else PRICE_DECIMALS
        cells["price"] = _scaled(rows.price, factor, decimals, MOST_PRICE)
    there = rows.customer.notnull()
    return history.with_cells({column: either(there, cell, None) for column, cell in cells.items()})


def _are_whole(history: EngineHistory) -> bool:
    """Whether all prices are whole, as those in yen."""
    price = history.kept.price
    broken = history.kept.filter((price - rounded(price)).abs() >= number(HAIR))
    return not history.fetch(broken.aggregate(n=broken.count()))["n"][0]


def _moved(rows: Any, days: int, draws: Draws) -> Any:
    """Draw a day evenly from those of the month that are near enough."""
    earliest = between(rows.date - whole_number(days), rows["first"], rows["last"])
    latest = between(rows.date + whole_number(days), rows["first"], rows["last"])
    return earliest + draws.below(latest - earliest + whole_number(1))


def _scaled(amount: Any, factor: Any, decimals: Sequence[int], most: float | None = None) -> Any:
    """Multiply an amount, and round it to its decimals: it never changes its sign, becomes 0 or comes beyond most."""
    own, changed = amount.abs(), (amount * factor).abs()
    cells = [_at_least(rounded(changed, 10**one), number(10.0**-one)) for one in decimals]
    size = cells.pop()
    for one, cell in zip(reversed(decimals[:-1]), reversed(cells), strict=True):
        parts = own * number(10.0**one)
        size = either((parts - rounded(parts)).abs() < number(HAIR), cell, size)
    if most is not None:
        size = either((own <= number(most)) & (size > number(most)), number(most), size)
    return either(amount < number(0), -size, either(amount > number(0), size, number(0)))


def _at_least(value: Any, least: Any) -> Any:
    return either(value < least, least, value)


def _factor(most: float, share: Any) -> Any:
    """Draw a factor evenly from 1 − most to 1 + most."""
    return number(1) + number(most) * (number(2) * share - number(1))
