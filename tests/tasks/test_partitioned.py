"""Many files as one table: folders, patterns and partitions as Hive names them, read and written on every engine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.core.errors import InputError
from tokumei.data.files.formats import read_frame, scan_frame
from tokumei.engines.count import count_classes

TOWNS = ["津", "St. Ives", None, "a/b"]


def folder_name(town: str) -> str:
    """Write a value as Spark does, which leaves all but ASCII as it is."""
    return quote(town, safe=" ") if town.isascii() else town


def write_partitioned(folder: Path) -> pl.DataFrame:
    """Write a table in folders year=…/town=…, and give it with the values of the folders as text."""
    whole = []
    for year in ("2023", "2024"):
        for n, town in enumerate(TOWNS):
            rows = pl.DataFrame({"age": [30 + n, 30, 40]})
            name = "__HIVE_DEFAULT_PARTITION__" if town is None else folder_name(town)
            place = folder / f"year={year}" / f"town={name}"
            place.mkdir(parents=True)
            rows.write_parquet(place / "part-0.parquet")
            text = [pl.lit(year).alias("year"), pl.lit(town, pl.String).alias("town")]
            whole.append(rows.with_columns(text))
    (folder / "_SUCCESS").touch()
    return pl.concat(whole)


def check_partitions(engine: str, folder: Path) -> None:
    table = write_partitioned(folder / "run=1")
    columns = ["age", "year", "town"]
    expected = count_classes(table, columns).to_frame().rows()
    assert count_classes(folder / "run=1", columns, engine=engine).to_frame().rows() == expected
    one_year = count_classes(folder / "run=1" / "year=*4" / "*" / "*.parquet", columns, engine=engine)
    in_2024 = table.filter(pl.col("year") == "2024")
    assert one_year.to_frame().rows() == count_classes(in_2024, columns).to_frame().rows()
    # A folder above what is read is no partition of it.
    file = folder / "run=1" / "year=2023" / f"town={folder_name('津')}" / "part-0.parquet"
    assert count_classes(file, ["age"], engine=engine).to_frame().rows() == [(30, 2), (40, 1)]
    with pytest.raises(InputError, match="town"):
        count_classes(file, ["town"], engine=engine)


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_partitions_are_columns_of_text(engine: str, tmp_path: Path) -> None:
    check_partitions(engine, tmp_path)


def test_partitions_are_columns_of_text_on_spark(spark_engine: str, tmp_path: Path) -> None:
    check_partitions(spark_engine, tmp_path)
    escaped = tmp_path / "escaped" / f"town={quote('津')}"
    escaped.mkdir(parents=True)
    pl.DataFrame({"age": [1]}).write_parquet(escaped / "part-0.parquet")
    assert read_frame(tmp_path / "escaped")["town"].to_list() == ["津"]
    with pytest.raises(InputError, match="Spark"):
        count_classes(tmp_path / "escaped", ["town"], engine=spark_engine)


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_folder_is_read_and_a_folder_written(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_partitioned(tmp_path / "in")
    asked = ["--qi", "age,town", "--k", "3", "--suppress", "0.5", "--keep", "year", "--engine", engine]
    given = ["anonymize", "table", tmp_path / "in", *asked]
    code, found = tokumei_here(capsys, *given, "--out", f"{tmp_path}/release/")
    assert code == 0, found
    release = read_frame(tmp_path / "release")
    assert (release.height, set(release.columns)) == (found["rows"], {"age", "town", "year"})
    assert found["rows"] + found["suppressed"] == table.height
    assert {path.suffix for path in (tmp_path / "release").iterdir()} == {".parquet"}
    audited = tokumei_here(capsys, "audit", f"{tmp_path}/release/*.parquet", "--qi", "age,town", "--engine", engine)
    assert (audited[0], audited[1]["k"]) == (0, found["k"])


def test_names_that_cannot_be_read_or_written_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_partitioned(tmp_path / "in")
    given = ["anonymize", "table", tmp_path / "in" / "*" / "*" / "*.parquet", "--qi", "age", "--k", "2", "--out"]
    assert "no dot" in tokumei_here(capsys, *given, f"{tmp_path}/v1.2/")[1]["message"]
    assert "ends in .csv" in tokumei_here(capsys, *given, f"{tmp_path}/release")[1]["message"]
    inside = next((tmp_path / "in").rglob("*.parquet"))
    assert "another file than the input" in tokumei_here(capsys, *given, inside, "--force")[1]["message"]
    with pytest.raises(InputError, match="a pattern that files"):
        scan_frame(tmp_path / "none*.parquet")
    pl.DataFrame({"age": [1]}).write_parquet(tmp_path / "in" / "stray.parquet")
    with pytest.raises(InputError, match="the columns of stray"):
        scan_frame(tmp_path / "in")
    pl.DataFrame({"age": [1], "year": [2023]}).write_parquet(inside)
    with pytest.raises(InputError, match="not in both"):
        scan_frame(tmp_path / "in" / "*" / "*" / "*.parquet")
