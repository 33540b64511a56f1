"""What the limited process does for a contest that is being made: look at its data, and try the whole of it out.

Nothing is made on the server: a contest is tried in a folder that is gone when the process ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.contest import phases
from tokumei.contest.checks import plain_source
from tokumei.contest.custom.template import template_of
from tokumei.contest.edition import files_in
from tokumei.contest.folder import Contest
from tokumei.contest.replay import played_guess, played_release
from tokumei.contest.setting import parse_setting
from tokumei.core.errors import Fault, FaultGroup, InputError
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.disk import read_bytes
from tokumei.data.files.formats import EXCEL, TEXT_SUFFIXES, format_of, read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.text_bytes import UTF_8, find_encoding
from tokumei.platform.jobs.child import faults_of, refusing
from tokumei.platform.workbench.column_pictures import find_history_columns, first_rows
from tokumei.tasks.inspect_table import inspect_columns

Asked = JsonView
MOST_COLUMNS = 500
N_FIRST = 5
LONGEST_LINE = 120
SAMPLE_TEAM, SAMPLE_ATTACKER = "sample", "attacker"


def look(asked: Asked) -> Json:
    """Look at the data: how the file is to be read, its columns, first rows and size, and all that is wrong with it."""
    path, reading = Path(asked["source"]), Reading.of(asked["reading"])
    found: dict[str, object] = {"encoding": "", "sheet": "", "sheets": []}
    try:
        reading = _recognized(path, reading, found)
        frame = read_frame(path, replace(reading, columns={}, date_format=None, format=None))
        if not frame.width or not frame.height:
            raise InputError.of("a file with a header and at least one row below it", file=path.name)
        if frame.width > MOST_COLUMNS:
            raise InputError.of(
                Text("at most {n} columns", n=MOST_COLUMNS), file=path.name, value=counted(frame.width, "column")
            )
        found |= _columns(frame, str(asked["kind"]), str(asked["name"]))
    except InputError as error:
        found |= faults_of(_naming(error, str(asked["name"])))
    return found


def _naming(error: InputError, name: str) -> InputError:
    """Call the file as its sender does."""

    def named(faults: Iterable[Fault]) -> tuple[Fault, ...]:
        return tuple(replace(one, file=name if one.file else None) for one in faults)

    groups = [FaultGroup(one.n_faults, named(one.first)) for one in error.groups]
    return InputError(named(error.faults), error.n_faults, groups)


def _recognized(path: Path, reading: Reading, found: Json) -> Reading:
    """Detect and note the encoding of a text and the sheet of a workbook where nobody named them."""
    kind = format_of(path)
    if kind in TEXT_SUFFIXES:
        encoding = reading.encoding or find_encoding(read_bytes(path))
        # What cannot be told is left for the reader, which says where the first odd byte stands.
        found["encoding"] = encoding or ""
        return replace(reading, encoding=None if encoding == UTF_8 else encoding)
    if kind == EXCEL:
        found["sheets"] = _sheets(path)
        found["sheet"] = reading.sheet or found["sheets"][0]
        return replace(reading, sheet=found["sheet"])
    return reading


def _sheets(path: Path) -> list[str]:
    import fastexcel

    from tokumei.data.files.excel import check_size

    check_size(path)
    try:
        return list(fastexcel.read_excel(path).sheet_names)
    except fastexcel.FastExcelError as error:
        reason = str(error).partition("\n")[0]
        raise InputError.of(Text("an Excel workbook (.xlsx) with a table ({why})", why=reason), file=path) from None


def _columns(frame: pl.DataFrame, kind: str, name: str) -> dict[str, object]:
    """Return the columns with their types, and the contest settings that name them."""
    columns, _ = inspect_columns(frame)
    facts = {column: one.as_dict() for column, one in columns.items()}
    shown = [
        {"name": column} | {key: one[key] for key in ("type", "distinct", "missing")} for column, one in facts.items()
    ]
    own = template_of(
        kind,
        source=name,
        columns=find_history_columns(frame) if kind == "history" else {},
        roles={column: one["role"] for column, one in facts.items()},
        types={column: one["type"] for column, one in facts.items()},
    )
    return {"rows": frame.height, "columns": shown, "first_rows": first_rows(frame), "own_toml": own}


def try_out(asked: Asked) -> dict[str, object]:
    """Prepare the contest and play it once: a built-in release, a built-in attack at each level, and the ranking."""
    with tempfile.TemporaryDirectory() as place, refusing():
        folder, source = Path(place), asked["source"]
        with plain_source(None if source is None else Path(source), Reading.of(asked["reading"])) as plain:
            contest = phases.prepare(parse_setting(asked["setting"], folder=folder), folder / "contest", source=plain)
        return {"files": _files(contest)} | _played(contest)


def _files(contest: Contest) -> list[Json]:
    """Summarize the data that teams will get."""
    listed = []
    for path in files_in(contest.path("public", "data"), contest.terms.data_files).values():
        data = path.read_bytes()
        lines = data.split(b"\n", N_FIRST)[:N_FIRST]
        first = [line.decode("utf-8", "replace")[:LONGEST_LINE] for line in lines if line]
        listed.append({"name": path.name, "bytes": len(data), "lines": data.count(b"\n"), "first": first})
    return listed


def _played(contest: Contest) -> dict[str, object]:
    edition = contest.edition
    anonymizer, attack = edition.anonymizers()[0], edition.attacks()[0]
    with played_release(contest, anonymizer, SAMPLE_TEAM) as release:
        phases.submit(contest, SAMPLE_TEAM, release)
    phases.publish(contest)
    for level in contest.terms.knowledge_files:
        with played_guess(contest, attack, SAMPLE_ATTACKER, SAMPLE_TEAM, level) as guess:
            phases.attack(contest, SAMPLE_ATTACKER, SAMPLE_TEAM, guess, knowledge=level)
    phases.judge(contest)
    season = contest.season()
    (entry,), (line,) = season.entries(), season.standings()
    return {
        "anonymizer": anonymizer,
        "attack": attack,
        "found": contest.terms.attack_rule.found_by_others(entry),
        "standing": line.as_dict(),
    }
