from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.safety.closeness import TCloseness

# Table 3 of Li et al. 2007: nine salaries in three classes, 3k … 11k.
SALARIES = pl.DataFrame({"class": [1, 1, 1, 2, 2, 2, 3, 3, 3], "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
ILLNESS = Hierarchy.of_levels(
    "illness",
    [["flu", "pneumonia", "gastritis", "ulcer"], ["lung", "lung", "stomach", "stomach"], ["any"] * 4],
)
PATIENTS = pl.DataFrame(
    {"class": ["A", "A", "B", "B"], "illness": ["flu", "pneumonia", "gastritis", "ulcer"]},
)


def salaries() -> ClassCounts:
    return count_classes(SALARIES, ["class"], sensitive=["salary"])


def achieved(requirement: TCloseness, counts: ClassCounts) -> list[float]:
    return list(requirement.achieved(requirement.values_in(counts)))


def test_ordered_distance_is_that_of_the_paper() -> None:
    # The paper works out 0.375 for {3k,4k,5k} and 0.167 for {6k,8k,11k}.
    found = achieved(TCloseness("salary", 0.2, "ordered"), salaries())
    # For {7k,9k,10k} the differences up to 3k … 10k are 1, 2, 3, 4, 2, 3, 1, 1 ninths: 17/9/8.
    assert found == pytest.approx([0.375, 1 / 6, 17 / 72])
    assert TCloseness("salary", 0.2, "ordered").measure(salaries()).value == pytest.approx(0.375)
    assert TCloseness("salary", 0.375, "ordered").holds_in(salaries()).all()
    assert TCloseness("salary", 1 / 6, "ordered").holds_in(salaries()).tolist()[:2] == [False, True]


def test_equal_distance_is_the_total_variation() -> None:
    # Each class has 1/3 of three values that are 1/9 each overall: 3 · (1/3 − 1/9).
    assert achieved(TCloseness("salary", 0.2), salaries()) == pytest.approx([2 / 3] * 3)


def test_hierarchical_distance_costs_the_level_of_the_common_label() -> None:
    # In A, ¼ of each stomach illness is moved across the top: ½ in all.
    counts = count_classes(PATIENTS, ["class"], sensitive=["illness"])
    requirement = TCloseness("illness", 0.5, "hierarchical", ILLNESS)
    assert achieved(requirement, counts) == pytest.approx([0.5, 0.5])
    # In a class with flu only, ¼ comes from pneumonia at cost ½ and ½ from the stomach at cost 1.
    singles = count_classes(PATIENTS.with_columns(own=pl.col("illness")), ["own"], sensitive=["illness"])
    assert achieved(requirement, singles) == pytest.approx([0.25 * 0.5 + 0.5] * 4)


def test_hierarchy_without_top_gets_one_and_a_flat_one_is_the_equal_distance() -> None:
    counts = count_classes(PATIENTS, ["class"], sensitive=["illness"])
    flat = Hierarchy.of_levels("illness", [ILLNESS.leaves])
    assert achieved(TCloseness("illness", 1, "hierarchical", flat), counts) == pytest.approx([0.5, 0.5])
    single = Hierarchy.of_levels("illness", [["flu"]])
    flu = count_classes({"class": ["A", "B"], "illness": ["flu", None]}, ["class"], sensitive=["illness"])
    assert achieved(TCloseness("illness", 1, "hierarchical", single, is_missing_a_value=True), flu) == pytest.approx(
        [0.5, 0.5]
    )


def test_value_that_is_no_leaf_and_levels_that_cross_are_refused() -> None:
    counts = count_classes(PATIENTS, ["class"], sensitive=["illness"])
    with pytest.raises(InputError, match="found 'flu', expected a value of the column's hierarchy"):
        TCloseness("illness", 1, "hierarchical", Hierarchy.of_levels("illness", [["cold"]])).measure(counts)
    crossing = Hierarchy.of_levels("illness", [ILLNESS.leaves, list("aabb"), list("cddc")])
    with pytest.raises(InputError, match="the label of"):
        TCloseness("illness", 1, "hierarchical", crossing).measure(counts)


def test_text_that_is_all_numbers_or_dates_is_in_their_order() -> None:
    as_text = count_classes(SALARIES.cast({"salary": pl.String}), ["class"], sensitive=["salary"])
    expected = achieved(TCloseness("salary", 1, "ordered"), salaries())
    assert achieved(TCloseness("salary", 1, "ordered"), as_text) == pytest.approx(expected)
    days = SALARIES.with_columns(salary=pl.col("salary").map_elements(lambda n: date(2024, 1, n), pl.Date))
    for frame in (days, days.cast({"salary": pl.String})):
        counts = count_classes(frame, ["class"], sensitive=["salary"])
        assert achieved(TCloseness("salary", 1, "ordered"), counts) == pytest.approx(expected)


def test_other_text_needs_a_hierarchy_for_its_order() -> None:
    frame = pl.DataFrame({"class": [1, 1, 2, 2], "size": ["low", "mid", "mid", "high"]})
    counts = count_classes(frame, ["class"], sensitive=["size"])
    with pytest.raises(InputError, match="column size: expected numbers, dates or a hierarchy"):
        TCloseness("size", 1, "ordered").measure(counts)
    sizes = Hierarchy.of_levels("size", [["low", "mid", "high"]])
    # Class 1: ½, 1, 1 against ¼, ¾, 1; each of two steps differs by ¼, over m − 1 = 2.
    assert achieved(TCloseness("size", 1, "ordered", sizes), counts) == pytest.approx([0.25, 0.25])


def test_reference_may_hold_values_that_were_not_released() -> None:
    frame = pl.DataFrame({"class": [1, 1], "n": [1, 3]})
    counts = count_classes(frame, ["class"], sensitive=["n"])
    reference = {1: 1, 2: 2, 3: 1}
    assert achieved(TCloseness("n", 1, reference=reference), counts) == pytest.approx([0.5])
    # Shares up to 1, 2, 3: ½, ½, 1 against ¼, ¾, 1.
    assert achieved(TCloseness("n", 1, "ordered", reference=reference), counts) == pytest.approx([0.25])
    numbers = Hierarchy.of_levels("n", [["1", "2", "3"], ["a", "a", "b"], ["*"] * 3])
    # Total variation ½ among the leaves and ¼ among a and b.
    requirement = TCloseness("n", 1, "hierarchical", numbers, reference)
    assert achieved(requirement, counts) == pytest.approx([(0.5 + 0.25) / 2])


@pytest.mark.parametrize("reference", [{}, {1: -1, 2: 3}, {1: float("nan")}, {1: 0}, {"one": 1}])
def test_reference_that_is_no_distribution_of_the_values_is_refused(reference: dict[object, float]) -> None:
    counts = count_classes(pl.DataFrame({"class": [1, 1], "n": [1, 3]}), ["class"], sensitive=["n"])
    with pytest.raises(InputError, match="reference"):
        TCloseness("n", 1, reference=reference).measure(counts)


def test_missing_value_is_one_of_its_own_or_left_out() -> None:
    frame = pl.DataFrame({"class": [1, 1, 2, 2], "n": [1, 2, 1, None]})
    counts = count_classes(frame, ["class"], sensitive=["n"])
    assert achieved(TCloseness("n", 1, is_missing_a_value=True), counts) == pytest.approx([0.25, 0.25])
    # ½, 1, 1 and ½, ½, 1 against ½, ¾, 1.
    assert achieved(TCloseness("n", 1, "ordered", is_missing_a_value=True), counts) == pytest.approx([0.125, 0.125])
    # ½ and 1 of ones against 2/3.
    left_out = TCloseness("n", 1, reference=None)
    assert achieved(left_out, counts) == pytest.approx([1 / 6, 1 / 3])
    given_missing = TCloseness("n", 1, reference={1: 2, 2: 1, None: 9})
    assert achieved(given_missing, counts) == pytest.approx([1 / 6, 1 / 3])
    unknown = count_classes(pl.DataFrame({"class": [1, 2], "n": [1, None]}), ["class"], sensitive=["n"])
    assert achieved(left_out, unknown) == [0, 0]


def test_single_value_is_at_no_distance() -> None:
    counts = count_classes(pl.DataFrame({"class": [1, 2], "n": [5, 5]}), ["class"], sensitive=["n"])
    for distance in ("equal", "ordered"):
        assert achieved(TCloseness("n", 0, distance), counts) == [0, 0]


Rows = list[tuple[str, int | None]]
SOME_ROWS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.one_of(st.integers(0, 7), st.none())), min_size=1, max_size=40
)
CROSSING = Hierarchy.of_levels("n", [[str(n) for n in range(8)], list("aabbccdd"), list("eeeefffg"), list("hhhhhhhh")])
NESTED = Hierarchy.of_levels("n", [[str(n) for n in range(8)], list("aabbcddd"), list("eeeeffff"), list("hhhhhhhh")])


@given(SOME_ROWS)
def test_distances_equal_their_definitions_in_plain_python(rows: Rows) -> None:
    frame = pl.DataFrame(rows, schema={"class": pl.String, "n": pl.Int64}, orient="row")
    counts = count_classes(frame, ["class"], sensitive=["n"])
    domain: list[int | None] = [*range(8), None]
    overall = Counter(n for _, n in rows)
    present = [n for n in domain if overall[n]]
    ordered, hierarchical = [], []
    for name in sorted({name for name, _ in rows}):
        own = Counter(n for other, n in rows if other == name)
        gap = {n: own[n] / own.total() - overall[n] / len(rows) for n in domain}
        steps = [abs(sum(gap[m] for m in present[: index + 1])) for index in range(len(present))]
        ordered.append(sum(steps) / max(1, len(present) - 1))
        hierarchical.append(tree_distance(gap, NESTED))
    missing: dict[str, Any] = {"is_missing_a_value": True}
    assert achieved(TCloseness("n", 1, "ordered", **missing), counts) == pytest.approx(ordered, abs=1e-12)
    assert achieved(TCloseness("n", 1, "hierarchical", NESTED, **missing), counts) == pytest.approx(
        hierarchical, abs=1e-12
    )


def tree_distance(gap: dict[int | None, float], tree: Hierarchy) -> float:
    """Li et al., section 4.3: at each label, move between its children what is too much and too little."""
    extras: dict[str | None, float] = {None if n is None else str(n): extra for n, extra in gap.items()}
    cost = 0.0
    for level in range(1, tree.height + 1):
        parent_of: dict[str | None, str | None] = dict(
            zip(tree.labels_at(level - 1), tree.labels_at(level), strict=True)
        )
        # The missing value has no label below the top.
        parent_of[None] = tree.labels_at(level)[0] if level == tree.height else None
        parents: dict[str | None, list[float]] = {}
        for child, extra in extras.items():
            parents.setdefault(parent_of[child], []).append(extra)
        for children in parents.values():
            too_much = sum(extra for extra in children if extra > 0)
            too_little = -sum(extra for extra in children if extra < 0)
            cost += level / tree.height * min(too_much, too_little)
        extras = {parent: sum(children) for parent, children in parents.items()}
    return cost


def test_crossing_tree_is_refused_even_where_only_one_leaf_crosses() -> None:
    counts = count_classes(pl.DataFrame({"class": ["A"], "n": [1]}), ["class"], sensitive=["n"])
    with pytest.raises(InputError, match="the label of 'd' above"):
        TCloseness("n", 1, "hierarchical", CROSSING).measure(counts)
