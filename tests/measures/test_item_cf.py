"""The item–item similarities: supply, retail, top, and the use cases of 2018."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.engines.history_rows import rows_of
from tokumei.measures.utility import item_similarity
from tokumei.measures.utility.item_similarity import (
    ItemCf,
    ItemCfRetail,
    ItemCfSupply,
    ItemCfTop,
    ItemItem,
    Weigh,
    below_a_dozen,
    in_dozens,
    is_bought,
    score_item_cf,
)
from tokumei.methods.history.delete import Delete

Row = tuple[str | None, str | None, int | None]


def history(*rows: Row) -> History:
    schema = {"customer": pl.String, "item": pl.String, "quantity": pl.Int64}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    is_kept = pl.col("customer").is_not_null()
    return History.of(
        frame.with_columns(date=pl.when(is_kept).then(datetime.date(2011, 1, 1)), price=pl.when(is_kept).then(1.0))
    )


def test_plain_similarities_are_those_of_the_example_by_hand() -> None:
    before = history(("A", "x", 1), ("A", "x", 40), ("A", "y", 7), ("B", "y", 1))
    after = history(("p", "x", 1), ("p", "x", 40), ("p", "y", 7), (None, None, None))
    # A counts 2 and 1, B 0 and 1: w is 1/√2 off the diagonal; all of it is 1 in the release.
    moved, total = 2 * (1 - math.sqrt(0.5)), 2 + 2 * math.sqrt(0.5)
    assert ItemCf().measure(before, after).value == pytest.approx(moved / total) == pytest.approx(0.1716, abs=5e-5)
    assert ItemCf(diagonal=False).measure(before, after).value == pytest.approx(math.sqrt(2) - 1)
    # In pieces A has 41 and 7, B 0 and 1: w is 7/√50.
    pieces = ItemCf(count="pieces", diagonal=False).measure(before, after).value
    assert pieces == pytest.approx((1 - 7 / math.sqrt(50)) / (7 / math.sqrt(50)))
    # Without any row of y its cell on the diagonal is lost, and both cells beside it.
    gone = history(("p", "x", 1), ("p", "x", 40), (None, None, None), (None, None, None))
    assert ItemCf().measure(before, gone).value == pytest.approx((1 + 2 * math.sqrt(0.5)) / total)
    with pytest.raises(InputError, match="purchases or pieces"):
        ItemCf(count="dozens").measure(before, after)  # type: ignore[arg-type]


# In dozens a has x 2 and y 1, b has x 1 and z 1: w is 2/√5 for x and y, 1/√5 for x and z, 0 for y and z.
DOZENS = history(("a", "x", 20), ("a", "x", 4), ("a", "y", 12), ("b", "x", 12), ("b", "z", 23))


def test_supply_loses_the_pair_whose_buyer_was_split() -> None:
    released = history(("p", "x", 20), ("p", "x", 4), ("p", "y", 12), ("q", "x", 12), ("r", "z", 23))
    assert ItemCfSupply().measure(DOZENS, released).value == pytest.approx(1 / 3)


def test_supply_without_changes_but_ids_and_order_is_exactly_0() -> None:
    released = History(DOZENS.frame.with_columns(customer="P" + pl.col("customer")).reverse())
    assert ItemCfSupply().measure(DOZENS, released).value == 0


def test_supply_counts_no_more_than_six_dozens_and_wholesale_all() -> None:
    original = history(("a", "x", 12), ("b", "x", 72), ("a", "y", 12), ("b", "y", 72))
    # In 2018 b's 10 dozens of y count: x is (1, 6) and y was (1, 6), now (1, 10).
    released = history(("a", "x", 12), ("b", "x", 72), ("a", "y", 12), ("b", "y", 120))
    assert ItemCfSupply().measure(original, released).value == 0
    cosine = 61 / math.sqrt(37 * 101)
    assert ItemItem("wholesale").measure(original, released).value == pytest.approx(1 - cosine)


def test_retail_leaves_out_totals_from_a_dozen_on() -> None:
    # x is (3, 4), y is (4, 0) since b bought a dozen: w = 12/20.
    original = history(("a", "x", 3), ("a", "y", 4), ("b", "x", 4), ("b", "y", 6), ("b", "y", 6))
    # b's x becomes a dozen: x is (3, 0), w′ = 1.
    released = history(("a", "x", 3), ("a", "y", 4), ("b", "x", 12), ("b", "y", 6), ("b", "y", 6))
    for measure in (ItemCfRetail(), ItemItem("retail")):
        assert measure.measure(original, released).value == pytest.approx(0.4 / 0.6)


def test_top_looks_only_at_the_most_bought_items() -> None:
    original = history(("a", "x", 1), ("b", "x", 1), ("a", "y", 50), ("b", "y", 1), ("a", "z", 1))
    # Of x and y one buyer of two is lost for y: w′ = 1/√2 where w was 1.
    released = history(("a", "x", 1), ("b", "x", 1), ("a", "y", 50), (None, None, None), (None, None, None))
    assert ItemCfTop(2).measure(original, released).value == pytest.approx(1 - 1 / math.sqrt(2))
    # With z, whose similarity to x and y was 1/√2 each, all of that is lost.
    lost = 1 - 1 / math.sqrt(2) + 2 / math.sqrt(2)
    assert ItemCfTop(3).measure(original, released).value == pytest.approx(lost / (1 + 2 / math.sqrt(2)))
    sides = rows_of(original), rows_of(released)
    assert ItemItem("top").measure(original, released) == score_item_cf("item-item top", *sides, is_bought)


def test_release_with_everything_deleted_or_renamed_is_worst() -> None:
    gone = history(*[(None, None, None)] * 5)
    renamed = History(DOZENS.frame.with_columns(item="n" + pl.col("item")))
    assert ItemCfSupply().measure(DOZENS, gone).value == 1
    assert ItemCfSupply().measure(DOZENS, renamed).value == 1


def test_original_without_any_similar_pair_has_nothing_to_lose() -> None:
    original = history(("a", "x", 12), ("b", "y", 12))
    assert ItemCfSupply().measure(original, DOZENS).value == 0
    assert ItemCfSupply().measure(history(), history()).value == 0


def test_more_than_doubled_similarities_stop_at_1() -> None:
    buyers = [(f"c{number}", "x", 12) for number in range(20)] + [(f"d{number}", "y", 12) for number in range(20)]
    original = history(*buyers, ("e", "x", 12), ("e", "y", 12))
    released = history(*[("e", item, 12) for _, item, _ in buyers], ("e", "x", 12), ("e", "y", 12))
    assert ItemCfSupply().measure(original, released).value == 1


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="most_dozens"):
        ItemCfSupply(0).measure(DOZENS, DOZENS)
    with pytest.raises(InputError, match="k"):
        ItemCfTop(1).measure(DOZENS, DOZENS)


def plain_distance(original: list[Row], released: list[Row], weigh: Weigh) -> float:
    def similarities(rows: list[Row]) -> dict[tuple[str, str], float]:
        totals: dict[tuple[str, str], int] = defaultdict(int)
        for customer, item, quantity in rows:
            if customer is not None and item is not None and quantity is not None:
                totals[customer, item] += quantity
        column: dict[str, dict[str, int]] = defaultdict(dict)
        for (customer, item), total in totals.items():
            column[item][customer] = int(weigh(np.array([total]))[0])
        found = {}
        for one, other in itertools.combinations(sorted(column), 2):
            dot = sum(weight * column[other].get(customer, 0) for customer, weight in column[one].items())
            norms = [math.sqrt(sum(weight**2 for weight in column[item].values())) for item in (one, other)]
            found[one, other] = dot / (norms[0] * norms[1]) if dot else 0.0
        return found

    before, after = similarities(original), similarities(released)
    total = sum(before.values())
    moved = sum(abs(w - after.get(pair, 0.0)) for pair, w in before.items() if w > 0)
    return min(1.0, moved / total) if total else 0.0


purchases = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz"), st.integers(-9, 40)), min_size=1, max_size=30
)


@pytest.mark.slow
@given(purchases, purchases, st.integers(1, 7))
def test_sparse_blocks_agree_with_the_plain_formula(original: list[Row], released: list[Row], block: int) -> None:
    whole = item_similarity.BLOCK_ITEMS
    item_similarity.BLOCK_ITEMS = block
    try:
        for weigh in (in_dozens, below_a_dozen, is_bought):
            score = score_item_cf("fast", rows_of(history(*original)), rows_of(history(*released)), weigh)
            plain = plain_distance(original, released, weigh)
            assert score.value == pytest.approx(plain)
    finally:
        item_similarity.BLOCK_ITEMS = whole


def test_a_sample_of_items_estimates_the_distance_and_says_how_surely() -> None:
    within = 0
    for seed in range(6):
        shop = History.of(make_retail(150, n_rows=4_000, seed=seed))
        release = History(Delete(random=0.3, once=False, price_deviations=0.0).change(shop, seed=1).history.frame)
        for measure in (ItemCfSupply, ItemCfRetail):
            whole, some = (measure(sample=n).measure(shop, release) for n in (0, 200))
            assert some.interval is not None
            assert some.inputs["drawn"] == 200 < some.inputs["items"]
            within += some.interval[0] <= whole.value <= some.interval[1]
            assert measure(sample=100_000).measure(shop, release) == whole
    assert within >= 10


def test_a_sample_of_one_item_is_refused() -> None:
    shop = History.of(make_retail(10, n_rows=50, seed=1))
    with pytest.raises(InputError, match="two items or more"):
        ItemCfRetail(sample=1).measure(shop, shop)
