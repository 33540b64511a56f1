"""The risk of each row by sampling weights: by hand, by its plain series, and by what sdcMicro's tests state."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.data.table import Role, Unit
from tokumei.measures.safety.individual_risk import individual_risk, risk_by_weights

# Classes of rows 1, 3 and 8 (f 3, F 108), of 5 and 6 (f 2, F 100), and of 2, 4 and 7 alone.
EIGHT = pl.DataFrame(
    {
        "a": [2, 3, 2, 2, 3, 3, 1, 2],
        "b": [3, 3, 3, 3, 3, 3, 4, 3],
        "c": [1, 3, 1, 2, 1, 1, 1, 1],
        "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0],
        "home": ["x", "x", "y", "y", "z", "z", "w", "w"],
    }
)
KNOWN = ["a", "b", "c"]


def test_risk_of_one_and_of_two_is_by_the_formulas_worked_by_hand() -> None:
    # One for 17: p = 1/17, p/(1-p) = 1/16. Two for 100: p = 1/50, p/(1-p) = 1/49.
    assert individual_risk(1, 17)[0] == pytest.approx(math.log(17) / 16)
    assert individual_risk(2, 100)[0] == pytest.approx(1 / 49 - math.log(50) / 49**2)
    # Three for 6: p = 1/2, and the mean of 1/F is ln 2 - 1/2.
    assert individual_risk(3, 6)[0] == pytest.approx(math.log(2) - 0.5)
    assert individual_risk(3, 6, approximate=True)[0] == pytest.approx(0.5 / 2.5)


def test_class_that_is_everybody_has_one_over_its_size() -> None:
    assert individual_risk([1, 2, 5, 100], [1, 2, 5, 99]).tolist() == pytest.approx([1, 1 / 2, 1 / 5, 1 / 100])


def test_risks_of_eight_rows_are_those_that_sdcmicro_states() -> None:
    exact = [0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297]
    found = risk_by_weights(EIGHT, KNOWN, "weight")
    assert found.risks.tolist() == pytest.approx(exact, abs=1e-8)
    approximate = [0.01369863 if one == 0.01355297 else one for one in exact]
    assert risk_by_weights(EIGHT, KNOWN, "weight", approximate=True).risks.tolist() == pytest.approx(
        approximate, abs=1e-8
    )
    told = found.as_dict(threshold=0.08)
    assert told["expected"] == pytest.approx(sum(exact), abs=1e-7)
    assert told["share"] == pytest.approx(sum(exact) / 8, abs=1e-8)
    assert (told["population"], told["above"]) == (394.0, 2 / 8)
    assert [one["row"] for one in told["riskiest"][:3]] == [4, 2, 7]


@settings(max_examples=cases(60), deadline=None)
@given(st.integers(1, 90), st.floats(0.02, 1))
def test_risk_is_the_mean_of_one_over_a_negative_binomial(f: int, p: float) -> None:
    total = chance = p**f
    mean = chance / f
    h = f
    while h < 20_000 and total < 1 - 1e-13:
        chance *= h / (h - f + 1) * (1 - p)
        h += 1
        total, mean = total + chance, mean + chance / h
    assert individual_risk(f, f / p)[0] == pytest.approx(mean, rel=1e-6)


def test_large_and_rare_classes_have_finite_risks() -> None:
    f = np.array([1, 3, 39, 40, 5_000, 10**6])
    risks = individual_risk(f, f * 1e6)
    assert np.isfinite(risks).all()
    # Of f and F with F much larger, the mean of 1/F is nearly p/(f - 1).
    assert risks[2:] == pytest.approx(1e-6 / (f[2:] - 1), rel=1e-4)


def test_household_is_found_if_one_of_its_rows_is() -> None:
    found = risk_by_weights(EIGHT, KNOWN, "weight", unit=Unit("home", Role.HOUSEHOLD))
    one = risk_by_weights(EIGHT, KNOWN, "weight").risks
    wanted = [1 - (1 - one[at]) * (1 - one[at + 1]) for at in (0, 2, 4, 6)]
    told = found.as_dict()["households"]
    assert told["n"] == 4
    assert told["expected"] == pytest.approx(sum(wanted))
    assert told["riskiest"][0] == {"household": "y", "risk": pytest.approx(wanted[1])}
    # Rows are people, and their risks are what they were.
    assert found.as_dict()["expected"] == pytest.approx(one.sum())


def test_person_counts_once_in_a_class_and_has_the_largest_risk_of_their_rows() -> None:
    rows = pl.DataFrame({"age": [30, 30, 30, 40], "who": ["x", "x", "y", "x"], "w": [10, 10, 30, 10]})
    found = risk_by_weights(rows, ["age"], "w", unit=Unit("who"))
    # Two people of 40 are 30 years old, one of 10 is 40.
    two, alone = individual_risk([2, 1], [40, 10]).tolist()
    assert found.risks.tolist() == pytest.approx([two, two, two, alone])
    told = found.as_dict()
    assert (told["population"], told["people"]["n"]) == (40.0, 2)
    assert told["expected"] == told["people"]["expected"] == pytest.approx(alone + two)


@pytest.mark.parametrize("bad", ["", "many", "0", "-3", "inf"])
def test_weight_that_is_none_is_refused_with_its_row(bad: str) -> None:
    rows = pl.DataFrame({"age": ["30", "40"], "w": ["12", bad or None]})
    with pytest.raises(InputError, match=r"column w.*above 0 in row 2"):
        risk_by_weights(rows, ["age"], "w")
