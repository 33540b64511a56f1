from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.measures.safety.releases import MultiRKAnonymity
from tokumei.measures.several_releases import SeveralReleases

PEOPLE = pl.DataFrame({"id": ["1", "2", "3"], "age": ["20-39"] * 3})
VISITS = pl.DataFrame({"id": ["1", "2", "3", "3"], "place": ["clinic"] * 4})


def joined(people: pl.DataFrame, visits: pl.DataFrame) -> SeveralReleases:
    return SeveralReleases.of([people, visits], [["age"], ["place"]], person="id")


def test_person_with_one_visit_more_is_alone() -> None:
    score = MultiRKAnonymity(2).measure(joined(PEOPLE, VISITS))
    assert score.value == 1
    assert score.inputs == {"k_alone": [3, 1], "persons": 3, "people_in_all": 3, "singled_out": 1}
    assert not MultiRKAnonymity(2).holds(joined(PEOPLE, VISITS))
    assert MultiRKAnonymity(3).holds(joined(PEOPLE, VISITS[:3]))


def test_order_of_rows_makes_no_difference_and_no_row_is_like_no_row() -> None:
    visits = pl.DataFrame({"id": ["1", "1", "2", "2"], "place": ["clinic", "home", "home", "clinic"]})
    assert MultiRKAnonymity(2).measure(joined(PEOPLE[:2], visits)).value == 2
    assert MultiRKAnonymity(2).measure(joined(PEOPLE, visits)).value == 1
    assert MultiRKAnonymity(2).measure(joined(PEOPLE, visits[:0])).value == 3


def test_no_people_have_k_0_and_nothing_fails() -> None:
    assert MultiRKAnonymity(2).measure(joined(PEOPLE[:0], VISITS[:0])).value == 0
    assert MultiRKAnonymity(2).holds(joined(PEOPLE[:0], VISITS[:0]))


Row = tuple[int, int]


@given(*(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), max_size=8) for _ in range(2)))
def test_people_alike_are_those_of_the_plain_definition(first: list[Row], second: list[Row]) -> None:
    frames = [pl.DataFrame(rows, schema={"id": pl.Int64, "at": pl.Int64}, orient="row") for rows in (first, second)]
    found = MultiRKAnonymity(1).measure(SeveralReleases.of(frames, ["at"], person="id"))
    people = {row[0] for row in first + second}
    rows_of = {one: [Counter(row[1] for row in rows if row[0] == one) for rows in (first, second)] for one in people}
    alike = [sum(rows_of[one] == rows_of[other] for other in people) for one in people]
    assert found.value == min(alike, default=0)
    for table, k_alone in enumerate(found.inputs["k_alone"]):
        there = [rows[table] for rows in rows_of.values() if rows[table]]
        assert k_alone == min((there.count(rows) for rows in there), default=0)


def test_k_below_1_is_an_input_error() -> None:
    with pytest.raises(InputError, match="option k: found '0', expected at least 1"):
        MultiRKAnonymity(0)
