"""Descriptions that fit one person: by hand, of copies, of labels, and of other people."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.attacks.disclosure.test_nearest_records import N, people

import tokumei as tk
from tokumei.attacks.disclosure.singling_out import SingledOut, alone_among
from tokumei.core.score import Score

QI = ["n0", "n1", "gain", "at", "job"]


def scores(table: tk.Table, release: Any, **options: Any) -> dict[str, Score]:
    return dict(tk.attack(table, release, "singling-out", **options).scores["singling-out"])


@pytest.fixture(scope="module")
def table() -> tk.Table:
    return tk.Table(people(N, 1).select(QI), qi=QI)


def test_descriptions_of_four_people_are_counted_by_hand() -> None:
    """20 and 90 stand alone; so do "20 or less", "90 or more": two of each by one column."""
    frame = pl.DataFrame({"age": [20, 30, 30, 90], "at": ["north", "north", "south", "south"]})
    found = scores(tk.Table(frame, qi=["age", "at"]), frame, in_order=True)
    assert found["one-column"].value == 1
    assert found["one-column"].inputs["predicates"] == 4
    assert sorted(found["one-column"].inputs["riskiest"]) == [1, 4]
    assert found["success"].value == 1


def test_a_copy_singles_out_and_other_people_do_no_more_than_the_control(table: tk.Table) -> None:
    control = people(N, 2).select(QI)
    copy = scores(table, table.frame, in_order=True, control=control, descriptions=300)["success"]
    assert copy.value == 1
    assert copy.risk is not None
    assert copy.risk > 0.9
    assert copy.control is not None
    assert copy.control < 0.5
    strangers = scores(table, people(N, 4).select(QI), control=control, descriptions=300)["success"]
    assert strangers.risk_interval is not None
    assert strangers.risk_interval[0] == 0


def test_ends_of_ranges_are_tried(table: tk.Table) -> None:
    release = tk.anonymize(table, method="mondrian", k=5, seed=1, ranges="tight")
    found = scores(table, release, descriptions=300)["success"]
    assert found.value > 2 * (found.baseline or 0)
    assert found.inputs["riskiest"]


def test_people_with_several_rows_are_singled_out_by_any() -> None:
    frame = pl.DataFrame({"who": ["a", "a", "b"], "age": [20, 20, 50], "at": ["n", "n", "s"]})
    table = tk.Table(frame, qi=["age", "at"], person="who")
    assert scores(table, frame.drop("who"), in_order=True)["success"].value == 1


def test_share_alone_among_fewer_is_that_of_all_draws() -> None:
    """Of four of whom a description fits two, 4 of 6 pairs hold exactly one."""
    assert alone_among(np.array([2]), 4, 2) == pytest.approx(4 / 6)
    assert alone_among(np.array([3, 0]), 9, 5) == pytest.approx(3 * comb(6, 4) / comb(9, 5) / 2)
    assert alone_among(np.array([1, 2, 0, 1]), 10, 10) == pytest.approx(2 / 4)


def test_share_alone_among_more_is_that_of_the_weights() -> None:
    """Weights that vary as a gamma distribution: seen among 500, told of 2,000."""
    rng = np.random.default_rng(1)
    weights = rng.gamma(2.0, 1 / 1_000, 20_000)
    seen = rng.binomial(500, np.minimum(weights, 1))
    true = float((2_000 * weights * np.exp(1_999 * np.log1p(-np.minimum(weights, 0.99)))).mean())
    assert alone_among(seen, 500, 2_000) == pytest.approx(true, rel=0.1)
    # All of one weight.
    assert alone_among(np.array([1, 1]), 100, 200) == pytest.approx(200 * 0.01 * 0.99**199)


def test_descriptions_of_one_person_alone_are_held_against_the_share_of_people_fitted_by_hand() -> None:
    alone, is_outside = np.ones(40, np.int64), np.arange(40) == 0
    beyond, low = SingledOut(0.2, 200, alone, is_outside, 90, 10).beyond()
    assert beyond == pytest.approx((39 - 9) / 200)
    assert low == pytest.approx(40 * 10 * (0.8684141417 - 0.9) / 200, rel=1e-6)
    # As many as chance lets expect: nothing is beyond it.
    assert SingledOut(0.2, 200, alone, np.arange(40) < 4, 90, 10).beyond()[0] == pytest.approx(0)
    # All forty describe one person: that is one trial, which a share of .025 passes as often.
    beyond, low = SingledOut(0.2, 200, np.array([40]), np.array([False]), 90, 10).beyond()
    assert beyond == pytest.approx(0.2)
    assert low == pytest.approx(40 * 10 * (0.025 - 0.9) / 200)
    assert SingledOut(0.0, 200, np.array([], np.int64), np.array([], np.bool_), 90, 10).beyond() == (0, 0)


def test_chance_passes_the_lower_end_as_seldom_as_it_may() -> None:
    """People of whom a few are described often: the lower end is above nothing in one of forty draws at most."""
    rng = np.random.default_rng(1)
    n, n_out, n_draws = 400, 40, 2_000
    alone = np.concatenate([np.ones(30, np.int64), np.full(5, 4)])
    passed = 0
    for _ in range(n_draws):
        is_outside = np.zeros(n, bool)
        is_outside[rng.permutation(n)[:n_out]] = True
        passed += SingledOut(0.2, 100, alone, is_outside[: len(alone)], n - n_out, n_out).beyond()[1] > 0
    # 2.5 % and five deviations of 2,000 draws.
    assert passed / n_draws < 0.025 + 5 * 0.0035
