"""A table without rows is released without rows, by every search and grouping, with any loss."""

from __future__ import annotations

import polars as pl
import pytest
from tests.releases import release_of

from tokumei.core.errors import TokumeiError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.measures.safety.closeness import TCloseness
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber

TREES = {
    "sex": Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]]),
    "age": Hierarchy.of_levels("age", [["31", "42"], ["30s", "40s"], ["*", "*"]]),
}
NOBODY = pl.DataFrame(schema={"sex": pl.String, "age": pl.String, "illness": pl.String})
# What a marginal recoding may group is in a file that its user writes, empty table or not.
METHODS = [
    name
    for name in TABLE_ANONYMIZERS
    if name != "marginal-recoding" and not isinstance(TABLE_ANONYMIZERS.make(name), Perturber)
]


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "price"])
@pytest.mark.parametrize("method", METHODS)
def test_no_rows_are_released_as_no_rows(method: str, loss: str) -> None:
    for suppression in (0.0, 1.0):
        goal = Goal([KAnonymity(2)], LOSSES.make(loss), TABLE_ANONYMIZERS.make(method), suppression)
        try:
            frame = release_of(NOBODY, TREES, goal, keep=["illness"]).frame
        except TokumeiError as refused:
            # A method may refuse an empty table, but in words.
            assert "row" in str(refused) or "hold" in str(refused)
            continue
        assert frame.height == 0
        assert frame.columns == ["sex", "age", "illness"]


@pytest.mark.parametrize("method", METHODS)
def test_no_rows_are_close_to_anything(method: str) -> None:
    goal = Goal([TCloseness("illness", 0.1), KAnonymity(2)], method=TABLE_ANONYMIZERS.make(method))
    try:
        assert release_of(NOBODY, TREES, goal).frame.height == 0
    except TokumeiError as refused:
        assert "row" in str(refused)
