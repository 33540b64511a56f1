"""What anonymeter 1.1.0 found of the same people and the same release, and its formulas by its own numbers.

Recorded once by running its evaluators of singling out (500 attacks, of 4 columns where of several) and linkability
(all 1,000 people, one neighbor) on the tables that `tables` makes, with NumPy's seed 1; of its control function the
numbers of successes below. Its inference is left out: its baseline is misaligned.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.judge import risk_above

# Successes of attacks, rate and its error, the same of the control, risk and its ends.
ONE_COLUMN = (0.0376, 0.0162, 0.0256, 0.0133, 0.0122, (0.0, 0.0337))
SEVERAL = (0.3313, 0.0411, 0.2102, 0.0355, 0.1533, (0.0888, 0.2178))
LINKED = {"age,pay,hours": (0.0230, (0.0126, 0.0334)), "age,pay,town": (0.0339, (0.0224, 0.0455))}


@pytest.fixture(scope="module")
def tables() -> tuple[tk.Table, pl.DataFrame, pl.DataFrame]:
    """The original, a release with noise on pay and hours, and people who are not in it."""
    rng = np.random.default_rng(7)

    def people(n: int) -> pl.DataFrame:
        age = rng.integers(18, 80, n)
        pay, hours = np.round(age * 400 + rng.normal(0, 3000, n)), np.round(rng.normal(38, 8, n))
        town, job = rng.choice(list("abcdefgh"), n), rng.choice(list("uvwxyz"), n)
        return pl.DataFrame({"age": age, "pay": pay, "hours": hours, "town": town, "job": job})

    original, control = people(1000), people(1000)
    release = original.with_columns(
        pay=(original["pay"] + pl.Series(rng.normal(0, 1000, 1000))).round(),
        hours=(original["hours"] + pl.Series(rng.normal(0, 2, 1000))).round(),
    )
    # The same people as were recorded.
    assert (original.row(0), control.row(0)) == ((76, 32641.0, 45.0, "b", "w"), (28, 8449.0, 32.0, "h", "z"))
    return tk.Table(original, qi=original.columns), release, control


def test_singling_out_finds_what_the_peer_finds(tables: tuple[tk.Table, pl.DataFrame, pl.DataFrame]) -> None:
    table, release, control = tables
    found = tk.attack(table, release, "singling-out", in_order=True, control=control, descriptions=500)
    scores = found.scores["singling-out"]
    for name, (rate, error, outside, error_outside, risk, reach) in (("one-column", ONE_COLUMN), ("success", SEVERAL)):
        score = scores[name]
        assert score.interval is not None
        assert score.risk_interval is not None
        assert score.control is not None
        assert score.interval[0] <= rate + error
        assert score.interval[1] >= rate - error
        assert abs(score.control - outside) <= 2 * error_outside
        # Each risk lies within the interval of the other.
        assert score.risk_interval[0] <= risk <= score.risk_interval[1]
        assert reach[0] <= (score.risk or 0) <= reach[1]


@pytest.mark.parametrize("first", LINKED)
def test_linkability_finds_no_less_than_the_peer(
    tables: tuple[tk.Table, pl.DataFrame, pl.DataFrame], first: str
) -> None:
    table, release, control = tables
    found = tk.attack(table, release, "linkability", in_order=True, control=control, first=first, people=0)
    score, (risk, reach) = found.scores["linkability"]["success"], LINKED[first]
    assert score.risk_interval is not None
    # Intervals meet, and ours reaches as high.
    assert score.risk_interval[0] <= reach[1]
    assert score.risk_interval[1] >= reach[1]
    assert (score.risk or 0) >= risk - 0.005


@pytest.mark.parametrize(
    ("found", "else_", "n", "risk", "reach"),
    [
        (80, 20, 100, 0.732415353621371, (0.63041808569327, 0.834412621549472)),
        (7, 3, 50, 0.08176492967731533, (0.0, 0.20951721458171524)),
        (50, 0, 50, 0.9630065017930143, (0.925987699089575, 1.0)),
        (0, 0, 50, 0.0, (0.0, 0.05231670688394393)),
    ],
)
def test_risk_is_that_of_the_peer(found: int, else_: int, n: int, risk: float, reach: tuple[float, float]) -> None:
    value, ends = risk_above(found, n, else_, n)
    assert value == pytest.approx(risk, abs=1e-9)
    assert ends == pytest.approx(reach, abs=1e-9)


def test_rate_and_error_by_hand() -> None:
    """Of 50 tried 7: (7 + 1.92) / 53.84 = .1657, and 1.96 / 53.84 · √(7 · 43 / 50 + .9604) = .0962."""
    rate, error = (7 + 1.9207) / 53.8415, 1.96 / 53.8415 * (7 * 43 / 50 + 0.9604) ** 0.5
    assert (rate, error) == pytest.approx((0.1657, 0.0962), abs=1e-4)
    # Above a control of which nobody is found in ever so many tries the risk is the rate.
    value, (low, high) = risk_above(7, 50, 0, 10**9)
    assert (value, value - low, high - value) == pytest.approx((rate, error, error), abs=1e-4)


def test_linkability_lies_above_the_peer_by_links_that_are_right(
    tables: tuple[tk.Table, pl.DataFrame, pl.DataFrame],
) -> None:
    """Ages were left alone, which is learned here; distances of the peer weigh a year as 500 of pay.

    By town and job 1,000 people are alike in 48 groups of about 21. Whoever finds their own record by age and pay
    and hours meets it once in about 21, .048 of the people; of any other record town and job are right once in 48.
    """
    table, release, control = tables
    found = tk.attack(
        table, release, "linkability", in_order=True, control=control, first="age,pay,hours", people=0
    ).scores["linkability"]
    groups = table.frame.group_by("town", "job").len()["len"]
    # Of everybody found by the first part one in so many meets, which is one over the size of the group on average.
    bound = len(groups) / table.n_rows
    assert found["linked-rightly"].value <= bound + 1e-9
    assert found["success"].value - found["linked-rightly"].value < 0.01
    # The distance of the peer: each number by the range of both tables, all alike. It finds fewer own records.
    off = np.zeros((1000, 1000))
    for name in ("age", "pay", "hours"):
        one, other = (frame[name].to_numpy().astype(float) for frame in (table.frame, release))
        off += np.abs(one[:, None] - other[None, :]) / np.ptp(np.append(one, other))
    nearest = off == off.min(axis=1, keepdims=True)
    by_distance = np.diag(nearest) / nearest.sum(axis=1)
    sizes = table.frame.select(pl.len().over("town", "job"))["len"].to_numpy()
    assert 1.2 * float((by_distance / sizes).mean()) < found["linked-rightly"].value


def test_linkability_by_hand_where_one_column_was_left_alone() -> None:
    """Ages 1 to 40 are released as they are, pays in the opposite order: the plain distance is misled, ages are not.

    Somebody of age a earns a and is released with 41 − a. By the distances of the peer the own record is |41 − 2a| off.
    That of age b is |a − b| + |a − 41 + b| off, which is the same for all b between a and 41 − a: nothing is told. The
    town, a number of their own, is the other part. Here everybody's parts meet in their own record.
    """
    ages = np.arange(1, 41)
    frame = pl.DataFrame({"age": ages, "pay": ages, "town": [f"town {age}" for age in ages]})
    release = frame.with_columns(pay=41 - pl.col("pay"))
    table = tk.Table(frame, qi=frame.columns)
    found = tk.attack(table, release, "linkability", in_order=True, first="age,pay").scores["linkability"]
    assert found["success"].value == 1
    assert found["linked-rightly"].value == 1
    off = np.abs(ages[:, None] - ages[None, :]) + np.abs(ages[:, None] - (41 - ages)[None, :])
    is_nearest = off == off.min(axis=1, keepdims=True)
    # Of records equally near one is drawn: of those of 20 and 21 either, of 1 and 40 one of all forty.
    plain = np.diag(is_nearest) / is_nearest.sum(axis=1)
    assert plain.tolist() == pytest.approx([1 / (abs(41 - 2 * age) + 1) for age in ages])
    assert plain.mean() < 0.11
