"""The Gaussian copula: its correlations by hand, and what it keeps of a table."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.methods.synthetic.columns import Column
from tokumei.methods.synthetic.copula import Scores, correlation, label_orders, positive_definite


def test_means_of_two_halves_are_those_of_a_half_normal_variable() -> None:
    scores = Scores(np.array([0, 0, 1, 1]), np.array([2.0, 2.0]))
    assert scores.means == pytest.approx([-math.sqrt(2 / math.pi), math.sqrt(2 / math.pi)])


def test_correlation_of_two_halves_is_that_at_which_signs_agree_as_often() -> None:
    # Signs of two normal variables agree with chance 1/2 + arcsin(r)/π (Sheppard 1899): 3/4 at sin(π/4).
    halves = Scores(np.zeros(0, np.int64), np.array([1.0, 1.0]))
    covariance = (2 / math.pi) * (3 / 4 - 1 / 4)
    assert correlation(halves, halves, covariance) == pytest.approx(math.sin(math.pi / 4), abs=0.02)
    assert correlation(halves, halves, -covariance) == pytest.approx(-math.sin(math.pi / 4), abs=0.02)
    assert correlation(halves, halves, 0.0) == pytest.approx(0, abs=0.01)


def test_matrix_that_contradicts_itself_becomes_positive_definite() -> None:
    made = positive_definite(np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]))
    assert np.linalg.eigvalsh(made).min() > 0
    assert np.diag(made) == pytest.approx(1)


def test_labels_stand_in_the_order_that_agrees_with_the_numbers() -> None:
    number = np.repeat(np.arange(3), 10)
    label = np.array([2, 0, 1])[number]
    columns = [
        Column("n", number, 3, False, labels=("x", "y", "z")),
        Column("l", label, 3, False, labels=("a", "b", "c")),
    ]
    first, second = label_orders(columns)
    assert first[number].tolist() == second[label].tolist()


def made_table(n: int = 2_000) -> pl.DataFrame:
    random = np.random.default_rng(3)
    age = random.integers(20, 70, n)
    income = (age * 100 + random.normal(0, 500, n)).round(2)
    return pl.DataFrame(
        {
            "age": age,
            "city": np.where(age > 45, "Kyoto", random.choice(["Osaka", "Chiba"], n)),
            "income": pl.Series(income).set(pl.Series(random.random(n) < np.where(age < 45, 0.3, 0.05)), None),
        }
    )


@pytest.mark.parametrize("method", ["copula", "sequential-trees"])
def test_shares_correlations_and_missing_values_are_kept(method: str) -> None:
    frame = made_table()
    made = tk.anonymize(
        tk.Table(frame, qi=["age", "city"], sensitive=["income"]), method=method, hold_out=0, anyway=True, seed=1
    )
    released = made.frame
    assert released.schema == frame.schema
    assert made.rows is None
    assert released.height == frame.height
    for column in ("age", "income"):
        assert released[column].mean() == pytest.approx(frame[column].mean(), rel=0.05)
    assert released["income"].null_count() == pytest.approx(frame["income"].null_count(), abs=60)
    before, after = (one.drop_nulls().select(pl.corr("age", "income")).item() for one in (frame, released))
    assert after == pytest.approx(before, abs=0.08)
    shares = [one.filter(pl.col("age") > 45)["city"].eq("Kyoto").mean() for one in (frame, released)]
    assert shares[1] == pytest.approx(shares[0], abs=0.25)


@pytest.mark.parametrize("method", ["copula", "sequential-trees"])
def test_rows_kept_out_are_told_apart_and_more_rows_can_be_drawn(method: str) -> None:
    table = tk.Table(made_table(200), qi=["age", "city"], sensitive=["income"])
    made = tk.anonymize(table, method=method, anyway=True, seed=1, hold_out=0.25, n_rows=300)
    assert made.frame.height == 300
    assert made.held_out is not None
    assert made.held_out.n_unique() == made.facts["held_out"]
    assert 20 < made.facts["held_out"] < 80


def test_person_column_is_refused_by_what_draws_rows_one_by_one() -> None:
    frame = made_table(50).with_columns(who=pl.int_range(50) // 2)
    with pytest.raises(tk.errors.InputError, match="mst and aim protect people"):
        tk.anonymize(tk.Table(frame, qi=["age"], person="who"), method="copula", hold_out=0, anyway=True)
