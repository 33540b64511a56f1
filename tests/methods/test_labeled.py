from __future__ import annotations

import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.perturbing.marginals import LabeledClasses
from tokumei.methods.perturbing.perturbation import Original

AGE = Hierarchy.of_levels("age", [["31", "35", "42"], ["30s", "30s", "40s"], ["*"] * 3])


def test_missing_value_has_its_own_label_but_where_nothing_is_told() -> None:
    people = pl.DataFrame({"age": [31, 35, None, 42, 42]})
    classes = LabeledClasses.of(Original(people, ("age",), hierarchies={"age": AGE}), ["age"])
    assert classes.texts(0, 1) == ["30s", "40s", None]
    assert classes.counts(0, 1).tolist() == [2, 2, 1]
    assert classes.texts(0, 2) == ["*"]
    assert classes.counts(0, 2).tolist() == [5]
    assert classes.n_rows == 5


def test_column_without_a_hierarchy_has_its_values_and_all() -> None:
    classes = LabeledClasses.of(Original(pl.DataFrame({"sex": ["m", "f", "f"]}), ("sex",)), ["sex"])
    assert classes.texts(0, 0) == ["f", "m", None]
    assert classes.counts(0, 0).tolist() == [2, 1, 0]
    assert classes.texts(0, 1) == ["*"]
