"""Releases that promise more and more, held against classes counted by hand."""

from __future__ import annotations

import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.tasks.compare_table import frontier_table


def people() -> Table:
    """Two of 30 and one of 31 and 52 each; tens join three and leave one alone."""
    ages = Hierarchy.of_levels("age", [["30", "31", "52"], ["30s", "30s", "50s"], ["*", "*", "*"]])
    return Table({"age": ["30", "30", "31", "52"]}, qi=["age"], hierarchies={"age": ages})


def test_each_release_has_the_people_found_that_its_classes_say() -> None:
    found = frontier_table(people(), ks=[1, 2], shares=[0.0, 0.25])
    told = {(one["k"], one["suppress"]): (one["found"], one["suppressed"]) for one in found.releases}
    # Three classes as they are; all in one; or 30s alone, with the one of 52 left out.
    assert told[1, 0.0] == (0.75, 0)
    assert told[2, 0.0] == (0.25, 0)
    assert told[2, 0.25] == (0.25, 1)


def test_release_that_another_beats_is_not_on_the_frontier() -> None:
    found = {(one["k"], one["suppress"]): one for one in frontier_table(people(), ks=[2], shares=[0.0, 0.25]).releases}
    # Both let a quarter be found, and leaving one out loses less.
    assert found[2, 0.25]["loss"] < found[2, 0.0]["loss"]
    assert (found[2, 0.25]["is_on_frontier"], found[2, 0.0]["is_on_frontier"]) == (True, False)


def test_release_that_cannot_be_says_why_and_the_others_stand() -> None:
    found = frontier_table(people(), ks=[2, 9], shares=[0.0]).releases
    assert "error" not in found[0]
    assert "9" in found[1]["error"]
    assert found[1]["is_on_frontier"] is False


def test_nothing_to_try_is_refused() -> None:
    with pytest.raises(InputError, match="a method"):
        frontier_table(people(), ks=[])
