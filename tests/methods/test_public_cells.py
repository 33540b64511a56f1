"""Ranges and sets of generalized histories: what they consist of does not depend on who is in a group."""

from __future__ import annotations

from datetime import date
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases
from tests.methods.test_generalize import CUSTOMERS, FOUR, history, of_customers

from tokumei.core.errors import InputError
from tokumei.data.cells import Kind
from tokumei.data.files.released_histories import cells_of
from tokumei.data.history import History
from tokumei.methods.history.alignment import GRID, ITEMS_A_PART, Purchases, joining_costs, line_costs, numbers_of
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.public_cells import FEWEST_VALUES, PublicCells, in_parts


def cells_for(original: History, k: int = 2) -> PublicCells:
    items = original.kept["item"].unique().sort().to_list()
    return PublicCells.of(numbers_of(original.frame), np.ones(original.n_rows, bool), items, k=k)


def test_ranges_are_weeks_and_round_steps_and_sets_whole_parts() -> None:
    rows = [
        ("ann", date(2011, 2, 16), "tea", 4.0, 12),
        ("bob", date(2011, 3, 1), "cup", 4.0, 6),
        ("cat", date(2011, 2, 3), "pen", 4.0, 1),
        ("dan", date(2011, 2, 3), "pen", 4.0, 1),
    ]
    four = History.of(pl.DataFrame(rows, schema=["customer", "date", "item", "price", "quantity"], orient="row"))
    frame = Generalize(k=2).anonymize(four, seed=1).frame
    # Monday the 14th to Sunday the 6th; cells of three pieces, since of two possible numbers both would occur.
    assert frame.drop("customer").rows() == [
        ("[2011-02-14;2011-03-06]", "{cup;pen;tea}", "4", "[6;14]"),
        ("[2011-02-14;2011-03-06]", "{cup;pen;tea}", "4", "[6;14]"),
        ("2011-02-03", "pen", "4", "1"),
        ("2011-02-03", "pen", "4", "1"),
    ]
    tight = Generalize(k=2, ranges="tight").anonymize(four, seed=1).frame
    assert tight.row(0)[1:] == ("[2011-02-16;2011-03-01]", "{cup;tea}", "4", "[6;12]")


def test_prices_whose_cells_begin_between_two_end_with_prices_that_can_be() -> None:
    # Of 0.01 and 0.03, four rows each, the cell reaches from 0.005 to 0.035, beside the hundredths that people pay.
    four = history(*((name, 0, "A", price, 1) for name in "1234" for price in (0.01, 0.03)))
    [low], [high] = cells_for(four).columns[list(GRID).index("price")].cover(np.array([0.01]), np.array([0.03]))
    assert (low, high) == (0.01, 0.03)


def test_other_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="grid or tight"):
        Generalize(ranges="loose").anonymize(FOUR, seed=1)  # type: ignore[arg-type]


@settings(max_examples=cases(60))
@given(CUSTOMERS, st.integers(2, 4))
def test_an_end_is_the_same_whichever_value_of_its_part_is_a_members(
    customers: list[list[tuple[int, str, int, int]]], k: int
) -> None:
    for column in cells_for(of_customers(customers), k).columns:
        depths = range(len(column.part))
        for first, last in combinations_with_replacement(range(len(column.values)), 2):
            low, high = column.cover(column.values[[first]], column.values[[last]])
            assert low[0] <= column.values[first] <= column.values[last] <= high[0]
            if first == last:
                assert low[0] == high[0]
                continue
            same = [depth for depth in depths if column.part[depth, first] == column.part[depth, last]]
            depth = max(same, default=0)
            # Whatever lies in the parts of both ends, but is not one value alone, is written alike.
            mates = [np.flatnonzero(column.part[depth] == column.part[depth, end]) for end in (first, last)]
            for one, other in ((mates[0].min(), mates[1].max()), (first, mates[1].max()), (mates[0].min(), last)):
                assert column.cover(column.values[[one]], column.values[[other]]) == (low, high)
            held = ((low[0] <= column.values) & (column.values <= high[0])).sum()
            # A whole cell may hold two of the values that occur; finer parts, of whose cut these would tell, hold more.
            is_cell = (column.part[depth] == column.part[depth, first]).sum() == (
                column.part[0] == column.part[0, first]
            ).sum()
            assert held >= FEWEST_VALUES or is_cell


@settings(max_examples=cases(60))
@given(CUSTOMERS, st.integers(2, 3))
def test_no_set_of_two_lists_what_occurs_and_no_range_needs_a_value_of_zero(
    customers: list[list[tuple[int, str, int, int]]], k: int
) -> None:
    original = of_customers(customers)
    if len(customers) < k:
        return
    n_items = original.kept["item"].n_unique()
    release = Generalize(k=k).anonymize(original, seed=1)
    cells = cells_of(release.frame, "A")
    assert cells.contains(original).to_numpy().all()
    assert ((cells.price.low > 0) & (cells.quantity.low > 0)).fill_null(True).to_numpy().all()
    dates = original.kept["date"]
    first, last = dates.dt.month_start().to_list(), dates.dt.month_end().to_list()
    within = (cells.date.low >= min(first)) & (cells.date.high <= max(last))
    assert within.fill_null(True).to_numpy().all()
    lines = pl.DataFrame(
        {"cells": release.frame.select(pl.concat_str(pl.exclude("customer"), separator=","))["date"]}
    ).with_columns(item=original.frame["item"], listed=cells.item.members, kind=cells.item.kind)
    for _, rows in lines.filter(kind=Kind.SET.value).group_by("cells"):
        occurring, listed = set(rows["item"]), set(rows["listed"][0])
        assert len(listed) >= min(n_items, ITEMS_A_PART)
        # Of three members each may have another item of one part; nobody can tell that from two of the three items.
        assert occurring < listed or len(occurring) > 2 or n_items < ITEMS_A_PART


@given(st.integers(1, 400), st.sets(st.integers(1, 400), min_size=1, max_size=5))
def test_parts_divide_the_item_list_evenly_and_sets_are_whole_parts(n_items: int, some: set[int]) -> None:
    names = [f"{number:03}" for number in range(1, n_items + 1)]
    cells = PublicCells((), names)
    parts = cells.part_of(np.arange(1, n_items + 1))
    sizes = np.bincount(parts)
    assert (np.diff(parts) >= 0).all()
    assert min(sizes) >= min(n_items, ITEMS_A_PART)
    assert max(sizes) < 2 * ITEMS_A_PART
    items = np.array(sorted({min(one, n_items) for one in some}))
    expected = [name for name, part in zip(names, parts, strict=True) if part in parts[items - 1]]
    assert cells.fill(items) == (expected if len(items) > 1 else [names[items[0] - 1]])


@settings(max_examples=cases(40))
@given(CUSTOMERS)
def test_joining_costs_count_whole_parts(customers: list[list[tuple[int, str, int, int]]]) -> None:
    original = of_customers(customers)
    purchases = in_parts(Purchases.of(original), cells_for(original))
    assert purchases.parts is not None
    aligned, rows = np.array([[purchases.rows[0][0], purchases.rows[1][0]]]), purchases.rows[-1]
    costs = joining_costs(purchases, aligned, rows)
    for number, row in enumerate(rows.tolist()):
        members = np.array([[*aligned[0], row]])
        n_items = len(set(purchases.items[members[0]].tolist()))
        n_listed = 1 if n_items == 1 else ITEMS_A_PART * len(set(purchases.parts[members[0]].tolist()))
        ranges = [
            min(3.0, line_costs(values[members], width)[0])
            for values, width in zip(purchases.values, purchases.width.tolist(), strict=True)
        ]
        assert costs[0, number] == pytest.approx(3 * (1 - 1 / n_listed) + sum(ranges))
