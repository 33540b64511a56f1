"""Generalized releases of any shape read back what was written, however the original beside them is read."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.data.files.histories import CONTEST_2018, TABLE
from tokumei.data.files.reading import Reading
from tokumei.data.files.released_histories import PLAIN, cells_of, read_generalized, text_of, write_generalized
from tokumei.data.release import GeneralizedHistory

# How an original may be read whose release is read beside it.
READINGS = [Reading(), Reading(delimiter=","), Reading(delimiter=";"), Reading(delimiter="\t")]
READINGS += [Reading(format=form) for form in (TABLE, "pwscup2016", "pwscup2017", "pwscup2018")]
READINGS += [Reading(columns={"customer": "household_id", "item": "product_id"}, date_format="%m/%d/%Y", skip_rows=2)]
DATES = st.integers(0, 364).map(lambda day: date(2011, 1, 1) + timedelta(days=day))
CENTS = st.integers(1, 99_999).map(lambda cents: cents / 100)


def ranges(values: st.SearchStrategy[object]) -> st.SearchStrategy[str]:
    def written(ends: list[object]) -> str:
        low, high = (text(one) for one in sorted(ends))  # type: ignore[type-var]
        return low if low == high else f"[{low};{high}]"

    return st.one_of(st.just("*"), st.lists(values, min_size=2, max_size=2).map(written))


def text(value: object) -> str:
    return str(value).removesuffix(".0")


def sets(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str] | None]:
    return st.one_of(st.none(), st.lists(names, min_size=1, max_size=12, unique=True))


CONTEST_ITEMS = st.from_regex("[A-Z0-9]{1,9}", fullmatch=True)
ODD_ITEMS = st.text('abZ09 ;,{}[]*\\"\t|é', min_size=1, max_size=8)


def releases(names: st.SearchStrategy[str]) -> st.SearchStrategy[pl.DataFrame]:
    row = st.tuples(
        st.integers(1, 10**9 - 1).map(str), ranges(DATES), sets(names), ranges(CENTS), ranges(st.integers(1, 999_999))
    )
    return st.lists(row, min_size=1, max_size=6).map(framed)


def framed(rows: list[tuple[str, str, list[str] | None, str, str]]) -> pl.DataFrame:
    columns = ["customer", "date", "item", "price", "quantity"]
    escaped = [
        (who, when, written(items) if items is not None else "*", price, quantity)
        for who, when, items, price, quantity in rows
    ]
    return pl.DataFrame(escaped, schema=dict.fromkeys(columns, pl.String), orient="row")


def written(items: list[str]) -> str:
    names = ["".join(f"\\{mark}" if mark in "\\;{}[]*" else mark for mark in name) for name in items]
    return names[0] if len(names) == 1 else "{" + ";".join(names) + "}"


def same(one: GeneralizedHistory, other: GeneralizedHistory) -> bool:
    return text_of(one, PLAIN).equals(text_of(other, PLAIN))


@settings(max_examples=cases(30), deadline=None)
@given(st.sampled_from(READINGS), releases(CONTEST_ITEMS))
def test_release_in_the_form_of_2018_is_read_beside_any_original(
    tmp_path_factory: pytest.TempPathFactory, reading: Reading, frame: pl.DataFrame
) -> None:
    path: Path = tmp_path_factory.mktemp("form") / "A.csv"
    cells = cells_of(frame, "A")
    write_generalized(frame, path, CONTEST_2018)
    assert same(read_generalized(path, reading), cells)


@settings(max_examples=cases(30), deadline=None)
@given(st.sampled_from(READINGS), releases(ODD_ITEMS))
def test_release_as_a_table_is_read_beside_any_original(
    tmp_path_factory: pytest.TempPathFactory, reading: Reading, frame: pl.DataFrame
) -> None:
    folder: Path = tmp_path_factory.mktemp("table")
    for name in ("A.csv", "A.parquet"):
        write_generalized(frame, folder / name, TABLE)
        assert same(read_generalized(folder / name, reading), cells_of(frame, "A"))
