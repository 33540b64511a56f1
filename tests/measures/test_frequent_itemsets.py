from __future__ import annotations

import datetime
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.engines.history_rows import Cells, rows_of
from tokumei.measures.utility import itemsets
from tokumei.measures.utility.itemsets import FrequentItemsets, Invoices


def history(*rows: tuple[str, int, str]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "day", "item"], orient="row")
    date = pl.date(2011, 1, pl.col("day"))
    return History.of(frame.with_columns(date=date, price=pl.lit(1.0), quantity=pl.lit(1)))


# Four invoices: x stands in three, y in two, both together in two, z in one.
ORIGINAL = history(("a", 1, "x"), ("a", 1, "y"), ("b", 1, "y"), ("b", 1, "x"), ("a", 2, "x"), ("c", 1, "z"))


def test_itemsets_of_half_the_invoices_are_compared() -> None:
    # {x}, {y} and {x, y} are frequent; with another item for one y only {x} is left.
    released = history(("a", 1, "x"), ("a", 1, "w"), ("b", 1, "y"), ("b", 1, "x"), ("a", 2, "x"), ("c", 1, "z"))
    assert FrequentItemsets(0.5).measure(ORIGINAL, released).value == pytest.approx(2 / 3)


def test_largest_size_of_one_compares_single_items() -> None:
    # With each row a customer's of its own there are six invoices, and x in three of them is the only frequent item.
    released = history(("a", 1, "x"), ("p", 1, "y"), ("b", 1, "y"), ("q", 1, "x"), ("a", 2, "x"), ("c", 1, "z"))
    assert FrequentItemsets(0.5, 1).measure(ORIGINAL, released).value == 0.5


def test_original_without_frequent_itemsets_has_nothing_to_lose() -> None:
    assert FrequentItemsets(1.0).measure(ORIGINAL, ORIGINAL).value == 0


def test_release_without_rows_has_lost_all() -> None:
    gone = History(ORIGINAL.frame.with_columns(pl.when(pl.lit(value=False)).then(pl.all())))
    assert FrequentItemsets(0.5).measure(ORIGINAL, gone).value == 1


@pytest.mark.parametrize(
    "options", [{"least_support": 0.0}, {"least_support": 1.5}, {"largest_size": 0}, {"n_sets": 0}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        FrequentItemsets(**options).measure(ORIGINAL, ORIGINAL)  # type: ignore[arg-type]


def test_date_is_part_of_the_invoice() -> None:
    same_day = ORIGINAL.frame.with_columns(date=pl.lit(datetime.date(2011, 1, 1)))
    # Then a has one invoice of x and y, and x stands in two of three.
    assert FrequentItemsets(0.7).measure(ORIGINAL, History(same_day)).value == 1


@given(st.lists(st.sets(st.integers(0, 5)), min_size=1, max_size=12), st.integers(1, 4), st.integers(1, 4))
def test_levels_find_what_trying_all_sets_finds(invoices: list[set[int]], n_least: int, largest: int) -> None:
    marks = np.array([[item in invoice for item in range(6)] for invoice in invoices], np.int32)
    tried = {
        items: n
        for size in range(1, largest + 1)
        for items in itertools.combinations(range(6), size)
        if (n := sum(set(items) <= invoice for invoice in invoices)) >= n_least
    }
    with pytest.MonkeyPatch.context() as patched:
        # Blocks of a set or two, of invoices in one part and in two.
        patched.setattr(itemsets, "MOST_PRODUCTS", 10)
        for n_parts in (1, 2):
            parts = [sparse.csr_array(marks[part::n_parts]) for part in range(n_parts)]
            cells = Cells(len(invoices), n_parts, parts.__getitem__)
            assert Invoices(cells).frequent(n_least, largest) == tried
            assert Invoices(cells).holding(list(tried)) == tried


def test_release_of_one_invoice_with_everything_is_measured_without_listing_its_sets() -> None:
    # A thousand items in one invoice have 166 million sets of three.
    rows = [("a", 1, "x"), ("b", 1, "x"), *(("c", day, f"i{day}") for day in range(1, 28))]
    original = history(*rows, *(("d", 1, f"j{number}") for number in range(1_000)))
    everything = original.frame.with_columns(customer=pl.lit("p"), date=pl.lit(datetime.date(2011, 1, 1)))
    assert FrequentItemsets(0.06).measure(original, History(everything)).value == 0


def bought(*baskets: str) -> History:
    rows = [(str(number), datetime.date(2018, 1, 1), item) for number, basket in enumerate(baskets) for item in basket]
    frame = pl.DataFrame(rows, schema=["customer", "date", "item"], orient="row")
    return History.of(frame.with_columns(price=pl.lit(1.0), quantity=pl.lit(1)))


def test_most_frequent_sets_are_as_many_as_asked_for_smaller_ones_first() -> None:
    original = bought("ab", "ab", "ac")
    # a in 3 invoices, b and ab in 2, c and ac in 1.
    items = pl.Series(["a", "b", "c"])
    found = Invoices.of(rows_of(original), items).most_frequent(3, 3)
    assert found == [(0,), (1,), (0, 1)]
    # Of the three, b and ab are lost where c takes the place of b.
    assert FrequentItemsets(n_sets=3).measure(original, bought("ac", "ac", "ab")).value == pytest.approx(2 / 3)


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=8), st.integers(1, 12))
def test_most_frequent_sets_are_those_of_counting_every_set(baskets: list[set[str]], n_sets: int) -> None:
    items = pl.Series(list("abcdef"))
    invoices = Invoices.of(rows_of(bought(*("".join(sorted(basket)) for basket in baskets))), items)
    every = [one for size in (1, 2, 3) for one in itertools.combinations(range(6), size)]
    held = {one: sum({"abcdef"[item] for item in one} <= basket for basket in baskets) for one in every}
    expected = sorted((one for one in every if held[one]), key=lambda one: (-held[one], len(one), one))
    assert invoices.most_frequent(n_sets, 3) == expected[:n_sets]
