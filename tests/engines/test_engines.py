"""All engines must count the same classes and write the same rows."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cases import has_many

from tokumei.core.errors import InputError
from tokumei.data.files.formats import read_frame
from tokumei.engines.class_counts import Recoding
from tokumei.engines.connect import connect
from tokumei.engines.count import count_classes, write_recoded

TEXTS = st.none() | st.sampled_from(["a", "b", "é", "東京", "a b", "with,comma", 'with"quote', "c'd", "NULL", "\\N"])
ROW = st.tuples(
    TEXTS,
    st.none() | st.integers(-3, 3),
    st.none() | st.sampled_from([datetime.date(2010, 12, 1), datetime.date(2011, 2, 28)]),
    st.none() | st.booleans(),
)
SCHEMA = {"text": pl.String, "number of": pl.Int64, "date": pl.Date, "flag": pl.Boolean}
COLUMNS = list(SCHEMA)
RECODINGS = [
    Recoding("number of", pl.Series([str(n) for n in range(-3, 4)]), pl.Series(["low"] * 4 + ["high"] * 3)),
    Recoding("date", pl.Series(["2010-12-01", "2011-02-28"]), pl.Series(["*", "*"]), "*"),
    Recoding("flag", pl.Series(["true", "false"]), pl.Series(["yes", "no"])),
]
# Two columns change places, one is left out, and so are two classes, one of them with a missing value.
WRITTEN = ["flag", "number of", "text"]
WITHOUT = pl.DataFrame({"flag": ["yes", None], "number of": ["low", "high"]})
# A fixture stays open over all examples on purpose: engines take seconds to start.
MANY = settings(max_examples=40 if has_many() else 12, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Spark takes seconds an example, so that shrinking a failure would take the whole day.
FEW = settings(
    max_examples=5 if has_many() else 3,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def frame_of(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def check_engine_agrees(frame: pl.DataFrame, engine: str, folder: Path) -> None:
    """Hold counts, counts at levels, histograms and written rows against the local engine."""
    with connect(engine) as opened:
        for recodings in ([], RECODINGS):
            here = count_classes(frame, COLUMNS, recodings=recodings, sensitive=[])
            there = count_classes(frame, COLUMNS, recodings=recodings, engine=_Kept(opened))
            assert there.to_frame().rows() == here.to_frame().rows()
        here = count_classes(frame, ["flag"], sensitive=["text"])
        there = count_classes(frame, ["flag"], sensitive=["text"], engine=_Kept(opened))
        assert there.histograms["text"].counts.tolist() == here.histograms["text"].counts.tolist()
        assert there.histograms["text"].values.to_list() == here.histograms["text"].values.to_list()
        for suffix in ("parquet", "csv"):
            write_recoded(frame, RECODINGS, folder / f"here.{suffix}", columns=WRITTEN, without=WITHOUT)
            write_recoded(
                frame, RECODINGS, folder / f"there.{suffix}", columns=WRITTEN, without=WITHOUT, engine=_Kept(opened)
            )
            assert _sorted_rows(folder / f"there.{suffix}") == _sorted_rows(folder / f"here.{suffix}")


class _Kept:
    """An engine that stays open when the function that used it is done."""

    def __init__(self, engine: Any) -> None:
        self.open = engine.open

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _sorted_rows(path: Path) -> list[tuple[Any, ...]]:
    if path.is_dir():
        # Spark writes a folder of parts.
        parts = sorted(path.glob("*.parquet")) or sorted(path.glob("*.csv"))
        frame = pl.concat(read_frame(part) for part in parts if part.stat().st_size)
    else:
        frame = read_frame(path)
    return sorted(frame.rows(), key=repr)


@MANY
@given(st.lists(ROW, min_size=1, max_size=30))
def test_duckdb_on_random_tables_agrees_with_local(tmp_path: Path, rows: list[Any]) -> None:
    check_engine_agrees(frame_of(rows), "duckdb", tmp_path)


@MANY
@given(st.lists(ROW, min_size=1, max_size=30))
def test_postgres_on_random_tables_agrees_with_local(postgres_engine: str, tmp_path: Path, rows: list[Any]) -> None:
    check_engine_agrees(frame_of(rows), postgres_engine, tmp_path)


@FEW
@given(st.lists(ROW, min_size=1, max_size=30))
def test_spark_on_random_tables_agrees_with_local(spark_engine: str, tmp_path: Path, rows: list[Any]) -> None:
    check_engine_agrees(frame_of(rows), spark_engine, tmp_path)


def check_files_count_alike(engine: str, folder: Path) -> None:
    """Hold the counts of a CSV with every trap, plain and packed, and of a Parquet file against the local ones."""
    text = 'name;n\na;1\n"a";1\n"with ""quotes""";2\n"two\nlines";\n;3\n"";3\n'
    (folder / "traps.csv").write_text(text)
    read_frame(folder / "traps.csv").write_parquet(folder / "traps.parquet")
    for name in ("traps.csv", "traps.parquet"):
        here = count_classes(folder / name, ["name", "n"]).to_frame().rows()
        assert here == [("a", "1", 2), ("two\nlines", None, 1), ('with "quotes"', "2", 1), (None, "3", 2)]
        assert count_classes(folder / name, ["name", "n"], engine=engine).to_frame().rows() == here


def test_duckdb_on_files_agrees_with_local(tmp_path: Path) -> None:
    check_files_count_alike("duckdb", tmp_path)


def test_postgres_on_files_agrees_with_local(postgres_engine: str, tmp_path: Path) -> None:
    check_files_count_alike(postgres_engine, tmp_path)


def test_spark_on_files_agrees_with_local(spark_engine: str, tmp_path: Path) -> None:
    check_files_count_alike(spark_engine, tmp_path)


def check_unlabeled_value_is_named(engine: str, folder: Path) -> None:
    frame = pl.DataFrame({"n": [1, 2, 7, None]})
    recoding = Recoding("n", pl.Series(["1", "2"]), pl.Series(["a", "b"]))
    for work in (
        lambda: count_classes(frame, ["n"], recodings=[recoding], engine=engine),
        lambda: write_recoded(frame, [recoding], folder / "out.csv", engine=engine),
    ):
        with pytest.raises(InputError) as caught:
            work()
        assert [(fault.column, fault.value) for fault in caught.value.faults] == [("n", "7")]
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_value_without_a_label_is_named_on(engine: str, tmp_path: Path) -> None:
    check_unlabeled_value_is_named(engine, tmp_path)


def test_value_without_a_label_is_named_on_postgres(postgres_engine: str, tmp_path: Path) -> None:
    check_unlabeled_value_is_named(postgres_engine, tmp_path)


def test_value_without_a_label_is_named_on_spark(spark_engine: str, tmp_path: Path) -> None:
    check_unlabeled_value_is_named(spark_engine, tmp_path)


def test_postgres_table_by_name_is_counted_in_index(postgres_engine: str) -> None:
    import psycopg

    with psycopg.connect(postgres_engine, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS people (sex text, age integer)")
        connection.execute("TRUNCATE people")
        connection.execute("INSERT INTO people VALUES ('f', 31), ('f', 31), ('m', 35), (NULL, 35)")
    for name in ("people", "public.people"):
        counts = count_classes(name, ["sex", "age"], engine=postgres_engine)
        assert counts.to_frame().rows() == [("f", 31, 2), ("m", 35, 1), (None, 35, 1)]


def test_postgres_without_such_a_table_says_so(postgres_engine: str) -> None:
    with pytest.raises(InputError, match="a file that exists or a table of the engine"):
        count_classes("nobody", ["sex"], engine=postgres_engine)


def test_duckdb_file_by_address_is_counted_in_index(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "d.db")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'f' AS sex FROM range(3)")
    assert count_classes("people", ["sex"], engine=f"duckdb://{tmp_path}/d.db").sizes.tolist() == [3]


def test_unknown_engine_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="'duckdb'"):
        connect("duckbd")


def test_engine_that_does_not_answer_is_an_input_error_without_the_password() -> None:
    with pytest.raises(InputError) as caught:
        connect("postgresql://user:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(caught.value)
    assert "user@127.0.0.1:1" in str(caught.value)


def test_local_engine_keeps_the_order_of_rows(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [3, 1, 2, 1], "x": list("abcd")})
    recoding = Recoding("n", pl.Series(["1", "2", "3"]), pl.Series(["low", "low", "high"]))
    write_recoded(frame, [recoding], tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").rows() == [("high", "a"), ("low", "b"), ("low", "c"), ("low", "d")]


@pytest.mark.parametrize("kind", ["pandas", "arrow", "lazy", "dict"])
def test_any_frame_is_counted(kind: str) -> None:
    frame = pl.DataFrame({"a": ["x", "y", "x"]})
    kinds: dict[str, Any] = {
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
        "lazy": frame.lazy(),
        "dict": frame.to_dict(),
    }
    same = kinds[kind]
    assert count_classes(same, ["a"]).sizes.tolist() == [2, 1]


def test_categories_are_counted_as_text() -> None:
    frame = pl.DataFrame({"a": pl.Series(["y", "x", "y"], dtype=pl.Categorical)})
    recoding = Recoding("a", pl.Series(["x", "y"]), pl.Series(["1", "2"]))
    assert count_classes(frame, ["a"], recodings=[recoding]).to_frame().rows() == [("1", 1), ("2", 2)]
