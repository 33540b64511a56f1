from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.methods.perturbing.masking import Sample
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import release_rows

AGES = pl.DataFrame({"age": ["31", "35", "42", "44"], "city": ["Kyoto", "Osaka", "Tokyo", "Chiba"]})


def sampled(frame: pl.DataFrame, share: float, seed: int = 1) -> Perturbed:
    return Sample(share).perturb(Original(frame, tuple(frame.columns)), seed=seed)


def test_half_of_four_rows_are_two_and_unchanged() -> None:
    changed = sampled(AGES, 0.5)
    assert changed.rows is not None
    assert changed.rows.n_unique() == changed.frame.height == 2
    assert changed.frame.equals(AGES[changed.rows])


@pytest.mark.parametrize(
    ("n", "share", "n_drawn"), [(4, 0.01, 1), (4, 1, 4), (10, 0.24, 2), (10, 0.26, 3), (0, 0.5, 0)]
)
def test_number_of_rows_is_the_nearest_and_at_least_one(n: int, share: float, n_drawn: int) -> None:
    assert sampled(pl.DataFrame({"age": [7] * n}), share).frame.height == n_drawn


def test_every_row_is_as_likely_at_every_index() -> None:
    n_draws = 2_000
    indices = np.zeros((2, 4))
    for seed in range(n_draws):
        rows = sampled(AGES, 0.5, seed).rows
        assert rows is not None
        indices[[0, 1], rows.to_list()] += 1
    # Each of four rows stands a quarter of the time in either place; five standard deviations of a count.
    assert np.abs(indices - n_draws / 4).max() < 5 * (n_draws * 3 / 16) ** 0.5


def test_same_seed_gives_the_same_and_another_another() -> None:
    many = pl.DataFrame({"age": list(range(100))})
    assert sampled(many, 0.3).frame.equals(sampled(many, 0.3).frame)
    assert not sampled(many, 0.3).frame.equals(sampled(many, 0.3, seed=2).frame)


def test_rows_left_out_are_counted() -> None:
    found = release_rows(AGES, ["age", "city"], {}, Goal([], method=Sample(0.5)), seed=1)
    assert found.n_suppressed == 2
    assert found.counts is not None
    assert found.counts.k == 1


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan")])
def test_share_that_cannot_be_is_named(share: float) -> None:
    with pytest.raises(InputError, match=r"option share: found .* expected a share above 0 and at most 1"):
        sampled(AGES, share)
