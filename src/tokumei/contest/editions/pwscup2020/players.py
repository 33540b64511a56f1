"""The columns of PWSCUP 2020, made-up records, and the built-in anonymizers and attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from tokumei.contest.record_matching import Floats
from tokumei.contest.tables import Ints, exchanged, number_in
from tokumei.core.seeds import generator
from tokumei.data.files.strict import ColumnType, one_of

NUMBERS = {"age": (17, 90), "hours-per-week": (1, 99)}
VALUES: Mapping[str, tuple[str, ...]] = {
    "workclass": (
        *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay"),
        "Never-worked",
    ),
    "education": (
        *("Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th"),
        *("12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool"),
    ),
    "marital-status": (
        *("Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent"),
        "Married-AF-spouse",
    ),
    "occupation": (
        *("Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty"),
        *("Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving"),
        *("Priv-house-serv", "Protective-serv", "Armed-Forces"),
    ),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "sex": ("Female", "Male"),
    "income": ("<=50K", ">50K"),
}
COLUMNS = (
    *("age", "workclass", "education", "marital-status", "occupation", "relationship", "sex", "hours-per-week"),
    "income",
)
TYPES: Mapping[str, ColumnType] = {
    name: number_in(*NUMBERS[name], whole=True) if name in NUMBERS else one_of(*VALUES[name]) for name in COLUMNS
}
# From the least schooling to the most, as made-up records have it.
ORDERED = (
    *("Preschool", "9th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters"),
    *("Prof-school", "Doctorate", "10th", "7th-8th", "5th-6th", "1st-4th"),
)


def make_people(n: int, seed: int) -> pl.DataFrame:
    """Make up records in which schooling, work, family and income hang together."""
    rng = generator(seed, "people")
    age = np.clip(np.round(rng.gamma(8.5, 4.5, n)), 17, 90)
    sex = rng.random(n) < 0.67
    is_married = rng.random(n) < np.clip((age - 18) / 30, 0, 0.62)
    skill = rng.normal(0, 1, n)
    schooling = np.clip(np.round(4 + 2.6 * skill + rng.normal(0, 1.5, n)), 0, 15).astype(int)
    work = np.clip(np.round(6 + 2.4 * skill + rng.normal(0, 3, n)), 0, 13).astype(int)
    alone = np.where(age < 28, "Own-child", np.where(rng.random(n) < 0.6, "Not-in-family", "Unmarried"))
    single = np.where(age < 32, "Never-married", np.where(age > 68, "Widowed", "Divorced"))
    hours = np.clip(np.round(np.where(rng.random(n) < 0.5, 40, rng.normal(40 + 2 * skill, 12, n))), 1, 99)
    odds = 1.1 * (schooling - 6) + 4 * is_married + 0.02 * (age - 40) + 0.02 * (hours - 40) - 2.5
    income = rng.random(n) < 1 / (1 + np.exp(-odds))
    kinds = rng.choice(8, n, p=[0.74, 0.08, 0.04, 0.03, 0.06, 0.045, 0.003, 0.002])
    texts = {
        "workclass": np.array(VALUES["workclass"])[kinds],
        "education": np.array(ORDERED)[schooling],
        "marital-status": np.where(is_married, "Married-civ-spouse", single),
        "occupation": np.array(VALUES["occupation"])[work],
        "relationship": np.where(is_married, np.where(sex, "Husband", "Wife"), alone),
        "sex": np.where(sex, "Male", "Female"),
        "income": np.where(income, ">50K", "<=50K"),
    }
    return pl.DataFrame({name: {"age": age, "hours-per-week": hours, **texts}[name] for name in COLUMNS})


def random_values(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Put any value in place of one cell in fifty, numbers left alone: the contest's `rr`."""
    rng = generator(seed, "cells")
    return people.with_columns(exchanged(people[name], 0.02, rng) for name in VALUES)


def exchange_neighbors(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Exchange age, hours and schooling among records that are alike in all that trees ask for."""
    rng = generator(seed, "groups")
    kept = ["workclass", "marital-status", "occupation", "relationship", "sex", "income"]
    cells = {name: people[name].to_numpy().copy() for name in COLUMNS}
    decades = people.with_columns((pl.col("age") / 10).floor().alias("decade")).with_row_index("row")
    coarse = [name for name in kept if name != "workclass"]
    for rows in decades.group_by(*coarse, "decade", maintain_order=True).agg("row")["row"].to_list():
        for name in ("age", "hours-per-week", "education", "workclass"):
            cells[name][rows] = cells[name][rng.permutation(rows)]
    return pl.DataFrame(cells, schema=people.schema)


def nearest_record(everybody: pl.DataFrame, rows: pl.DataFrame) -> tuple[Ints, Floats]:
    """Name the nearest record of each row, by numbers and by values that differ: the contest's sample."""
    apart = _distances(everybody, rows)
    # Of the rows any: the sample does not ask how near the nearest is.
    return apart.argmin(axis=1), np.zeros(len(apart))


def lone_record(everybody: pl.DataFrame, rows: pl.DataFrame) -> tuple[Ints, Floats]:
    """Name first the records that are nearest to a row, and to which no other comes near."""
    apart = _distances(everybody, rows)
    near = np.partition(apart, 1, axis=1)
    return apart.argmin(axis=1), (near[:, 1] - near[:, 0] - 2 * near[:, 0]).astype(np.float64)


def _distances(everybody: pl.DataFrame, rows: pl.DataFrame) -> Floats:
    found = np.zeros((rows.height, everybody.height), np.float32)
    for name in COLUMNS:
        if name in NUMBERS:
            theirs, ours = (frame[name].to_numpy().astype(np.float32) for frame in (everybody, rows))
            found += (ours[:, None] - theirs) ** 2
        else:
            codes = pl.Enum(VALUES[name])
            theirs, ours = (frame[name].cast(codes).to_physical().to_numpy() for frame in (everybody, rows))
            found += ours[:, None] != theirs
    return np.sqrt(found).astype(np.float64)


ANONYMIZERS: Mapping[str, Callable[[pl.DataFrame, int], pl.DataFrame]] = {
    "random-values": random_values,
    "exchange-neighbors": exchange_neighbors,
}
ATTACKS: Mapping[str, Callable[[pl.DataFrame, pl.DataFrame], tuple[Ints, Floats]]] = {
    "nearest-record": nearest_record,
    "lone-record": lone_record,
}
