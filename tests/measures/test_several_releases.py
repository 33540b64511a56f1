from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.measures.several_releases import SeveralReleases

FIRST = pl.DataFrame({"id": ["p", "q", "r"], "age": ["20-39", "20-39", "40-59"], "illness": ["flu", "cold", "flu"]})
SECOND = pl.DataFrame({"id": ["s", "r"], "age": ["old", "old"], "illness": ["ulcer", "flu"]})


def test_releases_are_matched_by_the_number_of_a_person() -> None:
    both = SeveralReleases.of([FIRST, SECOND], ["age"], sensitive=["illness"], person="id")
    assert both.n_persons == 4
    assert both.class_of.tolist() == [[0, -1], [0, -1], [1, 0], [-1, 0]]
    # In the order of the alphabet: cold, flu, ulcer.
    assert both.sensitive_of("illness").tolist() == [[1, -1], [0, -1], [1, 1], [-1, 2]]
    assert [release.k for release in both.releases] == [1, 2]


def test_numbers_of_persons_of_different_types_are_compared_as_text() -> None:
    first, second = pl.DataFrame({"id": [1, 2], "a": "x"}), pl.DataFrame({"id": ["2", "3"], "a": "x"})
    assert SeveralReleases.of([first, second], ["a"], person="id").is_in.tolist() == [[1, 0], [1, 1], [0, 1]]


def test_releases_without_a_number_are_matched_row_by_row() -> None:
    both = SeveralReleases.of([FIRST, FIRST.with_columns(age=pl.lit("any"))], ["age"])
    assert both.class_of.tolist() == [[0, 0], [0, 0], [1, 0]]


def test_each_release_may_have_columns_of_its_own() -> None:
    both = SeveralReleases.of([FIRST, FIRST], [["age"], ["age", "illness"]])
    assert both.class_of.tolist() == [[0, 1], [0, 0], [1, 2]]


def test_releases_that_cannot_be_matched_are_input_errors() -> None:
    with pytest.raises(InputError, match=r"release 2: found '2 rows', expected 3 rows, as in release 1, or a column"):
        SeveralReleases.of([FIRST, SECOND], ["age"])
    with pytest.raises(InputError, match="release 2, column id: found '', expected whose row 1 is"):
        SeveralReleases.of([FIRST, SECOND.with_columns(id=pl.Series([None, "r"]))], ["age"], person="id")
    twice = SeveralReleases.of([FIRST, SECOND.with_columns(id=pl.lit("r"))], ["age"], person="id")
    with pytest.raises(InputError, match="release 2: expected one row a person, not row 1 and row 2"):
        twice.class_of  # noqa: B018 - Looking is enough.


def test_columns_that_are_not_there_or_named_twice_are_input_errors() -> None:
    with pytest.raises(InputError, match=r"b\.csv, column sex: expected one of the columns id, age, illness"):
        SeveralReleases.of([FIRST, SECOND], ["sex"], person="id", names=["a.csv", "b.csv"][::-1])
    with pytest.raises(InputError, match="column id: expected a person's number that is no other column"):
        SeveralReleases.of([FIRST, SECOND], ["age", "id"], person="id")
    with pytest.raises(InputError, match="expected each column once"):
        SeveralReleases.of([FIRST, SECOND], ["age"], sensitive=["age"], person="id")
    with pytest.raises(InputError, match="the columns of all releases, or of each of the 2"):
        SeveralReleases.of([FIRST, SECOND], [["age"]], person="id")
    with pytest.raises(InputError, match="expected a column read as sensitive: none was"):
        SeveralReleases.of([FIRST, SECOND], ["age"], person="id").sensitive_of("illness")
