"""Numbers of points in the figure of releases: every point has its own, and none covers another."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tokumei.platform.workbench.drawing import box, labels

PLACES = st.tuples(st.floats(56, 624), st.floats(10, 284))


@given(st.lists(PLACES, min_size=1, max_size=12))
def test_labels_never_overlap_and_name_every_point(points: list[tuple[float, float]]) -> None:
    placed = labels(list(enumerate(points, 1)))
    named = [int(number) for _, _, text in placed for number in text.split(", ")]
    assert sorted(named) == list(range(1, len(points) + 1))
    for one, other in combinations([box(*label) for label in placed], 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_points_that_are_the_same_share_a_label_above_them() -> None:
    assert labels([(1, (100.0, 100.0)), (2, (300.0, 50.0)), (3, (101.0, 99.0))]) == [
        (100.0, 89.0, "1, 3"),
        (300.0, 39.0, "2"),
    ]
