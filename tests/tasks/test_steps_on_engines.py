"""Steps of histories, alone and after each other: a seed gives the same rows in memory and on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tasks.test_dummies_on_engines import MANY_ROWS, check_alike
from tests.tasks.test_history_on_engines import FEW, MANY, ROWS, history_of

from tokumei.data.history import History
from tokumei.engines.changing import LocalChanges
from tokumei.engines.engine_history import EngineHistory
from tokumei.methods.history.steps import StepAnywhere
from tokumei.methods.registry import HISTORY_ANONYMIZERS

SHARE = st.sampled_from([0.0, 0.2, 0.5])
DELETE = st.fixed_dictionaries(
    {
        "method": st.just("delete"),
        "once": st.booleans(),
        "price_deviations": st.sampled_from([0.0, 1.5]),
        "telling": SHARE,
        "random": SHARE,
        "most": st.sampled_from([0.3, 0.8]),
    }
)
PERTURB = st.fixed_dictionaries(
    {
        "method": st.just("perturb"),
        "days": st.sampled_from([0, 3, 31]),
        "quantities": SHARE,
        "prices": SHARE,
        "hides_times": st.booleans(),
        "whole_baskets": st.booleans(),
    }
)
DUMMIES = st.fixed_dictionaries(
    {"method": st.just("dummies"), "clusters": st.sampled_from([1, 2, "best"]), "smallest": st.just(1)}
)
NAMES = st.fixed_dictionaries({"method": st.just("pseudonyms"), "lifetime": st.sampled_from([1, 2, 12])})
STEP = DELETE | PERTURB | DUMMIES
PIPELINE = st.tuples(st.lists(STEP, min_size=1, max_size=4), st.just([]) | NAMES.map(lambda one: [one])).map(
    lambda parts: [*parts[0], *parts[1]]
)
# Goods by weight, and a history without invoices and times.
KIND = st.sampled_from(["as it is", "weighed", "plain"])
SEED = st.integers(0, 2**63 - 1)


def of_kind(rows: list[Any], kind: str) -> pl.DataFrame:
    frame = history_of(rows)
    if kind == "weighed":
        return frame.with_columns(pl.col("quantity").cast(pl.Float64) / 8)
    return frame.with_columns(invoice=None, time=None).cast(frame.schema) if kind == "plain" else frame


@MANY
@given(ROWS, KIND, PIPELINE, SEED)
def test_duckdb_makes_the_rows_of_memory(
    tmp_path: Path, rows: list[Any], kind: str, steps: list[dict[str, Any]], seed: int
) -> None:
    check_alike(of_kind(rows, kind), steps, "duckdb", tmp_path, seed=seed)


@pytest.mark.thorough
@pytest.mark.xdist_group("postgres")
@MANY
@given(ROWS, KIND, PIPELINE, SEED)
def test_postgres_makes_the_rows_of_memory(
    postgres_engine: str, tmp_path: Path, rows: list[Any], kind: str, steps: list[dict[str, Any]], seed: int
) -> None:
    check_alike(of_kind(rows, kind), steps, postgres_engine, tmp_path, seed=seed)


@pytest.mark.thorough
@pytest.mark.xdist_group("spark")
@FEW
@given(ROWS, KIND, PIPELINE, SEED)
def test_spark_makes_the_rows_of_memory(
    spark_engine: str, tmp_path: Path, rows: list[Any], kind: str, steps: list[dict[str, Any]], seed: int
) -> None:
    check_alike(of_kind(rows, kind), steps, spark_engine, tmp_path, seed=seed)


ALL = [
    {"method": "perturb", "days": 9, "quantities": 0.4, "prices": 0.3},
    {"method": "dummies", "clusters": 2, "smallest": 1},
    {"method": "delete", "random": 0.2, "telling": 0.1},
    {"method": "delete", "random": 0.1, "once": False},
    {"method": "perturb", "whole_baskets": False, "hides_times": True},
]


@pytest.mark.parametrize("piece_rows", [1_000_000, 7])
def test_steps_that_look_at_changed_rows_see_them_whatever_their_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece_rows: int
) -> None:
    monkeypatch.setattr("tokumei.engines.engine_history.PIECE_ROWS", piece_rows)
    check_alike(history_of([*MANY_ROWS, None, *MANY_ROWS]), ALL, "duckdb", tmp_path)


@pytest.mark.xdist_group("spark")
def test_spark_takes_all_steps_as_memory_does(spark_engine: str, tmp_path: Path) -> None:
    check_alike(history_of([*MANY_ROWS, None, *MANY_ROWS]), ALL, spark_engine, tmp_path)


def test_every_step_that_engines_take_is_written_once() -> None:
    steps = [part for part in map(HISTORY_ANONYMIZERS.get, HISTORY_ANONYMIZERS) if issubclass(part, StepAnywhere)]
    assert sorted(one.__name__ for one in steps) == ["Delete", "Dummies", "Perturb"]
    # What they ask of rows is there in memory and on engines, and nothing is asked that only one of them has.
    asked = {"with_chance", "computed", "first", "without", "mapped", "with_copies", "with_found"}
    assert all(asked <= set(dir(rows)) for rows in (LocalChanges, EngineHistory))
    assert LocalChanges.of(History(history_of(MANY_ROWS))).n_rows == len(MANY_ROWS)
