"""Logistic regressions with answers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from tokumei.measures.table.logistic import fit_logistic


def test_two_groups_have_the_odds_of_their_counts() -> None:
    # Of four 3 are ill without the trait, of five 2 with it: odds 3 and 2/3.
    trait = np.repeat([0.0, 1.0], [4, 5])
    is_ill = np.array([1, 1, 1, 0, 1, 1, 0, 0, 0], float)
    columns = np.column_stack([np.ones(9), trait])
    fit = fit_logistic(columns, is_ill)
    assert fit.odds == pytest.approx([3, 2 / 9], rel=1e-9)
    # Woolf: the error of a logarithm of odds is the root of the sum of one over each count.
    assert fit.errors == pytest.approx([(1 / 3 + 1) ** 0.5, (1 / 3 + 1 + 1 / 2 + 1 / 3) ** 0.5], rel=1e-6)
    assert fit.p_values[1] == pytest.approx(2 * norm.sf(abs(np.log(2 / 9)) / (13 / 6) ** 0.5), rel=1e-6)


def test_influence_is_about_what_leaving_a_row_out_moves() -> None:
    rng = np.random.default_rng(1)
    columns = np.column_stack([np.ones(2000), rng.normal(size=2000)])
    is_ill = (rng.random(2000) < 1 / (1 + np.exp(-columns[:, 1]))).astype(float)
    fit = fit_logistic(columns, is_ill)
    told = fit.influences(columns, is_ill)
    for row in (0, 17, 500):
        without = fit_logistic(np.delete(columns, row, axis=0), np.delete(is_ill, row))
        assert without.odds - fit.odds == pytest.approx(told[row], rel=0.05, abs=1e-6)


def test_columns_that_say_the_same_share_their_part() -> None:
    columns = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]], float)
    fit = fit_logistic(columns, np.array([1, 0, 1, 1, 0], float))
    assert fit.coefficients == pytest.approx([0, np.log(2) / 2, np.log(2) / 2], abs=1e-9)
