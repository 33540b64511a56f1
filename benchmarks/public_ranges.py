"""What ranges on a public grid cost Mondrian on Adult, what their ends give away, and how fast both are found out."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.adult import COLUMNS, HIERARCHIES, adult
from benchmarks.measure import Figure, best_seconds

# The most that may be lost on the grid, to the loss of tight ranges. Groups of two lose more: of two neighbors in one
# cell nothing but the cell may be told.
MOST_LOST, MOST_LOST_IN_PAIRS = 1.15, 1.25
# By how much the end of a range may fit exactly one person more often than any value of it.
TOLERANCE = 0.02
# Rows are drawn so often that each is there about 33 times: groups of 165 then lie as those of 5 do in the table.
N_DRAWN, K_DRAWN = 1_000_000, 165
SIZES = (2, 5, 10)
N_SMALL = 600


def run() -> list[Figure]:
    table = adult()
    if table is None:
        return []
    figures = [figure for k in SIZES for figure in _ranges(table, k)]
    drawn = _table(table.sample(N_DRAWN, with_replacement=True, seed=1))
    loss = {ranges: _released(drawn, K_DRAWN, ranges).loss for ranges in ("grid", "tight")}
    figures.append(_cost(f"Adult drawn to {N_DRAWN:,} rows, k={K_DRAWN}", loss, MOST_LOST))
    return [*figures, *_small()]


def _ranges(frame: pl.DataFrame, k: int) -> list[Figure]:
    """Return what both kinds of ranges lose and give away at one k."""
    figures, loss, table = [], {}, _table(frame)
    for ranges in ("tight", "grid"):
        released = _released(table, k, ranges)
        loss[ranges] = released.loss
        found = tk.attack(table, released, attack="downcoding").scores["downcoding"]
        end, known = found["singled-out"], found["cells-certain"]
        low, high = end.interval or (0.0, 1.0)
        note = f"{end.value:.4f} ({low:.4f} to {high:.4f}), any value {end.baseline or 0:.4f}"
        more = end.value - (end.baseline or 0)
        limit = TOLERANCE if ranges == "grid" else None
        figures.append(Figure(f"Adult, k={k}, {ranges}: an end fits one person, more often", more, "", limit, note))
        ages = known.inputs["by_column"]["age"]
        note = f"all columns {known.value:.4f}, rows of whose class something is claimed {found['narrowed'].value:.4f}"
        figures.append(Figure("  generalized ages known exactly", ages, "", 0.0 if ranges == "grid" else None, note))
        making = best_seconds(partial(_released, table, k, ranges), repeat=2)
        attacking = best_seconds(partial(tk.attack, table, released, attack="downcoding"), repeat=1)
        note = f"{attacking:.2f} s : {making:.2f} s"
        figures.append(Figure("  downcoding, to making the release", attacking / making, "×", None, note))
    return [*figures, _cost(f"Adult, k={k}", loss, MOST_LOST_IN_PAIRS if k == SIZES[0] else MOST_LOST)]


def _small() -> list[Figure]:
    """Return what small tables of numbers lose, some of few different values; there is no limit they would keep."""
    rng = np.random.default_rng(1)
    heaped = rng.random(N_SMALL) < 0.3
    ages = np.where(heaped, rng.integers(2, 9, N_SMALL) * 10, rng.integers(18, 95, N_SMALL))
    changes = np.where(rng.random(N_SMALL) < 0.6, 0, rng.integers(-300, 300, N_SMALL))
    frame = pl.DataFrame({"age": ages, "change": changes, "floor": rng.integers(1, 3, N_SMALL)})
    table = tk.Table(frame, qi=frame.columns)
    losses = {k: {ranges: _released(table, k, ranges).loss for ranges in ("grid", "tight")} for k in SIZES}
    return [_cost(f"{N_SMALL} rows of three numbers, k={k}", loss) for k, loss in losses.items()]


def _table(frame: pl.DataFrame) -> tk.Table:
    return tk.Table(frame, qi=COLUMNS, hierarchies=HIERARCHIES, numeric=["age"])


def _released(table: tk.Table, k: int, ranges: Literal["grid", "tight"]) -> Any:
    return tk.anonymize(table, k=k, method="mondrian", seed=1, ranges=ranges)


def _cost(name: str, loss: dict[str, float], limit: float | None = None) -> Figure:
    """Return how many times the loss of tight ranges the grid loses; nothing lost by tight ranges is a failure."""
    ratio = loss["grid"] / loss["tight"] if loss["tight"] else float("inf")
    note = f"{loss['grid']:.4f} : {loss['tight']:.4f}"
    return Figure(f"{name}: loss on the grid, to that of tight ranges", ratio, "×", limit, note)
