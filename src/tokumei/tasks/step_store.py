"""Finished steps of a long job: each is kept with all that it depends on, and done again only if that changed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.data.files.atomic import write_text

FOLDER = "steps"
# Raised whenever a number that steps keep comes to mean another thing, so that none from before is taken for it.
RESULTS = 3


@dataclass
class StepStore:
    """Steps of one folder: a JSON file each, with the key that it was done under and the hashes of what it wrote."""

    folder: Path
    done: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def run(
        self, name: str, depends_on: Mapping[str, Any], work: Callable[[], dict[str, Any]], files: Sequence[Path] = ()
    ) -> dict[str, Any]:
        """Run a step, or return its earlier result if nothing it depends on changed and its files are as written."""
        decided = json.dumps([RESULTS, depends_on], sort_keys=True, default=str)
        key = hashlib.sha256(decided.encode()).hexdigest()
        path = self.folder / FOLDER / f"{name}.json"
        kept = _read(path)
        if kept is not None and kept.get("key") == key and kept.get("files") == _hashes(files):
            self.found.append(name)
            result: dict[str, Any] = kept["result"]
            return result
        # As it will be read again, so that a first run and a second one give the same.
        result = json.loads(json.dumps(_finite(work()), default=str))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({"key": key, "files": _hashes(files), "result": result}, ensure_ascii=False) + "\n")
        self.done.append(name)
        return result


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and bytes of all files in a folder."""
    digest = hashlib.sha256()
    listed = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for one in listed:
        if path.is_dir():
            digest.update(f"{one.relative_to(path)}\0".encode())
        with one.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _finite(value: Any) -> Any:
    """Write what JSON has no number for as nothing."""
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _hashes(files: Sequence[Path]) -> dict[str, str | None]:
    return {one.name: file_hash(one) if one.exists() else None for one in files}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # A step that was being written when the machine stopped is done again.
        return None
    return found if isinstance(found, dict) else None
