"""Columns to keep, counted along with the quasi-identifiers: the rows of memory, made from counts alone."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cases import has_many
from tests.tasks.writing_asked import write_asked

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import AS_IT_IS
from tokumei.engines import count
from tokumei.engines.local import LocalRelation
from tokumei.engines.remote_relation import RemoteRelation

SCHEMA = {"age": pl.Int64, "town": pl.String, "len": pl.Int8, "n": pl.Date, "is": pl.Boolean, "ill": pl.String}
KNOWN, KEPT = ["age", "town"], ["len", "n", "is"]
ROW = st.tuples(
    st.none() | st.integers(20, 24),
    st.none() | st.sampled_from(["a", "東京", "c'd"]),
    st.none() | st.integers(-3, 3),
    st.none() | st.sampled_from([datetime.date(1970, 1, 1), datetime.date(2011, 2, 28)]),
    st.none() | st.booleans(),
    st.none() | st.sampled_from(["flu", "cold", ""]),
)
# The first row has every value: of a column without any no hierarchy can be made.
WHOLE = (20, "a", 1, datetime.date(1970, 1, 1), True, "flu")
TABLES = st.lists(ROW, min_size=6, max_size=40).map(lambda rows: pl.DataFrame([WHOLE, *rows], SCHEMA, orient="row"))
WAYS = st.sampled_from(
    [
        {"method": "optimal", "k": 2},
        {"method": "optimal", "k": 2, "l_diversity": {"ill": 2}},
        {"method": "mondrian", "k": 2},
        {"method": "mondrian", "k": 3, "l_diversity": {"ill": 2}},
    ]
)
OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
MANY = settings(max_examples=30 if has_many() else 6, phases=[Phase.explicit, Phase.generate, Phase.shrink], **OPEN)  # type: ignore[arg-type]


@pytest.fixture
def never_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count every table along, however small, and refuse to read its rows a second time."""
    monkeypatch.setattr(count, "ROWS_EACH", 1)
    for kind in (LocalRelation, RemoteRelation):
        monkeypatch.setattr(kind, "write", lambda *_: pytest.fail("rows are read again"))


def written(source: Path, out: Path, engine: str, **asked: Any) -> Any:
    return write_asked(str(source), KNOWN, out, engine=engine, reading=AS_IT_IS, **asked)


def check_alike(frame: pl.DataFrame, options: dict[str, Any], engine: str, folder: Path) -> None:
    source, out = folder / "people.parquet", folder / "out.parquet"
    frame.write_parquet(source)
    asked = {"suppress": 0.5, "seed": 3, "keep": KEPT, "keep_anyway": True, **options}
    try:
        here = tk.anonymize(tk.Table(frame, KNOWN), **asked)
    except CannotAnonymize as refused:
        with pytest.raises(CannotAnonymize) as there_too:
            written(source, out, engine, **asked)
        assert str(there_too.value) == str(refused)
        return
    there = written(source, out, engine, **asked)
    released = read_frame(out)
    assert sorted(released.rows(), key=repr) == sorted(here.table.rows(), key=repr)
    assert released.schema == here.table.schema
    assert {**there.facts, "seconds": 0} == {**here.facts, "seconds": 0}
    assert {name: one.value for name, one in there.promises.items()} == {
        name: one.value for name, one in here.promises.items()
    }


@pytest.mark.slow
@pytest.mark.usefixtures("never_reads_again")
@pytest.mark.parametrize("engine", ["local", "duckdb"])
@MANY
@given(people=TABLES, options=WAYS)
def test_release_of_random_tables_is_the_one_of_memory(
    engine: str, tmp_path: Path, people: pl.DataFrame, options: dict[str, Any]
) -> None:
    check_alike(people, options, engine, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("never_reads_again")
@pytest.mark.xdist_group("postgres")
@MANY
@given(people=TABLES, options=WAYS)
def test_release_on_postgres_is_the_one_of_memory(
    postgres_engine: str, tmp_path: Path, people: pl.DataFrame, options: dict[str, Any]
) -> None:
    check_alike(people, options, postgres_engine, tmp_path)


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_column_that_singles_people_out_is_refused_whether_or_not_it_is_counted_along(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = {"age": [20] * 40, "town": ["a"] * 40, "id": [*range(10), *[10] * 30], "said": ["a b c d e f"] * 40}
    pl.DataFrame(people).write_parquet(tmp_path / "people.parquet")
    said = []
    for rows_each in (1, 1000):
        monkeypatch.setattr(count, "ROWS_EACH", rows_each)
        with pytest.raises(InputError, match="10 rows are singled out") as refused:
            written(tmp_path / "people.parquet", tmp_path / "out.csv", engine, k=2, keep=["said", "id"])
        said.append(str(refused.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("asked", "column"),
    [({"keep_order": True}, [1] * 8), ({}, [0.0, -0.0] * 4), ({}, list(range(8)))],
    ids=["in their order", "floats", "as many combinations as rows"],
)
def test_rows_are_read_again_where_counts_do_not_tell_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], column: list[Any]
) -> None:
    pl.DataFrame({"age": [20] * 8, "town": ["a"] * 8, "more": column}).write_parquet(tmp_path / "people.parquet")
    read = []
    write = LocalRelation.write

    def write_seen(*given: Any) -> None:
        read.append(given)
        write(*given)

    monkeypatch.setattr(LocalRelation, "write", write_seen)
    out = tmp_path / "out.parquet"
    written(tmp_path / "people.parquet", out, "local", k=2, keep=["more"], keep_anyway=True, **asked)
    assert read
    # −0 stays −0.
    assert sorted(map(str, pl.read_parquet(out)["more"])) == sorted(map(str, column))


def test_combinations_of_a_sorted_table_are_guessed_from_many_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count, "SAMPLE_ROWS", 320)
    # The first half is one combination, the second one of each row.
    rows = np.concatenate([np.zeros(5_000, np.int64), np.arange(5_000)])
    source = tmp_path / "people.parquet"
    pl.DataFrame({"age": rows // 1_000, "more": rows}).write_parquet(source)
    how: dict[str, Any] = {"engine": "local", "reading": AS_IT_IS}
    with monkeypatch.context() as patched:
        patched.setattr(LocalRelation, "group_sizes", lambda *_: pytest.fail("too many are counted"))
        assert count.count_along(str(source), ["age"], ["more"], **how) is None
    pl.DataFrame({"age": rows // 1_000, "more": rows // 500}).write_parquet(source)
    along = count.count_along(str(source), ["age"], ["more"], **how)
    assert along is not None
    assert (along.n_rows, along.n_classes, along.over(["age"]).n_classes) == (10_000, 10, 5)
