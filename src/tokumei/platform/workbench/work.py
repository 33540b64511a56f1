"""What the limited processes of the workbench do, on the folder of a piece of work alone.

Each function calls the library as a notebook would, may be killed at any moment and called again, and writes what it
found beside the file: nothing of anybody's data goes through the database.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.atomic import write_text
from tokumei.data.files.formats import read_frame, write_frame
from tokumei.data.files.histories import read_history
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.hierarchy.files import write_hierarchy
from tokumei.hierarchy.leaves import check_covers
from tokumei.inspection.separation import separate
from tokumei.job.audit_table import audit_table, rows_by_class_size
from tokumei.job.frontier_table import USUAL_KS, frontier_table
from tokumei.job.hierarchies import made_hierarchy
from tokumei.job.inspect_table import Inspection, inspect_columns
from tokumei.job.job_file import Job
from tokumei.job.job_template import history_template, table_template
from tokumei.job.run_job import SECRET, SEED, run_job
from tokumei.job.run_table import TableWork
from tokumei.platform.jobs.child import refusing
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.column_pictures import drawn_tree, histogram
from tokumei.platform.workbench.history_work import find_history_columns, history_risk, sweep_frontier
from tokumei.platform.workbench.samples import SAMPLES

Asked = Mapping[str, Any]
MOST_COLUMNS = 500
STARTED = ".started"
# What is varied by the frontier itself.
VARIED = ("k", "suppress")


def look(asked: Asked) -> dict[str, Any]:
    """Look at the file: its columns, a first job file, what it gives away, and the hierarchies of its columns."""
    folder, kind = Path(asked["folder"]), str(asked["kind"])
    with refusing():
        piece = files.read(folder, files.PIECE)
        path = folder / piece["file"]
        if piece.get("sample") and not path.exists():
            write_frame(SAMPLES[piece["sample"]].make(), path)
        if not (folder / files.LOOK).exists():
            _look_at_columns(folder, path, kind)
        (_study_table if kind == "table" else _study_history)(folder)
    return {}


def _look_at_columns(folder: Path, path: Path, kind: str) -> None:
    frame = read_frame(path, AS_IT_IS)
    if not frame.width or not frame.height:
        raise InputError.of("a file with a header and at least one row below it", file=path.name)
    if frame.width > MOST_COLUMNS:
        raise InputError.of(f"at most {MOST_COLUMNS} columns", file=path.name, value=f"{frame.width:,} columns")
    columns = inspect_columns(frame)
    shown = {name: one.as_dict() | {"picture": _picture(frame[name])} for name, one in columns.items()}
    nothing = separate(frame.head(0), [])
    found = Inspection(path.name, frame.height, columns, nothing, 0.0)
    look = {"rows": frame.height, "columns": shown, "first_rows": _rows(frame)}
    if kind == "history":
        mapped = find_history_columns(frame)
        look["mapped"] = mapped
        text = history_template(path, Reading(columns=mapped), beside=folder)
    else:
        text = table_template(found, path, AS_IT_IS, beside=folder)
    Job.of(text, folder=folder)
    write_text(folder / files.JOB, text)
    files.write(folder, files.LOOK, look)


def _picture(column: pl.Series) -> dict[str, Any]:
    return {"bars": [], "others": 0} if column.dtype.is_nested() else histogram(column)


def _rows(frame: pl.DataFrame, most: int = 8) -> list[list[str | None]]:
    return [[None if cell is None else str(cell)[:60] for cell in row] for row in frame.head(most).iter_rows()]


def _study_table(folder: Path) -> None:
    """Audit the table by the roles of the job file and build its hierarchies; the quickest picture first."""
    job = Job.read(folder / files.JOB)
    table = TableWork(job, folder / files.OUT, 0).table
    audited = audit_table(table)
    risk = {"audit": audited.to_dict(), "sizes": rows_by_class_size(audited.counts), "roles": dict(job.roles)}
    files.write(folder, files.RISK, risk)
    made = folder / ".trees"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(mode=0o700)
    trees = {}
    for place, column in enumerate(table.quasi_identifiers):
        hierarchy = (table.hierarchies or {})[column]
        if isinstance(job.hierarchies.get(column), Path):
            # One that was sent may be of another file; better told now than when the release is made.
            check_covers(hierarchy, table.frame[column])
        said = made_hierarchy(column, table.frame[column])[1] if column not in job.hierarchies else ""
        trees[column] = drawn_tree(hierarchy, said) | {"file": f"{place}.csv"}
        write_hierarchy(hierarchy, made / f"{place}.csv")
    files.write(folder, files.TREES, trees)
    found = separate(table.frame, table.quasi_identifiers)
    alone = Inspection("", table.n_rows, {}, found, 0.0).to_dict()
    files.write(folder, files.RISK, risk | {"sets": alone["sets"], "alone": alone["minimal_uniques"]})


def _study_history(folder: Path) -> None:
    job = Job.read(folder / files.JOB)
    files.write(folder, files.RISK, history_risk(read_history(str(job.file), job.reading)))


def release(asked: Asked) -> dict[str, Any]:
    """Do the job of the job file, as `tokumei run` does; one that was broken off goes on where it was."""
    folder = Path(asked["folder"])
    with refusing():
        job, out = Job.read(folder / files.JOB), folder / files.OUT
        _make_room(job, out)
        done = run_job(job, out, force=True)
        files.write(folder, "result.json", {"first_rows": _released_rows(out), "numbers": done.to_dict()["holds"]})
    return {}


def _make_room(job: Job, out: Path) -> None:
    """Remove what another job left, but for its seed, by which the same job gives the same release."""
    digest = hashlib.sha256(job.where.text.encode()).hexdigest()
    started = out / STARTED
    if started.is_file() and started.read_text() == digest:
        return
    seed = out / SECRET / SEED
    kept = seed.read_text() if seed.is_file() else None
    shutil.rmtree(out, ignore_errors=True)
    (out / SECRET).mkdir(parents=True, mode=0o700)
    if kept is not None:
        seed.write_text(kept)
    started.write_text(digest)


def _released_rows(out: Path) -> dict[str, Any]:
    path = next(out / name for name in ("release.csv", "release.parquet", "published.csv") if (out / name).exists())
    frame = read_frame(path)
    return {"columns": frame.columns, "rows": _rows(frame)}


def frontier(asked: Asked) -> dict[str, Any]:
    """Try releases that promise more and more."""
    folder, kind = Path(asked["folder"]), str(asked["kind"])
    with refusing():
        job = Job.read(folder / files.JOB)
        if kind == "history":
            found = sweep_frontier(read_history(str(job.file), job.reading), folder / ".sweep")
        else:
            found = _table_frontier(job, folder)
        files.write(folder, files.FRONTIER, found)
    return {}


def _table_frontier(job: Job, folder: Path) -> dict[str, Any]:
    table = TableWork(job, folder / files.OUT, 0).table
    asked = {name: value for name, value in job.requirements.items() if name not in VARIED}
    methods = dict(job.methods)
    if len(methods) == 1:
        return frontier_table(table, methods=methods, **asked).to_dict()
    # Of several methods fewer releases each, so that there are about twelve in all.
    ks = USUAL_KS[:: 1 + len(methods) // 4] if len(methods) < 4 else (5, 20)
    return frontier_table(
        table, methods=methods, ks=ks[: max(2, 12 // len(methods))], shares=(0.05,), **asked
    ).to_dict()
