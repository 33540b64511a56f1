"""Do the job of a job file: what is finished is kept, so that a second run goes on where one stopped."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.registry import attack_title
from tokumei.core.errors import InputError, nearest
from tokumei.core.progress import step
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.core.seeds import fresh_seed
from tokumei.core.text import Json, JsonView, choice_of
from tokumei.data.files.disk import check_is_file, file_hash, write_text
from tokumei.data.files.keys import read_private
from tokumei.reports.evidence_pages import why_so
from tokumei.reports.page import Document, browser_for
from tokumei.tasks.dossier import INTERNAL, PUBLIC, write_dossier
from tokumei.tasks.job_file import JOB, SECRET, SEED, Bound, Job
from tokumei.tasks.request import FILES
from tokumei.tasks.run_steps import FOLDER, HistoryWork, StepStore, TableWork


@dataclass(frozen=True, eq=False, repr=False)
class JobResult(Result):
    """What a job gave: the release that was chosen, everything that was measured, and whether all bounds hold."""

    job: Job
    out: Path | None
    results: JsonView
    bounds: Sequence[JsonView]
    steps_done: Sequence[str]
    steps_found: Sequence[str]
    released: pl.DataFrame | None = None
    # Whether to release, as the dossier says; None where nothing was done.
    decision: JsonView | None = None

    @property
    def holds(self) -> bool:
        """Whether every bound holds."""
        return all(one["holds"] for one in self.bounds)

    def to_dict(self) -> Json:
        """Return the result as `tokumei run --json` prints it."""
        return {
            "job": self.job.name,
            "kind": self.job.kind,
            "holds": self.holds,
            "bounds": list(self.bounds),
            **self.results,
            **({} if self.decision is None else {"decision": dict(self.decision)}),
            "steps": {"done": list(self.steps_done), "kept": list(self.steps_found)},
            "out": None if self.out is None else str(self.out),
        }

    def sections(self) -> Sequence[Section]:
        """Return what was chosen, the numbers, the bounds, and which steps were done before."""
        numbers = numbers_of(self.results)
        chosen = self.results.get("chosen")
        facts = {"job": self.job.name, "method": chosen, "holds": self.holds, "out": self.out}
        if self.results.get("may_suppress"):
            facts["may suppress"] = f"{self.results['may_suppress']:.3g} of the rows"
        parts: list[Section] = [Facts(facts)]
        ways = [[one["method"], one.get("loss"), one.get("error", "")] for one in self.results.get("methods", [])]
        if ways:
            parts.append(Rows(["method", "loss", "why not"], ways))
        if numbers:
            parts.append(Rows(["number", "value"], [list(pair) for pair in numbers.items()], "What can be bounded"))
        parts += [
            Sentence(f"{'holds' if one['holds'] else 'FAILS'}  {one['bound']}: {one['value']:.4g}")
            for one in self.bounds
        ]
        if self.decision is not None:
            told = why_so(Document(self.job.name), self.decision)
            parts += [
                Sentence(self.decision["outcome"]),
                *(Sentence(f"{at}. {text}") for at, text in enumerate(told, start=1)),
                Sentence(f"The evidence is in {INTERNAL}.html; {PUBLIC}.html may be published."),
            ]
        if self.steps_found:
            parts.append(Sentence(f"Done before, and nothing changed: {', '.join(self.steps_found)}."))
        return parts

    def __repr__(self) -> str:
        return f"JobResult({self.job.name}, by {self.results.get('chosen')}, holds {self.holds})"


def run_job(job: Job, out: Path, *, force: bool = False, pdf: bool = False, today: dt.date | None = None) -> JobResult:
    """Do a job and write everything to a folder; a folder of another kind is left alone unless `force`.

    pdf: print the pages of the dossier too, where Chromium is installed.
    today: the day by which the evidence counts ages and reviews; another one when a dossier is checked later.
    """
    check_is_file(job.file)
    key = None if job.sign is None else read_private(job.sign)
    if pdf:
        browser_for(out / f"{INTERNAL}.pdf")
    _check_folder(job, out, force=force)
    secret = out / SECRET
    secret.mkdir(parents=True, exist_ok=True)
    secret.chmod(0o700)
    seed = _seed(job, secret / SEED)
    store = StepStore(out)
    known = {"job": job.where.text, "input": file_hash(job.file), "seed": seed, "tokumei": version("tokumei")}
    known["hierarchies"] = {name: file_hash(one) for name, one in job.hierarchies.items() if isinstance(one, Path)}
    if beside := {name: file_hash(Path(job.requirements[name])) for name in FILES if name in job.requirements}:
        known["beside"] = beside
    if job.earlier is not None:
        known["earlier"] = file_hash(job.earlier)
    known["keys"] = [file_hash(one.key) for one in job.preparations if one.key is not None and one.key.is_file()]
    work: Any = TableWork(job, out, seed) if job.kind == "table" else HistoryWork(job, out, seed)
    planned = work.steps()
    with step(f"doing {job.name}", len(planned)) as bar:
        for name, do, files in planned:
            work.results[name] = store.run(name, known, do, files)
            bar.advance()
    results = work.gather()
    bounds = check_bounds(job, numbers_of(results))
    write_text(out / JOB, job.where.text)
    done = JobResult(job, out, results, bounds, store.done, store.found, work.released)
    return replace(done, decision=read_dossier(write_dossier(done, key, today=today, pdf=pdf))["decision"])


def plan_job(job: Job) -> JobResult:
    """Check a job against its file and say what would be done, without doing it."""
    check_is_file(job.file)
    if job.sign is not None:
        read_private(job.sign)
    work: Any = TableWork(job, Path(), 0) if job.kind == "table" else HistoryWork(job, Path(), 0)
    work.check()
    return JobResult(job, None, {"planned": [name for name, _, _ in work.steps()]}, [], [], [])


def numbers_of(results: JsonView) -> dict[str, float]:
    """Return every number that a bound may name: facts of the release, risks, attacks and measures."""
    found: Json = {name: results.get(name) for name in ("k", "loss", "suppressed")}
    for name, score in results.get("after", {}).get("measures", {}).get("classes", {}).items():
        found[name] = score["value"]
    for name, score in results.get("after", {}).get("measures", {}).get("worst", {}).items():
        found[name] = score["value"]
    for attack in results.get("attacks", []):
        title = attack_title(attack["attack"], attack.get("sensitive"))
        for kind, score in attack["scores"].items():
            found[f"{attack['threat']}: {title} {kind}"] = score["value"]
    for name, score in results.get("use", {}).get("scores", {}).items():
        found.setdefault(name, score["value"])
    return {name: float(value) for name, value in found.items() if value is not None}


def check_bounds(job: Job, numbers: Mapping[str, float]) -> list[Json]:
    """Hold every bound of a job against its number; a number that does not exist is a slip of the file."""
    checked = []
    for one in job.bounds:
        if one.of not in numbers:
            near = nearest(one.of, list(numbers))
            expected = f"'{near}'" if near else choice_of(numbers)
            raise InputError.of(expected, file=job.where.file, line=one.line, column="[bound] of", value=one.of)
        value = numbers[one.of]
        ends = {"of": one.of, "least": one.least, "most": one.most}
        checked.append({"bound": _in_words(one), **ends, "value": value, "holds": one.holds(value)})
    return checked


def _in_words(bound: Bound) -> str:
    ends = [f"at least {bound.least:g}"] if bound.least is not None else []
    ends += [f"at most {bound.most:g}"] if bound.most is not None else []
    return f"{bound.of} {' and '.join(ends)}"


def _check_folder(job: Job, out: Path, *, force: bool) -> None:
    """Refuse a folder that holds something else; one of an earlier run is gone on with."""
    if out.exists() and not out.is_dir():
        raise InputError.of("a folder, not a file", file=out)
    if job.file.resolve().is_relative_to(out.resolve()) and out.exists():
        raise InputError.of(f"a folder without the input {job.file} in it", file=out)
    is_ours = (out / FOLDER).is_dir() or (out / SECRET).is_dir()
    if out.exists() and any(out.iterdir()) and not is_ours and not force:
        expected = "a new or empty folder, that of an earlier run, or --force (in Python: force=True)"
        raise InputError.of(expected, file=out)


def _seed(job: Job, path: Path) -> int:
    """Return the seed of the job, or one that nobody can guess and that a second run finds again."""
    if job.seed is not None:
        write_text(path, json.dumps({"seed": job.seed}) + "\n")
        return job.seed
    try:
        return int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        seed = fresh_seed()
        write_text(path, json.dumps({"seed": seed}) + "\n")
        return seed


def read_dossier(file: Path) -> Json:
    """Read a dossier, as `tokumei run` writes it."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError.of("a dossier, as tokumei run writes it", file=file) from None
    wanted = (
        *("input", "files", "kept_apart", "results", "bounds", "versions", "folder"),
        *("date", "context", "frameworks", "decision"),
    )
    missing = [key for key in wanted if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError.of(f"a dossier, as tokumei run writes it, with {', '.join(missing)}", file=file)
    return dict(found)
