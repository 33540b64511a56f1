"""Large tables and histories against the engine's own group-by and copy: `make bench scale ROWS=20000000`.

Whole anonymizations, linkage and, where the table is there, the search of Adult. All but the last are seconds of
processors, each job in a process of its own, so that what else the machine does counts for little.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

import polars as pl

from benchmarks import history_scale, linking, spark_scale, tables
from benchmarks.adult import adult
from benchmarks.measure import Figure, in_new_process
from tokumei.data.made_survey import make_survey

N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "1000000"))
N_COLUMNS, PART_ROWS, MIXED_ROWS = 9, 500_000, 12_000_000
FULL_ROWS = 100_000_000
# One row of so many is attacked by linkage.
LINKED = 10

TIMED = """
import time
from pathlib import Path
import polars as pl
path, columns, out = {path!r}, {columns!r}, {out!r}
{before}
started = time.process_time()
{work}
seconds = time.process_time() - started
"""
POLARS_COUNT = "pl.scan_parquet(path).group_by(columns).len().collect(engine='streaming')"
POLARS = POLARS_COUNT + "\npl.scan_parquet(path).select(columns).sink_parquet(out)"
DUCKDB_BEFORE = """import duckdb
names = ", ".join('"' + one + '"' for one in columns)
rows = duckdb.read_parquet(path)
"""
DUCKDB_COUNT = "duckdb.sql('SELECT ' + names + ', count(*) FROM rows GROUP BY ALL').pl()"
DUCKDB = DUCKDB_COUNT + "\nduckdb.sql('SELECT ' + names + ' FROM rows').write_parquet(out)"
OURS_BEFORE = """
from tokumei.data.files.reading import AS_IT_IS
from tokumei.tasks import write_table
from tokumei.tasks.request import ReleaseRequest
write_table.MOST_CELLS = 1
"""
OURS = """
write_table.anonymize_to_files(
    path, columns, dict(out=Path(out)),
    ReleaseRequest(method={method!r}, k=5, suppress=0.02, keep_order={keep_order}), engine={engine!r})
"""
PLAN = """
plan = write_table.plan_of_files(
    path, columns, ReleaseRequest(method={method!r}, k=5), engine={engine!r}, reading=AS_IT_IS, is_plain=True)
"""


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = _made(folder / "few", N_ROWS)
        figures = _levels(folder, few, f"{N_ROWS:,} × {N_COLUMNS}")
        figures += _groups(folder, _made(folder / "many", N_ROWS, is_mixed=True))
        if importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None:
            size = f"{N_ROWS:,} × {N_COLUMNS}"
            figures += spark_scale.run(folder / "spark", few, size, _at_full_size(2))
        (folder / "history").mkdir()
        figures += history_scale.run(folder / "history", N_ROWS)
    return figures + linking.made_shops(N_ROWS // LINKED) + tables.searches(adult())


def _levels(folder: Path, rows: tuple[str, list[str]], size: str) -> list[Figure]:
    """Time the default method, here as a stream and on DuckDB, in order and shuffled, and ten times as many rows."""
    polars, duckdb = _timed(folder, rows, POLARS), _timed(folder, rows, DUCKDB, DUCKDB_BEFORE)
    figures = [
        Figure(f"{size}: Polars' own group-by and write", polars[0], "s", note=f"{polars[1]:.2f} GB"),
        Figure(f"{size}: DuckDB's own group-by and copy", duckdb[0], "s", note=f"{duckdb[1]:.2f} GB"),
    ]
    for engine, floor, goal in (("local", polars, 3), ("duckdb", duckdb, 2)):
        in_order, shuffled = (_ours(folder, rows, engine, "optimal", keep_order=one) for one in (True, False))
        figures += [
            Figure(f"{size}: anonymize table, {engine}", shuffled[0], "s", note=f"{shuffled[1]:.2f} GB"),
            Figure(f"  ratio to {engine}'s own work, rows shuffled", shuffled[0] / floor[0], "×", _at_full_size(goal)),
            Figure("  ratio, rows in their order", in_order[0] / floor[0], "×"),
            Figure("  most memory used", shuffled[1], "GB", 4),
        ]
    once, ten_times = (_ours(folder, some, "local", "optimal") for some in (rows, _linked(folder / "ten", rows, 10)))
    note = f"{ten_times[0]:.0f} s, {ten_times[1]:.2f} GB"
    return [*figures, Figure("local, ten times the rows take", ten_times[0] / once[0], "×", 11, note)]


def _linked(folder: Path, rows: tuple[str, list[str]], n_times: int) -> tuple[str, list[str]]:
    """Return a folder that has the same files several times, without writing them again."""
    folder.mkdir()
    for number in range(n_times):
        for part in Path(rows[0]).iterdir():
            (folder / f"{number}-{part.name}").hardlink_to(part)
    return str(folder), rows[1]


def _at_full_size(goal: float) -> float | None:
    """Return a goal if it is one of this size: of few rows, most of the time goes before the first."""
    return goal if N_ROWS >= FULL_ROWS else None


def _groups(folder: Path, rows: tuple[str, list[str]]) -> list[Figure]:
    """Time Mondrian on rows of which most are classes of their own."""
    n_classes = pl.scan_parquet(f"{rows[0]}/*.parquet").select(rows[1]).unique().select(pl.len())
    size = f"{N_ROWS:,} rows, {n_classes.collect(engine='streaming').item():,} classes"
    figures = []
    for engine, work, before in (("local", POLARS_COUNT, ""), ("duckdb", DUCKDB_COUNT, DUCKDB_BEFORE)):
        floor, ours = _timed(folder, rows, work, before), _ours(folder, rows, engine, "mondrian")
        figures += [
            Figure(f"{size}: mondrian, {engine}", ours[0], "s", note=f"{ours[1]:.2f} GB"),
            Figure("  ratio to the engine's own group-by", ours[0] / floor[0], "×", _at_full_size(10)),
            Figure("  most memory used", ours[1], "GB", 4),
        ]
        told = _timed(
            folder, rows, "pass", OURS_BEFORE + PLAN.format(engine=engine, method="mondrian"), "plan.cpu_seconds"
        )
        figures.append(Figure("  --dry-run said", told[0], "s", note=f"{told[0] / ours[0]:.2f} of what it took"))
    return figures


def _made(folder: Path, n_rows: int, *, is_mixed: bool = False) -> tuple[str, list[str]]:
    """Write a survey of many rows as a folder; with mixed columns, of a hundred million a million classes."""
    survey = make_survey(30_000, seed=1)
    columns = survey.columns[:N_COLUMNS]
    table = survey.select(pl.col(columns).cast(pl.String))
    if is_mixed:
        many = table.sample(min(n_rows, MIXED_ROWS), with_replacement=True, seed=0)
        table = many.select(pl.col(one).shuffle(at) for at, one in enumerate(columns))
    folder.mkdir()
    for number, start in enumerate(range(0, n_rows, PART_ROWS)):
        n = min(PART_ROWS, n_rows - start)
        # Of no more rows than there are to draw from each is there once.
        is_once = is_mixed and n_rows <= MIXED_ROWS
        drawn = table.slice(start, n) if is_once else table.sample(n, with_replacement=True, seed=number)
        drawn.write_parquet(folder / f"{number:04}.parquet")
    return str(folder), columns


def _ours(
    folder: Path, rows: tuple[str, list[str]], engine: str, method: str, *, keep_order: bool = False
) -> tuple[float, float]:
    work = OURS.format(engine=engine, method=method, keep_order=keep_order)
    return _timed(folder, rows, work, OURS_BEFORE)


def _timed(
    folder: Path, rows: tuple[str, list[str]], work: str, before: str = "", asked: str | None = None
) -> tuple[float, float]:
    """Return the seconds of processors and the memory of some work in a new process, or a number that it computes."""
    out = folder / "out.parquet"
    out.unlink(missing_ok=True)
    path = rows[0] if before.startswith("\n") else f"{rows[0]}/*.parquet"
    code = TIMED.format(path=path, columns=rows[1], out=str(out), before=before, work=work)
    return in_new_process(code + ("" if asked is None else f"seconds = {asked}\n"))
