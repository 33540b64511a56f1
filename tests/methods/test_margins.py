"""What a few attributes prove about nodes, against counting the classes of every node."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.methods.search import known_nodes
from tokumei.methods.search.known_nodes import Tags
from tokumei.methods.search.packed import PackedLattice

LEVELS = {
    "sex": [list("fm"), ["*", "*"]],
    # The second and the third level cross.
    "age": [list("1234"), list("AABB"), list("CDDC"), ["*"] * 4],
    "town": [list("pqr"), list("xxy"), ["*"] * 3],
}
LATTICE = Lattice.of([Hierarchy.of_levels(name, levels) for name, levels in LEVELS.items()])
ROW = st.tuples(st.sampled_from("fm") | st.none(), st.sampled_from("1234"), st.sampled_from("pqr") | st.none())


def packed_rows(rows: list[Any]) -> PackedLattice:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(LEVELS, pl.String), orient="row")
    return PackedLattice(LATTICE, count_classes(frame, list(LEVELS)))


def n_alone(packed: PackedLattice, node: tuple[int, ...], k: int) -> int:
    sizes = packed.at(node).classes.sizes
    return int(sizes[sizes < k].sum())


@settings(max_examples=cases(100))
@given(
    rows=st.lists(ROW, min_size=1, max_size=20),
    k=st.integers(1, 4),
    n_way=st.integers(1, 3),
    most_cells=st.sampled_from([0, 4, 6, 12, 20, 1000]),
    most_at_once=st.sampled_from([0, 20, 1000]),
)
def test_proof_is_what_the_largest_affordable_tables_say(
    rows: list[Any], k: int, n_way: int, most_cells: int, most_at_once: int
) -> None:
    packed, tags = packed_rows(rows), Tags(LATTICE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_nodes, "MOST_CELLS", most_cells)
        patch.setattr(known_nodes, "MOST_AT_ONCE", most_at_once)
        subsets = known_nodes._affordable([int((sizes > 0).sum()) for sizes in packed.leaf_sizes], n_way)
        proof = known_nodes.prove_by_margins(packed, tags, k, n_way)
    top = LATTICE.top
    for node in itertools.product(*(range(size) for size in tags.shape)):
        parts = [tuple(node[i] if i in subset else top[i] for i in range(len(node))) for subset in subsets]
        expected = max((n_alone(packed, part, k) for part in parts), default=0)
        assert proof.least_suppressed[node] == expected <= n_alone(packed, node, k)


def test_tables_too_large_are_replaced_by_what_is_within_them() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_nodes, "MOST_CELLS", 100)
        # A birth date fits nowhere, beside sex or alone; towns fit beside sex.
        assert known_nodes._affordable([62_000, 3, 30], 2) == [(1, 2)]
        assert known_nodes._affordable([90, 3, 30], 2) == [(1, 2), (0,)]


def test_birth_dates_need_memory_by_their_number_and_not_its_square() -> None:
    n = 60_000
    born, months = [str(number) for number in range(n)], [str(number // 30) for number in range(n)]
    lattice = Lattice.of(
        [Hierarchy.of_levels("born", [born, months, ["*"] * n]), Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])]
    )
    frame = pl.DataFrame({"born": born, "sex": np.resize(["f", "m"], n)})
    packed = PackedLattice(lattice, count_classes(frame, ["born", "sex"]))
    tracemalloc.start()
    proof = known_nodes.prove_by_margins(packed, Tags(lattice), 2, 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The table of both columns has 120,000 cells; with all that is made from it a few megabytes.
    assert peak < 50 * 2**20
    assert proof.least_suppressed[0, 0] == n
    assert proof.least_suppressed[1, 0] == 0
