"""The folder of a piece of work: the file, the job file that the pages edit, and what jobs wrote.

| name            | is                                                                          |
|-----------------|-----------------------------------------------------------------------------|
| piece.json      | the name of the file, and the sample that it is, if it is one                |
| the file        | as it was sent, beside the job file, which names it                          |
| job.toml        | the job, as `tokumei job new` writes it and `tokumei run` does it            |
| hierarchies/    | hierarchies that were sent or edited                                         |
| given/          | files that the request names: a population, prices                           |
| look.json       | the columns: what was counted, roles that are suggested and why              |
| risk.json       | what the file gives away by the roles of the job                             |
| trees.json      | the hierarchies by which columns are generalized, as they are drawn          |
| frontier.json   | releases that were tried: use lost against people found                      |
| result.json     | the first rows of the release, and what is drawn of it beside the file       |
| out/            | what the job gave: release, report, dossier, and what is kept apart          |
| next/           | another file of the same columns, and its release by the same recipe         |
| others/         | a release that others made, people outside, and what was asked of it         |
| others-found/   | what attacks found of it, and the report in both languages                   |
| faults-….json   | what is wrong with the file or the job, found by a job                       |
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError, NotFound
from tokumei.core.text import Json, JsonView, from_json, to_json
from tokumei.data.files.disk import write_text
from tokumei.tasks.job_file import Job
from tokumei.tasks.job_writing import write_job

PIECE, JOB, OUT = "piece.json", "job.toml", "out"
LOOK, RISK, TREES, FRONTIER = "look.json", "risk.json", "trees.json", "frontier.json"
RESULT = "result.json"
# The hierarchies that are drawn, each in a file.
MADE_TREES = ".trees"
HIERARCHIES, GIVEN = "hierarchies", "given"
# Another file to which the recipe is applied: what was asked, what came of it, and the release.
NEXT, ASKED, APPLIED, NEXT_RELEASE = "next", "asked.json", "applied.json", "next-release.csv"
# A release that others made, and what attacks found of it.
OTHERS, OTHERS_FOUND, FOUND = "others", "others-found", "found.json"
OTHERS_REPORTS = {"en": "report.html", "ja": "report.ja.html"}

# File systems take 255, and names of drafts are a little longer.
MOST_NAME_BYTES = 220


def read(folder: Path, name: str) -> Any:
    """Read a JSON file of the folder; None if it is not there yet."""
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"), object_hook=from_json)
    except FileNotFoundError:
        return None


def write(folder: Path, name: str, found: object) -> None:
    """Write a JSON file of the folder at once or not at all."""
    write_text(folder / name, json.dumps(to_json(found), ensure_ascii=False, default=str))


def faults_file(kind: str) -> str:
    """Name the file of what a kind of job found wrong."""
    return f"faults-{kind}.json"


def data_file(folder: Path) -> Path:
    """Return the path of the data."""
    return folder / str(read(folder, PIECE)["file"])


def job_of(folder: Path) -> Json:
    """Read the job file as plain values."""
    try:
        return tomllib.loads((folder / JOB).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFound("no job file yet") from None


def edit(folder: Path, change: Callable[[Json], None]) -> None:
    """Change the job file; what would not be read again as a job is refused, and the file stays as it was."""
    found = job_of(folder)
    change(found)
    text = write_job(found, reasons=reasons_of(read(folder, LOOK)))
    Job.of(text, folder=folder)
    write_text(folder / JOB, text)


def reasons_of(look: JsonView | None) -> dict[str, str]:
    """Return why each column was suggested its role."""
    return {} if look is None else {name: one["reason"] for name, one in look["columns"].items()}


def plain_name(name: str) -> str:
    """Return the name under which a file is kept: its base name, without unsafe characters."""
    last = name.replace("\\", "/").rpartition("/")[2].strip().lstrip(".")
    kept = "".join(one for one in last if one.isprintable() and one not in '<>:"|?*')[-100:]
    while len(kept.encode()) > MOST_NAME_BYTES:
        kept = kept[1:]
    if not Path(kept).stem:
        raise InputError.of("a file with a name", value=name)
    return kept
