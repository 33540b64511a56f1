"""Several ways to anonymize one file: what each found, which is chosen, and its files put in place."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokumei.core.errors import CannotAnonymize
from tokumei.core.text import to_json


def without_times(value: Any) -> Any:
    """Take out how long things took, which differs from run to run."""
    if isinstance(value, Mapping):
        return {key: without_times(part) for key, part in value.items() if key != "seconds"}
    return [without_times(part) for part in value] if isinstance(value, (list, tuple)) else value


def use_found(found: Any) -> dict[str, Any]:
    """Return what a dossier keeps of a measured use, with the reasons for measures left out."""
    return {**without_times(found.to_dict()), "reasons": to_json(found.left_out)}


def choose(ways: Sequence[Mapping[str, Any]], by: str) -> Mapping[str, Any]:
    """Return the way with the least of a number; if all ways failed, the first one's reason is raised."""
    worked = [one for one in ways if "error" not in one]
    if not worked:
        raise CannotAnonymize("; ".join(f"{one['method']}: {one['error']}" for one in ways))
    return min(worked, key=lambda one: float("inf") if one.get(by) is None else one[by])


def put(source: Path, target: Path) -> None:
    """Copy a file to its place at once or not at all."""
    draft = target.with_name(f".{target.name}.draft")
    shutil.copyfile(source, draft)
    draft.replace(target)
