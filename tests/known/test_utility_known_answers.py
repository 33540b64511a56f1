"""E1 to E6 of PWSCUP 2017 on the organizers' sample release."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.contest.editions.pwscup2017.files import read_history, read_release
from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES

KNOWN = {
    "item-cf-supply": 0.946782,
    "item-cf-retail": 0.947189,
    "top-items": 0.21,
    "item-cf-top": 0.657265,
    "date": 0,
    "price": 0,
    "rows": 0.5,
}


@pytest.fixture(scope="module")
def original(shared_data: Path) -> History:
    return read_history(shared_data / "pwscup2017" / "T.csv.gz")


@pytest.mark.parametrize("name", list(KNOWN))
def test_sample_release_is_measured_as_known(original: History, shared_data: Path, name: str) -> None:
    released = read_release(shared_data / "pwscup2017" / "AT_sample.csv.gz")
    assert round(HISTORY_UTILITIES.make(name).measure(original, released).value, 6) == KNOWN[name]


@pytest.mark.parametrize("name", list(HISTORY_UTILITIES))
def test_release_with_nothing_but_ids_changed_is_exactly_best(original: History, name: str) -> None:
    released = History(original.frame.with_columns(customer="P" + pl.col("customer")))
    score = HISTORY_UTILITIES.make(name).measure(original, released)
    assert score.value == score.best
