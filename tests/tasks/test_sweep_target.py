"""The way that a sweep of a history recommends: the least use lost among those that meet a target."""

from __future__ import annotations

import pytest

from tokumei.core.text import Json
from tokumei.tasks.report_history import least_loss

# By hand: d was left out, c and b lose alike and in b fewer are found.
WAYS: list[Json] = [
    {"name": "a", "utility": 0.1, "found": 0.6},
    {"name": "b", "utility": 0.4, "found": 0.1},
    {"name": "c", "utility": 0.4, "found": 0.2},
    {"name": "d", "utility": None, "found": 0.0},
    {"name": "e", "utility": 0.9, "found": 0.01},
]


@pytest.mark.parametrize(("most", "name"), [(1.0, "a"), (0.5, "b"), (0.15, "b"), (0.05, "e"), (0.0, None)])
def test_way_that_loses_least_of_those_that_meet_the_target_is_recommended(most: float, name: str | None) -> None:
    assert least_loss(WAYS, most) == name
