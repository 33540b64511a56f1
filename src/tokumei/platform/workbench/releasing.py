"""What the limited processes do that make a release, or try several, on the folder of a piece of work alone.

Each function calls the library as a notebook would, may be killed at any moment and called again, and writes what it
found beside the file: nothing of anybody's data goes through the database.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.text import Json, JsonView
from tokumei.data.files.disk import file_hash
from tokumei.data.files.formats import read_beside, read_frame
from tokumei.data.history import History, read_history
from tokumei.data.release import Recipe
from tokumei.platform.jobs.child import refusing
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.column_pictures import first_rows
from tokumei.reports.evaluation import default_grid, possible_ways
from tokumei.tasks.anonymize_table import apply
from tokumei.tasks.compare_table import USUAL_KS, frontier_table
from tokumei.tasks.dossier import report_table
from tokumei.tasks.job_file import SECRET, SEED, Job, table_of
from tokumei.tasks.measure_table import correlations, history_before_after
from tokumei.tasks.report_history import sweep_history
from tokumei.tasks.row_numbers import rows_of_column
from tokumei.tasks.run_job import run_job

STARTED = ".started"
# The strongest attacks that fit in the time: by weak ones, people seem safe who are not.
FRONTIER_WAYS, FRONTIER_MINUTES = 12, 2


def release(asked: JsonView) -> Json:
    """Do the job of the job file, as `tokumei run` does; one that was broken off goes on where it was."""
    folder = Path(asked["folder"])
    with refusing():
        job, out = Job.read(folder / files.JOB), folder / files.OUT
        _make_room(job, out)
        run_job(job, out, force=True)
        released = _read_release(out)
        shown: dict[str, object] = {"first_rows": {"columns": released.columns, "rows": first_rows(released)}}
        if job.kind == "table":
            shown["correlations"] = correlations(table_of(job)[0], released)
        else:
            shown["columns"] = history_before_after(read_history(str(job.file), job.reading), released)
        files.write(folder, files.RESULT, shown)
    return {}


def _make_room(job: Job, out: Path) -> None:
    """Remove what another job left, but for its seed, by which the same job gives the same release."""
    digest = digest_of(job.where.text)
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


def _read_release(out: Path) -> pl.DataFrame:
    return read_frame(
        next(out / name for name in ("release.parquet", "published.csv", "release.csv") if (out / name).exists())
    )


def attack_others(asked: JsonView) -> Json:
    """Attack and measure a release that others made of the file, and write the report."""
    folder = Path(asked["folder"])
    with refusing():
        job, wish = Job.read(folder / files.JOB), files.read(folder / files.OTHERS, files.ASKED)
        original, sent = table_of(job)[0], folder / str(wish["release"])
        release: Any = str(sent)
        rows = None
        if wish["whose"] == "column":
            frame = read_beside(sent, job.reading, list(original.roles))
            rows = rows_of_column(frame, wish["column"], wish["file"])
            release = frame.drop(wish["column"])
        control, population = (
            str(folder / str(wish[name])) if wish.get(name) else None for name in ("control", "population")
        )
        done = report_table(
            original,
            release,
            rows=rows,
            in_order=wish["whose"] == "in_order",
            threat=wish["threat"] or None,
            control=control,
            population=population,
            name=wish["file"],
            reading=job.reading,
        )
        # Where the files lie on this machine is nobody's business.
        named = {"input": {**done.dossier["input"], "file": job.file.name}, "files": {wish["file"]: file_hash(sent)}}
        done = replace(done, dossier={**done.dossier, **named})
        found = folder / files.OTHERS_FOUND
        found.mkdir(mode=0o700, exist_ok=True)
        for language, name in files.OTHERS_REPORTS.items():
            done.document(language).write(found / name)
        results = done.dossier["results"]
        told = {name: results[name] for name in ("attacks", "left_out", "threat", "copies")}
        told |= {"k": results["after"]["k"], "rows": original.n_rows, "released": results["profile"]["released"]}
        told |= {"file": wish["file"], "job": digest_of(job.where.text), "asked": wish}
        files.write(found, files.FOUND, told)
    return {}


def digest_of(text: str) -> str:
    """Return the hash of a job file, by which it is seen that it was changed."""
    return hashlib.sha256(text.encode()).hexdigest()


def apply_next(asked: JsonView) -> Json:
    """Generalize another file of the same columns as the recipe of the release says, and check that it holds."""
    folder = Path(asked["folder"])
    beside = folder / files.NEXT
    with refusing():
        wish = files.read(beside, files.ASKED)
        recipe = Recipe.load(folder / files.OUT / SECRET / "recipe.json")
        changed = {one["column"] for one in recipe.options.get("prepared", ())}
        keys = {
            one.column: one.key
            for one in Job.read(folder / files.JOB).preparations
            if one.key is not None and one.column in changed
        }
        applied = apply(recipe, beside / wish["file"], unseen=wish["unseen"], keys=keys)
        applied.save(beside / files.NEXT_RELEASE, force=True)
        files.write(beside, files.APPLIED, applied.to_dict() | {"file": wish["file"]})
    return {}


def frontier(asked: JsonView) -> dict[str, object]:
    """Try releases that promise more and more."""
    folder, kind = Path(asked["folder"]), str(asked["kind"])
    with refusing():
        job = Job.read(folder / files.JOB)
        if kind == "history":
            found = _sweep(read_history(str(job.file), job.reading), folder / ".sweep")
        else:
            found = _table_frontier(job)
        files.write(folder, files.FRONTIER, found)
    return {}


def _table_frontier(job: Job) -> dict[str, object]:
    table = table_of(job)[0]
    methods = dict(job.methods)
    asked = job.request("optimal", {}, 0)
    if len(methods) == 1:
        return frontier_table(table, methods=methods, asked=asked).to_dict()
    # Of several methods fewer releases each, so that there are about twelve in all.
    ks = USUAL_KS[:: 1 + len(methods) // 4] if len(methods) < 4 else (5, 20)
    ks = ks[: max(2, 12 // len(methods))]
    return frontier_table(table, methods=methods, ks=ks, shares=(0.05,), asked=asked).to_dict()


def _sweep(history: History, folder: Path) -> Json:
    """Try twelve pipelines of the usual ones that the history allows; what was tried before is not tried again."""
    ways, left_out = possible_ways(default_grid(history.absent), history)
    every = max(1, -(-len(ways) // FRONTIER_WAYS))
    grid = dict(list(ways.items())[::every])
    swept = sweep_history(history, folder, grid=grid, minutes=FRONTIER_MINUTES).to_dict()
    releases = [
        {
            "method": one["name"],
            "pipeline": grid[one["name"]]["step"],
            "loss": one["utility"],
            "found": one["found"],
            "attributed": one["attributed"],
            "is_on_frontier": one["is_on_frontier"],
            **({"error": one["left_out"]} if one["utility"] is None or one["found"] is None else {}),
        }
        for one in swept["ways"]
    ]
    not_done = {**left_out, **swept["left_out"]}
    return {
        "loss_name": "worst of the losses measured",
        "releases": releases,
        "left_out": not_done,
        "said": swept["sampled"],
    }
