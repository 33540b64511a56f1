from __future__ import annotations

import polars as pl
import pytest
from tests.attacks.disclosure.threat_models import threat_model

from tokumei.attacks.disclosure.known_people import Homogeneity
from tokumei.core.errors import InputError

ILLNESSES = ["flu", "flu", "flu", "cold"]
PEOPLE = {"sex": list("ffmm"), "age": [31, 32, 35, 38], "illness": ILLNESSES}
RELEASED = {"sex": list("ffmm"), "age": ["30-34", "30-34", "35-39", "35-39"], "illness": ILLNESSES}


def test_homogeneity_of_the_worked_example() -> None:
    scores = Homogeneity().measure(threat_model(PEOPLE, RELEASED, ["illness"]), seed=1)
    assert list(scores) == ["certain", "success"]
    assert scores["certain"].value == 1 / 2
    assert scores["success"].inputs["expected"] == 3 / 4
    assert scores["success"].baseline == 3 / 4


def test_homogeneity_of_a_wrong_value_is_not_certain() -> None:
    changed = RELEASED | {"illness": ["cold", "cold", "flu", "cold"]}
    scores = Homogeneity().measure(threat_model(PEOPLE, changed, ["illness"]), seed=1)
    # Of both women a wrong value is told.
    assert scores["certain"].value == 0
    assert scores["success"].inputs["expected"] == 1 / 4


def test_homogeneity_control_is_guessed_by_the_same_records() -> None:
    others = pl.DataFrame({"sex": ["f", "m", "m"], "age": [31, 35, 99], "illness": ["cold", "cold", "flu"]})
    scores = Homogeneity().measure(threat_model(PEOPLE, RELEASED, ["illness"], control=others), seed=1)
    assert scores["certain"].control == 0
    # Wrong for the first, a draw for the second, and the most frequent value for the third, whom no record fits.
    assert scores["success"].control == (0 + 1 / 2 + 1) / 3


def test_homogeneity_of_a_generalized_value_leaves_its_leaves_open() -> None:
    people = {"town": ["A", "A", "B"], "income": [100, 200, 300]}
    released = {"town": ["A", "A", "B"], "income": ["100-200", "100-200", "300"]}
    scores = Homogeneity().measure(threat_model(people, released, ["income"]), seed=1)
    # Two incomes lie in the range of A, so that it tells none of them for certain.
    assert scores["certain"].value == 1 / 3
    assert scores["success"].inputs["expected"] == (1 / 2 + 1 / 2 + 1) / 3


def test_homogeneity_with_several_sensitive_columns_asks_for_one() -> None:
    people = PEOPLE | {"job": list("wxyz")}
    both = threat_model(people, people, ["illness", "job"])
    with pytest.raises(InputError, match="one sensitive column, of illness, job"):
        Homogeneity().measure(both, seed=1)
    assert Homogeneity("job").measure(both, seed=1)["certain"].value == 1
    with pytest.raises(InputError, match="a column that the attacker does not know"):
        Homogeneity("age").measure(both, seed=1)


def test_homogeneity_of_values_that_are_all_different_is_guessed_blindly_by_chance() -> None:
    numbers = {"town": ["A"] * 5, "income": [1, 2, 3, 4, 5]}
    scores = Homogeneity().measure(threat_model(numbers, numbers, ["income"]), seed=1)
    # Five values are as frequent, and each is as good a guess.
    assert scores["success"].baseline == pytest.approx(1 / 5)
    assert scores["success"].inputs["expected"] == pytest.approx(1 / 5)
