"""Rows of nobody: what is left of Adult under (1, 1e-9), what a model learns from them, and a million rows by fifteen.

Marginals are compared by columns as AIM compares them (McKenna et al. 2022): the sum of absolute differences of shares,
averaged over all sets of three columns; half of it is the total variation distance.
"""

from __future__ import annotations

import os
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.adult import COLUMNS, HIERARCHIES, adult
from benchmarks.measure import Figure, in_new_process
from tokumei.data.made_survey import make_survey
from tokumei.methods.synthetic.mst import Mst
from tokumei.methods.synthetic.shadow_runs import shadow_runs

N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "1000000"))
N_RUNS = 5
TARGET = "salary-class"
# Distances that others publish for Adult of another width do not compare; a run of both methods must stay below these.
LARGEST_ERROR = {"mst": 0.23, "aim": 0.17}
# The same error of dpmm 0.1.9 (Mahiou and others 2025), recorded: MSTGM(epsilon=1, delta=1e-9, domain=…, n_jobs=1) with
# the same table and the leaves of the same hierarchies as domain, seeds 1 and 2, 120 to 150 s of the processor each.
RECORDED = {"mst": (0.2221, 0.2286)}
LARGEST_LOSS = 0.03
# Runs of MST with one person, and as many without; what is found of the promised μ must lie between.
N_SHADOWS = int(os.environ.get("BENCHMARK_SHADOWS", "15000"))
LEAST_TIGHT, MOST_TIGHT = 0.85, 1.0
SECONDS, GIGABYTES = 120, 4
# All rows are fitted, as by those who publish figures; what is released is attacked beside people kept out.
WHOLE: dict[str, Any] = {"hold_out": 0, "anyway": True}
N_LABELS, N_COLUMNS = 8, 15
TIMED = """
import time
import polars as pl
import tokumei as tk
frame = pl.read_parquet({path!r})
table = tk.Table(frame, qi=frame.columns[:8], sensitive=frame.columns[8:])
started = time.process_time()
made = tk.anonymize(table, method={method!r}, **{options!r})
seconds = time.process_time() - started
assert made.frame.width == 15
"""


def run() -> list[Figure]:
    table = adult()
    figures = [] if table is None else [*marginals(table), *models(table), *audits(table)]
    return [*figures, *promise(), *large()]


def promise() -> list[Figure]:
    """Hold what shadow runs find of μ beside what was promised, and what a run costs."""
    started = time.process_time()
    found = shadow_runs(Mst(epsilon=1.0, delta=1e-2), N_SHADOWS, seed=1)
    cost = 1000 * (time.process_time() - started) / (2 * N_SHADOWS)
    note = f"μ {found.empirical:.3f}, {found.low:.3f} to {found.high:.3f}; promised {found.promised:.3f}"
    missed = max(0.0, LEAST_TIGHT - found.empirical / found.promised)
    above = max(0.0, found.low / found.promised - MOST_TIGHT)
    return [
        Figure(
            f"MST, (1, 1e-2), {N_SHADOWS:,} shadow runs: found share of μ",
            found.empirical / found.promised,
            "",
            None,
            note,
        ),
        Figure(f"  missing to {LEAST_TIGHT}", missed, "", 0.0),
        Figure("  lower end above the promise", above, "", 0.0),
        Figure("  a shadow run", cost, "ms of the processor"),
    ]


def audits(table: pl.DataFrame) -> list[Figure]:
    """Attack what methods without a promise draw from 5,000 people: the worst attack beyond others, at least."""
    figures = []
    people = table.sample(5_000, seed=5, shuffle=True)
    original = tk.Table(people, qi=COLUMNS[:-1], sensitive=[TARGET], numeric=["age"])
    for method, most in (("copula", 0.0), ("sequential-trees", None)):
        audit = tk.anonymize(original, method=method, seed=1, anyway=True).facts["audit"]
        worst = max(audit["findings"], key=lambda one: one["low"] - one["most"])
        note = f"{worst['attack']}, at most {worst['most']} allowed; {audit['draws']} draws"
        above = max(0.0, worst["low"] - worst["most"])
        figures.append(Figure(f"Adult, 5,000 people, {method}: audited above its bound", above, "", most, note))
    return figures


def marginals(table: pl.DataFrame) -> list[Figure]:
    original = tk.Table(table, qi=COLUMNS, hierarchies=str(HIERARCHIES))
    figures = []
    for method, most in LARGEST_ERROR.items():
        errors = [
            three_way_error(
                table, tk.anonymize(original, method=method, epsilon=1, delta=1e-9, is_complete=True, **WHOLE).frame
            )
            for _ in range(N_RUNS)
        ]
        note = f"standard deviation {np.std(errors, ddof=1):.3f} over {N_RUNS} runs"
        name = f"Adult × 9, (1, 1e-9), {method}: L1 error of 3-way marginals"
        figures.append(Figure(name, float(np.mean(errors)), "", most, note))
        if theirs := RECORDED.get(method):
            ratio = float(np.mean(errors) / np.mean(theirs))
            figures.append(Figure("  over that of dpmm 0.1.9", ratio, "", None, f"theirs {theirs}"))
    shuffled = pl.DataFrame([table[name].shuffle(seed) for seed, name in enumerate(COLUMNS)])
    figures.append(Figure("  blind: columns shuffled apart, no noise", three_way_error(table, shuffled), ""))
    half = table.sample(fraction=1, with_replacement=True, seed=1)
    figures.append(Figure("  control: as many rows drawn with replacement", three_way_error(table, half), ""))
    return figures


def three_way_error(original: pl.DataFrame, released: pl.DataFrame) -> float:
    errors = []
    for three in combinations(COLUMNS, 3):
        shares = [
            frame.select(pl.col(three).cast(pl.String)).group_by(three).agg((pl.len() / frame.height).alias(name))
            for frame, name in ((original, "before"), (released, "after"))
        ]
        both = shares[0].join(shares[1], on=three, how="full", nulls_equal=True).fill_null(0)
        errors.append(float((both["before"] - both["after"]).abs().sum()))
    return float(np.mean(errors))


def models(table: pl.DataFrame) -> list[Figure]:
    """Learn the salary from new rows of two thirds of the people, and try it on the other third."""
    mixed = table.sample(fraction=1, shuffle=True, seed=3)
    n_test = table.height // 3
    test, train = mixed.head(n_test), mixed.tail(table.height - n_test)
    best = accuracy(train, test)
    share = test[TARGET].value_counts()["count"].max()
    figures = [Figure("Adult, salary of real people, model learned from the original", best, "")]
    figures.append(Figure("  blind: the most frequent salary", float(share) / n_test, ""))  # type: ignore[arg-type]
    for method in ("copula", "sequential-trees"):
        made = tk.anonymize(tk.Table(train, qi=COLUMNS, numeric=["age"]), method=method, seed=1, **WHOLE).frame
        lost = best - accuracy(made, test)
        figures.append(Figure(f"  accuracy lost by learning from {method}", lost, "", LARGEST_LOSS))
    for method in ("mst", "aim"):
        original = tk.Table(train, qi=COLUMNS, hierarchies=str(HIERARCHIES))
        made = tk.anonymize(original, method=method, epsilon=1, is_complete=True, **WHOLE).frame
        figures.append(Figure(f"  accuracy lost by learning from {method}, (1, 1e-9)", best - accuracy(made, test), ""))
    return figures


def accuracy(train: pl.DataFrame, test: pl.DataFrame) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier

    known = {name: {one: at for at, one in enumerate(sorted(test[name].unique()))} for name in COLUMNS if name != "age"}

    def read(frame: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        coded = [
            frame[name].cast(pl.Float64, strict=False)
            if name == "age"
            else frame[name].replace_strict(known[name], default=None, return_dtype=pl.Float64)
            for name in COLUMNS
            if name != TARGET
        ]
        return pl.DataFrame(coded).to_numpy(), frame[TARGET].to_numpy()

    is_label = [name != "age" for name in COLUMNS if name != TARGET]
    model = HistGradientBoostingClassifier(categorical_features=is_label, random_state=1).fit(*read(train))
    return float(model.score(*read(test)))


def large() -> list[Figure]:
    figures = []
    survey = make_survey(30_000, seed=1)
    survey = survey.select(survey.columns[:N_COLUMNS]).sample(N_ROWS, with_replacement=True, seed=0)
    values = {name: sorted(survey[name].unique().to_list()) for name in survey.columns}
    domain = [f"{name}={values[name][0]}..{values[name][-1]}/32" for name in survey.columns[N_LABELS:]]
    domain += [f"{name}={'|'.join(map(str, values[name]))}" for name in survey.columns[:N_LABELS]]
    # Numbers of which most stand once, as money does.
    cents = pl.int_range(pl.len()).shuffle(0) % 1000
    survey = survey.with_columns(
        pl.col(survey.columns[:N_LABELS]).cast(pl.String), income=pl.col("income") + cents / 1000
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        survey.write_parquet(path)
        for method in ("copula", "sequential-trees", "mst", "aim"):
            options = {"domain": domain} if method in LARGEST_ERROR else {}
            seconds, memory = in_new_process(TIMED.format(path=str(path), method=method, options=options))
            label = f"{N_ROWS:,} × {N_COLUMNS}: {method}"
            figures.append(Figure(label, seconds, "s of the processor", SECONDS if method != "aim" else None))
            figures.append(Figure(label, memory, "GB", GIGABYTES))
    return figures
