"""Check a dossier: hashes of all files that are there, and everything that can be computed again from them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.data.files.keys import fingerprint, is_signed_by
from tokumei.data.files.source import check_is_file
from tokumei.tasks.dossier import DOSSIER, signed_bytes
from tokumei.tasks.job_file import Job
from tokumei.tasks.run_job import JOB, SECRET, SEED, run_job
from tokumei.tasks.step_store import file_hash

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

    @property
    def holds(self) -> bool:
        """Whether nothing differs; a file that is not here is no evidence either way, but for the release's own."""
        return not self.differences and all(state != DIFFERS for _, state in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `tokumei verify --json` prints it."""
        return {
            "holds": self.holds,
            "files": dict(self.files),
            "differences": list(self.differences),
            "recomputed": self.not_recomputed is None,
            "why_not": self.not_recomputed,
            "signed_by": self.signed_by,
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
        return [*parts, *(Sentence(f"DIFFERS  {one}") for one in self.differences), Sentence(said)]


def verify_dossier(path: Path | str, *, key: str | None = None) -> Verification:
    """Hash every file of a dossier and, where its input and its secrets are there, do its job again and compare.

    key: the public key that must have signed it; a signature is checked wherever there is one.
    """
    file = check_is_file(Path(path))
    dossier = _read(file)
    folder = file.parent
    listed = {dossier["input"]["file"]: dossier["input"]["sha256"], **dossier["files"], **dossier["kept_apart"]}
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
        run_job(job, out)
        again = _read(out / DOSSIER)
    found += [f"files: {name}" for name, one in dossier["files"].items() if again["files"].get(name) != one]
    for part in ("results", "bounds", "holds"):
        found += _differences(dossier[part], again[part], part)
    return Verification(files, found[:MOST_LISTED], None, signed_by)


def _signature(dossier: Mapping[str, Any], wanted: str | None) -> tuple[str | None, list[str]]:
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


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError.of("a dossier, as tokumei run writes it", file=file) from None
    wanted = ("input", "files", "kept_apart", "results", "bounds", "versions", "folder")
    missing = [key for key in wanted if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError.of(f"a dossier, as tokumei run writes it, with {', '.join(missing)}", file=file)
    return dict(found)


def _state(path: Path, wanted: str) -> str:
    return GONE if not path.is_file() else SAME if file_hash(path) == wanted else DIFFERS


def _lacks(folder: Path, dossier: Mapping[str, Any]) -> str | None:
    """Describe what is missing to do the job again."""
    needed = [folder / dossier["input"]["file"], folder / JOB, folder / SECRET / SEED]
    gone = [one.name for one in needed if not one.is_file()]
    if gone:
        return f"{', '.join(gone)} not here"
    used, here = dossier["versions"]["tokumei"], version("tokumei")
    return None if used == here else f"made by version {used}, and this is {here}"


def _differences(one: Any, other: Any, place: str) -> Iterator[str]:
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
