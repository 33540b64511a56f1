from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.methods.history.similar_customers import ExchangePseudonyms


def history(*rows: tuple[str, int, str]) -> History:
    """Rows of customer, month of 2011 and item."""
    return History.of(
        pl.DataFrame(
            {
                "customer": [customer for customer, _, _ in rows],
                "date": [datetime.date(2011, month, 1) for _, month, _ in rows],
                "item": [item for _, _, item in rows],
            }
        ).with_columns(price=pl.lit(1.0), quantity=pl.lit(1))
    )


def names(release_of: History, method: ExchangePseudonyms, seed: int = 1) -> list[str]:
    return method.anonymize(release_of, seed=seed).frame["customer"].to_list()


TWO = history(("a", 1, "x"), ("b", 1, "x"), ("a", 2, "x"), ("b", 2, "x"), ("a", 3, "x"), ("b", 3, "x"))


def test_exchange_of_two_customers_swaps_their_pseudonyms_every_month() -> None:
    a1, b1, a2, b2, a3, b3 = names(TWO, ExchangePseudonyms(share=1))
    assert a1 != b1
    assert (a2, b2) == (b1, a1)
    assert (a3, b3) == (a1, b1)


def test_exchange_every_second_month_waits_for_the_third() -> None:
    a1, b1, a2, b2, a3, b3 = names(TWO, ExchangePseudonyms(every=2, share=1))
    assert (a2, b2) == (a1, b1)
    assert (a3, b3) == (b1, a1)


def test_exchange_of_nobody_leaves_one_pseudonym_a_customer() -> None:
    a1, b1, a2, b2, a3, b3 = names(TWO, ExchangePseudonyms(share=0))
    assert (a1, b1) == (a2, b2) == (a3, b3)


@pytest.mark.parametrize("seed", range(5))
def test_exchange_prefers_the_most_similar_customer(seed: int) -> None:
    items = {"a": "x", "b": "x", "c": "y", "d": "y"}
    four = history(*((customer, month, item) for month in (1, 2) for customer, item in items.items()))
    a1, b1, c1, d1, *later = names(four, ExchangePseudonyms(share=1, among=1), seed)
    assert later == [b1, a1, d1, c1]


def test_exchange_leaves_out_who_does_not_buy_in_the_month() -> None:
    absent = history(("a", 1, "x"), ("b", 1, "x"), ("a", 2, "x"), ("a", 3, "x"))
    a1, _, a2, a3 = names(absent, ExchangePseudonyms(share=1))
    assert a1 == a2 == a3


def test_exchange_of_an_empty_history_is_empty() -> None:
    release = ExchangePseudonyms().anonymize(History(TWO.frame.clear()), seed=1)
    assert release.frame.is_empty()


@pytest.mark.parametrize("options", [{"every": 0}, {"share": 1.1}, {"among": 0}])
def test_exchange_with_an_impossible_option_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        ExchangePseudonyms(**options).anonymize(TWO, seed=1)
