"""What the ranges and sets of a generalized history give away by where they end and what they list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.cells import Kind
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History
from tokumei.methods.generalizing.purchases import GRID, Floats, Indices, numbers_of

# Comparing a line with all purchases takes a millisecond for 100,000 of them.
MOST_LINES, MOST_COMPARED = 1_000, 100_000_000
# Ends are compared by thousandths of a step, so that no rounding of a decimal keeps them apart.
NEAR = 1e-3


@dataclass(frozen=True)
class SingledOut:
    """Shares of predicates "this column is this value, the others are within their cells" that fit one purchase.

    `end`: at the ends of ranges; `anywhere`: at the values of the same ranges, each alike. `item`: for the items of
    sets; `occurs`: the share of these items that fit any purchase within the other cells. None without such cells.
    """

    end: float | None
    anywhere: float | None
    item: float | None
    occurs: float | None
    n_ends: int
    n_items: int

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the shares for JSON."""
        return dict(vars(self))


def singled_out(original: History, published: GeneralizedHistory, *, seed: int = 1) -> SingledOut:
    """Count how often the end of a range, or an item of a set, fits exactly one purchase of the original.

    Rows that are written alike count once; of many, some are drawn.
    """
    kept = original.kept
    if not kept.height:
        return SingledOut(None, None, None, None, 0, 0)
    values, names = numbers_of(kept), kept["item"].unique().sort()
    items = kept["item"].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    ends: list[tuple[float, float]] = []
    listed: list[tuple[int, int, int]] = []
    for low, high, members in _lines(published, names, min(MOST_LINES, MOST_COMPARED // kept.height + 1), seed):
        within = [
            (x >= a - NEAR * w) & (x <= b + NEAR * w) if a <= b else np.ones(len(x), bool)
            for x, a, b, w in zip(values, low, high, GRID.values(), strict=True)
        ]
        within.append(np.ones(len(items), bool) if members is None else np.isin(items, members))
        for column, width in enumerate(GRID.values()):
            if low[column] < high[column]:
                others = np.logical_and.reduce([one for number, one in enumerate(within) if number != column])
                ends.append(_ends_alone(values[column][others], low[column], high[column], width))
        if members is not None and len(members) > 1:
            found = items[np.logical_and.reduce(within)]
            n_each = np.unique(found, return_counts=True)[1]
            listed.append((len(members), int((n_each == 1).sum()), len(n_each)))
    n_items = sum(n for n, _, _ in listed)
    return SingledOut(
        end=sum(alone for alone, _ in ends) / len(ends) if ends else None,
        anywhere=sum(share for _, share in ends) / len(ends) if ends else None,
        item=sum(alone for _, alone, _ in listed) / n_items if listed else None,
        occurs=sum(n for _, _, n in listed) / n_items if listed else None,
        n_ends=2 * len(ends),
        n_items=n_items,
    )


def _ends_alone(values: Floats, low: float, high: float, width: float) -> tuple[float, float]:
    """Return which share of both ends, and of all values of a range, exactly one of some purchases has."""
    steps = np.rint((values - low) / width)
    last = round((high - low) / width)
    found, n_each = np.unique(steps[(steps >= 0) & (steps <= last)], return_counts=True)
    alone = found[n_each == 1]
    return float(np.isin([0, last], alone).mean()), len(alone) / (last + 1)


def _lines(
    published: GeneralizedHistory, names: pl.Series, n_most: int, seed: int
) -> Iterator[tuple[list[float], list[float], Indices | None]]:
    """Yield the ends and items of rows that differ; where a cell is suppressed, ends upside down and no items."""
    cells = [getattr(published, column) for column in GRID]
    frame = pl.DataFrame({"deleted": published.is_deleted, "item": published.item.members}).with_columns(
        *(one.low.to_physical().cast(pl.Float64).alias(f"low{number}") for number, one in enumerate(cells)),
        *(one.high.to_physical().cast(pl.Float64).alias(f"high{number}") for number, one in enumerate(cells)),
        is_coarse=pl.any_horizontal(published.item.kind == Kind.SET, *(one.kind == Kind.RANGE for one in cells)),
    )
    lines = frame.filter(~pl.col("deleted") & pl.col("is_coarse")).drop("deleted", "is_coarse")
    lines = lines.unique(maintain_order=True)
    if lines.height > n_most:
        drawn = generator(seed, "singled-out").choice(lines.height, n_most, replace=False)
        lines = lines[np.sort(drawn)]
    number_of = dict(zip(names.to_list(), range(len(names)), strict=True))
    for row in lines.iter_rows(named=True):
        low = [np.inf if row[f"low{at}"] is None else row[f"low{at}"] for at in range(len(GRID))]
        high = [-np.inf if row[f"high{at}"] is None else row[f"high{at}"] for at in range(len(GRID))]
        mine = row["item"]
        yield low, high, None if mine is None else np.array([number_of.get(name, -1) for name in mine])
