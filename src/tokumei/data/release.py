"""A release: what is published, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

import polars as pl

# What decides the bytes of a release besides its recipe.
VERSIONED = ("tokumei", "numpy", "polars")


@dataclass(frozen=True)
class Recipe:
    """All that is needed to make the same release again from the same original.

    >>> import tokumei as tk
    >>> tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2).recipe.method
    'optimal'
    """

    method: str
    options: Mapping[str, Any]
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: {name: version(name) for name in VERSIONED})
    # What the method found out on its way and promises, such as a bound; nothing that making it again needs.
    found: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "found" or value}


@dataclass(frozen=True)
class Release:
    """The released frame with all that is needed to verify it, explain it and apply it again.

    `rows` holds for each released row the row of the original it came from, where the method keeps that
    (None where it does not). `pseudonyms` has the columns customer, period and pseudonym; `mapping` has for
    each generalized column a frame of value and label. All three are secrets of the publisher.
    """

    frame: pl.DataFrame
    recipe: Recipe
    rows: pl.Series | None = None
    pseudonyms: pl.DataFrame | None = None
    mapping: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rows is not None and len(self.rows) != self.frame.height:
            raise ValueError("rows must name one original row for each released row")
