"""What a run would take is said before it runs, from metadata and the first rows, and is about right."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.tasks import long_work, write_table


def write_people(path: Path, n_rows: int) -> None:
    random = np.random.default_rng(1)
    ages, towns = random.integers(18, 90, n_rows), random.integers(0, 50, n_rows)
    people = pl.DataFrame({"age": ages, "town": [f"t{one}" for one in towns], "sex": random.choice(["f", "m"], n_rows)})
    people.write_csv(path) if path.suffix == ".csv" else people.write_parquet(path)


def streamed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of people that is taken for larger than memory."""
    monkeypatch.setattr(write_table, "MOST_CELLS", 5)
    write_people(folder / "people.parquet", 1000)
    return folder / "people.parquet"


def planned(file: Path, capsys: pytest.CaptureFixture[str], *more: object) -> dict[str, Any]:
    words = ["anonymize", "table", file, "--qi", "age,town,sex", "--k", "5", "--out", file.parent / "out.csv", *more]
    code, found = tokumei_here(capsys, *words, "--dry-run")
    assert code == 0, found
    assert not (file.parent / "out.csv").exists()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "duckdb"])
@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_plan_is_within_a_factor_of_what_the_run_takes(
    engine: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    write_people(file, 300_000)
    plan = planned(file, capsys, "--engine", engine)
    started = time.process_time()
    words = ["anonymize", "table", file, "--qi", "age,town,sex", "--k", "5", "--engine", engine]
    code, found = tokumei_here(capsys, *words, "--out", tmp_path / "out.csv")
    # Of this process alone, so that what else the machine does counts for nothing.
    took = time.process_time() - started
    assert code == 0
    assert abs(plan["rows"] - found["rows"]) < 0.03 * found["rows"]
    # All 7,200 combinations of 72 ages, 50 towns and 2 sexes occur.
    assert 6_000 < plan["classes"] < 12_000
    # What starts may have started before, for another test in this process.
    least = plan["cpu_seconds"] - long_work.START_SECONDS["in memory" if engine == "local" else engine]
    assert least / 10 < took < plan["cpu_seconds"] * 10
    assert (plan["passes"], plan["way"]) == ((1, "in memory") if engine == "local" else (1, "on the engine"))


def test_plan_counts_the_cuts_of_classes_that_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = streamed(tmp_path, monkeypatch)
    whole = planned(file, capsys, "--method", "mondrian")
    monkeypatch.setattr("tokumei.tasks.long_work.most_classes", lambda _: whole["classes"] // 3)
    parts = planned(file, capsys, "--method", "mondrian")
    # Two halvings, for each of which parts are counted as a whole and by three columns.
    assert parts["passes"] == whole["passes"] + 2 * (1 + 3)
    assert parts["memory_gb"] <= whole["memory_gb"]


def test_plan_says_when_rows_are_streamed_and_how_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = streamed(tmp_path, monkeypatch)
    assert (planned(file, capsys)["way"], planned(file, capsys)["passes"]) == ("as a stream", 1)
    # An order that comes again needs all rows in memory, and sensitive values a pass of their own.
    assert planned(file, capsys, "--seed", "1")["way"] == "in memory"
    words = ["anonymize", "table", file, "--qi", "age,town", "--l-diversity", "sex=2", "--out", tmp_path / "o.csv"]
    assert tokumei_here(capsys, *words, "--dry-run")[1]["passes"] == 2
    # Unless so few combinations occur that these are counted along.
    words = ["anonymize", "table", file, "--qi", "age", "--l-diversity", "sex=2", "--out", tmp_path / "o.csv"]
    assert tokumei_here(capsys, *words, "--dry-run")[1]["passes"] == 1


def test_plan_of_what_is_drawn_on_an_engine_numbers_and_counts_rows_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_people(tmp_path / "people.parquet", 1000)
    words = ["anonymize", "table", tmp_path / "people.parquet", "--qi", "age,town", "--out", tmp_path / "o.parquet"]
    words += ["--engine", "duckdb", "--set", "columns=age", "--dry-run"]
    # Counted, numbered, ages counted and written; noise also counts who is alike, and is drawn.
    # Microaggregation groups what was counted, gives rows their means as they go by, and puts them in order.
    for method, n_passes in (("block-swap", 4), ("noise", 6), ("microaggregate", 3)):
        code, plan = tokumei_here(capsys, *words, "--method", method)
        assert (code, plan["passes"]) == (0, n_passes), plan


def test_plan_tells_what_it_cannot_know_and_refuses_what_would_be_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv.gz"
    file.write_bytes(gzip.compress(b"age,town,sex\n30,t1,f\n30,t1,f\n"))
    plan = planned(file, capsys)
    assert (plan["rows"], plan["memory_gb"], plan["cpu_seconds"]) == (None, None, None)
    write_people(tmp_path / "people.parquet", 10)
    words = ["anonymize", "table", tmp_path / "people.parquet", "--k", "2", "--dry-run", "--out", tmp_path / "o.csv"]
    assert tokumei_here(capsys, *words, "--qi", "agge")[0] == 2
    refused = tokumei_here(capsys, *words, "--qi", "age", "--method", "top-bottom-code", "--engine", "duckdb")[1]
    assert "top-bottom-code" in refused["message"]
    (tmp_path / "o.csv").touch()
    assert "--force" in tokumei_here(capsys, *words, "--qi", "age")[1]["message"]


@pytest.mark.parametrize(("most_sent", "passes"), [(100_000, 1), (10, 2)])
def test_a_cluster_reads_once_more_what_is_too_much_to_be_sent(
    most_sent: int, passes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    monkeypatch.setattr(long_work, "MOST_SENT", most_sent)
    write_people(tmp_path / "people.parquet", 1000)
    # Metadata is read here: no session is started.
    plan = planned(tmp_path / "people.parquet", capsys, "--engine", "spark")
    assert (plan["passes"], plan["cpu_seconds"]) == (passes, None)
