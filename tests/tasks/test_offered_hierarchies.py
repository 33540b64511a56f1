"""An offer without hierarchies gets some that tell nobody which values occur."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS
from tokumei.tasks.predict_table import offered_hierarchies

AGES = [18, 20, 22, 35, 35, 42, 42, 47, 52, 61, 88, 90, 97]
DAYS = ["2020-02-05", "2020-03-01", "2020-04-04", "2021-01-01", "2021-05-05", "2021-12-24"]


def leaves(values: pl.Series | list[object], k: int = 3) -> tuple[str, ...]:
    (made,), _ = offered_hierarchies(pl.DataFrame({"x": values}), ["x"], k, reading=AS_IT_IS)
    return tuple(made.leaves)


def test_folder_given_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1;odd;*\n2;even;*\n", encoding="utf-8")
    (read,), said = offered_hierarchies("not looked at", ["x"], 3, given=tmp_path, reading=AS_IT_IS)
    assert (list(read.leaves), said) == (["1", "2"], {})


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Float32, pl.Float64, pl.String])
def test_whole_numbers_are_those_that_there_can_be(dtype: type[pl.DataType]) -> None:
    # Three rows reach down to 22 and three up to 88: in fifties, from one step below to one step above.
    found = leaves(pl.Series([*AGES, None]).cast(dtype))
    assert sorted(float(leaf) for leaf in found) == list(range(150))
    # As the column writes them, so that each value is a leaf.
    assert set(pl.Series(AGES).cast(dtype).cast(pl.String)) <= set(found)


@pytest.mark.parametrize(
    "written", ["%Y-%m-%d", "%Y/%m/%d", "%Y/%-m/%-d", "%Y%m%d", "%d.%m.%Y", "as days", "as numbers"]
)
def test_days_are_those_of_whole_years_and_a_year_around(written: str) -> None:
    days = pl.Series([dt.date.fromisoformat(day) for day in DAYS])
    if written == "as numbers":
        days = days.dt.strftime("%Y%m%d").cast(pl.Int64)
    elif written != "as days":
        days = days.dt.strftime(written)
    found = leaves(days)
    assert len(found) == 365 + 366 + 365 + 365
    assert set(days.cast(pl.String)) <= set(found)


def test_few_rows_do_not_tell_how_far_a_column_reaches() -> None:
    """One within a step of the others moves nothing; one beyond it is refused, since the range would tell of it."""
    usual = leaves([30, 31, 32, 40, 41, 42])
    assert (usual[0], usual[-1]) == ("25", "49")
    assert usual == leaves([25, 30, 31, 32, 40, 41, 42]) == leaves([30, 31, 32, 40, 41, 42, 49])
    for alone in (3, 117):
        with pytest.raises(InputError, match=r"column x: expected a hierarchy .* would tell of 7 values"):
            leaves([30, 31, 32, 40, 41, 42, alone])
    with pytest.raises(InputError, match="would tell of 2 values"):
        leaves([30, 31])


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
