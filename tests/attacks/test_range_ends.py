from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from tests.cases import cases
from tests.methods.test_generalize import CUSTOMERS, history, of_customers

from tokumei.attacks.history.singling_out import singled_out
from tokumei.data.files.released_histories import cells_of
from tokumei.data.history import History
from tokumei.methods.history.generalize import Generalize

COLUMNS = {"date": 1, "price": 0.01, "quantity": 1}


def test_ends_and_items_are_counted_by_hand() -> None:
    original = history(("1", 0, "A", 1.0, 5), ("2", 2, "B", 1.0, 7), ("3", 2, "B", 1.0, 7), ("4", 50, "C", 1.0, 7))
    text = {"customer": ["9"], "date": ["[2011-01-01;2011-01-04]"], "item": ["{A;B;C}"], "price": ["1"]}
    found = singled_out(original, cells_of(pl.DataFrame({**text, "quantity": ["[5;7]"]}), "A"))
    # Day 1 fits one purchase, day 4 none; quantity 5 fits one, 7 two. Of 4 days one has one, of 3 quantities one.
    assert found.end == pytest.approx(2 / 4)
    assert found.anywhere == pytest.approx((1 / 4 + 1 / 3) / 2)
    # A is bought once within the other cells, B twice, and C only later.
    assert found.item == pytest.approx(1 / 3)
    assert found.occurs == pytest.approx(2 / 3)
    assert (found.n_ends, found.n_items) == (4, 3)


def test_a_release_of_values_alone_has_nothing_to_count() -> None:
    one = history(("1", 0, "A", 1.0, 5), ("2", 0, "A", 1.0, 5))
    found = singled_out(one, cells_of(Generalize(k=2).anonymize(one, seed=1).frame, "A"))
    assert found.as_dict() == {"end": None, "anywhere": None, "item": None, "occurs": None, "n_ends": 0, "n_items": 0}


@settings(max_examples=cases(25), deadline=None)
@given(CUSTOMERS)
def test_counts_agree_with_a_plain_count_and_tight_sets_always_occur(
    customers: list[list[tuple[int, str, int, int]]],
) -> None:
    original = of_customers(customers)
    for ranges in ("grid", "tight"):
        frame = Generalize(k=2, ranges=ranges).anonymize(original, seed=1).frame
        cells = cells_of(frame, "A")
        found = singled_out(original, cells)
        ends, items = plainly(original, cells)
        assert found.n_ends == len(ends)
        assert found.n_items == len(items)
        assert found.end == (pytest.approx(sum(n == 1 for n in ends) / len(ends)) if ends else None)
        assert found.item == (pytest.approx(sum(n == 1 for n in items) / len(items)) if items else None)
        if ranges == "tight" and items:
            assert found.occurs == 1


def plainly(original: History, cells) -> tuple[list[int], list[int]]:  # type: ignore[no-untyped-def]
    """Count the purchases that fit each end and each item of each line that differs from the others."""
    lines = {}
    for row in range(cells.n_rows):
        if not cells.is_deleted[row]:
            bounds = {name: (getattr(cells, name).low[row], getattr(cells, name).high[row]) for name in COLUMNS}
            members = cells.item.members[row]
            mine = None if members is None else tuple(members.to_list())
            lines[(*bounds.values(), mine)] = (bounds, mine)
    ends, items = [], []
    purchases = original.kept.to_dicts()
    for bounds, mine in lines.values():

        def fits(purchase: dict, without: str, bounds: dict = bounds, mine: tuple | None = mine) -> bool:  # type: ignore[type-arg]
            inside = [b[0] is None or b[0] <= purchase[c] <= b[1] for c, b in bounds.items() if c != without]
            return all(inside) and (without == "item" or mine is None or purchase["item"] in mine)

        for column, (low, high) in bounds.items():
            if low is not None and low < high:
                some = [purchase for purchase in purchases if fits(purchase, column)]
                ends += [sum(purchase[column] == end for purchase in some) for end in (low, high)]
        if mine is not None and len(mine) > 1:
            some = [purchase for purchase in purchases if fits(purchase, "item")]
            items += [sum(purchase["item"] == item for purchase in some) for item in mine]
    return ends, items
