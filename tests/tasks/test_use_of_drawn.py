"""What drawn rows are good for: worked by hand, and intervals that hold as often as they say."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.tasks.use_of_drawn import loss_between, marginal_error, use_of_drawn


def test_error_of_pairs_by_hand() -> None:
    # Drawn: all in (1, 1); people: half in (1, 1), half in (2, 2). Half of the rows lie wrong.
    drawn = np.ones((2, 10), np.int64)
    outside = np.array([[1, 2] * 500, [1, 2] * 500])
    found = marginal_error("pair-error", drawn, outside, 2)
    reach = math.sqrt(math.log(40) / 2_000)
    assert found.value == pytest.approx(0.5)
    assert found.interval is not None
    assert found.interval[1] == pytest.approx(0.5 + reach)
    assert 0.5 - 3 * reach - 0.1 < found.interval[0] < 0.5 - 3 * reach + 0.1


def test_interval_of_errors_holds_for_a_known_population() -> None:
    random = np.random.default_rng(0)
    chances = random.dirichlet(np.ones(9), size=3)
    drawn = np.array([random.integers(0, 9, 4_000) for _ in range(3)])
    joint = np.zeros((9, 9, 9))
    np.add.at(joint, tuple(drawn), 1 / 4_000)
    truth = np.einsum("i,j,k->ijk", *chances)
    pairs = [np.abs(joint.sum(axis) - truth.sum(axis)).sum() / 2 for axis in range(3)]
    wanted = (("pair-error", 2, np.mean(pairs)), ("triple-error", 3, np.abs(joint - truth).sum() / 2))
    for n in (60, 400):
        for _ in range(100):
            outside = np.array([random.choice(9, n, p=one) for one in chances])
            for name, width, exact in wanted:
                found = marginal_error(name, drawn, outside, width).interval
                assert found is not None
                # The bounds are for the worst case: none of 200 may fail.
                assert found[0] <= exact <= found[1]


def test_loss_of_the_docstring() -> None:
    original = np.array([True] * 78 + [True] * 6 + [False] * 2 + [False] * 14)
    drawn = np.array([True] * 78 + [False] * 6 + [True] * 2 + [False] * 14)
    found = loss_between(original, drawn)
    assert found.value == pytest.approx(0.04)
    assert found.interval == pytest.approx((4 / 102 - 0.0603, 4 / 102 + 0.0603), abs=1e-3)


@pytest.mark.parametrize("n", [30, 300])
def test_interval_of_a_loss_holds_in_95_of_100_cases(n: int) -> None:
    random = np.random.default_rng(n)
    held, runs = 0, 2_000
    for _ in range(runs):
        kind = random.choice(4, n, p=[0.7, 0.1, 0.05, 0.15])
        interval = loss_between(np.isin(kind, [0, 1]), np.isin(kind, [0, 2])).interval
        assert interval is not None
        held += interval[0] <= 0.05 <= interval[1]
    assert held / runs > 0.935


def test_rows_drawn_from_the_same_people_lose_little_and_shuffled_ones_all() -> None:
    random = np.random.default_rng(1)
    n = 3_000
    town = random.integers(0, 4, n)
    frame = pl.DataFrame(
        {
            "town": [f"t{one}" for one in town],
            "age": random.integers(20, 80, n),
            "ill": np.where(random.random(n) < np.where(town > 1, 0.9, 0.1), "yes", "no"),
        }
    )
    table, held_out = tk.Table(frame, qi=["town", "age"], sensitive=["ill"]), pl.Series(range(2_000, 3_000))
    same = use_of_drawn(table, frame.head(2_000), held_out)
    apart = use_of_drawn(table, frame.with_columns(pl.col("ill").shuffle(1)), held_out)
    assert list(same) == ["pair-error", "triple-error", "model-loss"]
    assert same["pair-error"].value < 0.12 < 0.15 < apart["pair-error"].value
    assert abs(same["model-loss"].value) < 1e-9
    assert apart["model-loss"].value > 0.2
    assert apart["model-loss"].interval is not None
    assert apart["model-loss"].interval[0] > 0.1
