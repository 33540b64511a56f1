from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.attacks.history.attackers import THREATS, HistoryThreat, threat_of
from tokumei.core.errors import InputError, UnknownPart
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail


@pytest.fixture(scope="module")
def shop() -> History:
    return History.of(make_retail(30, seed=1))


def history(*rows: tuple[str, str, str, float, int]) -> History:
    return History.of(pl.DataFrame(list(rows), schema=["customer", "date", "item", "price", "quantity"], orient="row"))


@pytest.mark.parametrize("name", list(THREATS))
def test_what_a_threat_knows_is_drawn_by_its_seed_and_keeps_its_places(shop: History, name: str) -> None:
    one, two, other = (THREATS[name].know(shop, seed=seed) for seed in (1, 1, 2))
    assert one.frame.equals(two.frame)
    assert one.n_rows == shop.n_rows
    # All of an insider's rows, a broker's months and the most memorable purchase are the same in every draw.
    assert one.frame.equals(other.frame) == (name in ("data-broker", "insider"))
    for customer, before in zip(one.frame["customer"], shop.frame["customer"], strict=True):
        assert customer in (None, before)


def test_a_neighbor_knows_the_most_memorable_purchase_of_each_customer_about() -> None:
    shop = history(
        ("a", "2011-05-02", "tea", 2.0, 1),
        ("a", "2011-05-09", "piano", 900.0, 1),
        ("b", "2011-05-31", "tea", 2.0, 3),
        ("b", "2011-05-31", "tea", 2.0, 1),
    )
    known = THREATS["neighbor"].know(shop, seed=3).frame
    # A piano that nobody else bought; three teas for 6.00 rather than one for 2.00.
    assert known["customer"].to_list() == [None, "a", "b", None]
    assert known["item"].to_list() == [None, "pi", "te", None]
    assert abs((known["date"][1] - datetime.date(2011, 5, 9)).days) <= 1
    assert known["date"][2] >= datetime.date(2011, 5, 30)
    assert known["price"][1] == pytest.approx(900, rel=0.2)
    # A debit is as dear as it is large.
    debits = History.of(shop.frame.with_columns(price=-pl.col("price")))
    assert THREATS["neighbor"].know(debits, seed=3).frame["customer"].to_list() == [None, "a", "b", None]


def test_baskets_are_known_as_a_whole_and_nobody_is_without_one(shop: History) -> None:
    known = threat_of("spouse", share=0.3).know(shop, seed=1)
    rows = shop.frame.with_columns(is_known=known.frame["customer"].is_not_null())
    parts = rows.group_by("customer", "date").agg(pl.col("is_known").n_unique())
    assert (parts["is_known"] == 1).all()
    assert known.customers == shop.customers
    assert 0.25 < known.kept.height / shop.n_rows < 0.45


def test_a_broker_knows_the_earlier_months_and_the_later_are_attacked(shop: History) -> None:
    threat = THREATS["data-broker"]
    known = threat.know(shop, seed=1)
    later = threat.attacked_months(shop)
    assert not set(known.period.drop_nulls()) & set(later)
    assert known.kept.height == shop.frame.filter(~shop.period.is_in(later)).height
    with pytest.raises(InputError, match="two months"):
        threat.attacked_months(history(("a", "2011-05-02", "tea", 2.0, 1)))


def test_threats_are_found_by_name_in_either_spelling_and_changed_by_text() -> None:
    assert threat_of("neighbour") == THREATS["neighbor"]
    assert threat_of("rivals", share="0.5", draw="uniform") == HistoryThreat(
        "a contest's rivals", share=0.5, draw="uniform", knows_places=True, is_told=True
    )
    with pytest.raises(UnknownPart, match="insider"):
        threat_of("insidr")
    with pytest.raises(InputError, match="share"):
        threat_of("rivals", shares=1)


@pytest.mark.parametrize(
    "wrong", [{"share": 2.0}, {"draw": "luck"}, {"days": -1}, {"rows": 0}, {"period": "next"}, {"item_characters": 0}]
)
def test_wrong_assumptions_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        HistoryThreat(**wrong)  # type: ignore[arg-type]
