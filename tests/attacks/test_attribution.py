from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.attribution.judging import judge_attribution, sizes_of_groups, told_by_value
from tokumei.attacks.attribution.sides import largest_within
from tokumei.attacks.history.attribution import attribute, attribute_release
from tokumei.attacks.judge import wilson_interval
from tokumei.data.history import History
from tokumei.methods.history.permute_groups import PermuteGroups

COLUMNS = ["customer", "date", "item", "price", "quantity"]


def history(*rows: tuple[object, ...]) -> History:
    frame = pl.DataFrame(list(rows), schema=COLUMNS, orient="row")
    return History.of(frame.with_columns(pl.when(pl.col("customer").is_not_null()).then(pl.all())))


def known_of(whole: History, *rows: int) -> History:
    """Return the history with some of its rows alone, in their places."""
    is_known = pl.Series([at in rows for at in range(whole.n_rows)])
    return History(whole.frame.with_columns(pl.when(is_known).then(pl.all())))


SHOP = history(
    ("a", "2011-05-02", "tea", 1.0, 1),
    ("a", "2011-05-02", "jam", 2.0, 1),
    ("a", "2011-05-09", "oil", 3.0, 2),
    ("b", "2011-05-03", "soap", 1.0, 1),
    ("b", "2011-05-03", "rice", 2.0, 4),
    ("c", "2011-05-05", "nails", 4.0, 9),
)


def test_every_figure_of_a_judged_attribution_by_hand() -> None:
    # The tea of a is known. Under P stand two rows of a and one of b, under Q one of each, under R that of c.
    said = pl.DataFrame(
        {"customer": ["a", "a", "b", "b", "b", "c"], "chance": [1.0, 0.9, 0.6, 0.4, 0.7, 0.9]},
    )
    pseudonyms = pl.Series(["P", "P", "Q", "P", "Q", "R"])
    found = judge_attribution(said, pl.Series(range(6)), pseudonyms, known_of(SHOP, 0), SHOP)
    # Of five unknown rows all but the oil are given to their buyer.
    assert found.rows.value == 4 / 5
    assert found.rows.baseline == pytest.approx(1 / 3)
    assert found.rows.interval == wilson_interval(4, 5)
    # a and b share pseudonyms: three of their four rows are right, and one of two is guessed blindly.
    assert found.shared is not None
    assert (found.shared.value, found.shared.baseline) == (3 / 4, 1 / 2)
    # The rice is no claim, since a might as well have bought it.
    assert (found.claims.value, found.claims.inputs["rows"]) == (3 / 4, 4)
    # All rows of b and c are named, one of the two of a.
    assert found.customers.value == pytest.approx(2 / 3)


def test_interval_counts_customers_where_their_rows_are_found_together() -> None:
    two = history(*(("ab"[at // 10], "2011-05-02", f"i{at}", 1.0, 1) for at in range(20)))
    said = pl.DataFrame({"customer": ["a"] * 20, "chance": [0.9] * 20})
    found = judge_attribution(said, pl.Series(range(20)), pl.Series(["P"] * 20), known_of(two), two)
    # All ten rows of a are right, none of b: as one of two, 0.25 · 20² / (5² + 5²) = 2.
    assert (found.rows.value, found.rows.interval) == (0.5, wilson_interval(1, 2))


def test_rows_that_were_made_up_are_nobodys_and_a_claim_on_them_is_wrong() -> None:
    said = pl.DataFrame({"customer": ["a", "a"], "chance": [0.9, 0.9]})
    found = judge_attribution(said, pl.Series([1, None]), pl.Series(["P", "P"]), known_of(SHOP, 0), SHOP)
    assert (found.rows.value, found.rows.inputs["rows"]) == (1.0, 1)
    assert (found.claims.value, found.claims.inputs["rows"]) == (0.5, 2)


def test_customers_are_in_one_group_who_share_pseudonyms_with_a_third() -> None:
    rows = pl.DataFrame({"owner": ["a", "b", "b", "c", "d"], "pseudonym": ["P", "P", "Q", "Q", "R"]})
    sizes = dict(sizes_of_groups(rows).iter_rows())
    assert sizes == {"a": 3, "b": 3, "c": 3, "d": 1}


def test_what_a_value_beside_purchases_tells_of_their_buyers_by_hand() -> None:
    rows = pl.DataFrame({"owner": ["a", "a", "b", "b", "c"], "pseudonym": ["P", "Q", "P", "Q", "R"]})
    # Of the group of a and b, c being alone: whoever has another row of the value had this one, too.
    assert told_by_value(rows.with_columns(value=pl.Series([1, 1, 2, 2, 1]))) == (1.0, 0.5)
    # One of the three other rows is the customer's own.
    assert told_by_value(rows.with_columns(value=pl.lit(1))) == pytest.approx((1 / 3, 0.5))
    # No other row has the value.
    assert told_by_value(rows.with_columns(value=pl.Series([1, 2, 3, 4, 5]))) == (0.5, 0.5)
    assert told_by_value(rows.head(0).with_columns(value=pl.lit(1))) == (0.0, 0.0)


def test_the_rest_of_a_pseudonym_is_given_to_the_customer_of_a_known_row() -> None:
    published = history(*(({"a": "P", "b": "Q", "c": "R"}[str(row[0])], *row[1:]) for row in rows_of(SHOP)))
    said = attribute(known_of(SHOP, 0, 3), published)
    # Of R nothing is known.
    assert said["customer"].to_list() == ["a", "a", "a", "b", "b", None]
    assert said["is_found"].to_list() == [True, False, False, True, False, False]


def test_the_rest_of_a_day_is_given_to_its_customer_though_labels_were_dealt_out() -> None:
    labels = ["P", "Q", "P", "Q", "P", "Q"]
    days = [("a", 2), ("a", 2), ("a", 2), ("b", 3), ("b", 3), ("b", 3)]
    shop = history(*((who, f"2011-05-0{day}", f"i{at}", 1.0, 1) for at, (who, day) in enumerate(days)))
    published = history(*((label, *row[1:]) for label, row in zip(labels, rows_of(shop), strict=True)))
    said = attribute(known_of(shop, 0, 1, 3, 4), published)
    assert said["customer"].to_list() == ["a", "a", "a", "b", "b", "b"]


def rows_of(whole: History) -> list[tuple[object, ...]]:
    return whole.frame.select(COLUMNS).with_columns(pl.col("date").cast(pl.String)).rows()


def test_nothing_is_said_of_nothing() -> None:
    empty = History(SHOP.frame.clear())
    assert attribute(empty, SHOP)["customer"].null_count() == SHOP.n_rows
    assert attribute(SHOP, empty).is_empty()


def test_order_of_published_rows_changes_nothing() -> None:
    published = history(*(("P" if at % 2 else "Q", *row[1:]) for at, row in enumerate(rows_of(SHOP))))
    turned = History(published.frame.reverse())
    known = known_of(SHOP, 0, 3, 4)
    assert attribute(known, published)["customer"].to_list() == attribute(known, turned)["customer"].to_list()[::-1]


@pytest.mark.parametrize(("limit", "kept"), [(1, []), (2, [1, 1]), (5, [1, 1]), (6, [4, 1, 1])])
def test_of_too_many_equal_rows_the_most_usual_are_left_out(limit: int, kept: list[int]) -> None:
    sizes = np.array([4, 1, 1])
    assert sizes[sizes <= largest_within(sizes, limit)].tolist() == kept


def test_purchases_dealt_out_in_a_group_are_known_by_what_its_customers_buy_usually() -> None:
    # Everybody buys mostly one thing of their own, and all buy tea.
    rng = np.random.default_rng(1)
    rows = [
        (f"c{who}", f"2017-0{1 + day // 28}-{1 + day % 28:02}", f"i{who}" if rng.random() < 0.7 else "tea", 1.0, 1)
        for who in range(12)
        for day in range(who // 2 % 2, 84, 2 + who // 4)
    ]
    shop = history(*rows)
    release = PermuteGroups(bound=0.5).anonymize(shop, seed=1)
    assert release.rows is not None
    known = shop.known(0.25, seed=1, item_characters=None)
    judged, _ = attribute_release(shop, History(release.frame), release.rows, known, seed=1)
    assert judged.shared is not None
    # .773 when known purchases were looked for under each pseudonym of a group for itself.
    assert judged.shared.value >= 0.8
