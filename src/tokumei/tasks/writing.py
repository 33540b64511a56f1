"""Releases that are written to files: read what is needed, anonymize, write drafts."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.core.text import Text
from tokumei.data.files.formats import PARQUET, format_of, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table, check_column
from tokumei.methods.registry import TableAnonymizer
from tokumei.tasks.anonymize_table import anonymize_table
from tokumei.tasks.goal import method_of
from tokumei.tasks.plan_table import TablePlan, plan_table
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.table_release import TableRelease
from tokumei.tasks.write_table import runs_as_stream, runs_on_engines, write_table_on_engine

log = logging.getLogger("tokumei.notes")
# More cells than these, of about twenty bytes each in memory, or more bytes of text, are read as a stream.
MOST_CELLS = 150_000_000
MOST_TEXT = 2 * 1024**3


def anonymize_to_files(
    source: str,
    qi: Sequence[str],
    drafts: Mapping[str, Path],
    request: ReleaseRequest,
    *,
    engine: str = "local",
    reading: Reading = AS_IT_IS,
    beside: Path | None = None,
) -> TableRelease:
    """Anonymize a file, or a table where it is, and write the release, its recipe and its rows as drafts.

    beside: where the release will be; long work is kept there, for the same call to go on with.
    """
    method, _ = method_of(request)
    needed = [*qi, *request.sensitive_columns(), *request.keep]
    # Which row of the file each released one was is known in memory alone, and so is an order that comes again.
    is_plain = "rows" not in drafts and request.seed is None and not request.reproducible
    if engine == "local" and not (is_plain and _streams(source, needed, reading, method)):
        table, present = table_of_file(source, qi, needed[len(qi) :], reading, request.hierarchies, request.numeric)
        made = anonymize_table(table, request)
        if "rows" in drafts and made.rows is None:
            raise InputError.of(f"a method that releases rows of people, for the rows, not {part_name(method)}")
        made.write(drafts["out"], drafts.get("recipe"), drafts.get("rows"))
        there = made.table.columns
        return replace(made, left_out=[name for name in present if name not in there])
    if engine == "local":
        log.info("%s is large: its rows are read as a stream, twice, and not held in memory.", source)
    if "rows" in drafts:
        raise InputError.of("the local engine, which --rows needs", option="--engine", value=engine)
    done = write_table_on_engine(source, qi, drafts["out"], request, engine=engine, reading=reading, beside=beside)
    done.write(None, drafts.get("recipe"), None)
    return done


def plan_of_files(
    source: str, qi: Sequence[str], request: ReleaseRequest, *, engine: str, reading: Reading, is_plain: bool
) -> TablePlan:
    """Say what `anonymize_to_files` would do and take; `is_plain` where neither rows nor an order are asked for."""
    made, _ = method_of(request)
    sensitive = request.sensitive_columns()
    if engine != "local" and not runs_on_engines(made):
        raise InputError.of(
            Text("the local engine, which {what} needs", what=part_name(made)), option="engine", value=engine
        )
    needed = [*qi, *sensitive, *request.keep]
    streams = engine == "local" and is_plain and _streams(source, needed, reading, made)
    where: dict[str, Any] = {"engine": engine, "reading": reading, "streams": streams}
    return plan_table(source, qi, method=made, sensitive=sensitive, keep=request.keep, **where)


def _streams(source: str, needed: Sequence[str], reading: Reading, method: TableAnonymizer) -> bool:
    """Whether a file is so large that its rows are streamed and never in memory together."""
    if not runs_as_stream(method):
        return False
    if format_of(source) != PARQUET:
        return reading.is_whole_text and Path(source).is_file() and Path(source).stat().st_size > MOST_TEXT
    n_rows = int(scan_frame(source, reading).select(pl.len()).collect().item())
    return n_rows * len(needed) > MOST_CELLS


def table_of_file(
    source: str,
    qi: Sequence[str],
    more: Sequence[str],
    reading: Reading,
    hierarchies: Any = None,
    numeric: Sequence[str] | None = None,
) -> tuple[Table, list[str]]:
    """Read of a file the columns that a job needs, and none of the others; with the names of all."""
    rows = scan_frame(source, reading)
    present = rows.collect_schema().names()
    for what, columns in (("a quasi-identifier", qi), ("a column of the job", more), ("numeric", numeric or ())):
        for column in columns:
            check_column(column, present, what, source)
    wanted = {*qi, *more, *(numeric or ())}
    frame = rows.select(name for name in present if name in wanted).collect()
    return Table(frame, qi, hierarchies=hierarchies, numeric=numeric, name=source), present
