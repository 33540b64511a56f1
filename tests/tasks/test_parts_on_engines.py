"""More classes than fit into memory: rows are cut where they are, and what comes out is what memory would give."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cases import has_many
from tests.tasks.writing_asked import write_asked

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import AS_IT_IS
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.connect import connect
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.local.encoding import encode_classes
from tokumei.methods.local.splitting import Splitting, first_cut, split_groups
from tokumei.methods.local.task import column_weights
from tokumei.methods.rows import whole_trees

KNOWN = ["age", "town", "born", "income"]
N_TABLES = 12 if has_many() else 4


def people(seed: int, n_classes: int = 60) -> pl.DataFrame:
    """Return rows with missing values, each several times: so often that no two cuts are equally good."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 90, n_classes),
            "town": rng.choice(["a", "東京", "with,comma", "c'd", "NULL", ""], n_classes),
            "born": np.datetime64("1970-01-01") + rng.integers(0, 3000, n_classes),
            "income": np.round(rng.normal(300, 90, n_classes), 1),
            "illness": rng.choice(["flu", "cold", "gout"], n_classes),
        }
    )
    is_missing = {name: pl.Series(rng.random(n_classes) < 0.1) for name in ("age", "town", "income")}
    frame = frame.with_columns(pl.when(~gone).then(pl.col(name)).alias(name) for name, gone in is_missing.items())
    return frame[np.repeat(np.arange(n_classes), rng.integers(1, 97, n_classes))]


def at_most(monkeypatch: pytest.MonkeyPatch, n_classes: int) -> None:
    for module in ("goal", "write_table"):
        monkeypatch.setattr(f"tokumei.tasks.{module}.most_classes", lambda _: n_classes)


def write(source: Path, out: Path, engine: str, **asked: Any) -> Any:
    where: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "method": "mondrian"}
    return write_asked(str(source), KNOWN, out, **(where | asked))


def check_as_in_memory(
    seed: int, engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, most: int = 20, **asked: Any
) -> None:
    frame = people(seed)
    source, out = folder / f"{seed}.parquet", folder / f"out-{seed}.parquet"
    frame.write_parquet(source)
    here = tk.anonymize(tk.Table(frame, KNOWN), method="mondrian", **asked)
    with monkeypatch.context() as patch:
        at_most(patch, most)
        there = write(source, out, engine, **asked)
    assert sorted(read_frame(out).rows(), key=repr) == sorted(here.table.rows(), key=repr)
    # Sums of parts are added up in another order.
    assert there.facts["loss"] == pytest.approx(here.facts["loss"])
    assert there.facts["loss_by_attribute"] == pytest.approx(here.facts["loss_by_attribute"])
    apart = {"seconds", "loss", "loss_by_attribute"}
    assert {name: one for name, one in there.facts.items() if name not in apart} == {
        name: one for name, one in here.facts.items() if name not in apart
    }
    assert {**there.recipe.options, "order": 0} == {**here.recipe.options, "order": 0}
    assert {name: one.value for name, one in there.promises.items()} == {
        name: one.value for name, one in here.promises.items()
    }


@pytest.mark.parametrize("seed", range(N_TABLES))
@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_mondrian_in_parts_is_mondrian_in_memory(
    engine: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_as_in_memory(seed, engine, tmp_path, monkeypatch, k=40)


@pytest.mark.parametrize("method", ["mondrian", "partition"])
@pytest.mark.parametrize("seed", range(N_TABLES))
def test_grid_and_release_of_an_engine_are_those_of_memory(method: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(100 + seed)
    # Of dense, wide and decimal numbers, with heaps, and of dates.
    frame = people(seed, 40)
    frame = frame.with_columns(
        points=pl.Series(rng.integers(0, 1000, frame.height)),
        age=pl.Series(np.where(rng.random(frame.height) < 0.3, 30, rng.integers(18, 90, frame.height))),
    )
    known = ["age", "income", "points", "born"]
    frame.write_parquet(tmp_path / "people.parquet")
    here = tk.anonymize(tk.Table(frame, known), method=method, k=5)
    asked: dict[str, Any] = {"engine": "duckdb", "reading": AS_IT_IS, "method": method, "k": 5}
    write_asked(str(tmp_path / "people.parquet"), known, tmp_path / "out.parquet", **asked)
    there = read_frame(tmp_path / "out.parquet").select(here.table.columns)
    for name in known:
        assert there[name].value_counts().sort(name).rows() == here.table[name].value_counts().sort(name).rows()
    assert sorted(there.rows(), key=repr) == sorted(here.table.rows(), key=repr)


@pytest.mark.parametrize(
    "asked",
    [{"l_diversity": {"illness": 2}}, {"t_closeness": {"illness": 0.5}}, {"weights": {"town": 3.0, "age": 0.5}}],
)
def test_parts_hold_what_is_asked_of_sensitive_values(
    asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_as_in_memory(1, "duckdb", tmp_path, monkeypatch, k=20, **asked)


def test_parts_on_postgres(postgres_engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_as_in_memory(2, postgres_engine, tmp_path, monkeypatch, k=40)


def test_parts_on_spark(spark_engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two parts or three: each is many jobs there.
    check_as_in_memory(3, spark_engine, tmp_path, monkeypatch, most=45, k=40)


@pytest.mark.parametrize("method", ["mondrian", "partition", "min-dis", "utility-clustering"])
def test_rows_are_lost_to_suppression_alone_and_kept_columns_stay_with_them(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    frame = people(7).with_row_index("id").with_columns(pl.format("{}-{}", "id", "illness").alias("note"))
    source, out = tmp_path / "people.parquet", tmp_path / "out.csv"
    frame.write_parquet(source)
    at_most(monkeypatch, 25)
    asked = {"method": method, "k": 30, "suppress": 0.1, "keep": ["note"], "keep_anyway": True}
    with caplog.at_level(logging.INFO, "tokumei.notes"):
        made = write(source, out, "local", **asked)
    released = read_frame(out)
    assert released.height + made.n_suppressed == frame.height
    assert made.n_suppressed <= 0.1 * frame.height
    assert released["note"].is_in(frame["note"].implode()).all()
    assert released["note"].is_unique().all()
    assert (released.group_by(KNOWN).len()["len"] >= 30).all()
    assert "rows were cut into" in caplog.text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.parquet"]


def test_what_cannot_be_cut_or_speaks_of_all_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "people.parquet", tmp_path / "out.parquet"
    people(5).write_parquet(source)
    at_most(monkeypatch, 20)
    with pytest.raises(InputError, match="at most 20 combinations of values"):
        # No part of so many rows can be cut.
        write(source, out, "local", k=people(5).height)
    with pytest.raises(InputError, match="at most 20 combinations of values"):
        write(source, out, "local", k=20, keep_order=True)
    with pytest.raises(InputError, match="at most 20 combinations of values"):
        write(source, out, "local", k=20, method="mu-argus")
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_rows_within_values_are_those_that_have_them(engine: str, tmp_path: Path) -> None:
    frame = people(1)
    frame.write_parquet(tmp_path / "people.parquet")
    with connect(engine) as opened:
        relation = opened.open(str(tmp_path / "people.parquet"))
        some = relation.within("town", pl.Series(["a", None])).within("age", frame["age"].unique().sort()[:20])
        found = some.group_sizes(["illness"], {})
    is_one = pl.col("town").is_in(pl.Series(["a", None]).implode(), nulls_equal=True)
    expected = frame.filter(is_one, pl.col("age").is_in(frame["age"].unique().sort()[:20].implode(), nulls_equal=True))
    assert dict(found.rows()) == dict(expected.group_by("illness").len().rows())


@pytest.mark.parametrize("seed", range(N_TABLES))
def test_first_cut_by_each_column_alone_is_the_one_by_all_classes(seed: int) -> None:
    frame = people(seed)
    requirements = [KAnonymity(40)]
    counts = tk.count_classes(frame, KNOWN)
    trees = whole_trees(KNOWN, {}, counts.domain, requirements)
    numeric = ["age", "income"]
    whole = encode_classes(counts, trees, requirements, numeric=numeric)
    group_of, _ = split_groups(Splitting(whole.task), n_rounds=1)
    alone = [ClassCounts.over(counts, [name]) for name in KNOWN]
    tasks = [
        encode_classes(one, {name: trees[name]}, requirements, numeric=numeric)
        for name, one in zip(KNOWN, alone, strict=True)
    ]
    cut = first_cut([Splitting(one.task) for one in tasks], column_weights(KNOWN, None))
    if group_of.max() == 0:
        return
    assert cut is not None
    column, part_of = cut
    # The part of each class by its value of the column.
    own = part_of[tasks[column].class_of]
    parts = dict(zip(alone[column].values().to_series(0), own, strict=True))
    by_value = [parts[value] for value in counts.values()[KNOWN[column]]]
    groups = group_of[whole.class_of]
    assert len(set(zip(by_value, groups, strict=True))) == len(set(by_value)) == len(set(groups))
