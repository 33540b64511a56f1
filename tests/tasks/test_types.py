"""Columns of every type, at every door, for every job on tables, in memory and on DuckDB."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.journey.commands import tokumei_json

import tokumei as tk
from tokumei.data.frames import written
from tokumei.engines.class_counts import read_as

N_ROWS = 24
MOMENTS = pl.Series([dt.datetime(2020, 1 + n % 3, 1 + n % 4, 8, 30, n % 2) for n in range(N_ROWS)])
KINDS: dict[str, pl.Series] = {
    "categories": pl.Series(["a", "b", "c"] * 8).cast(pl.Categorical),
    "dates": MOMENTS.dt.date(),
    "decimals": pl.Series([f"{n % 5}.25" for n in range(N_ROWS)]).cast(pl.Decimal(10, 2)),
    "floats": pl.Series([1.5 * (n % 5) for n in range(N_ROWS)]),
    "midnights in a zone": MOMENTS.dt.truncate("1d").dt.replace_time_zone("Asia/Tokyo"),
    "moments": MOMENTS,
    "moments in a zone, one hour twice": pl.Series(
        [dt.datetime(2020, 10, 24 + n % 2, 22 + n % 2, 30, tzinfo=dt.UTC) for n in range(N_ROWS)]
    ).dt.convert_time_zone("Europe/Berlin"),
    "moments of nanoseconds": MOMENTS.cast(pl.Datetime("ns")).dt.offset_by("1ns"),
    "moments of nanoseconds in a zone": MOMENTS.cast(pl.Datetime("ns")).dt.replace_time_zone("UTC"),
    "no values": pl.Series([None] * N_ROWS, dtype=pl.Datetime("us")),
    "some missing": MOMENTS.set(pl.Series([n < 4 for n in range(N_ROWS)]), None),
    "text with offsets": MOMENTS.dt.to_string("%Y-%m-%dT%H:%M:%S%.3f+0900"),
    "text with Z": MOMENTS.dt.to_string("%Y-%m-%d %H:%MZ"),
    "times": MOMENTS.dt.time(),
    "truths": pl.Series([True, False, None] * 8),
}
FILES = ("csv", "parquet")


def table(kind: str) -> pl.DataFrame:
    return pl.DataFrame({"v": KINDS[kind], "sex": ["f", "m"] * 12, "ill": ["flu", "cold", "cut"] * 8})


def at(door: str, kind: str, folder: Path) -> Any:
    """Return the table as a frame, or the name of its file."""
    frame = table(kind)
    if door in FILES:
        tk.write_frame(frame, folder / f"t.{door}")
        return folder / f"t.{door}"
    return frame.to_pandas() if door == "pandas" else frame


def texts(frame: Any) -> list[str]:
    return sorted(map(str, pl.DataFrame(frame).rows()))


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("door", ["csv", "pandas", "parquet", "polars"])
def test_every_job_takes_every_type_at_every_door(kind: str, door: str, tmp_path: Path) -> None:
    source = at(door, kind, tmp_path)
    roles: dict[str, Any] = {"qi": ["v", "sex"], "sensitive": ["ill"]}
    for method in ("optimal", "mondrian"):
        made = tk.anonymize(tk.Table(source, **roles), k=3, suppress=0.2, method=method, seed=1)
        made.save(tmp_path / "out.csv", recipe=tmp_path / "recipe.json", force=True)
        # A recipe applies to the table that it came from, always.
        assert texts(tk.apply(tmp_path / "recipe.json", source).frame) == texts(made.frame)
    if door in ("pandas", "parquet"):
        # From here on a table is a table.
        return
    original = tk.Table(source, **roles)
    assert tk.measure(original, made).to_dict()
    assert tk.attack(original, made).to_dict()
    assert tk.compare(original, k=3, methods=["optimal"]).to_dict()
    assert tk.predict(original).to_dict()


@pytest.mark.parametrize("unit", ["ms", "ns", "us"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo", "Europe/Berlin"])
def test_moments_are_read_as_they_are_written(unit: Any, zone: str | None) -> None:
    # In Berlin the clock showed 02:30 twice that night.
    night = [dt.datetime(2020, 10, 25, 0, 30), dt.datetime(2020, 10, 25, 1, 30), dt.datetime(2020, 1, 1, 1, 2, 3, 4567)]
    moments = pl.Series([*night, None]).cast(pl.Datetime(unit))
    if zone is not None:
        moments = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    texts_of_moments = written(moments)
    assert texts_of_moments.n_unique() == len(moments)
    assert read_as(texts_of_moments, moments.dtype).equals(moments)
    assert read_as(moments.cast(pl.String), moments.dtype).equals(moments)


def test_moments_finer_than_an_engine_knows_are_refused_there(tmp_path: Path) -> None:
    moments = KINDS["moments of nanoseconds in a zone"].dt.offset_by("1ns")
    pl.DataFrame({"v": moments}).write_parquet(tmp_path / "t.parquet")
    found = tokumei_json("predict", tmp_path / "t.parquet", "--qi", "v", "--engine", "duckdb", exit_code=2)
    assert "whole microseconds" in found["message"]
    assert found["faults"][0]["value"] == "2020-01-01 08:30:00.000000001+00:00"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_frames_of_every_type_are_counted_alike_on_duckdb(kind: str) -> None:
    found = [tk.count_classes(table(kind), ["v", "sex"], engine=engine) for engine in ("local", "duckdb")]
    assert len({one.k for one in found}) == len({one.n_classes for one in found}) == 1


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_type_is_taken_alike_on_duckdb(kind: str, tmp_path: Path) -> None:
    file = at("parquet", kind, tmp_path)
    found = []
    for engine in ("local", "duckdb"):
        out, recipe = tmp_path / f"{engine}.csv", tmp_path / f"{engine}.json"
        asked = ["--qi", "v,sex", "--suppress", 0.2, "--k", 3]
        written = ["--out", out, "--recipe", recipe, "--keep", "ill", "--engine", engine]
        made = tokumei_json("anonymize", "table", file, *asked, *written)
        tokumei_json("anonymize", "apply", recipe, file, "--out", tmp_path / "again.csv", "--force")
        assert texts(pl.read_csv(tmp_path / "again.csv")) == texts(pl.read_csv(out))
        compared = tokumei_json("compare", file, *asked, "--methods", "optimal", "--engine", engine)
        predicted = tokumei_json("predict", file, "--qi", "v,sex", "--engine", engine)
        nodes = [{name: one[name] for name in ("levels", "k")} for one in predicted["nodes"]]
        losses = [one.get("loss") for one in compared["methods"]]
        found.append((texts(pl.read_csv(out)), made["levels"], losses, nodes))
    assert found[0] == found[1]
