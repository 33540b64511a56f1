"""What Codabench does with a bundle, written from what its unpacker, serializers and worker ask for.

`faults_of` names what its server would refuse. `run_program` lays out the folders of a worker's container and runs the
command of a program in a process of its own. `results_csv` is the file that organizers download.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

SETTINGS = {
    "version", "title", "description", "image", "terms", "docker_image", "queue", "registration_auto_approve",
    "make_programs_available", "make_input_data_available", "enable_detailed_results",
    "show_detailed_results_in_submission_panel", "show_detailed_results_in_leaderboard", "contact_email", "reward",
    "auto_run_submissions", "can_participants_make_submissions_public", "forum_enabled", "fact_sheet",
    "competition_type", "pages", "phases", "tasks", "solutions", "leaderboards",
}  # fmt: skip
OF_PHASE = {
    "index", "name", "description", "start", "end", "max_submissions", "max_submissions_per_day", "tasks",
    "auto_migrate_to_this_phase", "execution_time_limit", "hide_output", "hide_prediction_output",
    "hide_score_output", "starting_kit", "public_data", "accepts_only_result_submissions",
}  # fmt: skip
OF_TASK = {
    "index", "name", "description", "input_data", "reference_data", "ingestion_program", "scoring_program",
    "ingestion_only_during_scoring", "key",
}  # fmt: skip
OF_COLUMN = {"title", "key", "index", "sorting", "precision", "hidden", "computation", "computation_indexes"}
RULES = {"Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best"}
DATA = ("input_data", "reference_data", "ingestion_program", "scoring_program")
FLAGS = {name for name in SETTINGS | OF_PHASE if name.startswith(("make_", "hide_", "auto_", "can_", "accepts_"))}


def faults_of(bundle: Path) -> list[str]:
    """Return what Codabench would refuse or not understand in a bundle."""
    faults: list[str] = []

    def ask(is_right: object, fault: str) -> None:
        if not is_right:
            faults.append(fault)

    with zipfile.ZipFile(bundle) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    try:
        found = yaml.safe_load(contents["competition.yaml"])
    except (KeyError, yaml.YAMLError):
        return ["no competition.yaml that can be read"]
    ask(found.get("version") == 2, "version: 2")
    ask(set(found) <= SETTINGS, f"unknown settings {set(found) - SETTINGS}")
    ask(isinstance(found.get("title"), str) and 0 < len(found["title"]) <= 256, "title")
    ask(contents.get(found.get("image"), b"").startswith(b"\x89PNG\r\n\x1a\n"), "image")
    ask(contents.get(found.get("terms"), b"").strip(), "terms")
    ask(isinstance(found.get("docker_image"), str), "docker_image")
    for page in found.get("pages") or [{}]:
        ask(page.get("title") and contents.get(page.get("file", ""), b"").strip(), f"page {page}")
    indexes = [task.get("index") for task in found.get("tasks", [])]
    ask(indexes and None not in indexes and len(set(indexes)) == len(indexes), "indexes of tasks")
    for task in found.get("tasks", []):
        ask(set(task) <= OF_TASK, f"unknown in task: {set(task) - OF_TASK}")
        ask(task.get("name") and len(task["name"]) <= 256, "name of task")
        ask("scoring_program" in task, "scoring program")
        for name in DATA:
            ask(name not in task or _is_zip(contents.get(task[name])), f"{name} of task {task['index']}")
        for name in ("ingestion_program", "scoring_program"):
            ask(name not in task or _command(contents[task[name]]), f"command of {name}")
    faults += _faults_of_phases(found.get("phases") or [], set(indexes), contents)
    faults += _faults_of_leaderboards(found.get("leaderboards") or [])
    faults += [f"{name} is no flag" for name in FLAGS & set(found) if not isinstance(found[name], bool)]
    return faults


def _faults_of_phases(
    phases: Sequence[Mapping[str, Any]], tasks: set[object], contents: Mapping[str, bytes]
) -> list[str]:
    faults = [] if phases else ["at least one phase"]
    ended: datetime.datetime | None = None
    for place, phase in enumerate(sorted(phases, key=lambda one: one.get("index", 0))):
        limits = [phase.get(name, 1) for name in ("max_submissions", "max_submissions_per_day", "execution_time_limit")]
        # A time that YAML knows as one loses its hours there, so that it has to be text.
        starts, ends = (phase.get(name) for name in ("start", "end"))
        is_text = isinstance(starts, str) and isinstance(ends, (str, type(None)))
        found = {
            "unknown in phase": set(phase) <= OF_PHASE,
            "name": phase.get("name") and len(phase["name"]) <= 256,
            "tasks": phase.get("tasks") and set(phase["tasks"]) <= tasks,
            "limits": all(isinstance(limit, int) and limit > 0 for limit in limits),
            "flags": all(isinstance(phase[name], bool) for name in FLAGS & set(phase)),
            "files": all(
                _is_zip(contents.get(phase[name])) for name in ("starting_kit", "public_data") if name in phase
            ),
            "first phase": place or not phase.get("auto_migrate_to_this_phase"),
            "times as text": is_text,
        }
        faults += [f"phase {place}: {name}" for name, is_right in found.items() if not is_right]
        if is_text:
            start = datetime.datetime.fromisoformat(str(starts))
            if place and (ended is None or start <= ended):
                faults.append(f"phase {place} must begin after the one before has ended")
            ended = None if ends is None else datetime.datetime.fromisoformat(ends)
            if ended is not None and ended <= start:
                faults.append(f"phase {place} ends before it begins")
    return faults


def _faults_of_leaderboards(boards: Sequence[Mapping[str, Any]]) -> list[str]:
    faults = [] if boards else ["at least one leaderboard"]
    for board in boards:
        columns = board.get("columns") or []
        found = {
            "title": 0 < len(board.get("title", "")) <= 64,
            "key": 0 < len(board.get("key", "")) <= 36,
            "submission rule": board.get("submission_rule", "Add") in RULES,
            "at least one column": columns,
            "columns": all({"title", "key", "index"} <= set(one) <= OF_COLUMN for one in columns),
            "unique indexes": len({one["index"] for one in columns}) == len(columns),
            "primary column": any(one["index"] == board.get("primary_index", 0) for one in columns),
            "unique keys": len({one["key"] for one in columns}) == len(columns),
            "unique titles": len({one["title"] for one in columns}) == len(columns),
            "lengths": all(0 < len(one[name]) <= 36 for one in columns for name in ("title", "key")),
            "sorting": all(one.get("sorting", "desc") in ("asc", "desc") for one in columns),
            "precision": all(isinstance(one.get("precision", 2), int) for one in columns),
            "computation": all(("computation" in one) == ("computation_indexes" in one) for one in columns),
        }
        faults += [f"leaderboard: {name}" for name, is_right in found.items() if not is_right]
    return faults


def _is_zip(content: bytes | None) -> bool:
    return content is not None and zipfile.is_zipfile(io.BytesIO(content))


def _command(program: bytes) -> str | None:
    with zipfile.ZipFile(io.BytesIO(program)) as archive:
        if "metadata.yaml" not in archive.namelist():
            return None
        found: str | None = yaml.safe_load(archive.read("metadata.yaml")).get("command")
        return found


def inner_files(bundle: Path) -> dict[str, bytes]:
    """Return every file of a bundle, those in its inner zip files too: `outer/inner`."""
    with zipfile.ZipFile(bundle) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    for name in [name for name in found if name.endswith(".zip")]:
        with zipfile.ZipFile(io.BytesIO(found[name])) as inner:
            found |= {f"{name}/{one}": inner.read(one) for one in inner.namelist()}
    return found


def run_program(bundle: Path, phase: int, kind: str, submission: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of a phase on a submission, in folders as the worker's container has them, in a new process."""
    files = inner_files(bundle)
    task = yaml.safe_load(files["competition.yaml"])["tasks"][phase]
    is_scoring = kind == "scoring_program"
    places = {"program": kind, **({"input/ref": "reference_data"} if is_scoring else {"input_data": "input_data"})}
    for place, name in places.items():
        with zipfile.ZipFile(io.BytesIO(files[task[name]])) as archive:
            archive.extractall(root / place)
    with zipfile.ZipFile(submission) as archive:
        archive.extractall(root / ("input/res" if is_scoring else "ingested_program"))
    # Codabench leaves a file of its own beside what was submitted.
    if is_scoring:
        (root / "input/res/metadata").write_text("exitCode: 0\n")
    (root / "output").mkdir(exist_ok=True)
    words = shlex.split(str(_command(files[task[kind]])))
    assert words[0] == "python3"
    command = [sys.executable, *(str(root / word[5:]) if word.startswith("/app/") else word for word in words[1:])]
    return subprocess.run(command, cwd=root / "program", capture_output=True, text=True, check=False)


def results_csv(bundle: Path, phase: int, scores: Mapping[str, Mapping[str, float]], path: Path) -> Path:
    """Write the results of a phase as Codabench does: a row a participant, scores in ten decimals by column."""
    found = yaml.safe_load(inner_files(bundle)["competition.yaml"])
    columns, name = found["leaderboards"][0]["columns"], found["tasks"][phase]["name"]
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["Username", *(f"{name}({phase + 7})-{column['title']}" for column in columns)])
        for user, numbers in scores.items():
            cells = [f"{numbers[one['key']]:.10f}" if one["key"] in numbers else "" for one in columns]
            writer.writerow([user, *cells])
    return path


def packed(folder: Path, team: str, path: Path, below: str = "") -> Path:
    """Pack a submission: the files of a folder (below another), and team.txt."""
    with zipfile.ZipFile(path, "a") as archive:
        if "team.txt" not in archive.namelist():
            archive.writestr("team.txt", f"{team}\n")
        for one in sorted(folder.iterdir()):
            archive.write(one, f"{below}{one.name}")
    return path


def read_json(path: Path) -> Any:
    """Read what a program wrote."""
    return json.loads(path.read_text(encoding="utf-8"))
