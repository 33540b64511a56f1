"""Check a dossier: its files, its signature, what its pages say, and all that can be computed again.

Hashes tell whether a file is as it was. The pages are written again from the numbers, so that neither can be changed
alone. Where the input and the secrets are there, the job is done again, and every field of the dossier is compared.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from tokumei.core.errors import InputError, nearest
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.core.text import Json, JsonView, choice_of
from tokumei.data.files.disk import check_is_file, file_hash
from tokumei.data.files.keys import fingerprint, is_signed_by
from tokumei.inspection.evidence import clauses_of
from tokumei.tasks.dossier import DOSSIER, PUBLIC_NUMBERS, page_texts, signed_bytes
from tokumei.tasks.job_file import JOB, SECRET, SEED, Job
from tokumei.tasks.run_job import read_dossier, run_job

SAME, DIFFERS, GONE = "same", "differs", "not here"
MOST_LISTED = 20
# Numbers may differ in their last digits on another machine.
SLACK = 1e-9
# Fields that stand in the public numbers, too.
TOLD_TWICE = ("job", "date", "reviewer", "expires", "versions", "holds", "bounds", "frameworks_of", "decision")
# Fields whose names are compared: what is in these files is hashed where they lie.
BY_NAME = ("files", "kept_apart", "pages")
# Fields that depend on where files lie or on who signed, and are compared with those.
ELSEWHERE = ("folder", "input", "earlier", "prints", "signature", "versions")


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
    dossier, folder = read_dossier(file), file.parent
    told = None if clause is None else _clause(dossier, clause, file)
    files = file_states(dossier, folder)
    signed_by, found = _signature(dossier, key)
    found += pages_that_differ(dossier, folder)
    lacks = _lacks(folder, dossier)
    if lacks is not None:
        return Verification(files, found[:MOST_LISTED], lacks, signed_by)
    with tempfile.TemporaryDirectory() as scratch:
        again = do_again(dossier, folder, Path(scratch) / "again")
    found += fields_that_differ(dossier, again, folder)
    if told is not None:
        told = {**told, "now": _clause(again, str(clause), file)["figure"]}
    return Verification(files, found[:MOST_LISTED], None, signed_by, told)


def file_states(dossier: JsonView, folder: Path) -> list[tuple[str, str]]:
    """Return for each file that a dossier names whether it is as it was."""
    listed = {dossier["input"]["file"]: dossier["input"]["sha256"], **dossier["files"], **dossier["kept_apart"]}
    listed |= {**dossier.get("pages", {}), **dossier.get("prints", {})}
    if before := dossier.get("earlier"):
        listed[before["file"]] = before["sha256"]
    return [(name, _state(folder / name, wanted)) for name, wanted in listed.items()]


def pages_that_differ(dossier: JsonView, folder: Path) -> list[str]:
    """Return the pages that say something else than the dossier, of which they are written again here."""
    found = [f"{PUBLIC_NUMBERS}: {name}" for name in _told_otherwise(dossier, folder / PUBLIC_NUMBERS)]
    if dossier["versions"].get("tokumei") != version("tokumei"):
        return found
    try:
        written = dict(page_texts(dossier))
    except (LookupError, TypeError, ValueError, AttributeError):
        return [*found, "pages: none can be written from these numbers"]
    there = {name: folder / name for name in written if (folder / name).is_file()}
    said = {name: file.read_text(encoding="utf-8", errors="replace") for name, file in there.items()}
    return found + [
        f"pages: {name} says something else" for name, text in said.items() if _undrawn(text) != _undrawn(written[name])
    ]


def _undrawn(page: str) -> str:
    """Leave the pictures out of a page: where letters stand in them depends on the fonts of a machine."""
    return re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)


def _told_otherwise(dossier: JsonView, file: Path) -> Iterator[str]:
    """Yield the fields that the public numbers have otherwise, which any version can compare."""
    if not file.is_file():
        return
    try:
        public = dict(json.loads(file.read_text(encoding="utf-8")))
    except ValueError:
        yield "no numbers"
        return
    for name in TOLD_TWICE:
        if public.get(name) != dossier.get(name):
            yield name


def do_again(dossier: JsonView, folder: Path, out: Path) -> Json:
    """Do the job of a dossier again, by the day of the dossier and with its seed, and return the new one."""
    job = replace(
        Job.of((folder / JOB).read_text(encoding="utf-8"), folder=folder / dossier["folder"]),
        file=folder / dossier["input"]["file"],
        seed=int(json.loads((folder / SECRET / SEED).read_text(encoding="utf-8"))["seed"]),
        sign=None,
    )
    run_job(job, out, today=dt.date.fromisoformat(dossier["date"]))
    return read_dossier(out / DOSSIER)


def fields_that_differ(dossier: JsonView, again: JsonView, folder: Path) -> list[str]:
    """Return where a dossier differs from the one that was made of the same files."""
    found: list[str] = []
    for part in dict.fromkeys([*dossier, *again]):
        if part in BY_NAME:
            found += _differences(sorted(dossier[part]), sorted(again.get(part, {})), f"{part}, names")
        elif part not in ELSEWHERE:
            found += _differences(dossier.get(part), again.get(part), part)
    found += [f"files: {name}" for name, one in dossier["files"].items() if again["files"].get(name) != one]
    # Where the job and its input lie, as the job says it itself.
    named = Job.of((folder / JOB).read_text(encoding="utf-8"), folder=folder / str(dossier["folder"])).file
    if named.resolve() != (folder / str(dossier["input"]["file"])).resolve():
        found.append(f"folder: the job names {named}")
    return found


def _clause(dossier: JsonView, name: str, file: Path) -> Json:
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


def _figure(figure: JsonView | None) -> str:
    return "–" if figure is None else f"{figure['value']:.6g} {figure['unit']}"


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
