"""Measures of baskets equal going through all combinations."""

from __future__ import annotations

import datetime
import random

import polars as pl
import pytest
from tests.definitions import item_sets

from tokumei.data.history import History
from tokumei.measures.safety.known_items import HkpCoherence, KmAnonymity, LkcPrivacy


def drawn(seed: int) -> list[set[str]]:
    draw = random.Random(seed)
    n = draw.choice([0, 1, 2, 3, 5, 8])
    return [one for _ in range(n) if (one := {item for item in "abcdxy" if draw.random() < 0.4})]


def history(baskets: list[set[str]]) -> History:
    rows = [(str(number), item) for number, one in enumerate(baskets) for item in sorted(one)]
    frame = pl.DataFrame(rows, schema={"customer": pl.String, "item": pl.String}, orient="row")
    return History.of(frame.with_columns(date=datetime.date(2011, 1, 1), price=1.0, quantity=1))


def test_measures_of_baskets_are_those_of_the_definitions(times: int) -> None:
    for seed in range(100 * times):
        baskets = drawn(seed)
        released, n_known = history(baskets), 1 + seed % 3
        assert KmAnonymity(1, n_known).measure(released).value == item_sets.fewest_sharing(baskets, n_known)
        fewest, confidence = item_sets.exposure(baskets, n_known, {"x", "y"})
        for part in (LkcPrivacy(n_known, 1, 1, ("x", "y")), HkpCoherence(1, 1, n_known, ("x", "y"))):
            score = part.measure(released)
            assert score.value == pytest.approx(confidence)
            assert score.inputs["k"] == fewest
