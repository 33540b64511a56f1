from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.predictors.one_way import LabelShares, Margin
from tokumei.predictors.two_way import TwoWay, deviance, expected_rows, forest, spread_beyond, way_between, worth


def margin(*sizes: int) -> Margin:
    names = [str(index) for index in range(len(sizes))]
    hierarchy = Hierarchy.of_levels("x", [names, ["*"] * len(names)])
    return Margin.of_groups(hierarchy, [([name], size) for name, size in zip(names, sizes, strict=True)])


def table(first: int, second: int, counts: list[list[int]]) -> TwoWay:
    rows = np.array(counts)
    return TwoWay(first, second, np.arange(rows.shape[0]), np.arange(rows.shape[1]), rows)


def test_deviance_is_the_one_worked_out_by_hand() -> None:
    # All rows on the diagonal, 10 where 5 are expected: 2 · (10 ln 2 + 10 ln 2).
    assert deviance(np.array([[10, 0], [0, 10]])) == pytest.approx(40 * math.log(2))
    assert deviance(np.array([[10, 20], [30, 60]])) == pytest.approx(0)


def test_coarsened_table_adds_up() -> None:
    fine = table(0, 1, [[1, 2, 3], [4, 5, 6]])
    coarse = fine.coarsened(np.array([0, 1]), np.array([0, 1, 1]))
    assert coarse.counts.tolist() == [[1, 5], [4, 11]]
    assert fine.turned().counts.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_table_holds_if_all_counts_but_zeros_do() -> None:
    assert table(0, 1, [[40, 3, 0], [10, 20, 30]]).holds(3)
    assert not table(0, 1, [[40, 3, 0], [10, 20, 30]]).holds(4)


def test_table_is_worth_its_deviance_less_twice_its_numbers() -> None:
    assert worth(table(0, 1, [[10, 0], [0, 10]])) == pytest.approx(40 * math.log(2) - 2)
    assert worth(table(0, 1, [[10, 20, 10], [30, 60, 30]])) == pytest.approx(-4)


def test_forest_takes_the_best_tables_that_close_no_circle() -> None:
    ab, bc, ac, cd = (
        table(*pair, [[10 * n, 0], [0, 10 * n]]) for pair, n in (((0, 1), 2), ((1, 2), 4), ((0, 2), 3), ((2, 3), 1))
    )
    assert forest([ab, bc, ac, cd]) == (bc, ac, cd)


def test_forest_leaves_out_tables_that_are_not_worth_it_and_worse_ones_of_a_pair() -> None:
    fine = table(0, 1, [[20, 1], [1, 20]])
    flat = table(2, 3, [[10, 20], [30, 60]])
    assert forest([table(0, 1, [[12, 9], [9, 12]]), flat, fine]) == (fine,)


def test_way_between_turns_tables_and_ends_where_none_lead() -> None:
    ab, cb = table(0, 1, [[1, 0], [0, 1]]), table(2, 1, [[1, 0], [0, 1]])
    way = way_between([ab, cb], 0, 2)
    assert way is not None
    assert [(each.first, each.second) for each in way] == [(0, 1), (1, 2)]
    assert way_between([ab, cb], 0, 3) is None


def test_expected_rows_over_one_table_are_its_counts() -> None:
    margins = [margin(30, 70), margin(50, 50)]
    ab = table(0, 1, [[20, 10], [30, 40]])
    shares = LabelShares.of_parts(np.array([0, 1]))
    assert expected_rows(margins, [ab], shares, shares) == pytest.approx(ab.counts)


def test_expected_rows_over_two_tables_multiply_chances() -> None:
    # Of a's 40 rows 30 are in b's first part, of whose 50 again 10 are in c's first: 30·10/50 + 10·30/50 = 12.
    margins = [margin(40, 60), margin(50, 50), margin(40, 60)]
    ab, bc = table(0, 1, [[30, 10], [20, 40]]), table(1, 2, [[10, 40], [30, 20]])
    shares = LabelShares.of_parts(np.array([0, 1]))
    assert expected_rows(margins, [ab, bc], shares, shares) == pytest.approx(np.array([[12, 28], [28, 32]]))


def test_expected_rows_within_a_part_follow_the_margin() -> None:
    # The table knows the second and third value only together; the margin divides them 1 to 3.
    margins = [margin(50, 50), margin(60, 10, 30)]
    ab = TwoWay(0, 1, np.array([0, 1]), np.array([0, 1, 1]), np.array([[40, 10], [20, 30]]))
    first, second = LabelShares.of_parts(np.array([0, 1])), LabelShares.of_parts(np.array([0, 1, 2]))
    assert expected_rows(margins, [ab], first, second) == pytest.approx(np.array([[40, 2.5, 7.5], [20, 7.5, 22.5]]))


def test_spread_of_pairs_that_differ_more_than_by_chance() -> None:
    # Independence expects 50 in each cell, and 30 or 70 are there. Three of the four counts follow from the margins
    # and one is free, so that chance makes a quarter of 50: (20² − 12.5) / 50² = 0.155 in each.
    pair = table(0, 1, [[30, 70], [70, 30]])
    margins = [margin(100, 100), margin(100, 100)]
    assert spread_beyond(margins, [], [pair]) == pytest.approx(math.sqrt(0.155))
    # What is published, or has one row, leaves nothing to be seen.
    assert spread_beyond(margins, [pair], [pair]) == 0
    assert spread_beyond(margins, [], [table(0, 1, [[30, 70]])]) == 0
    assert spread_beyond(margins, [], []) == 0


def test_spread_within_a_published_table_is_what_its_parts_leave_open() -> None:
    # The table knows the last two columns together, and the margin divides them evenly: 40 are expected where 20 or
    # 60 are. Five of the six counts follow from the four of the table and a division of one column. The weights are
    # the means, at most 50.
    margins = [margin(100, 260), margin(200, 80, 80)]
    fine = table(0, 1, [[20, 20, 60], [180, 60, 20]])
    coarse = fine.coarsened(np.array([0, 1]), np.array([0, 1, 1]))
    free = 1 - 5 / 6
    by_hand = 4 * 40 * (20**2 - free * 40) / 40**2 - free * (20 / 20 + 50 / 180)
    assert spread_beyond(margins, [coarse], [fine]) == pytest.approx(math.sqrt(by_hand / (4 * 40 + 20 + 50)))


@given(st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=2, max_size=4))
def test_expected_rows_over_tables_of_one_population_keep_its_margins(counts: list[list[int]]) -> None:
    ab = table(0, 1, counts)
    bc = table(1, 2, [[total - 1, 1] for total in ab.counts.sum(axis=0).tolist()])
    margins = [margin(*rows.tolist()) for rows in (ab.counts.sum(axis=1), bc.counts.sum(axis=1), bc.counts.sum(axis=0))]
    first, _, third = (LabelShares.of_parts(np.arange(len(each.groups))) for each in margins)
    rows = expected_rows(margins, [ab, bc], first, third)
    assert rows.sum(axis=1) == pytest.approx(margins[0].sizes)
    assert rows.sum(axis=0) == pytest.approx(margins[2].sizes)
