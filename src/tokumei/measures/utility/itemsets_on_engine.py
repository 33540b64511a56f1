"""Goods often bought together and the rules of it, counted where the rows are: level by level, by joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from tokumei.core.score import Score
from tokumei.engines.draws import whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility.itemsets import (
    LARGEST_SIZE,
    MOST_SETS,
    AssociationRules,
    FrequentItemsets,
    Itemset,
    TooManySets,
    n_least_of,
)

INVOICE = ["customer", "date"]


def frequent_itemsets(part: FrequentItemsets, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare the frequent itemsets of both; items that only the release has are left out."""
    part.check_options()
    _, sides = _both(before, after)
    if part.least_support is None:
        sets = sides[0].most_frequent(part)
        n_lost = len(set(sets) - set(sides[1].most_frequent(part)))
    else:
        found = [one.frequent(n_least_of(part.least_support, one.n_invoices()), part.largest_size) for one in sides]
        sets = list(found[0])
        n_lost = len(set(found[0]) - set(found[1]))
    return Score("frequent-itemsets", n_lost / len(sets) if sets else 0.0, best=0, worst=1)


def association_rules(part: AssociationRules, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare the best rules of the original with what the release says of them."""
    part.check_options()
    items, (ours, theirs) = _both(before, after)

    def frequent(n_least: int) -> dict[Itemset, int]:
        return ours.frequent(n_least, LARGEST_SIZE, MOST_SETS)

    return part.compare(items, (ours.n_invoices(), theirs.n_invoices()), frequent, theirs.n_holding)


def _both(before: EngineHistory, after: EngineHistory) -> tuple[list[str], list[_Invoices]]:
    """Return the items of the original, and the invoices of both sides."""
    items = before.fetch(before.kept.select("item").distinct())["item"].sort().to_list()
    return items, [_Invoices(history, side, items) for history, side in ((before, "before"), (after, "after"))]


class _Invoices:
    """Which items each invoice, all rows of one customer and day, holds."""

    def __init__(self, history: EngineHistory, name: str, items: list[str]) -> None:
        self.history, self.name = history, name
        self.items, self.number = items, {item: at for at, item in enumerate(items)}
        self.rows = history.keep(f"invoices-{name}", history.kept.select(*INVOICE, "item").distinct())
        counted = history.fetch(self.rows.group_by("item").aggregate(n=lambda some: some.count()))
        self.held = {item: n for item, n in counted.select("item", "n").iter_rows() if item in self.number}

    def n_invoices(self) -> int:
        """Count the invoices, those with none of the items included."""
        whole = self.rows.select(*INVOICE).distinct()
        return int(self.history.fetch(whole.aggregate(n=whole.count()))["n"][0])

    def most_frequent(self, part: FrequentItemsets) -> list[Itemset]:
        """Find the sets that most invoices hold; of equally many, smaller ones and then those of earlier items."""
        by_item = sorted(self.held.values(), reverse=True)
        enough = by_item[part.n_sets - 1] if len(by_item) >= part.n_sets else 0
        found = self.frequent(enough + 1, part.largest_size)
        found |= {(self.number[item],): n for item, n in self.held.items() if n == enough}
        return sorted(found, key=lambda one: (-found[one], len(one), one))[: part.n_sets]

    def n_holding(self, sets: Sequence[Itemset]) -> dict[Itemset, int]:
        """Count the invoices that hold each set."""
        cells = [(at, self.items[item], len(one)) for at, one in enumerate(sets) for item in one]
        schema = {"set": pl.Int64, "name": pl.String, "size": pl.Int64}
        right = self.history.engine.labels(pl.DataFrame(cells, schema, orient="row"))
        rows = self.rows.inner_join(right, self.rows.item == right["name"])
        met = rows.group_by("set", "size", *INVOICE).aggregate(n=lambda some: some.count())
        whole = met.filter(met.n == met["size"]).group_by("set").aggregate(n=lambda some: some.count())
        found = dict(self.history.fetch(whole.select("set", "n")).iter_rows())
        return {one: int(found.get(at, 0)) for at, one in enumerate(sets)}

    def frequent(self, n_least: int, largest_size: int, most_sets: int | None = None) -> dict[Itemset, int]:
        """Return the sets that at least so many invoices hold, with how many do; see `frequent_itemsets` in memory."""
        level: dict[Itemset, int] = {(self.number[item],): n for item, n in self.held.items() if n >= n_least}
        found = dict(level)
        single = self._joined(
            pl.DataFrame({"name": [self.items[at] for (at,) in level], "at": [at for (at,) in level]})
        )
        sets = single.select(*INVOICE, last="at", base="at")
        ids: list[Itemset] = []
        for size in range(2, largest_size + 1):
            if not level:
                break
            pairs = self._extended(sets, single)
            counted = pairs.group_by("base", "at").aggregate(n=lambda some: some.count())
            frequent = counted.filter(counted.n >= whole_number(n_least))
            often = self.history.fetch(frequent if most_sets is None else frequent.limit(most_sets + 1))
            if most_sets is not None and often.height > most_sets:
                raise TooManySets
            often = often.sort("base", "at")
            # A set of one item has the number of its item, a larger one its place in the list.
            bases: list[Itemset] = [(base,) if size == 2 else ids[base] for base in often["base"]]
            ids = [(*base, at) for base, at in zip(bases, often["at"], strict=True)]
            level = dict(zip(ids, often["n"].to_list(), strict=True))
            found |= level
            if size < largest_size and level:
                sets = self._taken(pairs, often.select("base", "at"), size)
        return found

    def _joined(self, listed: pl.DataFrame) -> Any:
        """Return the listed items, by number, of every invoice."""
        named = listed.cast({"name": pl.String, "at": pl.Int64})
        right = self.history.engine.labels(named)
        rows = self.rows.inner_join(right, self.rows.item == right["name"]).select(*INVOICE, "at")
        return self.history.keep(f"frequent-{self.name}-{listed.height}", rows)

    def _extended(self, sets: Any, single: Any) -> Any:
        """Return each set of an invoice beside each later item of the same invoice."""
        right = single.select(right_customer="customer", right_date="date", at="at")
        on = [sets.customer == right.right_customer, sets.date == right.right_date, sets["last"] < right["at"]]
        return sets.inner_join(right, on).select(*INVOICE, "base", "at")

    def _taken(self, pairs: Any, often: pl.DataFrame, size: int) -> Any:
        """Return the frequent sets, by the number of each in the list."""
        numbered = often.with_row_index("set").cast(pl.Int64).rename({"base": "old", "at": "item_at"})
        right = self.history.engine.labels(numbered)
        taken = pairs.inner_join(right, [pairs.base == right.old, pairs["at"] == right.item_at])
        rows = taken.select(*INVOICE, last="at", base="set")
        return self.history.keep(f"sets-{self.name}-{size}-{often.height}", rows)
