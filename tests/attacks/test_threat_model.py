from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.attacks.disclosure.threat_models import published, threat_model

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy

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


def test_value_that_no_rule_covers_is_met_by_nothing_but_the_label_of_everything() -> None:
    town = Hierarchy.of_levels("town", [["Ise", "Nara", "Tsu"], ["west", "west", "east"], ["*"] * 3])
    age = Hierarchy.intervals("age", [20, 30, 40])
    people = {"town": ["Ise", "Nara", "Tsu"], "age": [20, 30, 40]}
    others = pl.DataFrame({"town": ["Ise", "Gifu", None], "age": [20.0, 57.0, None]})
    model = threat_model(people, people, control=others, hierarchies={"town": town, "age": age})
    towns, ages = model.vocabulary("town"), model.vocabulary("age")
    assert towns.hierarchy.leaves == ("Ise", "Nara", "Tsu", "Gifu")
    met = towns.leaf_sets(["west", "east", "*"]).rows(np.arange(towns.n_leaves))
    assert met[towns.index_of_leaf].tolist() == [
        [True, False, True],
        [True, False, True],
        [False, True, True],
        [False, False, True],
    ]
    # 20.0 is the 20 that is there; a rule says where 57 lies.
    assert ages.n_leaves == 4
    assert ages.leaf_sets(["50-59"]).rows(np.arange(4)).ravel().tolist() == [False, False, False, True]


def test_release_without_a_record_is_refused() -> None:
    with pytest.raises(InputError, match="a record or more"):
        threat_model(PEOPLE, {"sex": [], "age": []}, rows=[])
    with pytest.raises(InputError, match="a record or more"):
        threat_model(PEOPLE, PEOPLE, earlier=[published({"sex": [], "age": []}, rows=[])])
