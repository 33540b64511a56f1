"""Do the job of a job file, and check a dossier by doing it again.

What is finished is kept, so that a second run goes on where one stopped. Checking compares the hashes of all files that
are there, and everything that can be computed again from them.
"""

from __future__ import annotations

import datetime as dt
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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
from tokumei.data.files.keys import fingerprint, is_signed_by, read_private
from tokumei.inspection.evidence import clauses_of
from tokumei.tasks.dossier import DOSSIER, INTERNAL, PUBLIC, signed_bytes, write_dossier
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
            parts.append(
                Sentence(
                    f"{self.decision['outcome']} The reasons are in {INTERNAL}.html; {PUBLIC}.html may be published."
                )
            )
        if self.steps_found:
            parts.append(Sentence(f"Done before, and nothing changed: {', '.join(self.steps_found)}."))
        return parts

    def __repr__(self) -> str:
        return f"JobResult({self.job.name}, by {self.results.get('chosen')}, holds {self.holds})"


def run_job(job: Job, out: Path, *, force: bool = False, today: dt.date | None = None) -> JobResult:
    """Do a job and write everything to a folder; a folder of another kind is left alone unless `force`.

    today: the day by which the evidence counts ages and reviews; another one when a dossier is checked later.
    """
    check_is_file(job.file)
    key = None if job.sign is None else read_private(job.sign)
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
    return replace(done, decision=_read(write_dossier(done, key, today=today))["decision"])


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


SAME, DIFFERS, GONE = "same", "differs", "not here"
MOST_LISTED = 20
# Numbers may differ in their last digits on another machine.
SLACK = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Result):
    """What is as the dossier says, what differs, and what could not be computed again."""

    files: Sequence[tuple[str, str]]
    differences: Sequence[str]
    not_recomputed: str | None
    # Short form of the key that signed, None where nobody did.
    signed_by: str | None = None
    # One clause with its figure, and with that which was computed now.
    clause: JsonView | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing differs; a file that is not here is no evidence either way, but for the release's own."""
        return not self.differences and all(state != DIFFERS for _, state in self.files)

    def to_dict(self) -> Json:
        """Return the result as `tokumei verify --json` prints it."""
        return {
            "holds": self.holds,
            "files": dict(self.files),
            "differences": list(self.differences),
            "recomputed": self.not_recomputed is None,
            "why_not": self.not_recomputed,
            "signed_by": self.signed_by,
            **({} if self.clause is None else {"clause": dict(self.clause)}),
        }

    def sections(self) -> Sequence[Section]:
        """Return the files, what differs, and what was not computed again."""
        said = (
            "Everything was computed again."
            if self.not_recomputed is None
            else f"Not computed again: {self.not_recomputed}."
        )
        parts: list[Section] = [
            Facts({"holds": self.holds, "signed by": self.signed_by or "nobody"}),
            Rows(["file", "state"], [list(one) for one in self.files]),
        ]
        if self.clause is not None:
            parts.append(
                Facts({**self.clause, "figure": _figure(self.clause["figure"]), "now": _figure(self.clause.get("now"))})
            )
        return [*parts, *(Sentence(f"DIFFERS  {one}") for one in self.differences), Sentence(said)]


def verify_dossier(path: Path | str, *, key: str | None = None, clause: str | None = None) -> Verification:
    """Hash every file of a dossier and, where its input and its secrets are there, do its job again and compare.

    key: the public key that must have signed it; a signature is checked wherever there is one.
    clause: the id of a clause, whose figure is then told as it was and as it is computed now.
    """
    file = check_is_file(Path(path))
    dossier = _read(file)
    told = None if clause is None else _clause(dossier, clause, file)
    folder = file.parent
    listed = {dossier["input"]["file"]: dossier["input"]["sha256"], **dossier["files"], **dossier["kept_apart"]}
    if before := dossier.get("earlier"):
        listed[before["file"]] = before["sha256"]
    files = [(name, _state(folder / name, wanted)) for name, wanted in {**listed, **dossier.get("pages", {})}.items()]
    signed_by, found = _signature(dossier, key)
    lacks = _lacks(folder, dossier)
    if lacks is not None:
        return Verification(files, found, lacks, signed_by)
    job = replace(
        Job.of((folder / JOB).read_text(encoding="utf-8"), folder=folder / dossier["folder"]),
        file=folder / dossier["input"]["file"],
        seed=int(json.loads((folder / SECRET / SEED).read_text(encoding="utf-8"))["seed"]),
        sign=None,
    )
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "again"
        run_job(job, out, today=dt.date.fromisoformat(dossier["date"]))
        again = _read(out / DOSSIER)
    found += [f"files: {name}" for name, one in dossier["files"].items() if again["files"].get(name) != one]
    for part in ("results", "bounds", "holds", "context", "frameworks", "decision"):
        found += _differences(dossier[part], again[part], part)
    if told is not None:
        told = {**told, "now": _clause(again, str(clause), file)["figure"]}
    return Verification(files, found[:MOST_LISTED], None, signed_by, told)


def _clause(dossier: JsonView, name: str, file: Path) -> dict[str, object]:
    """Find a clause by its id; only one that has a figure can be computed again."""
    listed = {one["id"]: one for one in clauses_of(dossier["frameworks"])}
    if name not in listed:
        raise InputError.of(
            choice_of([nearest(name, list(listed)) or next(iter(listed))]), file=file, option="--clause", value=name
        )
    return {key: listed[name][key] for key in ("id", "title", "asks", "verdict", "evidence", "figure")}


def _signature(dossier: JsonView, wanted: str | None) -> tuple[str | None, list[str]]:
    """Return the short form of the key that signed, and what is wrong with the signature."""
    given = dossier.get("signature")
    if given is None:
        return None, [] if wanted is None else [f"signature: none, and {fingerprint(wanted)} should have signed"]
    try:
        public, value = str(given["key"]), str(given["value"])
    except (TypeError, KeyError):
        return None, ["signature: no key and value"]
    short = fingerprint(public)
    if not is_signed_by(public, signed_bytes(dossier), value):
        return short, [f"signature: the dossier was changed since {short} signed it"]
    return short, [] if wanted in (None, public) else [f"signature: by {short}, not by {fingerprint(str(wanted))}"]


def _figure(figure: Mapping[str, object] | None) -> str:
    return "–" if figure is None else f"{figure['value']:.6g} {figure['unit']}"


def _read(file: Path) -> Json:
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


def _state(path: Path, wanted: str) -> str:
    return GONE if not path.is_file() else SAME if file_hash(path) == wanted else DIFFERS


def _lacks(folder: Path, dossier: JsonView) -> str | None:
    """Describe what is missing to do the job again."""
    needed = [folder / dossier["input"]["file"], folder / JOB, folder / SECRET / SEED]
    if before := dossier.get("earlier"):
        needed.append(folder / before["file"])
    gone = [one.name for one in needed if not one.is_file()]
    if gone:
        return f"{', '.join(gone)} not here"
    used, here = dossier["versions"]["tokumei"], version("tokumei")
    return None if used == here else f"made by version {used}, and this is {here}"


def _differences(one: object, other: object, place: str) -> Iterator[str]:
    """Yield where two results differ."""
    if place.endswith((": left_out", ": reasons")) and isinstance(one, Mapping) and isinstance(other, Mapping):
        # Reasons name files, which lie elsewhere now.
        one, other = sorted(one), sorted(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in [*one, *(key for key in other if key not in one)]:
            yield from _differences(one.get(key), other.get(key), f"{place}: {key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True), start=1):
            yield from _differences(left, right, f"{place}: {at}")
    elif isinstance(one, float) and isinstance(other, (int, float)):
        if abs(one - other) > SLACK * max(1.0, abs(one)):
            yield f"{place}: {one:g} in the dossier, {other:g} now"
    elif one != other:
        yield f"{place}: {one} in the dossier, {other} now"
