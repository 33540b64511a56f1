"""The table that a job file is about, with its roles and a hierarchy for each column that needs one.

It stands apart from the steps of a job, since whoever only looks at a table waits for no attack to be loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError, nearest
from tokumei.data.files.formats import read_frame
from tokumei.data.table import Table
from tokumei.hierarchies.files import read_hierarchy
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.tasks.hierarchies import made_hierarchy
from tokumei.tasks.job_file import Job
from tokumei.tasks.preparing import check_preparations, prepare


def check_columns(job: Job, present: Sequence[str]) -> None:
    """Refuse a job whose columns are not in its file."""
    for column in job.roles:
        if column not in present:
            near = nearest(column, present)
            expected = f"a column of {job.file.name}: {repr(near) if near else ', '.join(present)}"
            raise job.where.fault(expected, "roles", column, column)
    check_preparations(present, job.preparations, job.file.name)


def table_of(job: Job, frame: pl.DataFrame | None = None) -> tuple[Table, dict[str, str]]:
    """Return the original without identifiers and columns without a role, and a description of each made hierarchy.

    frame: what was read of the file already, as the job says that it is read.
    """
    if frame is None:
        frame = read_frame(job.file, job.reading)
    check_columns(job, frame.columns)
    used = [name for name, role in job.roles.items() if role != "identifier"]
    frame = prepare(frame, job.preparations, job.file.name)
    frame = frame.select(name for name in frame.columns if name in used)
    qi, sensitive = job.columns_with("quasi-identifier"), job.columns_with("sensitive")
    table = Table(frame, qi, sensitive, name=job.file.name)
    made = {name: _hierarchy(job, table, name) for name in dict.fromkeys([*qi, *job.hierarchies]) if name in used}
    table.hierarchies = {name: hierarchy for name, (hierarchy, _said) in made.items()}
    return table, {name: said for name, (_hierarchy, said) in made.items() if said}


def _hierarchy(job: Job, table: Table, column: str) -> tuple[Hierarchy, str]:
    given = job.hierarchies.get(column)
    if given is None:
        return made_hierarchy(column, table.frame[column])
    if isinstance(given, Path):
        return read_hierarchy(given, column), ""
    try:
        built: Hierarchy = given.build(column, table.frame[column])
    except InputError as error:
        raise job.where.fault(str(error), "hierarchies", column) from None
    return built, ""
