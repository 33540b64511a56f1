from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.measures.safety.releases import MInvariance
from tokumei.measures.several_releases import SeveralReleases

FIRST = pl.DataFrame(
    {
        "person": ["1", "2", "3", "4"],
        "age": ["20-39", "20-39", "40-59", "40-59"],
        "illness": ["flu", "cold", "flu", "ulcer"],
    }
)
SECOND = pl.DataFrame(
    {
        "person": ["1", "5", "3", "4"],
        "age": ["20-29", "20-29", "40-69", "40-69"],
        "illness": ["flu", "cold", "flu", "ulcer"],
    }
)


def matched(*frames: pl.DataFrame) -> SeveralReleases:
    return SeveralReleases.of(frames, ["age"], sensitive=["illness"], person="person")


def test_classes_that_keep_their_values_are_invariant() -> None:
    score = MInvariance("illness", 2).measure(matched(FIRST, SECOND))
    assert score.value == 2
    assert score.inputs["people_whose_values_change"] == 0
    assert MInvariance("illness", 2).holds(matched(FIRST, SECOND))
    assert not MInvariance("illness", 3).holds(matched(FIRST, SECOND))


def test_class_with_another_value_breaks_it_for_those_who_stayed() -> None:
    ulcer = SECOND.with_columns(illness=pl.Series(["flu", "ulcer", "flu", "ulcer"]))
    score = MInvariance("illness", 2).measure(matched(FIRST, ulcer))
    assert score.value == 0
    # Person 5 is new, and so has nothing to compare with.
    assert score.inputs["people_whose_values_change"] == 1
    assert score.inputs["k"] == 2


def test_value_that_occurs_twice_in_a_class_breaks_it() -> None:
    same = FIRST.with_columns(illness=pl.Series(["flu", "flu", "flu", "ulcer"]))
    score = MInvariance("illness", 1).measure(matched(same))
    assert score.value == 0
    assert score.inputs["classes_that_repeat_a_value"] == 1
    assert not MInvariance("illness", 1).holds(matched(same))


def test_no_people_have_m_0_and_nothing_fails() -> None:
    assert MInvariance("illness", 2).measure(matched(FIRST[:0], SECOND[:0])).value == 0
    assert MInvariance("illness", 2).holds(matched(FIRST[:0], SECOND[:0]))
    assert MInvariance("illness", 2).measure(matched(FIRST, SECOND[:0])).value == 2


Rows = list[tuple[int, int, int]]


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 3)), max_size=6), max_size=3))
def test_m_is_that_of_the_plain_definition(drawn: list[Rows]) -> None:
    releases = [list({row[0]: row for row in rows}.values()) for rows in drawn]
    schema = {"person": pl.Int64, "age": pl.Int64, "illness": pl.Int64}
    found = matched(*(pl.DataFrame(rows, schema=schema, orient="row") for rows in releases))

    def values(rows: Rows, age: int) -> list[int]:
        return sorted(row[2] for row in rows if row[1] == age)

    def is_invariant(m: int) -> bool:
        groups = [values(rows, row[1]) for rows in releases for row in rows]
        signatures: dict[int, set[tuple[int, ...]]] = {}
        for rows in releases:
            for row in rows:
                signatures.setdefault(row[0], set()).add(tuple(sorted(set(values(rows, row[1])))))
        is_unique = all(len(group) >= m and len(set(group)) == len(group) for group in groups)
        return is_unique and all(len(one) == 1 for one in signatures.values())

    expected = max((m for m in range(1, 7) if is_invariant(m)), default=0) if any(releases) else 0
    assert MInvariance("illness", 1).measure(found).value == expected


def test_m_below_1_and_unknown_columns_are_input_errors() -> None:
    with pytest.raises(InputError, match="option m: found '0', expected at least 1"):
        MInvariance("illness", 0)
    with pytest.raises(InputError, match="found 'pay', expected a column read as sensitive: illness"):
        MInvariance("pay", 2).measure(matched(FIRST, SECOND))
