"""Methods that put classes into groups, where the rows are: the same release as in memory, on every engine."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
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
from tokumei.engines.count import write_recoded
from tokumei.methods.registry import TABLE_ANONYMIZERS

# All but the one that asks for two columns of numbers.
METHODS = [
    name
    for name in TABLE_ANONYMIZERS
    if hasattr(TABLE_ANONYMIZERS.get(name), "recode_locally") and name != "marginal-recoding"
]
SCHEMA = {"age of": pl.Int64, "town": pl.String, "born": pl.Date, "member": pl.Boolean, "n_rows": pl.String}
KNOWN = ["age of", "town", "born", "member"]
ROW = st.tuples(
    st.none() | st.integers(20, 24),
    st.none() | st.sampled_from(["a", "東京", "with,comma", "c'd", "NULL"]),
    st.none() | st.sampled_from([datetime.date(1970, 1, 1), datetime.date(2011, 2, 28)]),
    st.none() | st.booleans(),
    st.none() | st.sampled_from(["flu", "cold"]),
)
# The first row has every value: of a column without any no hierarchy can be made.
WHOLE = (20, "a", datetime.date(1970, 1, 1), True, "flu")
TABLES = st.lists(ROW, min_size=6, max_size=40).map(lambda rows: pl.DataFrame([WHOLE, *rows], SCHEMA, orient="row"))
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
KEPT_OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
MANY = settings(max_examples=30 if has_many() else 4, phases=PHASES, **KEPT_OPEN)  # type: ignore[arg-type]
FEW = settings(max_examples=2, phases=[Phase.generate], **KEPT_OPEN)  # type: ignore[arg-type]


def sorted_rows(path: Path) -> list[tuple[Any, ...]]:
    return sorted(read_frame(path).rows(), key=repr)


def check_alike(frame: pl.DataFrame, engine: str, folder: Path, method: str, options: Mapping[str, Any]) -> None:
    """Hold the facts, the recipe and the rows of a release made on an engine against the one made in memory."""
    source = folder / "people.parquet"
    frame.write_parquet(source)
    asked = {"k": 2, "suppress": 0.5, "method": method, "seed": 3, **options}
    out = folder / "there.parquet"
    try:
        here = tk.anonymize(tk.Table(frame, KNOWN), keep=["n_rows"], keep_anyway=True, **asked)
    except CannotAnonymize as refused:
        with pytest.raises(CannotAnonymize) as there_too:
            _on_engine(source, out, engine, asked)
        assert str(there_too.value) == str(refused)
        return
    there = _on_engine(source, out, engine, asked)
    assert {**there.facts, "seconds": 0} == {**here.facts, "seconds": 0}
    assert {name: one.value for name, one in there.promises.items()} == {
        name: one.value for name, one in here.promises.items()
    }
    assert {**there.recipe.options, "order": 0} == {**here.recipe.options, "order": 0}
    assert sorted_rows(out) == sorted(here.table.rows(), key=repr)


def _on_engine(source: Path, out: Path, engine: str, asked: Mapping[str, Any]) -> Any:
    where: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS}
    return write_asked(str(source), KNOWN, out, keep=["n_rows"], keep_anyway=True, **where, **asked)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("engine", ["local", "duckdb"])
@MANY
@given(people=TABLES)
def test_release_of_random_tables_is_the_one_made_in_memory(
    engine: str, method: str, tmp_path: Path, people: pl.DataFrame
) -> None:
    check_alike(people, engine, tmp_path, method, {})


# What is asked of sensitive values, of one release as a whole, and of weights.
@pytest.mark.parametrize(
    "options",
    [
        {"l_diversity": {"n_rows": 2}},
        {"t_closeness": {"n_rows": 0.4}},
        {"weights": {"town": 3.0, "born": 0.5}, "suppress": 0},
    ],
)
@MANY
@given(people=TABLES)
def test_release_with_sensitive_values_is_the_one_made_in_memory(
    tmp_path: Path, people: pl.DataFrame, options: dict[str, Any]
) -> None:
    check_alike(people, "duckdb", tmp_path, "mondrian", options)


@MANY
@given(people=TABLES, method=st.sampled_from(METHODS))
def test_release_on_postgres_is_the_one_made_in_memory(
    postgres_engine: str, tmp_path: Path, people: pl.DataFrame, method: str
) -> None:
    check_alike(people, postgres_engine, tmp_path, method, {})


@FEW
@given(people=TABLES)
def test_release_on_spark_is_the_one_made_in_memory(spark_engine: str, tmp_path: Path, people: pl.DataFrame) -> None:
    check_alike(people, spark_engine, tmp_path, "mondrian", {})


def test_table_that_changes_while_it_is_read_is_refused_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "people.parquet"
    pl.DataFrame({"age": [1, 1, 2, 2]}).write_parquet(source)

    def write_of_other_rows(*given: Any, **how: Any) -> None:
        pl.DataFrame({"age": [1, 1, 2, 9]}).write_parquet(source)
        write_recoded(*given, **how)

    monkeypatch.setattr("tokumei.methods.local.on_engine.write_recoded", write_of_other_rows)
    where: dict[str, Any] = {"engine": "local", "reading": AS_IT_IS}
    with pytest.raises(InputError, match="does not change while it is read"):
        # In their own order rows are read again; shuffled ones are made from the counts.
        write_asked(str(source), ["age"], tmp_path / "out.parquet", method="mondrian", k=2, keep_order=True, **where)
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_more_classes_than_fit_are_refused_by_name(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "people.parquet"
    pl.DataFrame({"age": [1, 2, 3, 3], "sex": ["f"] * 4}).write_parquet(source)
    # Others are done in parts.
    where: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "k": 2, "method": "mu-argus"}
    monkeypatch.setattr("tokumei.tasks.goal.most_classes", lambda _: 3)
    write_asked(str(source), ["age", "sex"], tmp_path / "fits.parquet", **where)
    monkeypatch.setattr("tokumei.tasks.goal.most_classes", lambda _: 2)
    with pytest.raises(InputError, match="at most 2 combinations of values") as refused:
        write_asked(str(source), ["age", "sex"], tmp_path / "out.parquet", **where)
    assert refused.value.faults[0].column == "age, sex"
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_columns_may_bear_the_names_that_a_join_would_give(tmp_path: Path, method: str) -> None:
    names = {"sex": "value_0", "age": "label_0", "town": "value", "pay": "label"}
    rows = {"sex": ["f", "m"] * 20, "age": [20 + n % 7 for n in range(40)], "town": ["a", "b"] * 20, "pay": ["x"] * 40}
    found = []
    for called in (dict(zip(names, names, strict=True)), names):
        table = tmp_path / f"{method}-{called['sex']}.parquet"
        pl.DataFrame(rows).rename(called).write_parquet(table)
        out = tmp_path / f"{method}-{called['sex']}.csv"
        qi = [called["sex"], called["age"], called["town"]]
        asked: dict[str, Any] = {"engine": "duckdb", "reading": AS_IT_IS, "method": method, "k": 3, "suppress": 0.0}
        write_asked(str(table), qi, out, keep=[called["pay"]], keep_order=True, **asked)
        found.append(pl.read_csv(out, infer_schema=False).rename(dict(zip(called.values(), called, strict=True))))
    assert found[0].sort(pl.all()).equals(found[1].sort(pl.all()))
    assert found[0].height == 40
