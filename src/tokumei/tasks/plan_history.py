"""What anonymizing a history on an engine would take, before anything runs.

Costs are multiples of the unit of `plan_table`, the time to count one cell of text on this machine, and were fitted to
runs of half a million and four million purchases on DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.registry import part_name
from tokumei.core.result import Facts, Result, Section, Sentence
from tokumei.data.files.formats import PARQUET, format_of, scan_frame
from tokumei.data.files.reading import Reading
from tokumei.engines.engine import without_password
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.pipeline import Pipeline
from tokumei.tasks.plan_table import unit_seconds

# Units of one row: to read it, name it and write it; to change its cells; to delete by plain rules; by what it gives
# away; and to deal it out in another order.
ROW_UNITS, PERTURB_UNITS, DELETE_UNITS, TELLING_UNITS, PUBLISH_UNITS = 58.0, 18.0, 27.0, 450.0, 35.0
START_SECONDS = 2.0
# What an engine holds, a piece of rows, and what is read; beyond them memory does not grow with the rows.
MOST_MEMORY = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class HistoryPlan(Result):
    """What would be done; None where it cannot be told before."""

    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `tokumei anonymize history --dry-run --json` prints it."""
        return dict(self.facts)

    def sections(self) -> Sequence[Section]:
        """Return the facts, and what they rest on."""
        told = {name: "not known before" if value is None else value for name, value in self.facts.items()}
        said = "Only metadata was read; time is that of runs of other sizes, and may be off by a factor of ten."
        return [Facts(told), Sentence(said)]


def plan_history(
    source: Path | str, pipeline: Pipeline, *, engine: str, reading: Reading, published: bool
) -> HistoryPlan:
    """Estimate what anonymizing a history would take: passes over its rows, memory and seconds of a processor."""
    n_rows = None
    if format_of(source) == PARQUET:
        n_rows = int(scan_frame(source, reading).select(pl.len()).collect().item())
    # Read and checked, named once for each life, changed and written in pieces, put together.
    units, n_passes = ROW_UNITS, 4
    for method in pipeline.methods:
        if isinstance(method, Perturb):
            units += PERTURB_UNITS
            # Whether all prices are whole.
            n_passes += bool(method.prices)
        if isinstance(method, Delete):
            rules = [method.once, method.price_deviations, method.random]
            units += DELETE_UNITS + (TELLING_UNITS if method.telling else 0)
            n_passes += sum(map(bool, rules)) + (7 if method.telling else 0)
        if isinstance(method, Dummies):
            # Item sets, rows of customers and of items, rows drawn by both, their cells, and item sets again.
            n_passes += 8
        if isinstance(method, Generalize):
            # Customers, items and all numbers; cells are written and read again.
            n_passes += 2
    if published:
        units, n_passes = units + PUBLISH_UNITS, n_passes + 2
    # Item sets are held here and compared, and rows of customers aligned, so that memory and time follow customers,
    # whom no metadata counts.
    by_customer = any(isinstance(method, (Dummies, Generalize)) for method in pipeline.methods)
    follows_rows = n_rows is not None and not by_customer
    is_known = follows_rows and engine.partition(":")[0] == "duckdb"
    seconds = None if not is_known or n_rows is None else START_SECONDS + n_rows * units * unit_seconds()
    memory = None if not follows_rows or n_rows is None else round(min(MOST_MEMORY, 0.3 + n_rows * 3e-7), 2)
    facts = {
        "source": str(source),
        "engine": without_password(engine),
        "methods": [part_name(method) for method in pipeline.methods],
        "rows": n_rows,
        "passes": n_passes,
        "memory_gb": memory,
        "cpu_seconds": None if seconds is None else round(seconds, 1),
    }
    return HistoryPlan(facts)
