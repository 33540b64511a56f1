from __future__ import annotations

import datetime
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.data.history import History
from tokumei.methods.history.delete import KmAnonymity


def history(*item_sets: str) -> History:
    """Customers 1, 2, … with one row for each letter."""
    rows = [(str(number), item) for number, items in enumerate(item_sets, 1) for item in items]
    return History.of(
        pl.DataFrame(rows, schema={"customer": pl.String, "item": pl.String}, orient="row").with_columns(
            date=pl.lit(datetime.date(2011, 1, 1)), price=pl.lit(1.0), quantity=pl.lit(1)
        )
    )


def sets_of(released: History) -> dict[str, str]:
    bought = released.kept.group_by("customer").agg(pl.col("item").unique().sort().str.join(""))
    return dict(bought.rows())


def test_km_anonymity_of_pairs_keeps_the_most_bought_items() -> None:
    changed = KmAnonymity(k=2, m=2).change(history("abc", "ab", "ac"), seed=1)
    assert sets_of(changed.history) == {"1": "ab", "2": "ab", "3": "a"}


def test_km_anonymity_of_single_items_deletes_the_rare_ones_only() -> None:
    changed = KmAnonymity(k=2, m=1).change(history("abc", "ab", "ad"), seed=1)
    assert sets_of(changed.history) == {"1": "ab", "2": "ab", "3": "a"}
    assert changed.history.frame["item"].to_list() == ["a", "b", None, "a", "b", "a", None]
    assert changed.rows.to_list() == list(range(7))


def test_km_anonymity_that_holds_already_deletes_nothing() -> None:
    original = history("abb", "ab", "ab")
    assert KmAnonymity(k=3, m=2).change(original, seed=1).history.frame.equals(original.frame)


def test_km_anonymity_without_a_common_item_cannot_be_had() -> None:
    with pytest.raises(CannotAnonymize, match="at least 2 customers"):
        KmAnonymity(k=2, m=1).change(history("a", "b"), seed=1)


def test_km_anonymity_is_recounted_on_the_release() -> None:
    with pytest.raises(PromiseBroken, match="belongs to 1 pseudonyms"):
        KmAnonymity(k=2, m=2).check_promise(history("abc", "ab", "ac"))
    KmAnonymity(k=2, m=1).check_promise(history("abc", "ab", "ac"))


@pytest.mark.parametrize("options", [{"k": 0}, {"m": 0}, {"m": 3}])
def test_km_anonymity_with_an_impossible_option_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        KmAnonymity(**options).change(history("ab"), seed=1)


@given(st.lists(st.text("abcdefgh", max_size=6), min_size=1, max_size=12), st.integers(1, 4), st.integers(1, 2))
def test_km_anonymity_holds_by_a_plain_count(item_sets: list[str], k: int, m: int) -> None:
    try:
        released = KmAnonymity(k, m).change(history(*item_sets), seed=1).history
    except CannotAnonymize:
        assert max(Counter(item for items in item_sets for item in set(items)).values()) < k
        return
    counts: Counter[tuple[str, ...]] = Counter()
    for items in sets_of(released).values():
        for size in range(1, m + 1):
            counts.update(combinations(items, size))
    assert all(n >= k for n in counts.values())
