"""Attacks and the judge on engines: the guesses and digits of those in memory, on random histories."""

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
from tokumei.data.files.released_histories import write_pseudonyms
from tokumei.data.history_columns import SCHEMA
from tokumei.tasks.attack_history import attack_history, judge_files

ATTACKS = ["s1", "s2", "s3", "s4", "s5", "s6", "same-day", "same-item", "same-month-and-item", "exact-match"]
CELL = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from([datetime.date(2011, 1, 1), datetime.date(2011, 1, 2), datetime.date(2011, 2, 28)]),
    st.sampled_from(["22a", "22b", "31", "茶碗"]),
    st.sampled_from([1.95, 2.5]),
    st.sampled_from([1, 5]),
)
ROWS = st.lists(st.tuples(CELL, st.sampled_from(["P1", "P2", "P3"]), st.booleans()), min_size=1, max_size=20)
GUESS = st.tuples(st.sampled_from("abc"), st.sampled_from([24132, 24133]), st.sampled_from(["P1", "P2", "P3"]))
PHASES = [Phase.explicit, Phase.generate]
OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
MANY = settings(max_examples=15 if has_many() else 2, phases=PHASES, **OPEN)  # type: ignore[arg-type]
FEW = settings(max_examples=1, phases=[Phase.generate], **OPEN)  # type: ignore[arg-type]


def frame_of(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame([(one[0], None, one[1], None, *one[2:]) for one in rows], schema=SCHEMA, orient="row")


def check_attacks(rows: list[Any], engine: str, folder: Path, attacks: list[str]) -> None:
    """Let an attacker know some rows, items by two characters, and hold the guesses against those in memory."""
    known, seen = folder / "T25.parquet", folder / "S.parquet"
    cells = [(*one[:2], one[2][:2], *one[3:]) for one, _, is_known in rows if is_known] or [rows[0][0]]
    frame_of(cells).write_parquet(known)
    frame_of([(name, *one[1:]) for one, name, _ in rows]).write_parquet(seen)
    for attack in attacks:
        here = attack_history(known, seen, attack)
        there = attack_history(known, seen, attack, engine=engine)
        assert there.guesses.rows() == here.guesses.rows()
        assert list(there.customers) == list(here.customers)


def check_judge(rows: list[Any], truth: list[Any], guesses: list[Any], engine: str, folder: Path) -> None:
    """Hold the verdict against the one in memory, to the digit; blind guessing's chance is multiplied in any order."""
    schema = {"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String}
    frame_of([(name, *one[1:]) for one, name, _ in rows]).write_parquet(folder / "S.parquet")
    for name, cells in (("F", truth), ("Fh", guesses)):
        once = {(customer, period): pseudonym for customer, period, pseudonym in cells}
        frame = pl.DataFrame([(*key, value) for key, value in once.items()], schema=schema, orient="row")
        write_pseudonyms(frame, ["a", "b", "c", "d"], folder / f"{name}.csv")
    asked = folder / "Fh.csv", folder / "F.csv", folder / "S.parquet"
    here = judge_files(*asked).to_dict()
    there = judge_files(*asked, engine=engine).to_dict()
    baselines = [one["row"].pop("baseline") for one in (here, there)]
    assert baselines[1] == pytest.approx(baselines[0], rel=1e-12)
    assert there == here


@MANY
@given(ROWS, st.lists(GUESS, min_size=1), st.lists(GUESS, min_size=1))
def test_duckdb_attacks_and_judges_as_memory_does(
    tmp_path: Path, rows: list[Any], truth: list[Any], guesses: list[Any]
) -> None:
    check_attacks(rows, "duckdb", tmp_path, ATTACKS)
    check_judge(rows, truth, guesses, "duckdb", tmp_path)


@pytest.mark.xdist_group("postgres")
@MANY
@given(ROWS, st.lists(GUESS, min_size=1), st.lists(GUESS, min_size=1))
def test_postgres_attacks_and_judges_as_memory_does(
    postgres_engine: str, tmp_path: Path, rows: list[Any], truth: list[Any], guesses: list[Any]
) -> None:
    check_attacks(rows, postgres_engine, tmp_path, ["s1", "s5", "same-month-and-item"])
    check_judge(rows, truth, guesses, postgres_engine, tmp_path)


@pytest.mark.xdist_group("spark")
@FEW
@given(ROWS, st.lists(GUESS, min_size=1), st.lists(GUESS, min_size=1))
def test_spark_attacks_and_judges_as_memory_does(
    spark_engine: str, tmp_path: Path, rows: list[Any], truth: list[Any], guesses: list[Any]
) -> None:
    check_attacks(rows, spark_engine, tmp_path, ["s6"])
    check_judge(rows, truth, guesses, spark_engine, tmp_path)


def test_an_attack_that_engines_lack_is_refused_by_name(tmp_path: Path) -> None:
    frame_of([("a", datetime.date(2011, 1, 1), "22", 1.0, 1)]).write_parquet(tmp_path / "T.parquet")
    with pytest.raises(InputError, match="the local engine, which tfidf needs"):
        attack_history(tmp_path / "T.parquet", tmp_path / "T.parquet", "tfidf", engine="duckdb")


def test_engines_attack_files_alone() -> None:
    rows = frame_of([("a", datetime.date(2011, 1, 1), "22", 1.0, 1)])
    with pytest.raises(InputError, match="a file, which another engine than the local one reads"):
        attack_history(rows, rows, "s1", engine="duckdb")


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_an_attack_that_guesses_nobody_is_judged_as_finding_nobody(tmp_path: Path, engine: str) -> None:
    frame_of([("a", datetime.date(2011, 1, 1), "22", 1.0, 1)]).write_parquet(tmp_path / "T25.parquet")
    frame_of([("P1", datetime.date(2011, 2, 1), "99", 7.0, 5)]).write_parquet(tmp_path / "S.parquet")
    truth = pl.DataFrame({"customer": ["a"], "period": [24133], "pseudonym": ["P1"]})
    write_pseudonyms(truth, ["a"], tmp_path / "F.csv")
    guesses = attack_history(tmp_path / "T25.parquet", tmp_path / "S.parquet", "s1", engine=engine)
    guesses.write(tmp_path / "Fh.csv")
    assert guesses.to_dict()["guesses"] == 0
    judged = judge_files(tmp_path / "Fh.csv", tmp_path / "F.csv", engine=engine).to_dict()
    assert judged["found"]["value"] == 0.0
