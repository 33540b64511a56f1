"""Every measure of a released history equals its plain definition."""

from __future__ import annotations

import datetime
import random
from dataclasses import replace
from itertools import product

import polars as pl
import pytest
from tests.definitions import history_utility
from tests.definitions.history_utility import Master, Purchase, Rows, Weigh

from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES

DAYS = [datetime.date(2011, 1, day) for day in (1, 2, 15, 31)]


def drawn(seed: int) -> tuple[Rows, Rows]:
    """Purchases with many ties, and a release: rows deleted, values moved, pseudonyms shared or of two kinds."""
    draw = random.Random(seed)
    before: Rows = [
        Purchase(draw.choice("ABC"), draw.choice(DAYS), draw.choice("vwxyz"), draw.choice([0.5, 1.0, 2.75]), n)
        for n in (draw.choice([1, 5, 11, 12, 30, 100]) for _ in range(draw.choice([1, 2, 5, 9, 14])))
    ]
    after: Rows = []
    for row in before:
        assert row is not None
        if draw.random() < 0.15:
            after.append(None)
            continue
        moved = replace(row, customer=draw.choice(["p", "q"]) + row.customer)
        if draw.random() < 0.3:
            moved = replace(moved, date=draw.choice(DAYS), item=draw.choice("vwxyzn"))
        if draw.random() < 0.3:
            moved = replace(moved, price=draw.choice([0.25, 3.0]), quantity=draw.choice([1, 24]))
        after.append(moved)
    return before, after


def history(rows: Rows) -> History:
    columns = {"customer": pl.String, "date": pl.Date, "item": pl.String, "price": pl.Float64, "quantity": pl.Int64}
    cells = {
        name: pl.Series([None if row is None else getattr(row, name) for row in rows], dtype=kind)
        for name, kind in columns.items()
    }
    return History.of(pl.DataFrame(cells))


def measured(name: str, before: Rows, after: Rows, **options: object) -> float:
    return HISTORY_UTILITIES.make(name, **options).measure(history(before), history(after)).value


WEIGHTS: dict[str, tuple[Weigh, int | None]] = {
    "item-cf-supply": (lambda n: min(n // 12, 6), None),
    "item-cf-retail": (lambda n: n if n <= 11 else 0, None),
    "item-cf-top": (lambda n: 1, 3),
}
KINDS: dict[str, tuple[Weigh, int | None]] = {
    "wholesale": (lambda n: n // 12, None),
    "retail": WEIGHTS["item-cf-retail"],
    "top": (lambda n: 1, 100),
}


def test_similarities_of_items(times: int) -> None:
    for seed in range(12 * times):
        before, after = drawn(seed)
        for name, (weigh, top) in WEIGHTS.items():
            items = None if top is None else history_utility.top_items(before, top)
            found = measured(name, before, after, **({} if top is None else {"k": top}))
            assert found == pytest.approx(history_utility.item_cf(before, after, weigh, items)), (seed, name)
        for count, diagonal in product(("purchases", "pieces"), (True, False)):
            plain = history_utility.plain_item_cf(before, after, counts_rows=count == "purchases", diagonal=diagonal)
            assert measured("item-cf", before, after, count=count, diagonal=diagonal) == pytest.approx(plain), seed
        for kind, (weigh, top) in KINDS.items():
            items = None if top is None else history_utility.top_items(before, top)
            found = measured("item-item", before, after, kind=kind)
            assert found == pytest.approx(history_utility.item_cf(before, after, weigh, items)), (seed, kind)


def test_measures_row_by_row_and_of_columns(times: int) -> None:
    for seed in range(15 * times):
        before, after = drawn(seed)
        assert measured("date", before, after) == pytest.approx(history_utility.date(before, after))
        assert measured("price", before, after) == pytest.approx(history_utility.price(before, after))
        assert measured("rows", before, after) == history_utility.rows_gone(before, after)
        assert measured("top-items", before, after, k=2) == history_utility.lost_top_items(before, after, 2)
        for name in ("rows", "sum", "mean", "variance", "deviation", "maximum", "minimum", "median"):
            for column in ("date", "price", "quantity"):
                plain = [history_utility.statistic(name, column, rows) for rows in (before, after)]
                found = measured("statistic", before, after, statistic=name, column=column)
                assert found == pytest.approx(abs(plain[0] - plain[1]), abs=1e-9), (seed, name, column)


def test_measures_of_customers(times: int) -> None:
    for seed in range(15 * times):
        before, after = drawn(seed)
        for n_ranks in (2, 3, 10):
            plain = history_utility.rfm_error(before, after, n_ranks)
            assert measured("rfm-table", before, after, n_ranks=n_ranks) == pytest.approx(plain), (seed, n_ranks)
        master: Master = {"A": ("f", "1950"), "B": ("m", "1950"), "C": ("f", "1950")}
        frame = pl.DataFrame(
            [(who, *what) for who, what in master.items()], schema=["customer", "sex", "birth"], orient="row"
        )
        for name, plain in (
            ("buyers", history_utility.buyers_error(before, after, master, 3)),
            ("crosstab", history_utility.mean_price_error(before, after, master)),
        ):
            options = {"by": ("sex", "birth"), "master": frame} | ({"n_items": 3} if name == "buyers" else {})
            assert measured(name, before, after, **options) == pytest.approx(plain), (seed, name)


def test_sets_and_rules_of_invoices(times: int) -> None:
    for seed in range(12 * times):
        before, after = drawn(seed)
        for n_sets in (1, 3, 200):
            plain = history_utility.lost_itemsets(before, after, n_sets, 3)
            assert measured("frequent-itemsets", before, after, n_sets=n_sets) == pytest.approx(plain), (seed, n_sets)
        for share in (0.01, 0.3, 0.5):
            plain = history_utility.lost_supported_itemsets(before, after, share, 3)
            assert measured("frequent-itemsets", before, after, least_support=share) == pytest.approx(plain), (
                seed,
                share,
            )
            options = {"least_support": share, "least_confidence": 0.4, "n_rules": 4}
            plain = history_utility.changed_rules(before, after, share, 0.4, 4)
            assert measured("association-rules", before, after, **options) == pytest.approx(plain), (seed, share)
