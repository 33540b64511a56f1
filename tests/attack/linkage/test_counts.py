from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tokumei.attack.linkage.counts import UNEVEN, RowCounts


def test_known_rows_of_an_undeleted_release_are_binomial() -> None:
    counts = RowCounts(known=0.25, deleted=0, mean=10)
    chance = np.exp(counts.log_known_given_released(np.array([0, 2]), np.array([4])))
    # The rest of the weight is on a geometric number of rows with mean 0.25 · 5.
    geometric = np.array([1, (1.25 / 2.25) ** 2]) / 2.25
    expected = (1 - UNEVEN) * binom.pmf([0, 2], 4, 0.25) + UNEVEN * geometric
    assert chance[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("known", "deleted"), [(0.25, 0.2), (1.0, 0.2), (0.5, 0.002)])
def test_chances_of_all_numbers_of_known_rows_sum_to_one(known: float, deleted: float) -> None:
    counts = RowCounts(known, deleted, mean=10)
    chances = np.exp(counts.log_known_given_released(np.arange(2_000), np.array([1, 10, 50])))
    assert chances.sum(axis=0) == pytest.approx(1, abs=1e-6)


def test_chance_that_all_rows_are_deleted_is_what_summing_gives() -> None:
    counts = RowCounts(known=0.25, deleted=0.2, mean=8)
    goes_on = 1 - 1 / 11  # 10 rows in the original.
    n = np.arange(1, 400)
    rows = (1 - goes_on) * goes_on ** (n - 1) * 0.2**n
    expected = [float((rows * binom.pmf(known, n, 0.25)).sum()) for known in (0, 1, 3)]
    assert np.exp(counts.log_known_and_all_deleted(np.array([0, 1, 3]))) == pytest.approx(expected)
