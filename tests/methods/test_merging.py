"""Merging the groups that fail, against a plain version that works labels out from sets of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.cell_losses import Dis, Ncp
from tokumei.measures.losses import CellLoss
from tokumei.measures.requirement import SAFETY
from tokumei.methods.local import joint_labels
from tokumei.methods.local.encoding import encode_rows
from tokumei.methods.local.joint_labels import Extents
from tokumei.methods.local.merging import merge_failing
from tokumei.methods.local.task import Ints, LocalAttribute, LocalTask

LOSS: dict[str, CellLoss] = {"dis": Dis(), "ncp": Ncp()}
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])
AGE = Hierarchy.of_levels("age", [list("123456"), list("AABBCC"), list("XXXXYY"), ["*"] * 6])
NUMBER = Hierarchy.of_levels("number", [["0", "1", "3", "7"], ["*"] * 4])
ROW = st.tuples(
    st.sampled_from("fm") | st.none(),
    st.sampled_from("123456") | st.none(),
    st.sampled_from(["0", "1", "3", "7"]) | st.none(),
)


def task_of(rows: list[Any], k: int, weights: dict[str, float]) -> LocalTask:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(["sex", "age", "number"], pl.String), orient="row")
    trees = {"sex": SEX, "age": AGE, "number": NUMBER}
    return encode_rows(frame, trees, [SAFETY.make("k-anonymity", k=k)], numeric=["number"], weights=weights).task


def label_cost(attribute: LocalAttribute, loss: str, classes: list[int]) -> float:
    """Return what the closest label of some classes costs, by its definition."""
    leaves = sorted({int(attribute.leaf_of[one]) for one in classes})
    if attribute.missing in leaves:
        return 0.0 if len(leaves) == 1 else 1.0
    if attribute.is_numeric:
        numbers: list[float] = attribute.numbers.tolist()
        return (numbers[leaves[-1]] - numbers[leaves[0]]) / 7
    levels = attribute.hierarchy.levels
    level = next(n for n, one in enumerate(levels) if len({int(one.codes[leaf]) for leaf in leaves}) == 1)
    of_level = [{n for n, code in enumerate(one.codes) if code == one.codes[leaves[0]]} for one in levels]
    if loss == "ncp":
        return len(of_level[level]) / attribute.n_leaves if len(of_level[level]) > 1 else 0.0
    return max(n_grown(attribute, leaf, level) for leaf in of_level[level]) / attribute.hierarchy.height


def n_grown(attribute: LocalAttribute, leaf: int, level: int) -> int:
    """The levels up to this one at which a leaf's label covers more than before: in a tree, how high it stands."""
    sizes = [int((one.codes == one.codes[leaf]).sum()) for one in attribute.hierarchy.levels]
    return sum(sizes[n] > sizes[n - 1] for n in range(1, level + 1))


def merged_plainly(task: LocalTask, loss: str, k: int) -> list[list[int]]:
    groups = [[one] for one in range(task.n_classes)]

    def size(group: list[int]) -> int:
        return int(task.sizes[group].sum())

    def cost(group: list[int]) -> float:
        weights: list[float] = task.column_weights.tolist()
        pairs = zip(task.attributes, weights, strict=True)
        return sum(weight * label_cost(one, loss, group) for one, weight in pairs)

    while True:
        small = sorted((group for group in groups if size(group) < k), key=size)
        grown: list[list[int]] = []
        for group in small:
            others = [one for one in groups if one is not group]
            if group in grown or not others:
                continue
            growths = [
                size(group + one) * cost(group + one) - size(one) * cost(one) - size(group) * cost(group)
                for one in others
            ]
            into = others[next(n for n, growth in enumerate(growths) if growth <= min(growths) + 1e-9)]
            groups = [one for one in groups if one is not group]
            into += group
            grown.append(into)
        if not grown:
            return sorted(sorted(group) for group in groups)


def members(group_of: Ints) -> list[list[int]]:
    return sorted(np.flatnonzero(group_of == one).tolist() for one in np.unique(group_of))


@settings(max_examples=cases(100))
@given(
    st.lists(ROW, min_size=1, max_size=25),
    st.sampled_from(["dis", "ncp"]),
    st.sampled_from([2, 3, 5]),
    st.sampled_from([{}, {"sex": 3.0}, {"age": 0.0}]),
)
def test_merging_in_one_block_equals_its_definition(
    rows: list[Any], loss: str, k: int, weights: dict[str, float]
) -> None:
    task = task_of(rows, k, weights)
    one_block = task.n_classes + 2
    found = merge_failing(task, Extents.of(task, LOSS[loss]), block=one_block, order="smallest", seed=0)
    assert members(found) == merged_plainly(task, loss, k)
    with pytest.MonkeyPatch.context() as patch:
        # As if all trees were too large for tables.
        patch.setattr(joint_labels, "LARGEST_TABLE", 0)
        found = merge_failing(task, Extents.of(task, LOSS[loss]), block=one_block, order="smallest", seed=0)
    assert members(found) == merged_plainly(task, loss, k)


@settings(max_examples=cases(60))
@given(st.lists(ROW, min_size=1, max_size=25), st.sampled_from(["dis", "ncp"]))
def test_merging_in_blocks_leaves_no_group_that_fails(rows: list[Any], loss: str) -> None:
    task = task_of(rows, 3, {})
    found = merge_failing(task, Extents.of(task, LOSS[loss]), block=2, order="smallest", seed=0)
    sizes = [int(task.sizes[one].sum()) for one in members(found)]
    assert min(sizes) >= 3 or sizes == [len(rows)]
