"""Releases of frames by the public function, from a goal as methods see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

import tokumei as tk
from tokumei.data.release import Release
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TableSearch


def release_of(
    frame: pl.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    *,
    keep: Sequence[str] = (),
    seed: int | None = None,
    reproducible: bool = False,
) -> Release:
    """Anonymize a frame, whose columns with hierarchies are the quasi-identifiers, in the order of its rows."""
    made = tk.anonymize(
        tk.Table(frame, qi=list(hierarchies)),
        method=goal.method,
        requirements_given=goal.requirements,
        loss=goal.loss if isinstance(goal.method, TableSearch) else None,
        suppress=goal.suppression,
        weights=goal.weights,
        prefer=goal.preference,
        numeric=goal.numeric,
        hierarchies=dict(hierarchies),
        keep=keep,
        keep_anyway=True,
        keep_order=True,
        seed=seed,
        reproducible=reproducible,
    )
    assert made.release is not None
    return made.release
