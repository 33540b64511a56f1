"""The columns of PWSCUP 2022, made-up people, and the built-in anonymizers and attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from tokumei.contest.record_matching import Floats, one_hot
from tokumei.contest.tables import exchanged
from tokumei.core.seeds import generator

COLUMNS = (
    *("AGE", "GENDER", "RACE", "INCOME", "EDUCATION", "VETERAN", "NOH"),
    *("HTN", "DM", "IHD", "CKD", "COPD", "CA"),
)
ILLNESSES = COLUMNS[7:]


def by_decade(people: pl.DataFrame) -> pl.DataFrame:
    """Floor ages to tens."""
    return people.with_columns((pl.col("AGE") / 10).floor() * 10)


def make_people(n: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make up people who are not severely ill, and severe cases, who are older and have more illnesses."""
    rng, found = generator(seed, "people"), []
    for is_severe in (False, True):
        age = np.clip(np.round(rng.normal(62 if is_severe else 47, 14, n)), 20, 80)
        codes = {
            "AGE": age,
            "GENDER": rng.integers(1, 3, n) if not is_severe else np.where(rng.random(n) < 0.6, 1, 2),
            "RACE": rng.choice([1, 2, 3, 4, 6, 7], n, p=[0.13, 0.09, 0.35, 0.23, 0.14, 0.06]),
            "INCOME": rng.choice([*range(1, 16), 77, 99], n),
            "EDUCATION": rng.choice([1, 2, 3, 4, 5, 7, 9], n, p=[0.08, 0.11, 0.24, 0.32, 0.23, 0.01, 0.01]),
            "VETERAN": np.where(rng.random(n) < 0.1, 1, 9),
            "NOH": rng.choice(range(1, 8), n, p=[0.15, 0.3, 0.18, 0.16, 0.11, 0.06, 0.04]),
        }
        for place, name in enumerate(ILLNESSES):
            chance = (0.04 + 0.0025 * place + 0.004 * (age - 40).clip(0)) * (1.6 if is_severe else 1.0)
            codes[name] = (rng.random(n) < chance / (1 + 0.6 * place)).astype(int)
        found.append(pl.DataFrame({name: codes[name] for name in COLUMNS}))
    return found[0], found[1]


def random_values(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Put ages into decades, which costs no use, and any value in place of one cell in ten (`age_layer`, `rr`)."""
    rng = generator(seed, "cells")
    return pl.DataFrame([exchanged(cells, 0.1, rng) for cells in by_decade(people).get_columns()])


def shuffled_columns(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Put ages into decades, and shuffle each column among those of one decade."""
    rng, layered = generator(seed, "columns"), by_decade(people)
    cells = {name: layered[name].to_numpy().copy() for name in COLUMNS}
    for age in np.unique(cells["AGE"]):
        rows = np.flatnonzero(cells["AGE"] == age)
        for name in COLUMNS[1:]:
            cells[name][rows] = cells[name][rng.permutation(rows)]
    return pl.DataFrame(cells)


def nearest_case(asked: pl.DataFrame, released: pl.DataFrame, _others: pl.DataFrame) -> Floats:
    """Take the half of the acquaintances who agree with some released row in most cells."""
    theirs, ours = by_decade(released).to_numpy(), by_decade(asked).to_numpy()
    found: Floats = (ours[:, None, :] == theirs).sum(axis=2).max(axis=1).astype(np.float64)
    return found


def like_a_case(asked: pl.DataFrame, released: pl.DataFrame, others: pl.DataFrame) -> Floats:
    """Take those who are like the released cases rather than the others, by single values and by the nearest row."""
    frames = (by_decade(frame).cast(pl.Int64).cast(pl.String) for frame in (released, others, asked))
    cases, rest, ours = one_hot(*frames)
    # Every value is as likely once more, so that none is impossible.
    told = np.log((cases.sum(axis=0) + 1) / (len(cases) + 2)) - np.log((rest.sum(axis=0) + 1) / (len(rest) + 2))
    found: Floats = ours @ told + nearest_case(asked, released, others)
    return found


ANONYMIZERS: Mapping[str, Callable[[pl.DataFrame, int], pl.DataFrame]] = {
    "random-values": random_values,
    "shuffled-columns": shuffled_columns,
}
ATTACKS: Mapping[str, Callable[[pl.DataFrame, pl.DataFrame, pl.DataFrame], Floats]] = {
    "nearest-case": nearest_case,
    "like-a-case": like_a_case,
}
