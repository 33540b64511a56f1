"""Releases of tables that are written to files: from memory, on an engine, or streamed.

`anonymize_to_files` reads what is needed and chooses the way. A table that is on an engine, or in a file larger than
memory, goes from original to release where it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.text import Json, Text
from tokumei.data.files.formats import PARQUET, format_of, is_glob, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import check_single
from tokumei.data.table import IN_WORDS, Role, Table, check_column
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.connect import connect
from tokumei.engines.count import TooManyClasses, count_along, count_relation, most_classes
from tokumei.engines.engine import keeping, without_password
from tokumei.inspection.repeated_people import several_rows
from tokumei.methods.local.on_engine import IN_PARTS, write_in_parts, write_regrouped
from tokumei.methods.perturbing.perturbation import RowByRow
from tokumei.methods.perturbing.rows_on_engine import write_changed
from tokumei.methods.recipes import Goal, released_columns
from tokumei.methods.registry import LocalRecoder, Perturber, TableAnonymizer, TableSearch
from tokumei.methods.tables import recipe_of, write_anonymized
from tokumei.tasks.anonymize_table import anonymize_table, level_release, row_release
from tokumei.tasks.goal import (
    Known,
    Trees,
    check_is_possible,
    counted_on_engine,
    goal_of,
    known_on_engine,
    method_of,
    trees_of,
)
from tokumei.tasks.long_work import TablePlan, plan_table, resumable
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.table_release import (
    ColumnUniqueness,
    KeptAnyway,
    TableRelease,
    alone_words,
    refuse_singling,
    uniqueness_of,
    uniqueness_on,
    with_values_of,
)

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
    needed = [*qi, *request.sensitive_columns(), *request.keep, *request.role_columns()]
    # Which row of the file each released one was is known in memory alone, and so is an order that comes again.
    is_plain = "rows" not in drafts and request.seed is None and not request.reproducible
    if engine == "local" and not (is_plain and _streams(source, needed, reading, method)):
        rows = scan_frame(source, reading)
        present = rows.collect_schema().names()
        table = _table_of_file(source, rows, qi, request)
        made = anonymize_table(table, request)
        if "rows" in drafts and made.rows is None:
            raise InputError.of(f"a method that releases rows of people, for the rows, not {part_name(method)}")
        made.write(drafts["out"], drafts.get("recipe"), drafts.get("rows"))
        there = made.table.columns
        left_out = [name for name in present if name not in there]
        return replace(made, left_out=left_out, several_rows=several_rows(rows) if request.unit is None else None)
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
    """Predict the work and the cost of `anonymize_to_files`; `is_plain`: neither rows nor an order are asked for."""
    made, _ = method_of(request)
    sensitive = request.sensitive_columns()
    if engine != "local" and not runs_on_engines(made):
        raise InputError.of(
            Text("the local engine, which {what} needs", what=part_name(made)), option="engine", value=engine
        )
    needed = [*qi, *sensitive, *request.keep]
    streams = engine == "local" and is_plain and _streams(source, needed, reading, made)
    where: Json = {"engine": engine, "reading": reading, "streams": streams}
    return plan_table(source, qi, method=made, sensitive=sensitive, keep=request.keep, **where)


def _streams(source: str, needed: Sequence[str], reading: Reading, method: TableAnonymizer) -> bool:
    """Whether a file is so large that its rows are streamed and never in memory together."""
    if not runs_as_stream(method):
        return False
    if format_of(source) != PARQUET:
        return reading.is_whole_text and Path(source).is_file() and Path(source).stat().st_size > MOST_TEXT
    n_rows = int(scan_frame(source, reading).select(pl.len()).collect().item())
    return n_rows * len(needed) > MOST_CELLS


def _table_of_file(source: str, rows: pl.LazyFrame, qi: Sequence[str], request: ReleaseRequest) -> Table:
    """Read of a file the columns that a job needs, and none of the others."""
    present = rows.collect_schema().names()
    needed = {
        "a quasi-identifier": qi,
        IN_WORDS[Role.PERSON]: [name for name in [request.person] if name],
        IN_WORDS[Role.HOUSEHOLD]: [name for name in [request.household] if name],
        "a sensitive column": request.sensitive_columns(),
        "a column to keep": request.keep,
        "numeric": request.numeric or (),
    }
    for what, columns in needed.items():
        for column in columns:
            check_column(column, present, what, source)
    wanted = {name for columns in needed.values() for name in columns}
    frame = rows.select(name for name in present if name in wanted).collect()
    return Table(frame, qi, hierarchies=request.hierarchies, numeric=request.numeric, name=source)


def write_table_on_engine(
    source: str,
    qi: Sequence[str],
    out: Path,
    request: ReleaseRequest,
    *,
    engine: str,
    reading: Reading = AS_IT_IS,
    beside: Path | None = None,
) -> TableRelease:
    """Anonymize a table where it is and write the release there, by levels or by groups of classes.

    beside: where the release will be. Beside it the work is kept that a run which was broken off has done: counts, and
    slices of a Parquet file that were dealt out to be shuffled.
    """
    with _kept_beside(beside, source, qi, engine, reading):
        return _write(source, qi, out, request, engine=engine, reading=reading)


@contextmanager
def _kept_beside(beside: Path | None, source: str, qi: Sequence[str], engine: str, reading: Reading) -> Iterator[None]:
    """Keep work on a file beside its release; that on a table of a database, which may change, is not kept."""
    if beside is None or not (Path(source).exists() or is_glob(source)):
        yield
        return
    n_rows = None
    if engine == "local" and format_of(source) == PARQUET:
        n_rows = int(scan_frame(source, reading).select(pl.len()).collect().item())
    options = {"out": beside.name, "qi": list(qi), "engine": without_password(engine), "reading": reading.as_dict()}
    with resumable(beside, [source], options) as folder, keeping(source, folder, n_rows):
        yield


def _check_kept_kinds(source: str, keep: Sequence[str], *, engine: str, reading: Reading) -> None:
    """Refuse to keep a column whose cells are lists or the like, in which nobody looks for people."""
    if not keep:
        return
    schema: Mapping[str, pl.DataType] = {}
    if Path(source).exists() or is_glob(source):
        # Not on the engine, to which some files would have to be sent.
        if format_of(source) == PARQUET:
            schema = scan_frame(source, reading).collect_schema()
    else:
        with connect(engine) as opened:
            schema = opened.open(source, reading).schema
    check_single(schema, [column for column in keep if column in schema], source)


def _write(
    source: str, qi: Sequence[str], out: Path, request: ReleaseRequest, *, engine: str, reading: Reading
) -> TableRelease:
    started = time.perf_counter()
    made, asked = method_of(request)
    keep, seed = asked.keep, asked.seed
    if not (runs_as_stream(made) if engine == "local" else runs_on_engines(made)):
        raise InputError.of(
            Text("the local engine, which {what} needs", what=part_name(made)), option="engine", value=engine
        )
    where: Json = {"engine": engine, "reading": reading}
    _check_kept_kinds(source, keep, **where)
    with step("counting"):
        along = None
        if not asked.keep_order and not isinstance(made, Perturber) and asked.unit is None:
            along = count_along(source, qi, [*asked.sensitive_columns(), *keep], **where)
        found: Json = {"hierarchies": asked.hierarchies, "numeric": asked.numeric, **where}
        counts: ClassCounts | None = None
        try:
            known, counts = counted_on_engine(source, qi, along=along, **found)
        except TooManyClasses:
            # In their own order rows are read as they come, and in parts they do not.
            if part_name(made) not in IN_PARTS or asked.keep_order:
                raise
            known = known_on_engine(source, qi, **found)
    if isinstance(made, LocalRecoder):
        # As in memory, where columns that cost alike are cut in the order of the table, not of the question.
        qi = [name for name in known.columns if name in qi]
        known, counts = replace(known, quasi_identifiers=qi), None if counts is None else counts.over(qi)
    if counts is not None:
        check_is_possible(counts.n_rows, request, source)
    for column in keep:
        check_column(column, known.columns, "a column to keep", source)
    trees = trees_of(known, made, asked)
    goal = goal_of(known, made, asked, trees)
    anyway: list[KeptAnyway] = []
    if keep:
        told = _told_of(source, keep, along, goal.person, **where)
        guarded = asked.guarded([*keep, *qi])
        anyway = refuse_singling(told, source, guarded=guarded, what=alone_words(goal.unit))
    there = released_columns(known.columns, qi, goal, keep)
    if counts is None:
        parts = _in_parts(source, qi, goal, known, trees, out, keep=keep, seed=seed, **where)
        return replace(_finished(parts, known.columns, there, started), kept_anyway=anyway)
    how: dict[str, Any] = {"keep": keep, "counts": counts, **where}
    order: Json = {"is_shuffled": not asked.keep_order}
    if seed is not None and not asked.keep_order and (engine == "local" or not isinstance(made, Perturber)):
        log.info("The seed is not that of the order: on an engine rows are shuffled by lot, anew each time.")
    if isinstance(made, RowByRow):
        done = row_release(
            write_changed(source, qi, trees.of_columns, goal, out, seed=seed, **order, **how), goal, trees
        )
    elif isinstance(made, LocalRecoder):
        grouped = write_regrouped(source, qi, trees.of_columns, goal, out, seed=seed, along=along, **order, **how)
        done = row_release(grouped, goal, trees)
    else:
        done = _by_levels(source, goal, trees, out, along=along, **order, **how)
    return replace(_finished(done, known.columns, there, started), kept_anyway=anyway)


def _told_of(
    source: str,
    keep: Sequence[str],
    along: ClassCounts | None,
    person: str | None,
    *,
    engine: str,
    reading: Reading,
) -> list[ColumnUniqueness]:
    """Count how far columns tell people apart, and look at their values."""
    if along is not None:
        return with_values_of(along, uniqueness_of(along, keep))
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        told = uniqueness_on(relation, keep, person=person)
        return [with_values_of(count_relation(relation, [one.column]), [one])[0] for one in told]


def runs_as_stream(method: object) -> bool:
    """Whether a method works on rows that go by here one after the other."""
    return isinstance(method, (TableSearch, LocalRecoder)) or (isinstance(method, RowByRow) and method.keeps_order)


def runs_on_engines(method: object) -> bool:
    """Whether a method works on other engines than the local one."""
    return isinstance(method, (TableSearch, LocalRecoder, RowByRow))


def _finished(done: TableRelease, names: Sequence[str], there: Sequence[str], started: float) -> TableRelease:
    """Complete a release with the columns that were left out, and how long it took."""
    facts = {**done.facts, "seconds": round(time.perf_counter() - started, 4)}
    return replace(done, facts=facts, left_out=[name for name in names if name not in there])


def _by_levels(source: str, goal: Goal, trees: Trees, out: Path, *, keep: Sequence[str], **how: Any) -> TableRelease:
    decision, counts = write_anonymized(source, trees.of_columns, goal, out, keep=keep, **how)
    return level_release(decision, counts, recipe_of(goal, decision, keep), goal, trees)


def _in_parts(
    source: str, qi: Sequence[str], goal: Goal, known: Known, trees: Trees, out: Path, **how: Any
) -> TableRelease:
    most = most_classes(len(qi))
    made, n_parts = write_in_parts(source, qi, trees.of_columns, goal, out, values=known.values, most=most, **how)
    log.info(
        "There are more combinations of values than the %s that fit into memory: rows were cut into %s parts, each "
        "anonymized by itself.",
        f"{most:,}",
        f"{n_parts:,}",
    )
    return row_release(made, goal, trees)
