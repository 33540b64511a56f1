"""The records likeliest to be somebody's: found by the index as by comparing all, on tables of every kind."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.attacks import likeness, likeness_search
from tokumei.attacks.compared_numbers import Numbers
from tokumei.attacks.compared_values import Categories
from tokumei.attacks.likeness import Likeness
from tokumei.attacks.likeness_search import RecordIndex, Search, says_of_all
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.data.table import Table

MISSING_TOO = st.integers(0, 5)


def likeness_of(people: dict[str, Any], records: dict[str, Any]) -> Likeness:
    table = Table(pl.DataFrame(people, strict=False), qi=list(people))
    released = Table(pl.DataFrame(records, strict=False), qi=list(records))
    return Likeness.of(ThreatModel(table, Published.made_up(released)), seed=1)


def drawn(seed: int, n: int, kind: int) -> Likeness:
    """Numbers that were noised or written as ranges, values, and some of both missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n).astype(float)
    far = np.round(rng.normal(0, 100, n))
    town = rng.choice(list("abcdef"), n)
    gone = rng.random(n) < (0.15 if kind else 0.0)
    people = {
        "age": [None if lost else value for lost, value in zip(gone, age.tolist(), strict=True)],
        "far": far.tolist(),
        "town": town.tolist(),
    }
    records = dict(people)
    records["far"] = (far + rng.normal(0, 30, n)).tolist()
    records["town"] = np.where(rng.random(n) < 0.7, town, rng.choice(list("abcdefx"), n)).tolist()
    if kind == 2:
        records["age"] = [
            "*" if lost else f"[{int(value) // 7 * 7}, {int(value) // 7 * 7 + 6}]"
            for lost, value in zip(gone, age.tolist(), strict=True)
        ]
    return likeness_of(people, records)


@pytest.mark.parametrize(("few_labels", "most_codes", "many"), [(0, 1 << 11, 1), (8_192, 100, 1), (8_192, 100, 0)])
@given(seed=st.integers(0, 10_000), n=st.integers(2, 40), kind=st.integers(0, 2), within=st.sampled_from([1e-4, 5, 30]))
def test_search_finds_what_comparing_all_finds(
    few_labels: int, most_codes: int, many: float, seed: int, n: int, kind: int, within: float
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likeness_search, "FEW_LABELS", few_labels)
        patch.setattr(likeness_search, "LOOKED_AT", 1)
        patch.setattr(likeness_search, "MOST_CODES", most_codes)
        patch.setattr(likeness_search, "MANY_LEFT", many)
        likeness = drawn(seed, n, kind)
        people = np.arange(n)
        told = likeness.says(people) - likeness.common
        search = Search(likeness.columns, RecordIndex.of(likeness.columns, likeness.sizes), likeness.common)
        who, records, said = search.near(people, within)
        best = told.max(axis=1, keepdims=True)
        # What lies on the border may be on either side of it by a rounding.
        surely, perhaps = told > best - within + 1e-3, told >= best - within - 1e-3
        found = np.zeros(told.shape, bool)
        found[who, records] = True
        assert (found >= surely).all()
        assert (found <= perhaps).all()
        assert said == pytest.approx(told[who, records], abs=1e-3)
        assert (np.diff(who * told.shape[1] + records) > 0).all()


@given(seed=st.integers(0, 10_000), kind=st.integers(0, 2), by_rank=st.booleans())
def test_no_label_says_more_than_its_bin(seed: int, kind: int, by_rank: bool) -> None:
    for column in drawn(seed, 30, kind).columns:
        if isinstance(column, Categories):
            continue
        one = replace(column, by_rank=by_rank, kept=0.4, near=0.5)
        counts = np.bincount(one.labels, minlength=len(one.shares))
        bins = np.unique(one.bins(4, counts), return_inverse=True)[1]
        order = np.argsort(bins, kind="stable")
        hulls = one.hulls(order, np.searchsorted(bins[order], np.arange(bins.max() + 1)))
        values = np.arange(len(one.value_ends))
        assert isinstance(one, Numbers)
        assert (says_of_all(one, values) <= one.most_of(values, hulls)[:, bins] + 1e-3).all()


def test_pairs_by_hand() -> None:
    """Of the four corners of two ages and two sexes each is nearest to one person, who is like all within enough."""
    corners = {"age": [20, 20, 50, 50], "sex": ["f", "m", "f", "m"]}
    likeness = likeness_of(corners, corners)
    search = Search(likeness.columns, RecordIndex.of(likeness.columns, likeness.sizes), likeness.common)
    who, records, _ = search.near(np.arange(4), 1e-4)
    assert who.tolist() == [0, 1, 2, 3]
    assert records.tolist() == likeness.record_of.tolist()
    assert search.near(np.array([1]), math.inf)[1].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_column_says_the_same_of_few_people_at_a_time(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = drawn(3, 60, kind)
    people = np.arange(len(made.columns[0].values))
    at_once = [made.says_of_column(index, people) for index in range(len(made.columns))]
    monkeypatch.setattr(likeness, "MOST_CELLS", 50)
    for index, told in enumerate(at_once):
        assert made.says_of_column(index, people) == pytest.approx(told, abs=1e-12)
