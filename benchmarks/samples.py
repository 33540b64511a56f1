"""How near estimates of a sample come to the truth: Adult is everybody, and samples of it are drawn.

Of each share of the rows many samples are drawn. What is estimated of those who are alone among all, and of those who
would be found, stands beside what is counted; and what share of the special uniques are alone among all.
"""

from __future__ import annotations

import time
from statistics import fmean

import polars as pl

from benchmarks.adult import COLUMNS, adult
from benchmarks.measure import Figure
from tokumei.measures.safety.individual_risk import risk_by_weights
from tokumei.measures.safety.population_uniques import ESTIMATORS, population_uniques
from tokumei.measures.safety.special_uniques import special_uniques

FRACTIONS, N_DRAWN = (0.05, 0.1, 0.2, 0.4), 20
FIVE = ["sex", "age", "race", "education", "occupation"]
SETS = {"three columns": FIVE[:3], "five columns": FIVE, "nine columns": COLUMNS}
LARGEST = 3


def run() -> list[Figure]:
    frame = adult()
    if frame is None:
        return []
    figures: list[Figure] = []
    for name, columns in SETS.items():
        whole = frame.with_columns(pl.len().over(columns).alias("in all"))
        alone = int((whole["in all"] == 1).sum())
        figures += [_of_samples(f"{name}, {share:.0%}", whole, columns, share, alone) for share in FRACTIONS]
    drawn = frame.with_columns(pl.len().over(FIVE).alias("in all")).sample(fraction=0.1, seed=1)
    found = special_uniques(drawn, FIVE)
    is_alone = drawn["in all"].to_numpy() == 1
    for size in range(1, len(FIVE) + 1):
        of_size = found.smallest == size
        if of_size.any():
            note = f"of {int(of_size.sum()):,} rows"
            share = float(is_alone[of_size].mean())
            figures.append(Figure(f"alone in all, of those {size} columns single out", share, "", None, note))
    started = time.perf_counter()
    special_uniques(frame, COLUMNS, largest=LARGEST)
    seconds = time.perf_counter() - started
    return [*figures, Figure(f"SUDA2, {frame.height:,} rows, nine columns, sets of {LARGEST}", seconds, "s", 10)]


def _of_samples(name: str, whole: pl.DataFrame, columns: list[str], share: float, alone: int) -> Figure:
    """Return the mean estimate of the rule, with those of all estimators and of the people who would be found."""
    by_rule: list[float] = []
    each: dict[str, list[float]] = {one: [] for one in ESTIMATORS}
    found, expected = [], []
    for seed in range(N_DRAWN):
        drawn = whole.sample(fraction=share, seed=seed)
        uniques = population_uniques(drawn.group_by(columns).len()["len"], whole.height)
        by_rule += [] if uniques.alone is None else [uniques.alone]
        for one, estimate in uniques.estimates.items():
            each[one] += [] if estimate is None else [estimate]
        found.append(float((1 / drawn["in all"]).sum()))
        weighted = drawn.with_columns(pl.lit(1 / share).alias("weight"))
        expected.append(risk_by_weights(weighted, columns, "weight").expected)
    told = ", ".join(f"{one} {fmean(values):,.0f}" for one, values in each.items() if values)
    note = f"alone {alone:,}; {told}; would be found {fmean(found):,.0f}, by weights {fmean(expected):,.0f}"
    return Figure(f"estimated to be alone: {name}", fmean(by_rule), "people", None, note)
