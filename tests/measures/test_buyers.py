from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.utility.customers import Buyers

MASTER = pl.DataFrame(
    {
        "customer": ["1", "2", "3", "4"],
        "sex": ["f", "f", "m", "m"],
        "birth": [date(1950, 1, 1), date(1955, 1, 1), date(1950, 1, 1), date(1980, 1, 1)],
    }
)
DAY = date(2011, 1, 1)


def _history(customers: list[str | None], items: list[str | None]) -> History:
    return History({"customer": customers, "date": [None if one is None else DAY for one in customers], "item": items})


def test_buyers_by_sex_worked_by_hand() -> None:
    original = _history(["1", "2", "3", "4"], ["A", "A", "A", "B"])
    # A had two women and a man; without the second row it has one and one: half of |2/3 − 1/2| + |1/3 − 1/2| is 1/6.
    released = _history(["p", None, "q", "r"], ["A", None, "A", "B"])
    score = Buyers(MASTER, by=("sex",)).measure(original, released)
    assert score.value == pytest.approx((1 / 6 + 0) / 2)


def test_item_nobody_buys_any_more_is_lost_and_decades_count_as_one() -> None:
    original = _history(["1", "2"], ["A", "A"])
    assert Buyers(MASTER).measure(original, _history([None, None], [None, None])).value == 1
    # Two women of the fifties are one group: leaving one out changes no share.
    assert Buyers(MASTER).measure(original, _history(["p", None], ["A", None])).value == 0


def test_master_of_pseudonyms_is_used_and_a_missing_column_is_named() -> None:
    original = _history(["1", "3"], ["A", "A"])
    other = pl.DataFrame({"customer": ["p", "q"], "sex": ["m", "m"]})
    score = Buyers(MASTER, other, by=("sex",)).measure(original, _history(["p", "q"], ["A", "A"]))
    assert score.value == pytest.approx(0.5)
    with pytest.raises(InputError, match="a column of the master"):
        Buyers(MASTER, by=("country",)).measure(original, original)
