"""The nearest of the nodes counted so far, held against comparing levels one by one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.methods.search.packed import FinerNodes

LETTERS = list("abcd")
# The second of the two levels in the middle does not follow from the first.
PLAIN = [LETTERS, ["ab", "ab", "cd", "cd"], ["*"] * 4]
CROSSED = [LETTERS, ["ab", "ab", "cd", "cd"], ["ac", "bd", "ac", "bd"], ["*"] * 4]


def lattice_of(kinds: Sequence[list[list[str]]]) -> Lattice:
    return Lattice.of([Hierarchy.of_levels(f"column {at}", levels) for at, levels in enumerate(kinds)])


def follows(lattice: Lattice, fine: Node, coarse: Node) -> bool:
    return all(
        at == level or bool(hierarchy.finer[at, level])
        for at, level, hierarchy in zip(fine, coarse, lattice.hierarchies, strict=True)
    )


# Of 28 attributes some no longer fit into one number.
@pytest.mark.parametrize("kinds", [[PLAIN] * 3, [PLAIN, CROSSED, PLAIN], [CROSSED], [PLAIN] * 28])
@given(st.data())
def test_nearest_node_is_the_first_of_the_fewest_classes_that_the_node_follows_from(
    kinds: list[list[list[str]]], data: st.DataObject
) -> None:
    lattice = lattice_of(kinds)
    nodes = st.tuples(*(st.integers(0, len(levels) - 1) for levels in kinds))
    found = FinerNodes(lattice)
    known: dict[Node, int] = {}
    for node in [lattice.bottom, *data.draw(st.lists(nodes, max_size=90, unique=True))]:
        if node not in known:
            known[node] = data.draw(st.integers(1, 5))
            found.add(node, known[node])
    asked = data.draw(nodes)
    finer = [node for node in known if follows(lattice, node, asked)]
    assert found.nearest(asked) == min(finer, key=known.__getitem__)
    assert found.n_classes == sum(known.values())


def test_more_nodes_than_there_was_room_for_are_all_remembered() -> None:
    lattice = lattice_of([PLAIN] * 5)
    found = FinerNodes(lattice)
    nodes = list(lattice)
    for node in nodes:
        found.add(node, 1_000 - sum(node))
    assert len(nodes) == 3**5
    # The coarsest that each follows from is the node itself.
    assert all(found.nearest(node) == node for node in nodes)
