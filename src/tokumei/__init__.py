"""Tokumei: anonymize tables and purchase histories, attack the result, and measure what use is left.

| what you have and want | names |
|---|---|
| data with its roles | `Table`, `History`, `Job`, `Hierarchy`, `Recipe`, `Score` |
| jobs | `inspect`, `audit`, `anonymize`, `attack`, `harden`, `measure`, `compare`, `predict`, `apply` |
| files | `read_frame`, `write_frame`, `read_hierarchy`, `read_hierarchies`, `write_hierarchy` |
| below the jobs | `count_classes`, `ClassCounts`, `Lattice` |
| what can go wrong | `errors` |
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokumei.core import errors
    from tokumei.core.score import Score
    from tokumei.counting.class_counts import ClassCounts
    from tokumei.counting.count import count_classes
    from tokumei.data.files.formats import read_frame, write_frame
    from tokumei.data.history import History
    from tokumei.data.release import Recipe
    from tokumei.data.table import Table
    from tokumei.hierarchy.files import read_hierarchies, read_hierarchy, write_hierarchy
    from tokumei.hierarchy.hierarchy import Hierarchy
    from tokumei.hierarchy.lattice import Lattice
    from tokumei.job.apply_recipe import apply
    from tokumei.job.doors import anonymize, attack, audit, compare, harden, knowledge, measure, predict, sweep
    from tokumei.job.inspect_table import inspect
    from tokumei.job.job_file import Job

# Where each public name lives. Imported on first use, so that `import tokumei` costs nothing.
_HOMES = {
    "Table": "data.table",
    "History": "data.history",
    "Job": "job.job_file",
    "Hierarchy": "hierarchy.hierarchy",
    "Recipe": "data.release",
    "Score": "core.score",
    "inspect": "job.inspect_table",
    "audit": "job.doors",
    "anonymize": "job.doors",
    "attack": "job.doors",
    "harden": "job.doors",
    "measure": "job.doors",
    "compare": "job.doors",
    "predict": "job.doors",
    "sweep": "job.doors",
    "knowledge": "job.doors",
    "apply": "job.apply_recipe",
    "read_frame": "data.files.formats",
    "write_frame": "data.files.formats",
    "read_hierarchy": "hierarchy.files",
    "read_hierarchies": "hierarchy.files",
    "write_hierarchy": "hierarchy.files",
    "Lattice": "hierarchy.lattice",
    "ClassCounts": "counting.class_counts",
    "count_classes": "counting.count",
    "errors": "core",
}

__all__ = [  # noqa: RUF022 - grouped as in the table above.
    "Table", "History", "Job", "Hierarchy", "Recipe", "Score",
    "inspect", "audit", "anonymize", "attack", "harden", "measure", "compare", "predict", "sweep", "knowledge", "apply",
    "read_frame", "write_frame", "read_hierarchy", "read_hierarchies", "write_hierarchy",
    "count_classes", "ClassCounts", "Lattice",
    "errors",
]  # fmt: skip


class _Package(types.ModuleType):
    """Keeps the jobs in sight: a room of the same name, once imported, would stand in the way of its job."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tokumei' has no attribute '{name}'")
    home = importlib.import_module(f"tokumei.{_HOMES[name]}")
    return home.errors if name == "errors" else getattr(home, name)


def __dir__() -> list[str]:
    return __all__
