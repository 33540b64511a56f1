from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attacks.disclosure.threat_models import threat_model

from tokumei.attacks.disclosure.known_people import RecordLinkage
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError

PEOPLE = {"sex": list("ffmm"), "age": [31, 31, 35, 38]}
RELEASED = {"sex": list("ffmm"), "age": ["30-34", "30-34", "*", "38"]}


def expected(one: ThreatModel) -> tuple[float, float]:
    scores = RecordLinkage().measure(one, seed=1)
    return scores["certain"].value, float(scores["success"].inputs["expected"])


def test_record_linkage_of_the_worked_example() -> None:
    scores = RecordLinkage().measure(threat_model(PEOPLE, RELEASED), seed=1)
    assert list(scores) == ["certain", "success"]
    assert scores["certain"].value == 1 / 4
    assert scores["success"].inputs["expected"] == 5 / 8
    assert scores["success"].baseline == 1 / 4
    assert scores["success"].inputs["fewest_fitting"] == 1
    assert scores["success"].interval is not None


def test_record_linkage_of_an_untouched_copy_is_certain_of_the_unique() -> None:
    # The two women are alike, the men are not.
    assert expected(threat_model(PEOPLE, PEOPLE)) == (1 / 2, 3 / 4)


def test_record_linkage_by_fewer_known_columns_finds_fewer() -> None:
    assert expected(threat_model(PEOPLE, PEOPLE, known=["sex"])) == (0, 1 / 2)


def test_record_linkage_by_known_cells_uses_no_others() -> None:
    cells = np.array([[1, 1], [0, 0], [0, 1], [1, 0]], bool)
    # One of two women, one of four, the man of 35 alone, one of two men.
    assert expected(threat_model(PEOPLE, PEOPLE, known_cells=cells)) == (1 / 4, (1 / 2 + 1 / 4 + 1 + 1 / 2) / 4)


def test_record_linkage_looks_only_for_people_who_are_released() -> None:
    kept = {"sex": ["m", "f"], "age": [38, 31]}
    # The woman of the second row is gone, so the first is alone; the man of 35 is gone as well.
    assert expected(threat_model(PEOPLE, kept, rows=[3, 0])) == (1, 1)


def test_record_linkage_of_records_that_were_exchanged_is_certain_of_nobody() -> None:
    assert expected(threat_model(PEOPLE, PEOPLE, rows=[2, 3, 0, 1])) == (0, 0)


def test_record_linkage_of_somebody_with_two_records_finds_either() -> None:
    twice = {"sex": list("mmm"), "age": [35, 35, 38]}
    assert expected(threat_model(PEOPLE, twice, rows=[2, 2, None])) == (0, 1)


def test_record_linkage_control_is_how_often_certainty_is_wrong() -> None:
    others = pl.DataFrame({"sex": ["m", "f", "f"], "age": [38, 31, 40]})
    # The first is taken for the man of 38; two records fit the second and none the third.
    scores = RecordLinkage().measure(threat_model(PEOPLE, PEOPLE, control=others), seed=1)
    assert scores["certain"].control == 1 / 3


def test_record_linkage_with_the_same_seed_draws_the_same() -> None:
    one = threat_model(PEOPLE, RELEASED, known_share=0.5)
    assert RecordLinkage().measure(one, seed=3) == RecordLinkage().measure(one, seed=3)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=12))
def test_record_linkage_of_a_copy_is_certain_of_exactly_the_unique(people: list[tuple[str, int]]) -> None:
    columns = {"name": [name for name, _ in people], "number": [number for _, number in people]}
    n_unique = sum(people.count(one) == 1 for one in people)
    certain, success = expected(threat_model(columns, columns))
    assert certain == n_unique / len(people)
    assert success == pytest.approx(len(set(people)) / len(people))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"known": ["height"]}, "column height: expected a column of the table"),
        ({"rows": [0, 1, 2, 4]}, "found '4', expected a row of the original, counted from 0 to 3"),
        ({"rows": [0]}, "expected a row number for each of 4 records"),
        ({"rows": [None] * 4}, "expected a record or more of a known person"),
        ({"known_share": 1.5}, "expected a share from 0 to 1"),
        ({"known_cells": np.ones((2, 2), bool)}, "expected known cells of 4 people and 2 columns"),
    ],
)
def test_record_linkage_of_a_scene_that_does_not_fit_together_is_refused(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        RecordLinkage().measure(threat_model(PEOPLE, RELEASED, **changes), seed=1)  # type: ignore[arg-type]
