"""Tokumei: anonymize tables and purchase histories, attack the result, and measure what use is left."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokumei.anonymize.apply import apply_recipe
    from tokumei.anonymize.goal import Goal
    from tokumei.anonymize.tables import anonymize_table
    from tokumei.core.errors import (
        CannotAnonymize,
        DuplicatePart,
        InputError,
        MissingExtra,
        NotAllowed,
        NotFound,
        PromiseBroken,
        TokumeiError,
        UnknownPart,
    )
    from tokumei.core.score import Score
    from tokumei.counting.class_counts import ClassCounts
    from tokumei.counting.count import count_classes, write_recoded
    from tokumei.data.files.formats import read_frame, write_frame
    from tokumei.data.history import History
    from tokumei.data.release import Recipe, Release
    from tokumei.data.table import Role, Table
    from tokumei.hierarchy.files import read_hierarchies, read_hierarchy, write_hierarchy
    from tokumei.hierarchy.hierarchy import Hierarchy
    from tokumei.hierarchy.lattice import Lattice
    from tokumei.measure.audit import audit

# Where each public name lives. Imported on first use, so that `import tokumei` costs nothing.
_HOMES = {
    "CannotAnonymize": "core.errors",
    "ClassCounts": "counting.class_counts",
    "DuplicatePart": "core.errors",
    "Goal": "anonymize.goal",
    "Hierarchy": "hierarchy.hierarchy",
    "History": "data.history",
    "InputError": "core.errors",
    "Lattice": "hierarchy.lattice",
    "MissingExtra": "core.errors",
    "NotAllowed": "core.errors",
    "NotFound": "core.errors",
    "PromiseBroken": "core.errors",
    "Recipe": "data.release",
    "Release": "data.release",
    "Role": "data.table",
    "Score": "core.score",
    "Table": "data.table",
    "TokumeiError": "core.errors",
    "UnknownPart": "core.errors",
    "anonymize_table": "anonymize.tables",
    "apply_recipe": "anonymize.apply",
    "audit": "measure.audit",
    "count_classes": "counting.count",
    "read_frame": "data.files.formats",
    "read_hierarchies": "hierarchy.files",
    "read_hierarchy": "hierarchy.files",
    "write_frame": "data.files.formats",
    "write_hierarchy": "hierarchy.files",
    "write_recoded": "counting.count",
}

__all__ = [
    "CannotAnonymize",
    "ClassCounts",
    "DuplicatePart",
    "Goal",
    "Hierarchy",
    "History",
    "InputError",
    "Lattice",
    "MissingExtra",
    "NotAllowed",
    "NotFound",
    "PromiseBroken",
    "Recipe",
    "Release",
    "Role",
    "Score",
    "Table",
    "TokumeiError",
    "UnknownPart",
    "anonymize_table",
    "apply_recipe",
    "audit",
    "count_classes",
    "read_frame",
    "read_hierarchies",
    "read_hierarchy",
    "write_frame",
    "write_hierarchy",
    "write_recoded",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tokumei' has no attribute '{name}'")
    return getattr(importlib.import_module(f"tokumei.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
