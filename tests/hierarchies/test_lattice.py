"""Nodes over hierarchies: counts, heights, neighbors."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult" / "hierarchies"
ADULT_COLUMNS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]

SEX = Hierarchy.of_levels("sex", [["m", "f"], ["*", "*"]])
# Five bands and three bands cross: 20s and 10s share a band of the five, 20s and 30s one of the three.
AGE = Hierarchy.of_levels(
    "age",
    [["10s", "20s", "30s", "60s"], ["-29", "-29", "30s", "60+"], ["young", "adult", "adult", "old"], ["*"] * 4],
)


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Levels over three leaves, with crossing ones among them."""
    columns = [["a", "b", "c"]]
    for _ in range(draw(st.integers(0, 3))):
        # No level may have more labels than the one before.
        labels = "uvw"[: len(set(columns[-1]))]
        columns.append(draw(st.lists(st.sampled_from(labels), min_size=3, max_size=3)))
    return Hierarchy.of_levels("x", columns)


def follows(hierarchy: Hierarchy, fine: int, coarse: int) -> bool:
    """Level `coarse` is a function of level `fine`; where both group alike the earlier is the finer."""
    pairs = set(zip(hierarchy.labels_at(fine), hierarchy.labels_at(coarse), strict=True))
    is_function = len({label for label, _ in pairs}) == len(pairs)
    is_alike = is_function and len({label for _, label in pairs}) == len(pairs)
    return fine < coarse if is_alike else is_function


def is_above(lattice: Lattice, node: Node, other: Node) -> bool:
    return node != other and all(
        level == at or follows(hierarchy, at, level)
        for level, at, hierarchy in zip(node, other, lattice.hierarchies, strict=True)
    )


def test_lattice_counts_nodes_and_classes() -> None:
    lattice = Lattice.of([SEX, AGE])
    assert lattice.n_nodes == len(list(lattice)) == 8
    assert (lattice.bottom, lattice.top) == ((0, 0), (1, 3))
    assert lattice.class_count((0, 1)) == 6
    assert lattice.class_count(lattice.top) == 1


def test_lattice_neighbors_of_crossing_levels_branch() -> None:
    lattice = Lattice.of({"sex": SEX, "age": AGE})
    assert lattice.coarser_neighbors((0, 0)) == [(1, 0), (0, 1), (0, 2)]
    assert lattice.finer_neighbors((0, 3)) == [(0, 1), (0, 2)]
    assert not lattice.is_coarser_or_equal((0, 2), (0, 1))
    assert lattice.is_coarser_or_equal((1, 3), (0, 1))


def test_lattice_heights_count_the_longest_way() -> None:
    lattice = Lattice.of([SEX, AGE])
    assert [lattice.height(node) for node in ((0, 0), (0, 1), (0, 2), (0, 3), (1, 3))] == [0, 1, 1, 2, 3]
    assert [len(layer) for layer in lattice.by_height] == [1, 3, 3, 1]


def test_by_height_last_level_not_the_farthest_still_holds_all_nodes() -> None:
    crossing = Hierarchy.of_levels("x", [list("abcde"), list("uvwyy"), list("uuwyy"), list("pqppq")])
    lattice = Lattice.of([crossing])
    assert [lattice.height((level,)) for level in range(4)] == [0, 1, 2, 1]
    assert lattice.by_height == (((0,),), ((1,), (3,)), ((2,),))


def test_node_of_levels_by_name_fills_the_rest_with_values() -> None:
    lattice = Lattice.of([SEX, AGE])
    assert lattice.node({"age": 2}) == (0, 2)
    assert lattice.levels((1, 3)) == {"sex": 1, "age": 3}
    with pytest.raises(InputError, match="an attribute: sex, age"):
        lattice.node({"agee": 1})
    with pytest.raises(InputError, match="a level from 0 to 1"):
        lattice.node({"sex": 2})


def test_lattice_contains_only_its_nodes() -> None:
    lattice = Lattice.of([SEX, AGE])
    assert (1, 3) in lattice
    assert (2, 0) not in lattice
    assert (0,) not in lattice
    assert [0, 0] not in lattice


@given(st.lists(hierarchies(), min_size=1, max_size=2))
def test_neighbors_are_the_nodes_with_none_between(chosen: list[Hierarchy]) -> None:
    lattice = Lattice.of(chosen)
    nodes = list(lattice)
    above = {node: {other for other in nodes if is_above(lattice, other, node)} for node in nodes}
    for node in nodes:
        direct = {other for other in above[node] if not any(other in above[third] for third in above[node])}
        assert set(lattice.coarser_neighbors(node)) == direct
        assert {other for other in nodes if node in lattice.coarser_neighbors(other)} == set(
            lattice.finer_neighbors(node)
        )
        assert {other for other in nodes if lattice.is_coarser_or_equal(other, node)} == above[node] | {node}


@given(st.lists(hierarchies(), min_size=1, max_size=2))
def test_layers_hold_every_node_once_and_steps_climb(chosen: list[Hierarchy]) -> None:
    lattice = Lattice.of(chosen)
    assert sorted(node for layer in lattice.by_height for node in layer) == sorted(lattice)
    assert all(lattice.height(up) > lattice.height(node) for node in lattice for up in lattice.coarser_neighbors(node))


@pytest.mark.skipif(not ADULT.is_dir(), reason="the Adult hierarchies are not beside the checkout")
def test_lattice_of_adult_has_the_known_number_of_nodes() -> None:
    lattice = Lattice.of(read_hierarchies(ADULT, ADULT_COLUMNS))
    assert lattice.attributes == tuple(ADULT_COLUMNS)
    assert lattice.n_nodes == 12_960
    assert sum(len(layer) for layer in lattice.by_height) == 12_960
    assert all(hierarchy.is_nested and hierarchy.has_single_top for hierarchy in lattice.hierarchies)
