from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.attacks.disclosure.threat_models import published, threat_model

from tokumei.core.errors import InputError

PEOPLE = {"sex": ["f", "m", "m"], "age": [20, 30, 40], "illness": ["flu", "cold", "flu"]}


def test_scene_knows_the_quasi_identifiers_unless_others_are_named() -> None:
    assert threat_model(PEOPLE, PEOPLE, ["illness"]).known_columns == ["sex", "age"]
    named = threat_model(PEOPLE, PEOPLE, ["illness"], known=["illness"])
    assert (named.known_columns, named.sensitive) == (["illness"], [])


def test_targets_are_the_people_with_a_record_each_once() -> None:
    assert threat_model(PEOPLE, PEOPLE, rows=[2, None, 2]).targets.tolist() == [2]


def test_known_cells_are_drawn_by_seed_and_group() -> None:
    half = threat_model(PEOPLE, PEOPLE, known_share=0.5)
    groups = ("original", "original", "control")
    one, again, other = (np.asarray(half.known_mask(200, group, 1)) for group in groups)
    assert (one == again).all()
    assert (one != other).any()
    assert 0.4 < one.mean() < 0.6
    nothing = threat_model(PEOPLE, PEOPLE, known_share=0.0).known_mask(200, "original", 1)
    assert nothing is not None
    assert not nothing.any()


def test_vocabulary_of_a_column_holds_the_values_of_other_people_too() -> None:
    others = pl.DataFrame({"sex": ["x"], "age": [50]})
    crowded = threat_model(PEOPLE, PEOPLE, ["illness"], population=others, control=others)
    assert crowded.vocabulary("sex").hierarchy.leaves == ("f", "m", "x")
    assert crowded.vocabulary("age").numbers == [20, 30, 40, 50]


def test_release_without_a_record_is_refused() -> None:
    with pytest.raises(InputError, match="a record or more"):
        threat_model(PEOPLE, {"sex": [], "age": []}, rows=[])
    with pytest.raises(InputError, match="a record or more"):
        threat_model(PEOPLE, PEOPLE, earlier=[published({"sex": [], "age": []}, rows=[])])
