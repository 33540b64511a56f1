"""Made services counted together: the k of each at any node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tokumei.data.made_services import MOST_SERVICES, PREFECTURES, make_services
from tokumei.hierarchies.lattice import Node
from tokumei_studies.results._thesis import ATTRIBUTES, Floats, ages, thesis_lattice

# Sizes of table 6 by the ranks of their services.
RANKS = {
    "> 100,000": (1, 10),
    "50,001–100,000": (11, 26),
    "10,001–50,000": (27, 62),
    "5,001–10,000": (63, 96),
    "1,001–5,000": (97, 220),
    "≤ 1,000": (221, MOST_SERVICES),
}


@dataclass(frozen=True)
class MadeServices:
    """The people of made services, counted once: rank, sex, nine ages, prefecture and how many."""

    cells: pl.DataFrame

    @classmethod
    def of(cls, n_services: int, seed: int) -> MadeServices:
        """Make and count the largest services."""
        ages_of = ages().recoding(1)
        nine = dict(zip(ages_of.values, ages_of.labels, strict=True))
        parts = [
            people.group_by(ATTRIBUTES).len("n").with_columns(rank=pl.lit(rank))
            for rank, (_, people) in enumerate(make_services(n_services, seed=seed), start=1)
        ]
        cells = pl.concat(parts).with_columns(
            pl.col("age").cast(pl.String).replace_strict(nine, return_dtype=pl.String)
        )
        return cls(cells.group_by("rank", *ATTRIBUTES).agg(pl.col("n").sum()))

    def ks(self, node: Node) -> Floats:
        """Return the k of each service at a node, the largest service first."""
        labels = []
        for hierarchy, level in zip(thesis_lattice().hierarchies, node, strict=True):
            recoding = hierarchy.recoding(level)
            map_of = dict(zip(recoding.values, recoding.labels, strict=True))
            labels.append(pl.col(hierarchy.attribute).replace_strict(map_of, return_dtype=pl.String))
        classes = self.cells.group_by("rank", *labels).agg(pl.col("n").sum())
        return classes.group_by("rank").agg(pl.col("n").min()).sort("rank")["n"].cast(pl.Float64).to_numpy()

    @cached_property
    def residents(self) -> Floats:
        """The people of each service by prefecture: one row a service, prefectures in their order."""
        by_index = self.cells.group_by("rank", "prefecture").agg(pl.col("n").sum())
        columns = by_index["prefecture"].cast(pl.Enum(PREFECTURES)).to_physical()
        out = np.zeros((int(self.cells["rank"].to_numpy().max()), len(PREFECTURES)))
        out[by_index["rank"].to_numpy() - 1, columns.to_numpy()] = by_index["n"].to_numpy()
        return out


def indices_of(name: str) -> slice:
    """Return the indices of the services of a size."""
    first, last = RANKS[name]
    return slice(first - 1, last)
