"""Tokumei: anonymize tables and purchase histories, attack the result, and measure what use is left.

| what you have and want | names |
|---|---|
| data with its roles | `Table`, `History`, `Job`, `Hierarchy`, `Recipe`, `Score` |
| tasks | `inspect`, `audit`, `anonymize`, `attack`, `harden`, `measure`, `compare`, `predict`, `apply` |
| whole pages and jobs | `report`, `run` |
| files | `read_frame`, `write_frame`, `read_hierarchy`, `read_hierarchies`, `write_hierarchy` |
| in a pipeline of scikit-learn | `Anonymizer` |
| below the jobs | `count_classes`, `ClassCounts`, `Lattice`, `parse_label` |
| what can go wrong | `errors` |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokumei.core import errors
    from tokumei.core.score import Score
    from tokumei.data.files.formats import read_frame, write_frame
    from tokumei.data.history import History
    from tokumei.data.release import Recipe
    from tokumei.data.table import Table
    from tokumei.engines.class_counts import ClassCounts
    from tokumei.engines.count import count_classes
    from tokumei.hierarchies.files import read_hierarchies, read_hierarchy, write_hierarchy
    from tokumei.hierarchies.hierarchy import Hierarchy
    from tokumei.hierarchies.lattice import Lattice
    from tokumei.hierarchies.parsed_labels import parse_label
    from tokumei.tasks.anonymize_table import apply
    from tokumei.tasks.api import (
        anonymize,
        attack,
        audit,
        compare,
        harden,
        knowledge,
        measure,
        predict,
        report,
        run,
        sweep,
    )
    from tokumei.tasks.estimator import Anonymizer
    from tokumei.tasks.inspect_table import inspect
    from tokumei.tasks.job_file import Job

# Where each public name lives. Imported on first use, so that `import tokumei` costs nothing.
_HOMES = {
    "Table": "data.table",
    "History": "data.history",
    "Job": "tasks.job_file",
    "Hierarchy": "hierarchies.hierarchy",
    "Recipe": "data.release",
    "Score": "core.score",
    "inspect": "tasks.inspect_table",
    "audit": "tasks.api",
    "anonymize": "tasks.api",
    "attack": "tasks.api",
    "harden": "tasks.api",
    "measure": "tasks.api",
    "compare": "tasks.api",
    "predict": "tasks.api",
    "sweep": "tasks.api",
    "knowledge": "tasks.api",
    "report": "tasks.api",
    "run": "tasks.api",
    "apply": "tasks.anonymize_table",
    "Anonymizer": "tasks.estimator",
    "read_frame": "data.files.formats",
    "write_frame": "data.files.formats",
    "read_hierarchy": "hierarchies.files",
    "read_hierarchies": "hierarchies.files",
    "write_hierarchy": "hierarchies.files",
    "Lattice": "hierarchies.lattice",
    "parse_label": "hierarchies.parsed_labels",
    "ClassCounts": "engines.class_counts",
    "count_classes": "engines.count",
    "errors": "core",
}

# What others call a thing that has another name here.
OTHER_NAMES = {
    "count": "count_classes",
    "load": "read_frame",
    "read_csv": "read_frame",
    "read_table": "read_frame",
    "write_csv": "write_frame",
    "read_recipe": "Recipe.load",
    "score": "measure",
    "evaluate": "measure",
    "generalize": "anonymize",
    "protect": "anonymize",
    "risk": "audit",
    "profile": "inspect",
    "transform": "apply",
    "job": "Job",
}

__all__ = [  # noqa: RUF022 - grouped as in the table above.
    "Table", "History", "Job", "Hierarchy", "Recipe", "Score",
    "inspect", "audit", "anonymize", "attack", "harden", "measure", "compare", "predict", "sweep", "knowledge", "apply",
    "report", "run",
    "Anonymizer",
    "read_frame", "write_frame", "read_hierarchy", "read_hierarchies", "write_hierarchy",
    "count_classes", "ClassCounts", "Lattice", "parse_label",
    "errors",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        if name.startswith("_"):
            raise AttributeError(f"module 'tokumei' has no attribute '{name}'")
        from tokumei.core.errors import UnknownName

        raise UnknownName("tokumei", name, __all__, OTHER_NAMES)
    home = importlib.import_module(f"tokumei.{_HOMES[name]}")
    return home.errors if name == "errors" else getattr(home, name)


def __dir__() -> list[str]:
    return __all__
