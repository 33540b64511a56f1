"""An offer without hierarchies gets some that tell nobody which values occur."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS
from tokumei.job.offered_hierarchies import offered_hierarchies


def leaves(values: list[object], k: int = 3) -> tuple[str, ...]:
    (made,), _ = offered_hierarchies(pl.DataFrame({"x": values}), ["x"], k, reading=AS_IT_IS)
    return tuple(made.leaves)


@pytest.mark.parametrize("as_text", [False, True])
def test_whole_numbers_are_those_that_there_can_be(as_text: bool) -> None:
    ages: list[object] = [18, 97, 35, 42, None]
    found = leaves([None if age is None else str(age) for age in ages] if as_text else ages)
    assert set(found) == {str(age) for age in range(10, 110)}


@pytest.mark.parametrize("as_text", [False, True])
def test_days_are_those_of_whole_years(as_text: bool) -> None:
    days: list[object] = [dt.date(2020, 2, 5), dt.date(2021, 12, 24), dt.date(2020, 7, 1), dt.date(2021, 1, 1)]
    found = leaves([str(day) for day in days] if as_text else days)
    assert (len(found), min(found), max(found)) == (366 + 365, "2020-01-01", "2021-12-31")


def test_texts_that_few_rows_have_are_not_told() -> None:
    assert set(leaves(["north", "south"] * 3)) == {"north", "south"}
    with pytest.raises(InputError, match=r"column x: expected a hierarchy .* would tell of 2 values .* than 3 rows"):
        leaves(["north"] * 3 + ["Ann", "Bob", None])
    # Neither are numbers with decimals, of which nobody knows which there can be.
    with pytest.raises(InputError, match="would tell of 3 values"):
        leaves([1.5, 2.25, 3.0])


def test_table_of_ones_own_is_offered_without_a_folder_of_hierarchies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cryptography")
    people = pl.DataFrame({"sex": ["f", "m"] * 400, "age": [20 + at % 60 for at in range(800)]})
    people.write_csv(tmp_path / "people.csv")
    assert tokumei_here(capsys, "exchange", "keys", tmp_path / "shop")[0] == 0
    words = ["exchange", "offer", tmp_path / "people.csv", "--qi", "sex,age", "--k", 5, "--name", "people"]
    code, told = tokumei_here(capsys, *words, "--desk", tmp_path / "desk", "--key", tmp_path / "shop.key")
    assert code == 0
    assert set(told["hierarchies_made"]) == {"sex", "age"}
    assert told["only_what_occurs"] == []
