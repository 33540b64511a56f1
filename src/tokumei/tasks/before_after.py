"""Before and after side by side: correlations of a table's columns, and what a history's columns hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.measures.table.correlation_error import CorrelationError
from tokumei.tasks.measure_table import typed_alike
from tokumei.tasks.pairs import numeric_of

MOST_PAIRS, MOST_MONTHS, MOST_ITEMS, BINS = 12, 24, 8, 8


def correlations(original: Table, released: pl.DataFrame) -> list[dict[str, Any]]:
    """Return Pearson's correlation of each two columns of numbers before and after, those that moved most first.

    A released label counts as the numbers that it stands for, as `correlation-error` counts them.
    """
    numbers = numeric_of(original, None)
    qi, sensitive = (
        [name for name in names if name in released.columns]
        for names in (original.quasi_identifiers, original.sensitive)
    )
    before, after = typed_alike(original, Table(released, qi, sensitive, name="release"), numbers)
    try:
        found = CorrelationError(dict(original.hierarchies or {}), tuple(numbers)).correlations(before, after)
    except InputError:
        # Fewer than two columns of numbers, or labels that stand for none.
        return []
    moved = sorted(found.items(), key=lambda one: -abs(one[1][0] - one[1][1]))[:MOST_PAIRS]
    return [{"columns": list(pair), "before": ours, "after": theirs} for pair, (ours, theirs) in moved]


def history_before_after(original: History, released: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Count rows by month, item, quantity and price before and after, as shares of the rows of each side.

    released: as it was written; what is no date or number there, such as a generalized cell, counts as `other`.
    """
    ours, found = original.kept, {}
    months = ours["date"].dt.strftime("%Y-%m")
    found["date"] = _shares(months, _months(released["date"]), most=MOST_MONTHS, in_order=True)
    if "item" not in original.absent and "item" in released.columns:
        found["item"] = _shares(ours["item"].cast(pl.String), released["item"].cast(pl.String), most=MOST_ITEMS)
    for name in ("quantity", "price"):
        if name not in original.absent and name in released.columns:
            edges = _edges(ours[name].cast(pl.Float64))
            sides = (_binned(column.cast(pl.Float64, strict=False), edges) for column in (ours[name], released[name]))
            found[name] = _shares(*sides, most=BINS + 1, in_order=_labels(edges))
    return found


def _months(written: pl.Series) -> pl.Series:
    text = written.cast(pl.String).str.replace_all("/", "-")
    parts = text.str.extract_groups(r"^(\d{4})-(\d{1,2})-\d{1,2}$").struct.unnest()
    return parts.select(pl.concat_str(pl.col("1"), pl.lit("-"), pl.col("2").str.zfill(2))).to_series()


def _edges(values: pl.Series) -> list[float]:
    """Cut the middle of the values evenly by rows: prices and quantities have few that are very large."""
    shares = np.linspace(0, 1, BINS + 1)[1:-1]
    return sorted({float(f"{values.quantile(share) or 0:.4g}") for share in shares})


def _labels(edges: Sequence[float]) -> list[str]:
    ends = [-math.inf, *edges, math.inf]
    return [_label(low, high) for low, high in itertools.pairwise(ends)]


def _label(low: float, high: float) -> str:
    if low == -math.inf:
        return f"≤ {high:g}"
    return f"> {low:g}" if high == math.inf else f"{low:g} < … ≤ {high:g}"


def _binned(values: pl.Series, edges: Sequence[float]) -> pl.Series:
    at = np.searchsorted(np.asarray(edges), values.fill_null(math.nan).to_numpy(), side="left")
    labels = _labels(edges)
    return pl.Series([None if missing else labels[place] for missing, place in zip(values.is_null(), at, strict=True)])


def _shares(
    before: pl.Series, after: pl.Series, *, most: int, in_order: bool | Sequence[str] = False
) -> list[dict[str, Any]]:
    """Return the shares of values on both sides: in their order, or the most frequent first; the rest is `other`."""
    ours, theirs = _counted(before), _counted(after)
    names = [name for name in (ours | theirs) if name is not None]
    if in_order is True:
        chosen = sorted(names)[:most]
    elif in_order:
        chosen = [name for name in in_order if name in names]
    else:
        chosen = sorted(names, key=lambda name: (-ours.get(name, 0), -theirs.get(name, 0), name))[:most]
    listed = [{"value": name, "before": ours.get(name, 0.0), "after": theirs.get(name, 0.0)} for name in chosen]
    rest = {
        "before": 1 - sum(ours.get(name, 0.0) for name in chosen),
        "after": 1 - sum(theirs.get(name, 0.0) for name in chosen),
    }
    small = 1e-9
    return [*listed, *([{"value": None, **rest}] if max(rest.values()) > small else [])]


def _counted(values: pl.Series) -> dict[str | None, float]:
    counted = values.alias("value").value_counts(name="n").sort("value")
    return {value: n / max(1, len(values)) for value, n in counted.iter_rows()}
