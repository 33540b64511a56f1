"""The k of all nodes at once against counting each."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.compare import NodeKs
from tokumei.predictors.predictor import LatticeCounts

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [list("123456"), list("AABBCC"), list("XXXXYY"), ["*"] * 6])
# The last two levels before the top cross.
TOWN = Hierarchy.of_levels("町", [list("pqrstu"), list("aabbcd"), list("xxxyyy"), ["*"] * 6])
LATTICE = Lattice.of([SEX, AGE, TOWN])
ROW = st.tuples(st.sampled_from("fm") | st.none(), st.sampled_from("123456") | st.none(), st.sampled_from("pqrstu"))


def counts_of(rows: list[Any]) -> Any:
    schema = dict.fromkeys(LATTICE.attributes, pl.String)
    return count_classes(pl.DataFrame(rows, schema=schema, orient="row"), list(LATTICE.attributes))


@pytest.mark.slow
@settings(max_examples=cases(60))
@given(st.lists(ROW, min_size=1, max_size=80), st.integers(1, 30))
def test_ks_of_all_nodes_are_those_of_counting_each(rows: list[Any], times: int) -> None:
    counts = counts_of(rows * times)
    count = LatticeCounts.of(LATTICE, counts).classes
    assert NodeKs(LatticeCounts.of(LATTICE, counts)).of() == {node: count(node).k for node in LATTICE}


@pytest.mark.slow
@given(st.lists(ROW, min_size=1, max_size=40), st.sets(st.sampled_from(list(LATTICE)), max_size=3))
def test_ks_of_some_nodes_are_given_for_these_alone(rows: list[Any], nodes: set[Any]) -> None:
    counts = counts_of(rows)
    count = LatticeCounts.of(LATTICE, counts).classes
    assert NodeKs(LatticeCounts.of(LATTICE, counts)).of(nodes) == {node: count(node).k for node in nodes}


def test_ks_worked_by_hand() -> None:
    # Two women of 1 in p, two men, one of 1 in p and one of 2 in q: the man in q is alone wherever towns are told.
    rows = [("f", "1", "p"), ("f", "1", "p"), ("m", "1", "p"), ("m", "2", "q")]
    ks = NodeKs(LatticeCounts.of(LATTICE, counts_of(rows))).of()
    assert (ks[1, 3, 3], ks[0, 3, 3], ks[1, 3, 0], ks[1, 1, 3], ks[0, 0, 0]) == (4, 2, 1, 4, 1)


def test_hierarchy_without_a_single_top_is_refused() -> None:
    open_top = Hierarchy.of_levels("sex", [["f", "m"]])
    with pytest.raises(InputError, match="one label"):
        NodeKs(LatticeCounts.of(Lattice.of([open_top]), counts_of([("f", "1", "p")])))
