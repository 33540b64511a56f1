from __future__ import annotations

import polars as pl
import pytest
from tests.attacks.disclosure.threat_models import threat_model

from tokumei.attacks.disclosure.population import Presence
from tokumei.core.errors import InputError

POPULATION = pl.DataFrame({"sex": list("ffmmmm"), "age": [30, 31, 30, 31, 40, 41]})


def test_presence_of_the_worked_example() -> None:
    released = {"sex": list("fmmm")}
    scores = Presence().measure(threat_model(released, released, population=POPULATION.select("sex")), seed=1)
    assert list(scores) == ["success", "certain"]
    assert scores["success"].value == scores["success"].baseline == 4 / 6
    assert (scores["success"].inputs["least"], scores["success"].inputs["largest"]) == (1 / 2, 3 / 4)
    assert scores["certain"].value == 0


def test_presence_of_an_untouched_copy_of_people_who_differ_is_found_out() -> None:
    released = {"sex": ["f", "m"], "age": [30, 41]}
    scores = Presence().measure(threat_model(released, released, population=POPULATION), seed=1)
    assert (scores["success"].value, scores["success"].baseline) == (1, 4 / 6)
    assert scores["certain"].value == 1


def test_presence_adds_up_the_records_that_fit() -> None:
    people, released = {"sex": ["f", "m"], "age": [30, 41]}, {"sex": ["f", "*"], "age": ["*", "40-41"]}
    scores = Presence().measure(threat_model(people, released, population=POPULATION), seed=1)
    # Each record fits two: nobody is likelier in than out, so all are said to be out.
    assert scores["success"].value == 4 / 6
    assert (scores["success"].inputs["least"], scores["success"].inputs["largest"]) == (0, 1 / 2)


def test_presence_of_a_population_that_lacks_somebody_is_refused() -> None:
    released = {"sex": ["f", "f", "f"]}
    with pytest.raises(InputError, match="population: found 'f', expected a population that holds everybody"):
        Presence().measure(threat_model(released, released, population=POPULATION.select("sex")), seed=1)
    with pytest.raises(InputError, match="expected a population"):
        Presence().measure(threat_model(released, released), seed=1)
