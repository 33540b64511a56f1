"""What the limited process does that looks at a file: its columns, what it gives away, and its hierarchies.

It calls the library on the folder of a piece of work alone, may be killed at any moment and called again, and writes
what it found beside the file: nothing of anybody's data goes through the database. Somebody waits for it, so that it
loads no attack before the first picture is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.files.atomic import write_text
from tokumei.data.files.formats import read_frame, write_frame
from tokumei.data.files.histories import read_history
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.hierarchies.files import write_hierarchy
from tokumei.hierarchies.leaves import check_covers
from tokumei.inspection.separation import separate
from tokumei.platform.jobs.child import refusing
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.column_pictures import drawn_tree, first_rows, histogram
from tokumei.platform.workbench.history_columns import find_history_columns
from tokumei.platform.workbench.samples import SAMPLES
from tokumei.tasks.audit_table import audit_table, rows_by_class_size
from tokumei.tasks.inspect_table import Inspection, inspect_columns
from tokumei.tasks.job_file import Job
from tokumei.tasks.job_table import table_of
from tokumei.tasks.job_template import history_template, table_template
from tokumei.tasks.risk_now import attack_as_it_stands, history_facts, history_risk, threat_models

MOST_COLUMNS = 500


def look(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Look at the file: its columns, a first job file, what it gives away, and the hierarchies of its columns."""
    folder, kind = Path(asked["folder"]), str(asked["kind"])
    with refusing():
        piece = files.read(folder, files.PIECE)
        path = folder / piece["file"]
        if piece.get("sample") and not path.exists():
            write_frame(SAMPLES[piece["sample"]].make(), path)
        frame = None if (folder / files.LOOK).exists() else _look_at_columns(folder, path, kind)
        if kind == "table":
            _study_table(folder, frame)
        else:
            _study_history(folder)
    return {}


def _look_at_columns(folder: Path, path: Path, kind: str) -> pl.DataFrame:
    frame = read_frame(path, AS_IT_IS)
    if not frame.width or not frame.height:
        raise InputError.of("a file with a header and at least one row below it", file=path.name)
    if frame.width > MOST_COLUMNS:
        raise InputError.of(
            Text("at most {n} columns", n=MOST_COLUMNS), file=path.name, value=counted(frame.width, "column")
        )
    columns = inspect_columns(frame)
    shown = {name: one.as_dict() | {"picture": _picture(frame[name])} for name, one in columns.items()}
    nothing = separate(frame.head(0), [])
    found = Inspection(path.name, frame.height, columns, nothing, 0.0)
    look = {"rows": frame.height, "columns": shown, "first_rows": first_rows(frame)}
    if kind == "history":
        mapped = find_history_columns(frame)
        look["mapped"] = mapped
        text = history_template(path, Reading(columns=mapped), beside=folder)
    else:
        text = table_template(found, path, AS_IT_IS, beside=folder)
    Job.of(text, folder=folder)
    write_text(folder / files.JOB, text)
    files.write(folder, files.LOOK, look)
    return frame


def _picture(column: pl.Series) -> dict[str, Any]:
    return {"bars": [], "others": 0} if column.dtype.is_nested() else histogram(column)


def _study_table(folder: Path, frame: pl.DataFrame | None) -> None:
    """Audit the table by the roles of the job file, build its hierarchies, attack it; the quickest picture first."""
    job = Job.read(folder / files.JOB)
    table, said = table_of(job, frame)
    audited = audit_table(table)
    risk: dict[str, Any] = {
        "audit": audited.to_dict(),
        "sizes": rows_by_class_size(audited.counts),
        "roles": dict(job.roles),
        "threat_models": threat_models(audited, population_size=job.population_size),
    }
    files.write(folder, files.RISK, risk)
    _draw_trees(folder, job, table, said)
    found = separate(table.frame, table.quasi_identifiers)
    alone = Inspection("", table.n_rows, {}, found, 0.0).to_dict()
    risk |= {"sets": alone["sets"], "alone": alone["minimal_uniques"]}
    files.write(folder, files.RISK, risk)
    files.write(folder, files.RISK, risk | {"attacks": attack_as_it_stands(table)})


def _draw_trees(folder: Path, job: Job, table: Table, said: dict[str, str]) -> None:
    made = folder / files.MADE_TREES
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(mode=0o700)
    trees = {}
    for place, column in enumerate(table.quasi_identifiers):
        hierarchy = (table.hierarchies or {})[column]
        if isinstance(job.hierarchies.get(column), Path):
            # One that was sent may be of another file; better told now than when the release is made.
            check_covers(hierarchy, table.frame[column])
        trees[column] = drawn_tree(hierarchy, said.get(column, "")) | {"file": f"{place}.csv"}
        write_hierarchy(hierarchy, made / f"{place}.csv")
    files.write(folder, files.TREES, trees)


def _study_history(folder: Path) -> None:
    job = Job.read(folder / files.JOB)
    history = read_history(str(job.file), job.reading)
    files.write(folder, files.RISK, {"facts": history_facts(history)})
    files.write(folder, files.RISK, history_risk(history))
