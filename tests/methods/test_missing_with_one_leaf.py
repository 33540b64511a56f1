"""A missing value beside a hierarchy of one leaf: told at level 0, and only there."""

from __future__ import annotations

import polars as pl
import pytest
from tests.releases import release_of

from tokumei.data.release import Release
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import Vocabulary
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS

TREE = Hierarchy.of_levels("answer", [["a"], ["*"]])
SEARCHES = ("optimal", "exhaustive", "ola", "incognito", "datafly", "best-effort")


def released(
    values: list[str | None], k: int, *, method: str = "optimal", loss: str = "prec", suppression: float = 0.0
) -> Release:
    goal = Goal([KAnonymity(k)], LOSSES.make(loss), TABLE_ANONYMIZERS.make(method), suppression)
    return release_of(pl.DataFrame({"answer": values}, schema={"answer": pl.String}), {"answer": TREE}, goal)


@pytest.mark.parametrize("method", SEARCHES)
def test_a_lone_missing_value_joins_the_others_at_the_top(method: str) -> None:
    assert released(["a", "a", None], 2, method=method).frame["answer"].to_list() == ["*", "*", "*"]


@pytest.mark.parametrize("method", SEARCHES)
def test_a_lone_missing_value_may_be_suppressed(method: str) -> None:
    release = released(["a", "a", "a", None], 2, method=method, loss="ncp", suppression=0.25)
    assert release.frame["answer"].to_list() == ["a", "a", "a"]


def test_three_missing_values_are_released_where_the_one_value_is_suppressed() -> None:
    release = released(["a", None, None, None], 2, loss="discernibility", suppression=0.25)
    assert release.frame["answer"].to_list() == [None, None, None]


@pytest.mark.parametrize("method", [*SEARCHES, "mondrian", "partition", "min-dis", "mu-argus"])
def test_a_missing_value_never_becomes_the_one_value(method: str) -> None:
    assert released(["a", "a", None], 1, method=method).frame["answer"].to_list() == ["a", "a", None]


@pytest.mark.parametrize(
    ("columns", "first_silent"),
    [
        ([["a"], ["*"]], 1),
        ([["a"]], 1),
        ([["*"]], 1),
        ([["a"], ["a"]], 2),
        ([["*"], ["*"]], 1),
        ([["a"], ["group"], ["*"]], 2),
        ([["a", "b"], ["any", "any"], ["any", "any"]], 1),
        ([["a", "b"], ["all", "all"], ["*", "*"]], 2),
        ([["a", "b"], ["x", "y"]], 2),
    ],
)
def test_only_the_label_of_the_top_says_nothing(columns: list[list[str]], first_silent: int) -> None:
    tree = Hierarchy.of_levels("x", columns)
    assert tree.first_silent == first_silent
    assert tree.has_single_top == (first_silent <= tree.height)


def test_a_label_below_the_top_does_not_stand_for_the_missing_value() -> None:
    tree = Hierarchy.of_levels("x", [["a"], ["group"], ["*"]])
    sets = Vocabulary(tree).leaf_sets(["a", "group", "*"])
    assert sets.sizes.tolist() == [1, 1, 2]


@pytest.mark.parametrize("loss", ["prec", "ncp", "entropy"])
def test_what_says_nothing_loses_everything(loss: str) -> None:
    goal = Goal([KAnonymity(2)], LOSSES.make(loss))
    frame = pl.DataFrame({"answer": ["a", "a", None]})
    from tokumei.engines.count import count_classes
    from tokumei.methods.tables import decide

    assert decide(count_classes(frame, ["answer"]), {"answer": TREE}, goal).loss.value == pytest.approx(1)
