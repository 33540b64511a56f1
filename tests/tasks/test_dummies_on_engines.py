"""Dummies on engines: the rows that the method adds in memory, in the same places, from the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.tasks.test_history_on_engines import DAYS, history_of

import tokumei as tk
from tokumei.core.errors import InputError, PromiseBroken
from tokumei.data.files.reading import AS_IT_IS
from tokumei.engines import engine_history
from tokumei.engines.draws import drawn_numbers
from tokumei.methods.pipeline import pipeline_of
from tokumei.tasks import anonymize_history
from tokumei.tasks.anonymize_history import write_history_on_engine


def written(
    frame: pl.DataFrame, steps: list[dict[str, Any]], engine: str, folder: Path, *, seed: int = 3
) -> tuple[pl.DataFrame, Any]:
    source, out = folder / "T.parquet", folder / "A.parquet"
    frame.write_parquet(source)
    how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "seed": seed, "out": out}
    drafts = {"out": out, "truth": folder / "F.csv", "published": folder / "P.parquet"}
    done = write_history_on_engine(source, pipeline_of({"step": steps}), drafts, **how)
    return pl.read_parquet(out), done


def check_alike(frame: pl.DataFrame, steps: list[dict[str, Any]], engine: str, folder: Path, *, seed: int = 3) -> None:
    """Hold the release against the one in memory: all cells, the order, whose rows are whose, what is told."""
    try:
        here = tk.anonymize(tk.History(frame), pipeline={"step": steps}, seed=seed)
    except (InputError, PromiseBroken) as refused:
        with pytest.raises(type(refused)) as found:
            written(frame, steps, engine, folder, seed=seed)
        assert str(found.value).splitlines()[0] == str(refused).splitlines()[0]
        return
    there, done = written(frame, steps, engine, folder, seed=seed)
    assert there.equals(here.release.frame.select(there.columns))
    told = ("rows", "released", "made_up", "customers", "pseudonyms")
    assert {name: done.facts[name] for name in told} == {name: here.facts[name] for name in told}
    published = pl.read_parquet(folder / "P.parquet")
    assert published.sort(published.columns).equals(there.drop_nulls("customer").sort(published.columns))


MANY_ROWS = [
    (who, DAYS[at % 4], item, 1.0 + at, 1 + at)
    for at, (who, item) in enumerate(zip("abcabcdd" * 2, ["22a", "22b", "31", "茶碗", "22a"] * 4, strict=False))
]


def test_dummies_in_pieces_are_those_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_history, "PIECE_ROWS", 5)
    check_alike(history_of(MANY_ROWS), [{"method": "dummies", "clusters": 2}], "duckdb", tmp_path)


def test_published_rows_stand_as_they_would_of_one_piece_and_one_number_is_drawn_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []

    def counting(key: str, first: int, n: int) -> Any:
        assert first == sum(drawn)
        drawn.append(n)
        return drawn_numbers(key, first, n)

    monkeypatch.setattr(anonymize_history, "drawn_numbers", counting)
    shown = []
    for piece_rows in (1_000, 5):
        drawn.clear()
        monkeypatch.setattr(engine_history, "PIECE_ROWS", piece_rows)
        there, _ = written(history_of(MANY_ROWS), [{"method": "dummies", "clusters": 1}], "duckdb", tmp_path)
        shown.append(pl.read_parquet(tmp_path / "P.parquet"))
        # Numbers of rows leave room for the most dummies that stand in one place.
        assert (sum(drawn), len(drawn) > 1) == (there.height, piece_rows == 5)
    assert shown[0].equals(shown[1])


def test_a_dummy_stands_beside_a_row_of_its_customer_at_a_price_of_its_item(tmp_path: Path) -> None:
    # Of two customers in one cluster a lacks the item 31, which b bought twice.
    rows = [("a", DAYS[0], "22a", 1.0, 1), ("b", DAYS[1], "31", 2.0, 2), ("b", DAYS[2], "31", 3.0, 3)]
    rows += [("b", DAYS[3], "22a", 4.0, 4)]
    there, done = written(history_of(rows), [{"method": "dummies"}], "duckdb", tmp_path)
    assert done.facts["made_up"] == 1
    name = there.filter(pl.col("date") == DAYS[0])["customer"][0]
    [made] = there.filter((pl.col("customer") == name) & (pl.col("item") == "31")).rows(named=True)
    assert (made["date"], (made["price"], made["quantity"]) in [(2.0, 2), (3.0, 3)]) == (DAYS[0], True)


def test_names_that_set_customers_apart_again_are_a_broken_promise(tmp_path: Path) -> None:
    rows = [("a", DAYS[0], "22a", 1.0, 1), ("b", DAYS[1], "31", 2.0, 2), ("b", DAYS[3], "31", 3.0, 3)]
    steps: list[dict[str, Any]] = [{"method": "dummies"}, {"method": "pseudonyms", "lifetime": 1}]
    with pytest.raises(PromiseBroken, match="An item set is shared by 1 pseudonyms, fewer than 2"):
        written(history_of(rows), steps, "duckdb", tmp_path)


def test_a_dummy_is_changed_by_chance_of_its_own_and_moved_with_its_basket(tmp_path: Path) -> None:
    # Each customer lacks the items of all others; all prices are 100.25, so that a price tells what it was changed by.
    day = DAYS[1]
    rows = [(f"c{at}", day, f"item {at}", 100.25, 1) for at in range(12)]
    rows += [(f"c{at}", DAYS[3], "22a", 100.25, 1) for at in range(12)]
    perturb = {"method": "perturb", "days": 9, "quantities": 0, "prices": 0.3}
    there, done = written(history_of(rows), [{"method": "dummies", "clusters": 1}, perturb], "duckdb", tmp_path)
    assert done.facts["made_up"] == 12 * 11
    # Of 6,000 prices; a dummy that were changed as the row beside it would have the same.
    assert there["price"].n_unique() > 140
    days = there.group_by("customer", pl.col("date").dt.month().alias("month")).agg(pl.col("date").n_unique())
    assert days["date"].to_list() == [1] * 24


def test_published_rows_of_a_run_that_was_broken_off_are_those_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_history, "PIECE_ROWS", 5)
    steps = [{"method": "dummies", "clusters": 1}]
    (tmp_path / "whole").mkdir()
    written(history_of(MANY_ROWS), steps, "duckdb", tmp_path / "whole")
    dealt: list[int] = []
    deal = anonymize_history._deal

    def breaking(rows: pl.DataFrame, places: Any, folder: Path, number: int) -> None:
        dealt.append(number)
        if dealt == [0, 1, 2]:
            raise KeyboardInterrupt
        deal(rows, places, folder, number)

    monkeypatch.setattr(anonymize_history, "_deal", breaking)
    with pytest.raises(KeyboardInterrupt):
        written(history_of(MANY_ROWS), steps, "duckdb", tmp_path)
    # The file is not written again: its time tells whether the same command goes on.
    out = tmp_path / "A.parquet"
    drafts = {"out": out, "truth": tmp_path / "F.csv", "published": tmp_path / "P.parquet"}
    how: dict[str, Any] = {"engine": "duckdb", "reading": AS_IT_IS, "seed": 3, "out": out}
    write_history_on_engine(tmp_path / "T.parquet", pipeline_of({"step": steps}), drafts, **how)
    assert dealt[:4] == [0, 1, 2, 2]
    for name in ("A.parquet", "P.parquet"):
        assert pl.read_parquet(tmp_path / name).equals(pl.read_parquet(tmp_path / "whole" / name))
