from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.disclosure.threat_models import Columns, published, threat_model
from tests.cases import cases

from tokumei.attacks.disclosure.intersection import Intersection
from tokumei.core.errors import InputError

ILLNESSES = ["flu", "cold", "cold", "cough"]
PEOPLE = {"sex": list("ffmm"), "town": list("ABAB"), "illness": ILLNESSES}
FIRST = PEOPLE | {"town": ["*"] * 4}
LAST = PEOPLE | {"sex": ["*"] * 4}


def test_intersection_of_the_worked_example() -> None:
    both = threat_model(PEOPLE, LAST, ["illness"], earlier=[published(FIRST, ["illness"])])
    scores = Intersection().measure(both, seed=1)
    assert list(scores) == ["certain", "success", "linked-certain", "linked-success"]
    assert scores["certain"].value == 1 / 2
    inputs = scores["success"].inputs
    assert (inputs["expected"], inputs["k"]) == (3 / 4, 1)
    assert (inputs["expected_from_the_last_alone"], inputs["fewest_in_the_last_alone"]) == (1 / 2, 2)
    assert scores["linked-certain"].value == 1
    assert scores["linked-success"].inputs["k"] == 1


def test_intersection_without_a_shared_sensitive_column_tells_no_more_than_the_last() -> None:
    people, last, first = ({name: columns[name] for name in ("sex", "town")} for columns in (PEOPLE, LAST, FIRST))
    scores = Intersection().measure(threat_model(people, last, earlier=[published(first)]), seed=1)
    assert (scores["certain"].value, scores["success"].inputs["expected"]) == (0, 1 / 2)
    assert scores["linked-certain"].value == 1


def test_intersection_of_the_same_release_twice_tells_nothing_new() -> None:
    both = threat_model(PEOPLE, LAST, ["illness"], earlier=[published(LAST, ["illness"])])
    scores = Intersection().measure(both, seed=1)
    assert scores["success"].inputs["k"] == scores["linked-success"].inputs["k"] == 2


def test_intersection_looks_for_people_who_are_in_every_release() -> None:
    first = published({"sex": ["m", "f"], "town": ["*", "*"], "illness": ["cough", "flu"]}, ["illness"], rows=[3, 0])
    scores = Intersection().measure(threat_model(PEOPLE, LAST, ["illness"], earlier=[first]), seed=1)
    assert scores["certain"].inputs["people"] == 2
    # The first release has only flu for women and only cough for men.
    assert scores["certain"].value == 1


def test_intersection_without_an_earlier_release_or_a_common_person_is_refused() -> None:
    with pytest.raises(InputError, match="an earlier release"):
        Intersection().measure(threat_model(PEOPLE, LAST, ["illness"]), seed=1)
    only = published({name: column[:1] for name, column in FIRST.items()}, ["illness"], rows=[0])
    last = {name: column[1:] for name, column in LAST.items()}
    with pytest.raises(InputError, match="a person or more in every release"):
        Intersection().measure(threat_model(PEOPLE, last, ["illness"], rows=[1, 2, 3], earlier=[only]), seed=1)


SEXES, TOWNS, VALUES = st.sampled_from(["f", "m"]), st.sampled_from(["A", "B"]), st.sampled_from("xyz")


@pytest.mark.slow
@settings(max_examples=cases(60))
@given(st.lists(st.tuples(SEXES, TOWNS, VALUES), min_size=1, max_size=7), st.data())
def test_intersection_equals_plain_loops(people: list[tuple[str, str, str]], data: st.DataObject) -> None:
    def released() -> list[tuple[str, str, str]]:
        hides = [data.draw(st.tuples(st.booleans(), st.booleans())) for _ in people]
        return [("*" if h[0] else s, "*" if h[1] else t, v) for (s, t, v), h in zip(people, hides, strict=True)]

    def columns(rows: list[tuple[str, str, str]]) -> Columns:
        return dict(zip(("sex", "town", "value"), map(list, zip(*rows, strict=True)), strict=True))

    def fits(person: tuple[str, str, str], record: tuple[str, str, str]) -> bool:
        return record[0] in ("*", person[0]) and record[1] in ("*", person[1])

    first, last = released(), released()
    both = threat_model(columns(people), columns(last), ["value"], earlier=[published(columns(first), ["value"])])
    scores = Intersection().measure(both, seed=1)
    n_left, n_linked = [], []
    for one in people:
        told = {record[2] for record in first if fits(one, record)}
        n_left.append(sum(fits(one, record) and record[2] in told for record in last))
        n_linked.append(sum(fits(one, a) and fits(one, b) for a, b in zip(first, last, strict=True)))
    assert scores["success"].inputs["k"] == min(n_left)
    assert scores["success"].inputs["expected"] == pytest.approx(sum(1 / n for n in n_left) / len(people))
    assert scores["linked-success"].inputs["expected"] == pytest.approx(sum(1 / n for n in n_linked) / len(people))
    assert scores["linked-certain"].value == sum(n == 1 for n in n_linked) / len(people)


def test_intersection_takes_several_sensitive_columns_together() -> None:
    # The last release shows (x, 2) and (y, 1) to everybody of the town, the first (x, 2) and (y, 2) to a woman.
    people = {"sex": list("ffmm"), "town": list("ABAB"), "one": list("xyxy"), "two": list("2211")}
    first, last = people | {"town": ["*"] * 4}, people | {"sex": ["*"] * 4}
    last = last | {"town": ["*"] * 4}
    sensitive = ["one", "two"]
    both = threat_model(people, last, sensitive, earlier=[published(first, sensitive)])
    scores = Intersection().measure(both, seed=1)
    # A woman has (x, 2) or (y, 2), a man (x, 1) or (y, 1): two of four records each.
    assert scores["success"].inputs["expected"] == 1 / 2
    certain = threat_model(
        {"sex": ["f", "f"], "one": ["x", "y"], "two": ["1", "2"]},
        {"sex": ["*", "*", "*"], "one": ["x", "x", "y"], "two": ["1", "2", "1"]},
        sensitive,
        rows=[0, 1, 1],
        earlier=[published({"sex": ["f", "f"], "one": ["x", "y"], "two": ["1", "2"]}, sensitive)],
    )
    # Each value of (x, 2) and of (y, 1) is one of a woman's, but only (x, 1) is a woman's whole.
    scores = Intersection().measure(certain, seed=1)
    assert scores["certain"].value == 1 / 2
