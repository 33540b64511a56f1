from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.predict.margin import Leaf, Margin, common_coarsening, leaves_and_codes, merge_small

# Two regions of three and two places, then the whole country.
PLACES = Hierarchy.of_levels("place", [["a", "b", "c", "d", "e"], ["A", "A", "A", "D", "D"], ["*"] * 5])


def groups_of(n_rows: dict[Leaf, int], k_p: int) -> list[tuple[list[Leaf], int]]:
    return Margin.of_rows(PLACES, n_rows, k_p).named_groups


def test_counts_that_are_large_enough_stand_alone_and_empty_leaves_are_left_out() -> None:
    assert groups_of({"a": 10, "b": 12, "d": 30}, 10) == [(["a"], 10), (["b"], 12), (["d"], 30)]


def test_small_leaf_joins_the_smallest_large_one_of_its_region() -> None:
    assert groups_of({"a": 3, "b": 50, "c": 41, "d": 12, "e": 99}, 10) == [
        (["a", "c"], 44),
        (["b"], 50),
        (["d"], 12),
        (["e"], 99),
    ]


def test_small_leaves_of_a_region_with_large_ones_join_one_of_them_together() -> None:
    # Together a and b have 10, but if they stood alone it would be known that both are small.
    assert groups_of({"a": 4, "b": 6, "c": 41}, 10) == [(["a", "b", "c"], 51)]


def test_small_leaves_without_a_large_one_stand_together_if_their_sum_leaves_both_open() -> None:
    assert groups_of({"a": 40, "d": 4, "e": 8}, 10) == [(["a"], 40), (["d", "e"], 12)]


def test_small_leaves_whose_sum_gives_them_away_go_up_a_level() -> None:
    # 9 + 9 is the most that two counts below 10 can have, 1 + 1 the least.
    assert groups_of({"a": 40, "d": 9, "e": 9}, 10) == [(["a", "d", "e"], 58)]
    assert groups_of({"a": 40, "d": 1, "e": 1}, 2) == [(["a", "d", "e"], 42)]


def test_leaf_alone_in_its_region_joins_the_next_level() -> None:
    assert groups_of({"a": 40, "b": 30, "d": 2}, 10) == [(["a"], 40), (["b", "d"], 32)]


def test_table_of_small_leaves_is_one_group() -> None:
    assert groups_of({"a": 1, "b": 1, "d": 1}, 3) == [(["a", "b", "d"], 3)]


def test_missing_values_are_a_leaf_that_only_the_top_joins() -> None:
    assert groups_of({"a": 40, "d": 50, None: 3}, 10) == [(["a", None], 43), (["d"], 50)]


def test_filler_that_crossing_levels_share_is_preferred() -> None:
    # At the first level c and b would do, at the second only b keeps the label of a whole.
    crossing = Hierarchy.of_levels("x", [["a", "b", "c", "d"], ["A", "A", "A", "D"], ["1", "1", "2", "2"], ["*"] * 4])
    assert Margin.of_rows(crossing, {"a": 1, "b": 90, "c": 20, "d": 50}, 5).named_groups[0] == (["a", "b"], 91)


def test_published_groups_make_the_same_margin() -> None:
    margin = Margin.of_rows(PLACES, {"a": 3, "b": 50, "d": 12}, 10)
    again = Margin.of_groups(PLACES, margin.named_groups)
    assert (again.groups, again.sizes.tolist()) == (margin.groups, margin.sizes.tolist())


@pytest.mark.parametrize("named", [[(["z"], 9)], [(["a"], 9), (["a"], 9)]])
def test_published_leaf_that_is_unknown_or_stands_twice_is_refused(named: list[tuple[list[Leaf], int]]) -> None:
    with pytest.raises(InputError, match="in one group only"):
        Margin.of_groups(PLACES, named)


def test_level_of_whole_groups_is_known() -> None:
    regions = Margin.of_rows(PLACES, {"a": 3, "b": 50, "d": 12}, 10).at(1, small=3)
    assert regions.rows.tolist() == [53, 12]
    assert (regions.is_split, regions.hides_labels) == (False, False)
    assert regions.parts.tolist() == [0, 1]


def test_level_that_splits_a_group_gives_one_label_few_rows_and_says_so() -> None:
    indices = Margin.of_rows(PLACES, {"a": 3, "b": 50, "d": 12}, 10).at(0, small=3)
    assert sorted(indices.rows.tolist()) == [3, 12, 50]
    assert (indices.is_split, indices.hides_labels) == (True, True)


def test_split_group_leaves_most_to_the_label_that_has_most_of_its_own() -> None:
    # d joined b, the smallest of the other region, where a has 60 of its own.
    margin = Margin.of_rows(PLACES, {"a": 60, "b": 30, "d": 2}, 10)
    regions = margin.at(1, small=3)
    assert regions.rows.tolist() == [89, 3]
    assert (regions.is_split, regions.hides_labels) == (True, True)
    assert regions.parts.tolist() == [0, 0]


def test_shares_add_up_rows_by_part() -> None:
    margin = Margin.of_rows(PLACES, {"a": 60, "b": 30, "d": 20}, 10)
    assert margin.at(1, small=3).shares.by_part(margin.sizes, np.array([0, 1, 1])).tolist() == [[60, 30], [0, 20]]


def test_common_coarsening_joins_what_either_joins() -> None:
    assert common_coarsening(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])).tolist() == [0, 0, 0, 1, 2]


@given(
    st.lists(st.integers(0, 30), min_size=5, max_size=5),
    st.integers(1, 25),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_groups_hold_k_p_and_every_row_once(sizes: list[int], k_p: int, extra: list[int]) -> None:
    if sum(sizes) < k_p:
        return
    crossing = Hierarchy.of_levels(
        "x", [list("abcde"), ["A", "A", "A", "D", "D"], [str(i % 2) for i in extra], ["*"] * 5]
    )
    _, codes = leaves_and_codes(crossing)
    counted = np.array([*sizes, 0])
    groups = merge_small(codes, counted, k_p)
    assert sorted(leaf for group in groups for leaf in group) == np.flatnonzero(counted).tolist()
    assert all(counted[list(group)].sum() >= k_p for group in groups)
    # A group of several has one that is large, or a sum that leaves open what each has, if the table has any.
    for group in groups:
        inside = counted[list(group)]
        if len(group) > 1 and counted.max() >= k_p:
            assert inside.max() >= k_p or len(group) < inside.sum() < len(group) * (k_p - 1)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_common_coarsening_splits_no_part_and_is_finest(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(each) for each in zip(*pairs, strict=True))
    parts = common_coarsening(first, second)
    assert sorted(set(parts.tolist())) == list(range(parts.max() + 1))
    reached = {i: {i} for i in range(len(pairs))}
    for _ in pairs:
        for i in reached:
            reached[i] |= {
                j for j in range(len(pairs)) for m in reached[i] if first[j] == first[m] or second[j] == second[m]
            }
    for i in range(len(pairs)):
        assert {j for j in range(len(pairs)) if parts[j] == parts[i]} == reached[i]
