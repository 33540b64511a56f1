"""Changes to the classes of a release, worked out by hand on eight rows."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

from tokumei.hierarchies.label_semantics import Vocabulary
from tokumei.methods.class_changes import ClassChange, ReleasedClasses
from tokumei.methods.label_ladders import GridLadder, Ladder, TreeLadder

AGES = ["50-58", "50-58", "31-45", "31-45", "31-45", "60", "60", "60"]
FRAME = pl.DataFrame({"age": AGES, "sex": list("ffmmmfff"), "ill": list("aabbcabc")})


@pytest.fixture
def classes() -> ReleasedClasses:
    ages = Vocabulary.of("age", [pl.Series(range(30, 71))], is_numeric=True)
    sexes = Vocabulary.of("sex", [FRAME["sex"]], is_numeric=False)
    tens = GridLadder([Fraction(n) for n in range(30, 80, 10)], [Fraction(n) for n in range(40, 90, 10)], is_whole=True)
    ladders: dict[str, Ladder] = {"age": tens, "sex": TreeLadder(sexes)}
    return ReleasedClasses(FRAME, ladders, {"age": ages, "sex": sexes}, {"age": 0.5, "sex": 0.5})


def test_classes_are_numbered_by_their_first_rows(classes: ReleasedClasses) -> None:
    assert classes.class_of.tolist() == [0, 0, 1, 1, 1, 2, 2, 2]
    assert classes.labels == {"age": ["50-58", "31-45", "60"], "sex": ["f", "m", "f"]}
    # Of 40 years two rows have 8 and three have 14, in one of two columns.
    assert classes.changed([]).cost == pytest.approx((2 * 8 + 3 * 14) / 40 / 8 / 2)


def test_snapping_leaves_single_values_alone(classes: ReleasedClasses) -> None:
    changed = classes.changed([ClassChange("snap", column="age")])
    assert changed.labels["age"] == ["50-59", "30-49", "60"]
    assert changed.labels["sex"] == ["f", "m", "f"]


def test_merged_classes_are_written_alike_and_widened_together(classes: ReleasedClasses) -> None:
    merge = ClassChange("merge", (0, 2))
    changed = classes.changed([merge])
    assert changed.labels == {"age": ["50-69", "31-45", "50-69"], "sex": ["f", "m", "f"]}
    wider = classes.changed([ClassChange("widen", (0,), "age"), merge])
    assert wider.labels["age"] == ["30-69", "31-45", "30-69"]
    assert wider.labels == classes.changed([merge, ClassChange("widen", (0,), "age")]).labels


def test_rows_left_out_lose_all(classes: ReleasedClasses) -> None:
    changed = classes.changed([ClassChange("suppress", (1,))])
    assert changed.cost == pytest.approx((2 * 8 / 40 / 2 + 3) / 8)
    frame, kept = classes.released(changed)
    assert kept.tolist() == [0, 1, 5, 6, 7]
    assert frame["ill"].to_list() == list("aaabc")


def test_merging_three_in_any_order_is_one_unit(classes: ReleasedClasses) -> None:
    pairs = [ClassChange("merge", (0, 1)), ClassChange("merge", (1, 2))]
    for changes in (pairs, pairs[::-1]):
        changed = classes.changed(changes)
        assert changed.labels == {"age": ["30-69"] * 3, "sex": ["*"] * 3}
        assert len(set(changed.unit_of.tolist())) == 1
