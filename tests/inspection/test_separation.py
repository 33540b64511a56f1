"""Distinction, separation and minimal sample uniques, by hand and against their plain definitions."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.inspection import column_facts
from tokumei.inspection.column_facts import separate

FOUR = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": ["30", "31", "30", "30"], "town": ["a", "a", "a", "b"]})


def test_distinction_and_separation_of_four_rows_are_those_counted_by_hand() -> None:
    by_columns = {one.columns: one for one in separate(FOUR, ["sex", "age", "town"]).sets}
    # Two of four values, and of six pairs all but f-f and m-m are told apart.
    assert [by_columns["sex",].distinction, by_columns["sex",].separation] == pytest.approx([0.5, 4 / 6])
    assert [by_columns["sex", "age"].distinction, by_columns["sex", "age"].separation] == pytest.approx([0.75, 5 / 6])
    assert by_columns["sex", "age", "town"].n_unique == 4


def test_minimal_uniques_of_four_rows_are_those_found_by_hand() -> None:
    found = separate(FOUR, ["sex", "age", "town"])
    # Row 2 by its age, row 4 by its town; row 1 by sex and age; row 3 by no pair, since row 4 shares sex and age and
    # row 1 age and town, but row 3 has sex and town for itself.
    assert found.n_minimal == {1: 2, 2: 2, 3: 0}
    assert found.n_rows_unique == 4
    # With three columns and sets of up to three, one column weighs 2 * 1 and two weigh 1.
    assert dict(found.riskiest) == {1: 2.0, 3: 2.0, 0: 1.0, 2: 1.0}
    assert found.by_column == {"sex": 0.5, "age": 0.5, "town": 0.5}


@settings(max_examples=cases(40), deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 4), min_size=1, max_size=12))
def test_minimal_uniques_agree_with_the_plain_definition(rows: list[tuple[str | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=list("wxyz"), orient="row")

    def is_alone(row: int, members: tuple[int, ...]) -> bool:
        return sum(all(rows[row][m] == other[m] for m in members) for other in rows) == 1

    plain = dict.fromkeys((1, 2, 3), 0)
    for row in range(len(rows)):
        for size in plain:
            for members in combinations(range(4), size):
                smaller = [part for n in range(1, size) for part in combinations(members, n)]
                plain[size] += is_alone(row, members) and not any(is_alone(row, part) for part in smaller)
    assert separate(frame, list("wxyz")).n_minimal == plain


def test_many_rows_are_drawn_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_facts, "MOST_LOOKS", 10)
    frame = pl.DataFrame({"n": range(3_000), "m": [1] * 3_000})
    found = separate(frame, ["n", "m"])
    assert (found.n_rows, found.is_sample) == (1_000, True)
    assert all(0 <= row < 3_000 for row, _ in found.riskiest)


def test_nothing_to_combine_gives_nothing() -> None:
    assert separate(FOUR, []).sets == []
    assert separate(FOUR.clear(), ["sex"]).n_rows_unique == 0
