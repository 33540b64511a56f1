"""Names of columns that an engine does not take, or takes for each other, are refused before anything is counted."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.tasks.attack_history import attack_history

CELLS = (["p", "q", "p"], ["u", "v", "u"])
LONG = "列" * 30
# Two names, the engines that refuse them, and why.
REFUSED = [
    (("a", "A"), {"duckdb", "spark"}, "differ by more than large and small letters: 'a'"),
    (("", "b"), {"duckdb", "postgres", "spark"}, "a name for every column"),
    (("a\0b", "c"), {"duckdb", "postgres", "spark"}, "without NUL"),
    ((f"{LONG}1", f"{LONG}2"), {"postgres"}, "at most 63 bytes"),
    (("select", "from"), set[str](), ""),
    (("a\nb", 'a"b'), set[str](), ""),
]


@pytest.fixture(params=["duckdb", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("postgres", "spark"))])
def engine(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The kind of an engine, and its address."""
    kind = str(request.param)
    return kind, kind if kind == "duckdb" else request.getfixturevalue(f"{kind}_engine")


@pytest.mark.slow
@pytest.mark.parametrize(("names", "kinds", "why"), REFUSED)
@pytest.mark.parametrize("is_file", [True, False])
def test_names_that_an_engine_cannot_tell_apart_are_refused(
    engine: tuple[str, str], names: tuple[str, str], kinds: set[str], why: str, is_file: bool, tmp_path: Path
) -> None:
    kind, address = engine
    frame = pl.DataFrame(dict(zip(names, CELLS, strict=True)))
    frame.write_parquet(tmp_path / "rows.parquet")
    source = tmp_path / "rows.parquet" if is_file else frame
    if kind in kinds:
        with pytest.raises(InputError, match=why):
            count_classes(source, names, engine=address)
    else:
        assert count_classes(source, names, engine=address).sizes.tolist() == [2, 1]


@pytest.mark.parametrize("extra", ["file_row_number", "File_Row_Number", "row", "ROW", "Customer"])
@pytest.mark.parametrize("is_first", [True, False])
def test_history_with_a_column_that_numbers_rows_elsewhere_is_attacked_alike(
    extra: str, is_first: bool, tmp_path: Path
) -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2, 2)]
    columns: dict[str, Any] = {
        "customer": ["a", "b", "a"],
        "date": days,
        "item": ["x", "y", "x"],
        "price": [1.0, 2.0, 1.5],
    }
    columns["quantity"] = [1, 2, 1]
    more = {extra: ["p", "q", "r"]}
    file = tmp_path / "T.parquet"
    pl.DataFrame({**more, **columns} if is_first else {**columns, **more}).write_parquet(file)
    here, there = (attack_history(file, file, "s1", engine=one).guesses for one in ("local", "duckdb"))
    assert here.sort("customer", "period").equals(there.sort("customer", "period"))
    assert here.height == 2
