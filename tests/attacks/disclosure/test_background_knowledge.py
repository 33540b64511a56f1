from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attacks.disclosure.threat_models import threat_model

from tokumei.attacks.disclosure.known_people import BackgroundKnowledge, Homogeneity
from tokumei.core.errors import InputError

ILLNESSES = ["flu", "flu", "cold", "cough"]


def test_background_knowledge_of_the_worked_example() -> None:
    one_class = threat_model(
        {"town": ["A"] * 4, "illness": ILLNESSES}, {"town": ["*"] * 4, "illness": ILLNESSES}, ["illness"]
    )
    for excludes, certain in ((0, 0), (1, 0), (2, 1), (9, 1)):
        score = BackgroundKnowledge(excludes=excludes).measure(one_class, seed=1)["certain"]
        assert (score.value, score.inputs["at_worst"]) == (certain, certain)


def test_background_knowledge_draws_which_value_is_ruled_out() -> None:
    values = ["flu", "cold"] * 50 + ["cough"]
    people = {"town": ["A"] * 100 + ["B"], "illness": values}
    scores = BackgroundKnowledge().measure(threat_model(people, people, ["illness"]), seed=1)
    # In A cold or cough is ruled out for those with flu: half of them are told.
    assert 0.35 < scores["certain"].value < 0.65
    assert scores["certain"].inputs["at_worst"] == 1


def test_background_knowledge_of_a_changed_value_does_not_rule_out_the_own() -> None:
    people = {"town": ["A", "A"], "illness": ["flu", "cold"]}
    changed = {"town": ["A", "A"], "illness": ["cold", "cold"]}
    scores = BackgroundKnowledge().measure(threat_model(people, changed, ["illness"]), seed=1)
    assert scores["certain"].value == 1 / 2


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("wxyz")), min_size=2, max_size=10), st.integers(0, 5))
def test_background_knowledge_tells_no_less_than_homogeneity_and_no_more_than_at_worst(
    people: list[tuple[str, str]], excludes: int
) -> None:
    columns = {"town": [town for town, _ in people], "illness": [illness for _, illness in people]}
    one = threat_model(columns, columns, ["illness"])
    certain = BackgroundKnowledge(excludes=excludes).measure(one, seed=1)["certain"]
    assert Homogeneity().measure(one, seed=1)["certain"].value <= certain.value <= certain.inputs["at_worst"] + 1e-9


def test_background_knowledge_refuses_a_negative_number() -> None:
    with pytest.raises(InputError, match="from 0 to 100"):
        BackgroundKnowledge(excludes=-1)


def test_background_knowledge_narrows_a_label_of_several_values() -> None:
    people = {"town": ["A", "A", "B"], "illness": ["flu", "flu", "cold"]}
    released = {"town": ["A", "A", "B"], "illness": ["flu", "{flu;cold}", "cold"]}
    scores = BackgroundKnowledge().measure(threat_model(people, released, ["illness"]), seed=1)
    # Cold is all that can be ruled out for those with flu: the label then says flu.
    assert scores["certain"].value == 1
    assert scores["certain"].inputs["at_worst"] == 1
    assert BackgroundKnowledge(excludes=0).measure(threat_model(people, released, ["illness"]), seed=1)[
        "certain"
    ].value == pytest.approx(1 / 3)
