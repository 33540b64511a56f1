"""The health survey of PWSCUP 2021 and iPWS 2023 (NHANES): columns, made-up people, and what use is left of them.

Files have no header. `gh` and `mets` are always 0; `dia` is diabetes, which a regression explains by the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.contest.edition import Files
from tokumei.contest.record_matching import Floats, one_hot
from tokumei.contest.tables import exchanged, number_in, read_table, sampled_rows
from tokumei.core.seeds import generator
from tokumei.data.files.strict import NUMBER, ColumnType, one_of
from tokumei.measures.table.logistic import fit_logistic

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "gen": ("Male", "Female"),
    "race": ("Mexican", "Hispanic", "White", "Black", "Other"),
    "edu": ("9th", "11th", "HighSchool", "College", "Graduate"),
    # As the contest spells it.
    "mar": ("Married", "Widowed", "Divorced", "Separated", "Never", "Parther"),
    "qm": ("Q1", "Q2", "Q3", "Q4"),
}
COLUMNS = ("gen", "age", "race", "edu", "mar", "bmi", "dep", "pir", "gh", "mets", "qm", "dia")
FLAGS = ("dep", "pir", "dia")
# What is compared cell by cell.
COMPARED = ("gen", "race", "edu", "mar", "dep", "pir", "qm", "dia")
EXPLAINING = ("gen", "age", "race", "edu", "mar", "bmi", "dep", "pir", "qm")
BINS: Mapping[str, tuple[int | float, ...]] = {"age": (19, 44, 64, 80), "bmi": (15, 18.5, 25, 30, 70)}


def column_types(age: tuple[int, int], bmi: tuple[int, int]) -> Mapping[str, ColumnType]:
    """Return the types of the columns of a release, by the ends of ages and of body mass indices."""
    types: dict[str, ColumnType] = {name: one_of(*values) for name, values in CATEGORIES.items()}
    types["edu"] = one_of(*CATEGORIES["edu"], "Missing", "NaN")
    types |= {"age": number_in(*age), "bmi": number_in(*bmi), "gh": NUMBER, "mets": NUMBER}
    return {name: types.get(name, number_in(0, 1)) for name in COLUMNS}


# Of data as they are handed out: some people are heavier than a release may say.
PEOPLE = column_types((0, 150), (0, 250))


def make_people(n: int, seed: int) -> pl.DataFrame:
    """Make up people: diabetes comes with age and weight, and schooling, poverty and movement hang together."""
    rng = generator(seed, "people")
    age = np.clip(np.round(rng.gamma(9, 5.8, n)), 20, 80)
    bmi = np.clip(np.round(rng.gamma(18, 1.65, n), 1), 15.5, 67.3)
    schooling = np.clip(np.round(rng.normal(2.3 - 0.01 * (age - 50), 1.2, n)), 0, 4).astype(int)
    has_diabetes = rng.random(n) < 1 / (1 + np.exp(8.2 - 0.06 * age - 0.095 * bmi + 0.15 * schooling))
    is_poor = rng.random(n) < 0.3 - 0.055 * schooling
    young, old = age < 35, age > 65
    mar = np.where(young, rng.choice(6, n, p=[0.3, 0, 0.03, 0.02, 0.4, 0.25]), rng.choice(6, n, p=PARTNERS))
    mar = np.where(old & (rng.random(n) < 0.25), 1, mar)
    moved = np.clip(np.round(rng.normal(1.5 - 0.012 * (age - 50) + 0.1 * schooling, 1.2, n)), 0, 3).astype(int)
    codes = {
        "gen": rng.integers(0, 2, n),
        "race": rng.choice(5, n, p=[0.14, 0.1, 0.36, 0.22, 0.18]),
        "edu": schooling,
        "mar": mar,
        "qm": moved,
    }
    numbers = {"age": age, "bmi": bmi, "dep": rng.random(n) < 0.18 + 0.1 * is_poor, "pir": is_poor, "dia": has_diabetes}
    texts = {name: np.array(values)[codes[name]] for name, values in CATEGORIES.items()}
    zeros = dict.fromkeys(("gh", "mets"), np.zeros(n))
    return pl.DataFrame({name: {**texts, **numbers, **zeros}[name] for name in COLUMNS}).with_columns(
        pl.col(FLAGS).cast(pl.Float64)
    )


PARTNERS = (0.55, 0.05, 0.15, 0.05, 0.12, 0.08)


def survey(n_rows: int, seed: int, source: Path | None) -> pl.DataFrame:
    """Return the survey of a contest: drawn from a file of its form, or made up without one."""
    people = make_people(n_rows, seed) if source is None else read_table(source, PEOPLE)
    return sampled_rows(people, n_rows, seed, source)


def read_survey(data: Files) -> pl.DataFrame:
    """Read B."""
    return read_table(data["B"], PEOPLE)


@dataclass(frozen=True)
class Shift:
    """By how much numbers of one kind moved: the worst, and the mean."""

    worst: float
    mean: float

    @classmethod
    def of(cls, moved: npt.ArrayLike) -> Shift:
        """Sum up what many numbers moved by; those that a side lacks are no numbers, and left out."""
        known = np.asarray(moved, np.float64)
        known = known[~np.isnan(known)]
        return cls(float(known.max()), float(known.mean())) if len(known) else cls(0.0, 0.0)


def shifts(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, Shift]:
    """Compare counts, shares, a regression of diabetes and correlations, as both contests did (`umark`)."""
    one, other = _counts(before), _counts(after)
    both = sorted(one.keys() & other.keys())
    pairs = np.array([(one[key], other[key]) for key in both], np.float64)
    found = {
        "cnt": Shift.of(np.abs(pairs[:, 0] - pairs[:, 1])),
        "rate": Shift.of(np.abs(pairs[:, 0] / before.height - pairs[:, 1] / after.height)),
    }
    fits = [_regression(frame) for frame in (before, after)]
    shared = [name for name in fits[0] if name in fits[1]]
    for place, name in enumerate(("Coef", "OR", "pvalue")):
        found[name] = Shift.of([abs(fits[0][key][place] - fits[1][key][place]) for key in shared])
    return found | {"cor": _correlations(before, after)}


def _counts(frame: pl.DataFrame) -> dict[tuple[str, str, float], int]:
    """Count the people of each value or range, with diabetes and without; of ranges also where there is nobody."""
    counts: dict[tuple[str, str, float], int] = {}
    kinds = frame["dia"].unique().to_list()
    for name in EXPLAINING:
        values = frame[name]
        if name in BINS:
            ends = BINS[name]
            clipped = np.clip(values.to_numpy(), 19 if name == "age" else 15, ends[-1])
            labels = [str(place) for place in range(len(ends) - 1)]
            counts |= {(name, label, kind): 0 for label in labels for kind in kinds}
            # Ranges are open below: who stands at the lowest end is in none.
            place = np.searchsorted(ends, clipped, side="left") - 1
            values = pl.Series(name, [labels[one] if one >= 0 else None for one in place])
        elif name not in CATEGORIES:
            values = (values < 0.5).cast(pl.String).alias(name)
        pairs = pl.DataFrame({"value": values, "dia": frame["dia"]}).drop_nulls()
        counts |= {(name, value, kind): n for value, kind, n in pairs.group_by("value", "dia").len().iter_rows()}
    return counts


def explaining_columns(frame: pl.DataFrame) -> dict[str, Floats]:
    """Return the terms of the regression of diabetes; the first value of a column, in order, has none."""
    columns: dict[str, Floats] = {"Intercept": np.ones(frame.height)}
    for name in EXPLAINING:
        if name in CATEGORIES:
            for value in frame[name].unique().sort().to_list()[1:]:
                columns[f"{name} {value}"] = (frame[name] == value).cast(pl.Float64).to_numpy()
        else:
            columns[name] = frame[name].to_numpy()
    return columns


def _regression(frame: pl.DataFrame) -> dict[str, tuple[float, float, float]]:
    """Return coefficient, odds ratio and p-value of each term."""
    columns = explaining_columns(frame)
    fit = fit_logistic(np.column_stack(list(columns.values())), frame["dia"].to_numpy())
    numbers = zip(fit.coefficients.tolist(), fit.odds.tolist(), fit.p_values.tolist(), strict=True)
    return dict(zip(columns, numbers, strict=True))


def _correlations(before: pl.DataFrame, after: pl.DataFrame) -> Shift:
    """Compare the correlations of all columns of numbers and of all values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (np.asarray(np.corrcoef(matrix.T)) for matrix in one_hot(before, after))
    # What is the same in all rows of a side correlates with nothing.
    is_known = ~np.isnan(np.diag(one) + np.diag(other))
    moved: Floats = np.abs(one - other)[is_known][:, is_known]
    return Shift(float(moved.max()), float(moved.mean()))


def cell_shifts(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, Floats]:
    """Return row by row how far age and bmi moved, and how many other cells changed (`iloss`)."""
    off: dict[str, Floats] = {name: np.abs(before[name].to_numpy() - after[name].to_numpy()) for name in BINS}
    changed = [(before[name] != after[name]).to_numpy() for name in COMPARED]
    return off | {"cat": np.sum(changed, axis=0).astype(np.float64)}


def noised(people: pl.DataFrame, kept: float, scales: Mapping[str, float], seed: int) -> pl.DataFrame:
    """Keep values by chance, else put any; add Laplace noise to numbers, cut to whole ones: both samples."""
    rng = generator(seed, "noise")
    columns = [exchanged(people[name], 1 - kept, rng) for name in ("gen", "race", "edu", "mar", "qm")]
    columns += [
        pl.Series(name, np.trunc(people[name].to_numpy() + rng.laplace(0, scale, people.height)).clip(13, 80))
        for name, scale in scales.items()
    ]
    return people.with_columns(columns)


def exchanged_in_groups(people: pl.DataFrame, widths: Mapping[str, float], n_columns: int, seed: int) -> pl.DataFrame:
    """Exchange cells among people of like age and weight who have diabetes alike, each column by itself.

    Counts stay as they are, nearly all of the regression does, and rows belong to several people. Numbers move by less
    than a width; of the other columns so many are exchanged, others in each group.
    """
    rng = generator(seed, "groups")
    places = [np.floor(people[name].to_numpy() / width).astype(np.int64) for name, width in widths.items()]
    _, groups = np.unique(np.column_stack([people["dia"].to_numpy(), *places]), axis=0, return_inverse=True)
    order = np.argsort(groups, kind="stable")
    cells = {name: people[name].to_numpy().copy() for name in people.columns}
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        chosen = rng.permutation([name for name in COMPARED if name != "dia"])[:n_columns]
        for name in (*BINS, *chosen.tolist()):
            cells[name][rows] = cells[name][rng.permutation(rows)]
    return pl.DataFrame(cells, schema=people.schema)
