"""Checking a release by the rules of its contest, beside merely parsing the file."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import polars as pl

from benchmarks.measure import Figure, best_seconds
from tokumei.contest.edition import Edition, files_in
from tokumei.contest.editions.pwscup2017.edition import Pwscup2017
from tokumei.contest.editions.pwscup2018.edition import Pwscup2018

# At 95 rows a customer.
SIZES = {45_000: 474, 400_000: 4_211}
LIMITS = {45_000: 0.5, 400_000: 5.0}


def run() -> list[Figure]:
    figures = []
    for n_rows, n_customers in SIZES.items():
        editions: dict[str, tuple[Edition, str]] = {
            "2017": (Pwscup2017(n_customers=n_customers), "perturb"),
            "2018": (Pwscup2018(n_customers=n_customers), "coarse"),
        }
        for name, (edition, anonymizer) in editions.items():
            with tempfile.TemporaryDirectory() as folder:
                figures += _figures(f"{name}: {n_rows:,} rows", edition, anonymizer, Path(folder), LIMITS[n_rows])
    return figures


def _figures(name: str, edition: Edition, anonymizer: str, folder: Path, limit: float) -> list[Figure]:
    edition.make_data(folder, seed=1)
    data = files_in(folder, edition.terms.data_files)
    edition.anonymize(anonymizer, data, folder, seed=1)
    release = files_in(folder, edition.terms.release_files)
    paths = [*data.values(), *release.values()]
    seconds = best_seconds(partial(edition.check, data, release), repeat=3)
    floor = best_seconds(lambda: [pl.read_csv(path, has_header=False, infer_schema=False) for path in paths], repeat=3)
    return [
        Figure(f"{name}, release checked", seconds, "s", limit),
        Figure(f"{name}, against parsing the same files as text", seconds / floor, "times"),
    ]
