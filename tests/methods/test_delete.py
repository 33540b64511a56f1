from __future__ import annotations

import datetime
from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.methods.history.delete import Delete

ONLY_RANDOM: dict[str, Any] = {"once": False, "price_deviations": 0.0}


def history(items: str, prices: list[float] | None = None, customers: str | None = None) -> History:
    """One row for each letter of `items`, all on one day."""
    n = len(items)
    return History.of(
        pl.DataFrame(
            {
                "customer": list(customers or "a" * n),
                "date": [datetime.date(2011, 1, 1)] * n,
                "item": list(items),
                "price": prices or [1.0] * n,
                "quantity": [1] * n,
            }
        )
    )


def deleted(original: History, **options: Any) -> list[int]:
    changed = Delete(**options).change(original, seed=1)
    assert changed.rows.to_list() == list(range(original.n_rows))
    is_deleted = changed.history.frame["customer"].is_null()
    kept = changed.history.frame.filter(~is_deleted)
    assert kept.equals(original.frame.filter(~is_deleted))
    assert changed.history.frame.filter(is_deleted).null_count().row(0) == (is_deleted.sum(),) * 7
    return is_deleted.arg_true().to_list()


def test_delete_takes_items_bought_once() -> None:
    assert deleted(history("xxyzz")) == [2]
    assert deleted(history("xxyzz"), once=False) == []


def test_delete_takes_prices_far_from_the_mean() -> None:
    # The mean is 2 and the standard deviation √99, so that 101 lies 9.95 of them away.
    prices = [1.0] * 99 + [101.0]
    assert deleted(history("x" * 100, prices)) == [99]
    assert deleted(history("x" * 100, prices), price_deviations=9.9) == [99]
    assert deleted(history("x" * 100, prices), price_deviations=10.0) == []
    assert deleted(history("x" * 100, prices), price_deviations=0.0) == []


def test_delete_takes_the_rows_that_give_most_away_first() -> None:
    # Only c bought y: that row is alone in each comparison that names the item.
    original = history("xxxxy", customers="abcac")
    assert deleted(original, telling=0.2, **ONLY_RANDOM) == [4]


def test_delete_takes_a_share_at_random_that_depends_on_the_seed() -> None:
    original = history("x" * 100)
    one, two = (Delete(random=0.3, **ONLY_RANDOM).change(original, seed=seed).history for seed in (1, 2))
    assert one.kept.height == two.kept.height == 70
    assert not one.frame.equals(two.frame)


def test_delete_stops_at_the_largest_share_in_the_order_of_the_rules() -> None:
    original = history("y" + "x" * 9)
    assert deleted(original, random=1.0, most=0.1) == [0]
    assert len(deleted(original, random=1.0)) == 5
    assert deleted(original, random=1.0, most=0.0) == []


def test_delete_counts_the_rows_that_were_deleted_before() -> None:
    half = Delete(random=0.5, **ONLY_RANDOM).change(history("x" * 10), seed=1).history
    again = Delete(random=0.2, **ONLY_RANDOM).change(half, seed=2).history
    assert again.kept.height == 5
    more = Delete(random=0.2, most=0.6, **ONLY_RANDOM).change(half, seed=2).history
    assert more.kept.height == 4


def test_delete_of_an_empty_history_is_empty() -> None:
    empty = History(history("x").frame.clear())
    assert Delete(telling=0.5).change(empty, seed=1).history.frame.is_empty()


@pytest.mark.parametrize("options", [{"random": 1.5}, {"telling": -1.0}, {"most": 2.0}, {"price_deviations": -1.0}])
def test_delete_of_an_impossible_share_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        deleted(history("x"), **options)
