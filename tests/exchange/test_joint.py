"""Joint nodes, and tables that close a circle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from tests.exchange.people import AGE, LATTICE, node, offer_of, planted

from tokumei.exchange import joint
from tokumei.exchange.joint import as_keys, joint_level, joint_node
from tokumei.predictors.one_way import Ints


def parts(*codes: int) -> Ints:
    return np.array(codes, np.int64)


def are_decomposable(tables: Sequence[dict[int, Ints]]) -> bool:
    return joint.are_decomposable([as_keys(table) for table in tables])


@pytest.mark.parametrize(("one", "other", "joint"), [(1, 1, 1), (0, 2, 0), (1, 3, 1), (1, 2, 0), (3, 3, 3)])
def test_joint_level_is_the_finer_or_where_levels_cross_finer_than_both(one: int, other: int, joint: int) -> None:
    assert joint_level(AGE, one, other) == joint_level(AGE, other, one) == joint


def test_joint_node_of_a_chain_is_its_finest() -> None:
    chain = [node({"age": 1, "sex": 0}), node({"age": 1}), LATTICE.top]
    assert joint_node(LATTICE, chain) == chain[0]
    assert joint_node(LATTICE, []) == LATTICE.top


def test_three_two_way_tables_close_a_circle_and_two_do_not() -> None:
    two = parts(0, 1)
    tables = [{0: two, 1: two}, {1: two, 2: two}]
    assert are_decomposable(tables)
    assert not are_decomposable([*tables, {0: two, 2: two}])
    # The three-way table holds all three.
    assert are_decomposable([*tables, {0: two, 2: two}, {0: two, 1: two, 2: two}])


def test_a_path_of_tables_are_decomposable_in_any_order() -> None:
    two = parts(0, 1)
    path = [{0: two, 1: two}, {2: two, 3: two}, {1: two, 2: two}]
    assert are_decomposable(path)


def test_groups_that_labels_cross_are_no_better_than_a_circle() -> None:
    # Labels {1,2} {3,4} beside groups {1} {2,3,4}: value 2 is a difference.
    assert not are_decomposable([{0: parts(0, 0, 1, 1)}, {0: parts(0, 1, 1, 1)}])
    assert are_decomposable([{0: parts(0, 0, 1, 1)}, {0: parts(0, 1, 2, 2)}])


def test_a_finer_table_holds_two_that_cross() -> None:
    pairs, triples, ages = parts(0, 0, 1, 1, 2, 2), parts(0, 0, 0, 1, 1, 1), parts(0, 1, 2, 3, 4, 5)
    two = parts(0, 1)
    assert not are_decomposable([{0: pairs, 1: two}, {0: triples, 2: two}])
    assert are_decomposable([{0: pairs, 1: two}, {0: triples, 2: two}, {0: ages}])


def test_merged_ages_keep_the_levels_that_split_them_from_being_given() -> None:
    # One person of age 3 is merged with age 4, and triples would part the two.
    frame = pl.DataFrame(
        [(age, "f", "p") for age, n in zip("123456", (8, 8, 1, 8, 8, 8), strict=True) for _ in range(n)],
        schema=["age", "sex", "town"],
        orient="row",
    )
    offer, table = offer_of(frame, 3)
    assert [["3", "4"], 9] in offer.knowledge["attributes"]["age"]
    assert table.k(node({"age": 2})) >= 3
    assert offer.zone(node({"age": 2}), 3).zone == "refused"
    assert offer.zone(node({"age": 1}), 3).zone == "allowed"


def test_a_node_that_is_not_decomposable_is_given_where_a_finer_one_holds() -> None:
    n_covered = 0
    # Two tables that share the sex: ages by town is not decomposable with them, unless it tells the sex too.
    tables = [{"age": 1, "sex": 0}, {"sex": 0, "town": 1}]
    for seed in range(1, 20, 4):
        offer, _ = offer_of(planted(seed), 3, is_vetted=False, tables=tables)
        for at in LATTICE:
            zoned = offer.zone(at, 3)
            if zoned.zone == "allowed":
                assert offer.can_join(zoned.cover)
                assert offer.predict(zoned.cover).low >= 3
                assert LATTICE.is_coarser_or_equal(at, zoned.cover)
                n_covered += zoned.cover != at
    assert n_covered > 0
