"""The same care where rows are on an engine: identifiers are refused, columns listed, rows shuffled."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.engines.connect import connect
from tokumei.engines.count import write_recoded
from tokumei.tasks.table_release import uniqueness_on

NOTE = "came on foot with a cough and went home the same day, number {}"
PEOPLE = pl.DataFrame(
    {
        "id": [f"p{n}" for n in range(30)],
        "sex": ["f", "m"] * 15,
        "age": [20 + n % 3 for n in range(30)],
        "note": [NOTE.format(n // 2) if n % 2 else None for n in range(30)],
        "ward": ["a", "b", None] * 10,
    }
)


def check_care(engine: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "people.parquet"
    PEOPLE.write_parquet(file)
    with connect(engine) as opened, connect("local") as local:
        there = uniqueness_on(opened.open(str(file)), PEOPLE.columns)
        assert there == uniqueness_on(local.open(str(file)), PEOPLE.columns)
    given = ["anonymize", "table", file, "--qi", "sex,age", "--k", "2", "--engine", engine, "--out"]
    for column in ("id", "note"):
        code, found = tokumei_here(capsys, *given, folder / "no.csv", "--keep", column)
        assert (code, "--keep-anyway releases it all the same" in found["message"]) == (2, True)
    assert not (folder / "no.csv").exists()
    out = folder / "kept.csv"
    assert tokumei_here(capsys, *given, out, "--keep", "id,ward", "--keep-anyway")[0] == 0
    audited = tokumei_here(capsys, "audit", out, "--qi", "sex,age", "--engine", engine)[1]["columns"]
    assert {one["column"]: one["unique"] for one in audited} == {"sex": 0, "age": 0, "id": 30, "ward": 0}
    # The order of the file tells nothing, and is another each time; all rows are there.
    orders = []
    for n in range(3):
        write_recoded(str(file), [], folder / f"{n}.csv", columns=["id"], is_shuffled=True, engine=engine)
        orders.append(pl.read_csv(folder / f"{n}.csv")["id"].to_list())
    assert all(sorted(order) == sorted(PEOPLE["id"]) for order in orders)
    assert len({tuple(order) for order in [*orders, PEOPLE["id"].to_list()]}) == 4


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_identifiers_are_refused_and_rows_shuffled_on(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_care(engine, tmp_path, capsys)


def test_identifiers_are_refused_and_rows_shuffled_on_postgres(
    postgres_engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_care(postgres_engine, tmp_path, capsys)


def test_identifiers_are_refused_and_rows_shuffled_on_spark(
    spark_engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_care(spark_engine, tmp_path, capsys)
