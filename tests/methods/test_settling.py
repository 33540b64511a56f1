"""Settling what fails: the short way to see whom raised rows meet, against looking at all classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY
from tokumei.methods.local import cell_levels
from tokumei.methods.local.cell_levels import CellLevels, settle
from tokumei.methods.local.encoding import encode_rows
from tokumei.methods.local.task import Bools, Codes, Ints, LocalTask

SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [list("123456"), list("AABBCC"), list("XXXXYY"), ["*"] * 6])
# The last two levels before the top cross.
TOWN = Hierarchy.of_levels("town", [list("pqrstu"), list("aabbcd"), list("xxxyyy"), ["*"] * 6])
ROW = st.tuples(
    st.sampled_from("fm") | st.none(),
    st.sampled_from("123456") | st.none(),
    st.sampled_from("pqrstu"),
    st.sampled_from("ij"),
)


def task_of(rows: list[Any], asked: str) -> LocalTask:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(["sex", "age", "town", "illness"], pl.String), orient="row")
    k = SAFETY.make("k-anonymity", k=3)
    diverse = SAFETY.make("l-diversity", sensitive="illness", l=1.5, kind="entropy")
    requirements = [k] if asked == "k" else [k, diverse]
    return encode_rows(frame, {"sex": SEX, "age": AGE, "town": TOWN}, requirements, sensitive=["illness"]).task


def grouped_plainly(cells: CellLevels, index: int, nodes: Codes, goes: Bools, fails: Bools) -> Ints:
    columns = [nodes if one == index else cells.nodes[one] for one in cells.columns]
    return group_rows(columns, [tree.n_nodes for tree in cells.trees], len(nodes)).group_of


@pytest.mark.slow
@settings(max_examples=cases(100))
@given(st.lists(ROW, min_size=3, max_size=30), st.sampled_from(["k", "diverse"]))
def test_settling_equals_looking_at_all_classes(rows: list[Any], asked: str) -> None:
    task = task_of(rows, asked)
    if not task.holds_together():
        return
    found, plain = CellLevels.of(task), CellLevels.of(task)
    settle(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_levels, "_groups_with", grouped_plainly)
        settle(plain)
    assert all(np.array_equal(one, other) for one, other in zip(found.levels, plain.levels, strict=True))
    group_of = found.groups(found.columns)
    assert task.holds(group_of, int(group_of.max()) + 1).all()


def test_rows_go_up_where_most_come_to_hold_for_what_is_lost() -> None:
    # Ages 1 and 2 share a band of 2 of 6 ages; sex has no step but to nothing. Towns are alike.
    task = task_of([("f", "1", "p", "i"), ("f", "2", "p", "i"), ("f", "2", "p", "i"), *[("m", "6", "p", "i")] * 3], "k")
    cells = CellLevels.of(task)
    assert not settle(cells).any()
    labels = [[tree.labels[node] for node in nodes] for tree, nodes in zip(cells.trees, cells.nodes, strict=True)]
    assert labels == [["f", "f", "m"], ["A", "A", "6"], ["p", "p", "p"]]
