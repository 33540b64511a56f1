"""Microaggregation where the rows are: the numbers that it writes in memory, for every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from tokumei.methods.perturbing import rows_on_engine
from tokumei.methods.registry import TABLE_ANONYMIZERS

# Many equal numbers, of which some are in one group and some in another; the last column tells rows apart.
SCHEMA = {"age of": pl.Int32, "wage": pl.Float64, "town": pl.String, "id": pl.Int64}
ROW = st.tuples(
    st.none() | st.integers(20, 24), st.none() | st.sampled_from([-0.0, 0.0, 1.5, 1e6]), st.sampled_from(["a", "東京"])
)
TABLES = st.lists(ROW, min_size=4, max_size=40).map(
    lambda rows: pl.DataFrame([(*row, at) for at, row in enumerate([(20, 1.5, "a"), *rows])], SCHEMA, orient="row")
)
WAYS = st.sampled_from(
    [
        {"k": 2},
        {"k": 3, "columns": ("wage",), "within": ("town",)},
        {"k": 2, "write": "median", "block": 6},
        {"k": 1, "within": ("town",), "block": 5},
    ]
)
OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
MANY = settings(max_examples=40 if has_many() else 6, phases=[Phase.explicit, Phase.generate, Phase.shrink], **OPEN)  # type: ignore[arg-type]
FEW = settings(max_examples=2, phases=[Phase.generate], **OPEN)  # type: ignore[arg-type]


def written(source: Path, out: Path, engine: str, **asked: Any) -> Any:
    how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "keep": ["id"], "keep_anyway": True, **asked}
    return write_asked(str(source), ["age of", "wage"], out, **how)


def check_alike(frame: pl.DataFrame, options: dict[str, Any], engine: str, folder: Path, suffix: str) -> list[Any]:
    """Hold a release against the one in memory: all cells of every row, its order where it is kept, what is told."""
    source = folder / f"people{suffix}"
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(source)
    keep = ["id", *options.get("within", ())]
    asked: dict[str, Any] = {"method": TABLE_ANONYMIZERS.make("microaggregate", **options), "seed": 5}
    asked |= {"numeric": ["age of", "wage"], "keep": keep, "keep_anyway": True}
    try:
        here = tk.anonymize(tk.Table(source, ["age of", "wage"]), keep_order=True, **asked)
    except CannotAnonymize as refused:
        with pytest.raises(CannotAnonymize) as there_too:
            written(source, folder / "out.parquet", engine, **asked)
        assert str(there_too.value) == str(refused)
        return []
    for keeps in (True, False):
        # Spark writes a folder, which takes the place of no file.
        out = folder / f"{engine[:5]}-{keeps}.parquet"
        there = written(source, out, engine, keep_order=keeps, **asked)
        released = read_frame(out)
        assert (released if keeps else released.sort(pl.col("id").cast(pl.Int64))).rows() == here.table.rows()
        assert {**there.facts, "seconds": 0} == {**here.facts, "seconds": 0}
        assert {name: one.as_dict() for name, one in there.promises.items()} == {
            name: one.as_dict() for name, one in here.promises.items()
        }
        told = {name: here.recipe.options[name] for name in there.recipe.options}
        assert there.recipe.options == told
    return released["id"].to_list()


@pytest.mark.parametrize("engine", ["local", "duckdb"])
@MANY
@given(people=TABLES, options=WAYS, suffix=st.sampled_from([".csv", ".parquet"]))
def test_rows_of_random_tables_get_the_numbers_of_memory(
    engine: str, tmp_path: Path, people: pl.DataFrame, options: dict[str, Any], suffix: str
) -> None:
    check_alike(people, options, engine, tmp_path, suffix)


@pytest.mark.xdist_group("postgres")
@MANY
@given(people=TABLES, options=WAYS)
def test_rows_on_postgres_get_the_numbers_of_memory_in_the_order_of_duckdb(
    postgres_engine: str, tmp_path: Path, people: pl.DataFrame, options: dict[str, Any]
) -> None:
    orders = [check_alike(people, options, engine, tmp_path, ".parquet") for engine in (postgres_engine, "duckdb")]
    assert orders[0] == orders[1]


@pytest.mark.xdist_group("spark")
@FEW
@given(people=TABLES, options=WAYS)
def test_rows_on_spark_get_the_numbers_of_memory_in_the_order_of_duckdb(
    spark_engine: str, tmp_path: Path, people: pl.DataFrame, options: dict[str, Any]
) -> None:
    orders = [check_alike(people, options, engine, tmp_path, ".parquet") for engine in (spark_engine, "duckdb")]
    assert orders[0] == orders[1]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_rows_that_go_by_in_blocks_are_averaged_as_the_whole(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_on_engine, "BLOCK_ROWS", 7)
    rows = [(20 + at % 5, [0.0, 1.5, None][at % 3], "a" if at % 4 else "東京", at) for at in range(200)]
    frame = pl.DataFrame(rows, SCHEMA, orient="row")
    assert check_alike(frame, {"k": 3}, engine, tmp_path, ".parquet")


def test_one_number_written_in_two_ways_is_one(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age of,wage,id\n1,1,0\n1.0,1,1\n 1,1,2\n5,2,3\n5,2.0,4\n", encoding="utf-8")
    asked: dict[str, Any] = {"method": TABLE_ANONYMIZERS.make("microaggregate", k=2), "numeric": ["age of", "wage"]}
    made = written(source, tmp_path / "out.csv", "duckdb", keep_order=True, **asked)
    assert read_frame(tmp_path / "out.csv").rows() == [
        *[("1", "1", one) for one in "012"],
        *[("5", "2", one) for one in "34"],
    ]
    assert made.promises["k-anonymity"].value == 2


def test_a_value_that_is_no_number_and_a_table_of_a_database_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age of,wage,id\n1,1,0\n1,high,1\n", encoding="utf-8")
    asked: dict[str, Any] = {"method": TABLE_ANONYMIZERS.make("microaggregate"), "numeric": ["age of", "wage"]}
    with pytest.raises(InputError, match="a finite number") as found:
        written(source, tmp_path / "out.csv", "duckdb", **asked)
    [fault] = found.value.faults
    assert (fault.file, fault.column, fault.value, fault.line) == (str(source), "wage", "high", None)
    assert not (tmp_path / "out.csv").exists()


def test_table_that_changes_while_it_is_read_is_refused_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "people.parquet"
    columns = {"age of": [1, 1, 2, 2], "wage": [1, 1, 1, 1], "id": [1, 2, 3, 4]}
    part = TABLE_ANONYMIZERS.make("microaggregate", k=2)
    for ages in ([1, 1, 2, 9], [1, 1, 1, 2], [1, 1, 2]):
        pl.DataFrame(columns).write_parquet(source)
        other = pl.DataFrame(columns)[: len(ages)].with_columns(pl.Series("age of", ages)).lazy()
        with monkeypatch.context() as patched, pytest.raises(InputError, match="does not change while it is read"):
            patched.setattr(rows_on_engine, "scan_frame", lambda *_, other=other: other)
            written(source, tmp_path / "out.parquet", "duckdb", method=part, numeric=["age of", "wage"])
        assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]
    written(source, tmp_path / "out.parquet", "duckdb", method=part, numeric=["age of", "wage"])


@pytest.mark.parametrize("method", ["microaggregate", "sample"])
def test_recipe_of_an_engine_is_applied_to_another_table(method: str, tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    frame = pl.DataFrame([(20 + at % 5, 1.5, "a", at) for at in range(20)], SCHEMA, orient="row")
    frame.write_parquet(source)
    part = TABLE_ANONYMIZERS.make(method)
    made = written(source, tmp_path / "out.parquet", "duckdb", method=part, numeric=["age of", "wage"])
    assert tk.apply(made.recipe, frame).release.frame.columns == ["age of", "wage", "id"]
