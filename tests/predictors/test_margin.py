from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.predictors.one_way import Leaf, Margin, common_coarsening, halving_tree, leaves_and_codes, merge_small

# Two regions of three and two places, then the whole country.
PLACES = Hierarchy.of_levels("place", [["a", "b", "c", "d", "e"], ["A", "A", "A", "D", "D"], ["*"] * 5])


def groups_of(n_rows: dict[Leaf, int], k_p: int) -> list[tuple[list[Leaf], int]]:
    return Margin.of_rows(PLACES, n_rows, k_p).named_groups


def test_counts_that_are_large_enough_stand_alone_and_empty_leaves_with_others() -> None:
    # The places are parted into a | b | c, after A was parted from D: b and c are not, since c has no row.
    assert groups_of({"a": 10, "b": 12, "d": 30}, 10) == [(["a"], 10), (["b", "c"], 12), (["d", "e"], 30)]


def test_small_leaf_stays_with_what_it_was_to_be_parted_from_however_large() -> None:
    assert groups_of({"a": 30, "b": 50, "c": 4, "d": 12, "e": 99}, 10) == [
        (["a"], 30),
        (["b", "c"], 54),
        (["d"], 12),
        (["e"], 99),
    ]
    # The first cut is beside a: where that is small, all of its region stay together.
    assert groups_of({"a": 3, "b": 50, "c": 41, "d": 12, "e": 99}, 10)[0] == (["a", "b", "c"], 94)


def test_region_that_is_small_stays_with_the_other_and_nothing_tells_which_is() -> None:
    assert groups_of({"a": 4, "b": 6, "c": 41}, 10) == [(["a", "b", "c", "d", "e"], 51)]
    assert groups_of({"a": 40, "d": 4, "e": 8}, 10) == [(["a", "b", "c"], 40), (["d", "e"], 12)]


def test_table_of_small_leaves_is_one_group() -> None:
    assert groups_of({"a": 1, "b": 1, "d": 1}, 3) == [(["a", "b", "c", "d", "e"], 3)]


def test_missing_values_stand_beside_the_last_leaf_and_ask_for_a_row_more() -> None:
    full: dict[Leaf, int] = {"a": 40, "b": 40, "c": 40, "d": 50, "e": 10}
    assert groups_of({**full, None: 3}, 10)[-1] == (["e", None], 13)
    assert groups_of({**full, None: 12}, 10)[-2:] == [(["e"], 10), ([None], 12)]
    # That there is a missing value is told: 9 and 1 would leave 9 for e.
    assert groups_of({**full, "e": 9, None: 1}, 10)[-1] == (["d", "e", None], 60)
    assert groups_of(full, 10)[-1] == (["e"], 10)


def test_levels_that_cross_are_spared_where_a_cut_can_be_made_beside_them() -> None:
    # The first level parts A from D; of its four labels two, and not one, stay on a side for the sake of the second.
    crossing = Hierarchy.of_levels("x", [list("abcdef"), list("AABBCC"), list("111222"), ["*"] * 6])
    assert Margin.of_rows(crossing, dict.fromkeys("abcdef", 9), 5).groups == tuple((leaf,) for leaf in range(6))
    halves = halving_tree(leaves_and_codes(crossing)[1], has_missing=False).halves
    assert [half.leaves for half in halves] == [(0, 1), (2, 3, 4, 5)]


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
    # a, b and c have 53 together, d and e 12: each may be few, and one has the rest.
    assert sorted(indices.rows.tolist()) == [3, 3, 3, 9, 47]
    assert (indices.is_split, indices.hides_labels) == (True, True)


def test_split_group_leaves_most_to_the_label_that_has_most_of_its_own() -> None:
    # b and c cross the labels 1 and 2: their 20 rows lie in both, of which 1 has 60 of its own.
    crossing = Hierarchy.of_levels("x", [list("abc"), list("112"), ["*"] * 3])
    margin = Margin.of_groups(crossing, [(["a"], 60), (["b", "c"], 20)])
    labels = margin.at(1, small=3)
    assert labels.rows.tolist() == [77, 3]
    assert (labels.is_split, labels.hides_labels) == (True, True)
    assert labels.parts.tolist() == [0, 0]


def test_labels_of_the_same_rows_in_the_same_parts_are_one_kind() -> None:
    # The five values have 30, 30, 30, 20 and 20 rows; a table has a and b apart from the others.
    margin = Margin.of_rows(PLACES, {"a": 30, "b": 30, "c": 30, "d": 20, "e": 20}, 10)
    kinds = margin.at(0, small=3).kinds([np.array([0, 0, 1, 1, 1])])
    assert sorted(zip(kinds.rows.tolist(), kinds.n_labels.tolist(), strict=True)) == [(30, 1), (40, 2), (60, 2)]
    assert kinds.shares.by_part(margin.sizes, np.zeros(5, np.int64)).ravel().tolist() == kinds.rows.tolist()
    without_tables = margin.at(0, small=3).kinds([])
    assert sorted(without_tables.rows.tolist()) == [40, 90]


def test_label_in_several_parts_is_a_kind_of_its_own() -> None:
    # The regions have 60 rows each, and a table parts the values of each.
    margin = Margin.of_rows(PLACES, {"a": 20, "b": 20, "c": 20, "d": 30, "e": 30}, 10)
    assert margin.at(1, small=3).kinds([np.arange(5)]).n_labels.tolist() == [1, 1]
    assert margin.at(1, small=3).kinds([]).n_labels.tolist() == [2]


def test_shares_add_up_rows_by_part() -> None:
    margin = Margin.of_groups(PLACES, [(["a"], 60), (["b"], 30), (["d"], 20)])
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
    assert sorted(leaf for group in groups for leaf in group) == list(range(5))
    assert all(counted[list(group)].sum() >= k_p for group in groups)
    # A group was not parted since one of its halves is small, and which it is does not follow. Who knows that every
    # leaf has a row knows that the others of a half have one each: so many rows do not count.
    tree = halving_tree(codes, has_missing=False)
    for group in groups:
        halves = [half.leaves for half in tree.of(group).halves]
        assert len(group) == 1 or min(counted[list(half)].sum() - (len(half) - 1) for half in halves) < k_p


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
