"""The steps of a history where its rows are: deletions, moved cells, dummy rows and pseudonyms.

Their chance is drawn so that every engine draws alike. Counts decide there and here; new cells and pseudonyms are
functions of their row and a key. With the same seed the dummies are those of the method in memory, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator, key_of
from tokumei.data.history_columns import SCHEMA
from tokumei.engines.draws import (
    BITS,
    DrawnBeside,
    Draws,
    at_least,
    between,
    digests_here,
    drawn_name,
    either,
    number,
    once_each,
    place,
    rounded,
    whole_number,
)
from tokumei.engines.engine_history import EngineHistory, first_rows
from tokumei.engines.item_sets import Floats, Ints, ItemSets
from tokumei.methods.history.delete import Delete, compared_without
from tokumei.methods.history.dummies import Dummies, Places, found_of, missing_items
from tokumei.methods.history.perturb import (
    HAIR,
    MOST_PRICE,
    MOST_QUANTITY,
    PRICE_DECIMALS,
    WEIGHT_DECIMALS,
    WHOLE,
    Perturb,
)
from tokumei.methods.history.steps import Pseudonyms

if TYPE_CHECKING:
    from tokumei.engines.engine import EngineTable, EngineValue

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
    gone: EngineTable | None = None
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


def _rules(
    method: Delete, history: EngineHistory, rows: EngineTable, n_rows: int
) -> Iterator[tuple[EngineTable, dict[str, int], int]]:
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


def _given_away(rows: EngineTable, compared: Sequence[tuple[str, ...]]) -> EngineTable:
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
    cells: dict[str, EngineValue] = {}
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


def _moved(rows: EngineTable, days: int, draws: Draws) -> EngineValue:
    """Draw a day evenly from those of the month that are near enough."""
    earliest = between(rows.date - whole_number(days), rows["first"], rows["last"])
    latest = between(rows.date + whole_number(days), rows["first"], rows["last"])
    return earliest + draws.below(latest - earliest + whole_number(1))


def _scaled(
    rows: EngineTable, column: str, factor: EngineValue, decimals: Sequence[int], most: float | None
) -> EngineValue:
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


def _at_least_one_part(size: EngineValue, decimals: int) -> EngineValue:
    """Round a size to so many decimals, but not to 0."""
    return at_least(rounded(size, 10**decimals), number(10.0**-decimals))


def _factor(most: float, share: EngineValue) -> EngineValue:
    """Draw a factor evenly from 1 − most to 1 + most."""
    return number(1) + number(most) * (number(2) * share - number(1))


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


def _drawn_rows(history: EngineHistory, missing: pl.DataFrame, places: Places, name: str) -> EngineTable:
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


def _counted_up(history: EngineHistory, column: str, row: str) -> EngineTable:
    """Count up the rows of each value of a column, from 0, in their order."""
    there = history.kept
    at = place(there[column], [there.row])
    return there.select(**{column: there[column], f"at_{column}": at, row: there.row})


def _made_rows(history: EngineHistory, drawn: EngineTable, numbers: EngineTable) -> EngineTable:
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


def _numbered_within(before: Ints, how_far: Floats) -> Ints:
    """Count up the dummies of each gap in their order."""
    order = np.lexsort((how_far, before))
    gaps = before[order]
    starts = np.flatnonzero(np.append(True, gaps[1:] != gaps[:-1]))
    within = np.empty(len(order), np.int64)
    within[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return within


# So many that no two of a billion lives are expected to meet; that none did is counted all the same.
NAME_DIGITS = 20


@dataclass(frozen=True)
class Naming:
    """How the customers and invoices of a history are named: for the whole time without a method, else as it says."""

    method: Pseudonyms | None
    seed: int
    # The first month, in which the first lives begin.
    first: int
    # Letters that no customer and no invoice of the file begins with, so that no new name is an old one.
    prefix: str
    invoice_prefix: str
    # One number for all invoices tells nothing, and stays.
    has_invoices: bool

    @classmethod
    def of(cls, method: Pseudonyms | None, history: EngineHistory, lives: EngineTable, *, seed: int) -> Naming:
        """Look at what names depend on, given the customers and periods of all rows that are not deleted."""
        if method is not None:
            method.check_options()
            if method.risk_limit is not None:
                expected = "no risk limit on an engine: halving lives needs the local one"
                raise InputError.of(expected, option="risk_limit")
        return cls(
            method,
            seed,
            first=int(history.fetch(lives.aggregate(first=lives.period.min()))["first"][0] or 0),
            prefix=history.staged.free_prefixes["customer"],
            invoice_prefix=history.staged.free_prefixes["invoice"],
            has_invoices=not history.staged.is_one_invoice,
        )

    def named(self, rows: EngineTable) -> EngineTable:
        """Add a column `pseudonym` to rows of customer and period."""
        by = [rows.customer]
        if self.method is not None:
            since = rows.period - whole_number(self.first)
            by = [since - since % whole_number(self.method.lifetime), rows.customer]
        name = drawn_name(self.prefix, NAME_DIGITS, key_of(self.seed, "pseudonyms"), *by)
        return rows.mutate(pseudonym=either(rows.customer.notnull(), name, None))

    def named_here(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Name fetched rows as the engine does, with a new name for each invoice under each pseudonym.

        So no invoice joins two pseudonyms. An engine would draw the names of every row, here those of a basket are
        drawn once.
        """
        # A deleted row is named with the one before it, so that it does not part a basket, and stays deleted.
        baskets = rows.select(pl.col("customer", "period", "invoice").forward_fill())
        names = once_each(baskets, self._names)
        is_there = rows["customer"].is_not_null()
        return rows.with_columns(pl.when(is_there).then(names[column]).alias(column) for column in names.columns)

    def _names(self, baskets: pl.DataFrame) -> pl.DataFrame:
        customer, since = baskets["customer"], baskets["period"] - self.first
        by = [customer] if self.method is None else [since - since % self.method.lifetime, customer]
        names = self.prefix + digests_here(key_of(self.seed, "pseudonyms"), *by).str.head(NAME_DIGITS)
        invoices = baskets["invoice"]
        if self.has_invoices:
            drawn = digests_here(key_of(self.seed, "invoices"), names, invoices)
            invoices = self.invoice_prefix + drawn.str.head(NAME_DIGITS)
        return pl.DataFrame({"customer": names, "invoice": invoices})
