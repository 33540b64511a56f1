"""Customers written alike on engines: the bytes that the method writes in memory, from the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.journey.commands import tokumei_here
from tests.tasks.test_history_on_engines import DAYS, FEW, MANY, history_of

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.data.files.histories import CONTEST_2018, TABLE
from tokumei.data.files.reading import AS_IT_IS
from tokumei.methods.history import generalize, grouping, on_engine
from tokumei.methods.pipeline import pipeline_of
from tokumei.tasks.anonymize_history import write_history_on_engine

ROW = st.tuples(
    st.sampled_from(["1", "12", "30", "ann", "400"]),
    st.sampled_from(DAYS),
    st.sampled_from(["22A", "22B", "tea; {green}", "お茶, *"]),
    st.sampled_from([0.01, 1.95, 2.5, 100.0]),
    st.sampled_from([1, 5, 12, 999]),
)
ROWS = st.lists(st.none() | ROW, min_size=1, max_size=40)
GENERALIZE = st.fixed_dictionaries(
    {"method": st.just("generalize"), "k": st.integers(2, 3), "unhidden": st.integers(0, 1)}
)
# Steps that come to the same rows in both ways: what they do is no matter of chance, or drawn alike.
DELETE = {"method": "delete", "price_deviations": 1.5, "most": 0.3}
DUMMIES = {"method": "dummies", "clusters": 1, "smallest": 1}
STEPS = st.builds(lambda before, last: [*before, last], st.sampled_from([[], [DELETE], [DUMMIES]]), GENERALIZE)
REFUSED = (InputError, CannotAnonymize, PromiseBroken)


def written(source: Path, steps: list[dict[str, Any]], engine: str, folder: Path, form: str = TABLE) -> Any:
    drafts = drafts_of(folder)
    how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "seed": 3, "out": drafts["out"], "form": form}
    return write_history_on_engine(source, pipeline_of({"step": steps}), drafts, **how)


def drafts_of(folder: Path) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    return {name: folder / f"{name}.csv" for name in ("out", "published", "truth")}


def check_alike(frame: pl.DataFrame, steps: list[dict[str, Any]], engine: str, folder: Path) -> None:
    """Hold all three files and what is told against those of memory."""
    source = folder / "T.parquet"
    frame.write_parquet(source)
    here = drafts_of(folder / "here")
    try:
        done = tk.anonymize(tk.History(source), pipeline={"step": steps}, seed=3)
        done.write(*here.values())
    except REFUSED as refused:
        with pytest.raises(type(refused)):
            written(source, steps, engine, folder / "there")
        return
    told = written(source, steps, engine, folder / "there")
    for name, file in drafts_of(folder / "there").items():
        assert file.read_bytes() == here[name].read_bytes(), name
    left = {"engine", "seconds", "method"}
    assert {one: told.facts[one] for one in told.facts if one not in left} == {
        one: done.facts[one] for one in done.facts if one not in left
    }
    assert told.recipe.options["steps"][-1] == done.recipe.options["steps"][-1]


@MANY
@given(ROWS, STEPS)
def test_duckdb_writes_the_bytes_of_memory(tmp_path: Path, rows: list[Any], steps: list[dict[str, Any]]) -> None:
    check_alike(history_of(rows), steps, "duckdb", tmp_path)


@pytest.mark.xdist_group("postgres")
@MANY
@given(ROWS, STEPS)
def test_postgres_writes_the_bytes_of_memory(
    postgres_engine: str, tmp_path: Path, rows: list[Any], steps: list[dict[str, Any]]
) -> None:
    check_alike(history_of(rows), steps, postgres_engine, tmp_path)


@pytest.mark.xdist_group("spark")
@FEW
@given(ROWS, GENERALIZE)
def test_spark_writes_the_bytes_of_memory(
    spark_engine: str, tmp_path: Path, rows: list[Any], step: dict[str, Any]
) -> None:
    check_alike(history_of(rows), [step], spark_engine, tmp_path)


def shop(n_customers: int) -> pl.DataFrame:
    random = np.random.default_rng(1)
    rows: list[Any] = []
    for customer in range(n_customers):
        for _ in range(int(random.integers(1, 30))):
            item, price = f"{random.integers(20)}", float(random.integers(1, 900)) / 100
            rows.append((str(customer), DAYS[random.integers(4)], item, price, int(random.integers(1, 50))))
            rows += [None] * int(random.integers(2))
    random.shuffle(rows)
    return history_of(rows)


def test_pieces_batches_and_blocks_give_the_bytes_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_engine, "PIECE_ROWS", 100)
    monkeypatch.setattr(on_engine, "BATCH_ROWS", 60)
    # Customers in blocks, and their rows in blocks.
    monkeypatch.setattr(grouping, "MOST_COMPARED", 12)
    monkeypatch.setattr(generalize, "MOST_SECONDS", 1e-9)
    monkeypatch.setattr(generalize, "LEAST_BLOCK", 4)
    check_alike(shop(40), [{"method": "generalize", "k": 3, "unhidden": 1}], "duckdb", tmp_path)
    assert len(list((tmp_path / "there").iterdir())) == 3


def test_a_run_that_was_broken_off_does_not_align_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, steps = tmp_path / "T.parquet", [{"method": "generalize", "k": 3, "unhidden": 1}]
    shop(20).write_parquet(source)
    monkeypatch.setattr(on_engine, "BATCH_ROWS", 60)

    def breaks_off(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(on_engine, "_deal", breaks_off)
        written(source, steps, "duckdb", tmp_path / "there")
    with monkeypatch.context() as patched:
        patched.setattr(generalize.Generalize, "decide", lambda *_, **__: pytest.fail("rows are aligned again"))
        written(source, steps, "duckdb", tmp_path / "there")
    once_more = {name: file.read_bytes() for name, file in drafts_of(tmp_path / "there").items()}
    check_alike(shop(20), steps, "duckdb", tmp_path)
    assert once_more == {name: file.read_bytes() for name, file in drafts_of(tmp_path / "there").items()}


def test_command_writes_the_same_file_on_an_engine_as_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop(9).write_parquet(tmp_path / "T.parquet")
    words = ["anonymize", "history", tmp_path / "T.parquet", "--method", "generalize", "--seed", 3]
    for engine in ("local", "duckdb"):
        code, found = tokumei_here(capsys, *words, "--engine", engine, "--out", tmp_path / f"{engine}.csv")
        assert code == 0, found
    assert (tmp_path / "local.csv").read_bytes() == (tmp_path / "duckdb.csv").read_bytes()


def test_form_of_the_contest_is_kept_and_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop(9).write_parquet(tmp_path / "T.parquet")
    words = ["--method", "generalize", "--seed", 3, "--force", "--published", tmp_path / "S.csv"]
    words += ["--truth", tmp_path / "F.csv"]
    asked = [tmp_path / "T.parquet", *words, "--out-format", "pwscup2018", "--out", tmp_path / "A.csv"]
    made = []
    for engine in ("local", "duckdb"):
        code, found = tokumei_here(capsys, "anonymize", "history", *asked, "--engine", engine)
        assert code == 0, found
        made.append([(tmp_path / name).read_bytes() for name in ("A.csv", "S.csv", "F.csv")])
    assert made[0] == made[1]
    assert made[0][0].startswith(b"*,*,*,*,*\r\n") or b"/" in made[0][0].splitlines()[0]
    # A release of the contest is a history of its form, whose own release has it, too.
    (tmp_path / "T.csv").write_bytes(b"1,2011/2/3,A1,1.5,2\r\n2,2011/2/4,A2,1.5,2\r\n")
    asked = [tmp_path / "T.csv", *words, "--set", "k=2", "--set", "ranges=tight", "--out", tmp_path / "B.csv"]
    code, found = tokumei_here(capsys, "anonymize", "history", *asked)
    assert code == 0, found
    assert b",[2011/2/3;2011/2/4],{A1;A2},1.5,2\r\n" in (tmp_path / "B.csv").read_bytes()


@pytest.mark.parametrize(
    ("method", "form", "forms"),
    [("generalize", "pwscup2017", "table or pwscup2018"), ("pseudonyms", "pwscup2018", "table or pwscup2016 or")],
)
def test_form_without_a_place_for_the_release_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str, form: str, forms: str
) -> None:
    shop(9).write_parquet(tmp_path / "T.parquet")
    words = ["anonymize", "history", tmp_path / "T.parquet", "--method", method, "--out-format", form]
    code, found = tokumei_here(capsys, *words, "--out", tmp_path / "A.csv")
    assert code == 2
    assert forms in found["message"]
    assert not (tmp_path / "A.csv").exists()


def test_harden_refuses_a_form_without_a_place_for_its_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop(9).write_parquet(tmp_path / "T.parquet")
    pair = ["--original", tmp_path / "T.parquet", "--release", tmp_path / "T.parquet", "--bound", "0.5"]
    code, found = tokumei_here(capsys, "harden", *pair, "--out-format", "pwscup2018", "--out", tmp_path / "A.csv")
    assert code == 2
    assert "without ranges and sets" in found["message"]


@pytest.mark.parametrize("item", ["a b", "{A", "long-item-name"])
def test_an_item_that_has_no_place_in_the_form_of_the_contest_is_refused(tmp_path: Path, item: str) -> None:
    source = tmp_path / "T.parquet"
    history_of([("1", DAYS[0], item, 1.0, 1), ("2", DAYS[0], item, 1.0, 1)]).write_parquet(source)
    with pytest.raises(InputError, match="1 to 9 upper-case") as found:
        written(source, [{"method": "generalize", "k": 2}], "duckdb", tmp_path / "there", CONTEST_2018)
    assert (found.value.faults[0].column, found.value.faults[0].value) == ("item", item)


def test_a_promise_that_does_not_hold_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "T.parquet"
    shop(6).write_parquet(source)
    monkeypatch.setattr(on_engine, "whole_texts", lambda frame: pl.Series(frame["customer"].unique()))
    with pytest.raises(PromiseBroken, match="fits 1 customer, not 3"):
        written(source, [{"method": "generalize"}], "duckdb", tmp_path / "there")
    assert not (tmp_path / "there" / "out.csv").exists()
