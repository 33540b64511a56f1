"""Measures on engines: the digits of those in memory, on random histories."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cases import has_many

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.data.history_columns import SCHEMA
from tokumei.engines import engine_history
from tokumei.measures.registry import HISTORY_UTILITIES, EngineUtility
from tokumei.measures.utility import item_similarity, itemsets
from tokumei.measures.utility.customers import Buyers
from tokumei.measures.utility.item_similarity import ItemCf
from tokumei.tasks.histories import histories_on_engine
from tokumei.tasks.measure_history import measure_history

MASTER = pl.DataFrame(
    {
        "customer": ["a", "b", "c"],
        "birth": ["1970", "1980", None],
        "country": ["uk", "uk", "jp"],
        "sex": ["f", None, "m"],
    }
)
CELL = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from([datetime.date(2011, 1, 1), datetime.date(2011, 1, 2), datetime.date(2011, 2, 28)]),
    st.sampled_from(["22a", "22b", "31", "茶碗"]),
    st.sampled_from([0.01, 1.95, 2.5, 100.0]),
    st.sampled_from([1, 5, 12, 40]),
)
PAIRS = st.lists(st.tuples(CELL, st.none() | CELL), min_size=1, max_size=25)
PHASES = [Phase.explicit, Phase.generate]
OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
MANY = settings(max_examples=15 if has_many() else 2, phases=PHASES, **OPEN)  # type: ignore[arg-type]
FEW = settings(max_examples=1, phases=[Phase.generate], **OPEN)  # type: ignore[arg-type]


def frame_of(cells: list[Any], prefix: str = "") -> pl.DataFrame:
    rows = [(None,) * 7 if one is None else (prefix + one[0], None, one[1], None, *one[2:]) for one in cells]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def check_alike(pairs: list[Any], engine: str, folder: Path) -> None:
    files = folder / "T.parquet", folder / "A.parquet"
    frame_of([one for one, _ in pairs]).write_parquet(files[0])
    frame_of([other for _, other in pairs], "P").write_parquet(files[1])
    here = measure_history(*files, list(HISTORY_UTILITIES), master=MASTER)
    there = measure_history(*files, list(HISTORY_UTILITIES), engine=engine, master=MASTER)
    assert {name: one.value for name, one in there.scores.items()} == {
        name: one.value for name, one in here.scores.items()
    }
    for name in ("association-rules", "buyers"):
        if name in here.scores:
            assert there.scores[name].as_dict() == here.scores[name].as_dict()
    assert there.left_out == here.left_out


@MANY
@given(PAIRS)
def test_duckdb_measures_random_histories_as_memory_does(tmp_path: Path, pairs: list[Any]) -> None:
    check_alike(pairs, "duckdb", tmp_path)


@pytest.mark.xdist_group("postgres")
@MANY
@given(PAIRS)
def test_postgres_measures_random_histories_as_memory_does(
    postgres_engine: str, tmp_path: Path, pairs: list[Any]
) -> None:
    check_alike(pairs, postgres_engine, tmp_path)


@pytest.mark.xdist_group("spark")
@FEW
@given(PAIRS)
def test_spark_measures_random_histories_as_memory_does(spark_engine: str, tmp_path: Path, pairs: list[Any]) -> None:
    check_alike(pairs, spark_engine, tmp_path)


def test_users_and_items_in_parts_give_the_digits_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    days = [datetime.date(2011, 1, 1 + day) for day in range(3)]
    cells = [
        (
            f"c{random.integers(40)}",
            days[random.integers(3)],
            f"{random.integers(600)}",
            1.0,
            int(random.integers(1, 40)),
        )
        for at in range(6_000)
    ]
    pairs = [(one, None if at % 7 == 0 else one) for at, one in enumerate(cells)]
    monkeypatch.setattr(engine_history, "MOST_CELLS", 1_000)
    # Two blocks of items a panel, of which there are two.
    monkeypatch.setattr(item_similarity, "MOST_PRODUCTS", 2 * 256 * 600)
    check_alike(pairs, "duckdb", tmp_path)


def test_plain_similarities_count_purchases_and_pieces_apart_on_an_engine(tmp_path: Path) -> None:
    day = datetime.date(2011, 1, 1)
    cells = [(who, day, item, 1.0, n) for who, item, n in zip("aaabbc", "xxyxyx", (1, 5, 12, 2, 3, 7), strict=True)]
    frames = frame_of(cells), frame_of([*cells[:4], None, cells[5]], "P")
    files = tmp_path / "T.parquet", tmp_path / "A.parquet"
    for frame, file in zip(frames, files, strict=True):
        frame.write_parquet(file)
    before, after = (History(frame) for frame in frames)
    with histories_on_engine({"T": (files[0], "original"), "A": (files[1], "release")}, AS_IT_IS, "duckdb") as sides:
        found = set()
        for options in ({}, {"count": "pieces"}, {"diagonal": False}, {"count": "pieces", "diagonal": False}):
            part = ItemCf(**options)
            found.add(part.measure(sides["T"], sides["A"]).value)
            assert part.measure(before, after).value in found
    assert len(found) == 4


@dataclass(frozen=True)
class Turnover:
    def measure(self, original: History, released: History) -> Score:
        raise AssertionError((original, released))


def test_a_measure_of_another_package_needs_the_local_engine(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the local engine, which turnover needs; others have association-rules, "):
        measure_history(tmp_path / "T", tmp_path / "A", [Turnover()], engine="duckdb")


def test_engines_have_every_measure_of_histories() -> None:
    assert all(issubclass(HISTORY_UTILITIES.get(name), EngineUtility) for name in HISTORY_UTILITIES)


def test_too_many_sets_raise_the_bar_for_rules_as_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = [datetime.date(2011, 1, 1 + at) for at in range(20)]
    cells = [("a", day, f"{item:02}", 1.0, 1) for at, day in enumerate(days) for item in range(at % 7, 12)]
    pairs = [(one, None if at % 5 == 0 else one) for at, one in enumerate(cells)]
    # The pairs of twelve items are 66, of which fewer stay as more invoices are asked for.
    monkeypatch.setattr(itemsets, "MOST_SETS", 60)
    check_alike(pairs, "duckdb", tmp_path)
    found = measure_history(tmp_path / "T.parquet", tmp_path / "A.parquet", ["association-rules"], engine="duckdb")
    assert found.scores["association-rules"].inputs["least_invoices"] > 1


def test_columns_that_the_release_lacks_leave_out_the_same_measures(tmp_path: Path) -> None:
    cells = [("a", datetime.date(2011, 1, 1), "22a", 1.0, 1), ("b", datetime.date(2011, 1, 1), "22a", 1.0, 1)]
    files = tmp_path / "T.parquet", tmp_path / "A.parquet"
    frame_of(cells).write_parquet(files[0])
    frame_of(cells, "P").drop("item", "price").write_parquet(files[1])
    here, there = (measure_history(*files, None, engine=engine, master=MASTER) for engine in ("local", "duckdb"))
    assert there.left_out == here.left_out
    assert there.left_out["price"] == "the release has no price"
    assert {name: one.value for name, one in there.scores.items()} == {
        name: one.value for name, one in here.scores.items()
    }


def test_pseudonyms_with_a_master_of_their_own_are_its_buyers(tmp_path: Path) -> None:
    cells = [("a", datetime.date(2011, 1, 1), "22a", 1.0, 1), ("b", datetime.date(2011, 1, 1), "22a", 1.0, 1)]
    frame_of(cells).write_parquet(tmp_path / "T.parquet")
    frame_of([cells[0]], "P").write_parquet(tmp_path / "A.parquet")
    released = pl.DataFrame({"customer": ["Pa"], "sex": ["m"], "birth": ["1970"]})
    part = Buyers(master=MASTER, released_master=released)
    sources = {"before": (tmp_path / "T.parquet", "original"), "after": (tmp_path / "A.parquet", "release")}
    with histories_on_engine(sources, AS_IT_IS, "duckdb") as sides:
        # Of two buyers a woman of 1970 and somebody of 1980, none a man.
        assert part.measure(sides["before"], sides["after"]).value == 1


def test_a_release_has_its_own_names_and_dates_whatever_its_original_declares(tmp_path: Path) -> None:
    original = tmp_path / "visits.tsv"
    original.write_text("who\twhen\tcourse\n" + "".join(f"m{n % 3}\t{n + 1:02}.05.2026\tc{n % 2}\n" for n in range(20)))
    released = "".join(f"p{n % 3},2026-05-{n + 1:02},c{n % 2}\n" for n in range(20))
    (tmp_path / "A.csv").write_text("customer,date,item\n" + released)
    reading = Reading(columns={"customer": "who", "date": "when", "item": "course"}, date_format="%d.%m.%Y")
    for release in (tmp_path / "A.csv", original):
        here, there = (
            measure_history(original, release, ["rows", "date", "top-items"], reading=reading, engine=engine)
            for engine in ("local", "duckdb")
        )
        assert here.scores["rows"].value == there.scores["rows"].value == 0
        assert {name: one.value for name, one in here.scores.items()} == {
            name: one.value for name, one in there.scores.items()
        }
