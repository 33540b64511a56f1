"""Rules that are read off the levels of a hierarchy, and what they say of values that it does not hold."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from tokumei.hierarchies.builders.dates import Calendar, Decades
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.builders.groups import Prefix
from tokumei.hierarchies.builders.intervals import Intervals, Magnitudes
from tokumei.hierarchies.hierarchy import Builder, Hierarchy
from tokumei.hierarchies.rules import extended, rule_as_dict, rule_from, rule_of

AGES = [17, 19, 23, 40, 77, 93]
SUMS = [0, 5, 17, 230, 1500, 99999, 120000]
# The builder, this month's values, a level, next month's values and what is said of them.
CASES: list[tuple[Builder, Sequence[str | int | float], int, Sequence[str], Sequence[str | None]]] = [
    (Intervals(5.0), AGES, 0, ["78", "x"], ["78", None]),
    (Intervals(5.0), AGES, 1, ["78", "104", "-3", "20.5"], ["75-79", "100-104", "-5..-1", None]),
    (Intervals(5.0, bottom=18, top=90), AGES, 2, ["5", "18", "64", "99"], ["<18", "18-19", "60-69", "≥90"]),
    (Intervals(2.5, start=1.0), [1.5, 2.5, 7.25, 9.0], 1, ["12", "4"], ["[11, 13.5)", "[3.5, 6)"]),
    (Magnitudes(), SUMS, 1, ["7", "3000", "3000000"], ["0-9", "2000-4999", "2000000-4999999"]),
    (Magnitudes(), SUMS, 3, ["3000", "30000000"], ["1000-99999", "10000000-999999999"]),
    (FromData(), list(range(100)), 1, ["1000", "35.5"], [None, None]),
    (Calendar(), ["2011-03-09", "2012-04-01"], 1, ["2020-08-01", "2020-02-30"], ["2020-08", None]),
    (Calendar(decades=True), ["2011-03-09", "2012-04-01"], 4, ["2020-08-01"], ["2020-2029"]),
    (Calendar(), ["2011-03-09 10:00", "2012-04-01 11:30:15.123456789+09:00"], 1, ["2020-08-01"], ["2020-08-01"]),
    (Calendar(), ["31/12/2020", "03/04/2020"], 2, ["01/08/2021", "08/13/2021"], ["2021-Q3", None]),
    (Decades(half_centuries=True), [1960, 1985, 2003], 2, ["2026", "early"], ["2000-2049", None]),
    (Decades(), [1960, 1985, 2003], 1, ["2026"], ["2020s"]),
    (Prefix(), ["12345", "12399", "55"], 2, ["99999", "1234567"], ["999**", None]),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_rule_says_what_its_builder_would(case: int) -> None:
    builder, now, level, then, labels = CASES[case]
    tree = builder.build("value", pl.Series(now))
    rule = rule_of(tree.recoding(level))
    assert rule is not None
    assert rule.labels(tree.leaves) == tree.labels_at(level)
    again = rule_from(rule_as_dict(rule), "value")
    assert again == rule
    assert again.labels(then) == list(labels)


@pytest.mark.parametrize(
    "levels",
    [
        [["low", "mid", "high"], ["below", "below", "above"]],
        [["1", "2", "3", "4"], ["odd", "even", "odd", "even"]],
        # Intervals that overlap say nothing of a value in two of them.
        [["1", "5", "9"], ["0-5", "3-7", "8-9"]],
        [["male", "female"], ["m", "f"]],
        [["1", "2", "3"], ["1", "2", "3"]],
    ],
)
def test_lists_that_follow_no_rule_stay_lists(levels: list[list[str]]) -> None:
    assert rule_of(Hierarchy.of_levels("value", levels).recoding(1)) is None


def test_one_interval_does_not_tell_where_the_next_would_end() -> None:
    rule = rule_of(Hierarchy.of_levels("age", [["18", "30", "64"], ["18-64"] * 3]).recoding(1))
    assert rule is not None
    assert rule.labels(["40", "65", "17", "40.5"]) == ["18-64", None, None, None]


def test_leaves_that_are_added_stand_in_their_order() -> None:
    tree = extended(Intervals(10.0).build("age", pl.Series(AGES)), ["30", "old", "101"])
    assert tree.leaves == ("17", "19", "23", "30", "40", "77", "93", "101")
    assert tree.labels_at(1)[3] == "30-39"
