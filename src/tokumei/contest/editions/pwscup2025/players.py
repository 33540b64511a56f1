"""Made-up patients, and the built-in anonymizers and attacks of PWSCUP 2025."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.spatial import cKDTree

from tokumei.contest.editions.pwscup2025.files import (
    CATEGORIES,
    COLUMNS,
    FLAGS,
    MEANS,
    NUMBERS,
    RANGES,
    Patients,
)
from tokumei.contest.editions.pwscup2025.trees import Model
from tokumei.contest.editions.pwscup2025.utility import PREDICTED
from tokumei.core.errors import MissingExtra
from tokumei.core.seeds import generator
from tokumei.core.text import Json

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Cells = npt.NDArray[np.generic]

# Whether each flag is turned over, in the sample anonymizer.
FLIPS = dict(zip(FLAGS, (0.14, 0.15, 0.16, 0.17), strict=True))
SWAPS = {"GENDER": 0.11, "RACE": 0.12, "ETHNICITY": 0.13}
STEPS = {
    "encounter_count": 10,
    "num_procedures": 10,
    "num_medications": 5,
    "num_immunizations": 3,
    "num_allergies": 2,
    "num_devices": 5,
}
NOISES = {"mean_systolic_bp": 10.0, "mean_diastolic_bp": 8.0, "mean_weight": 3.0}
BMI_NOISE = 6.0
AGE_ENDS = (2, 110)


def make_patients(n: int, seed: int) -> pl.DataFrame:
    """Make up patients: counts grow with age and illness, of which some have far more than most."""
    rng = generator(seed, "patients")
    age = np.clip(np.where(rng.random(n) < 0.24, rng.integers(2, 18, n), rng.integers(18, 96, n)), 2, 110)
    frail = rng.gamma(1.2, 1.0, n)
    grown = np.clip((age - 2) / 20, 0, 1)
    stroke = rng.random(n) < 0.004 + 0.25 * np.clip((age - 40) / 60, 0, 1) ** 1.5
    obesity = rng.random(n) < 0.1 + 0.35 * grown
    flags = {
        "asthma_flag": rng.random(n) < 0.04 + 0.05 * (age < 40) + 0.03 * obesity,
        "stroke_flag": stroke,
        "obesity_flag": obesity,
        "depression_flag": rng.random(n) < 0.03 + 0.06 * grown,
    }
    load = np.exp(rng.normal(0, 0.5, n)) * (0.4 + frail) * (0.5 + age / 45)
    medications = rng.negative_binomial(1, 1 / (1 + 25 * load * (1 + 1.5 * stroke)))
    height = 0.8 + 0.9 * grown + rng.normal(0, 0.08, n)
    bmi = 15 + 11 * grown + 4 * obesity + rng.normal(0, 2.5, n)
    systolic = 88 + 28 * grown + 0.15 * age + rng.normal(0, 9, n)
    numbers: dict[str, Cells] = {
        "AGE": age,
        "encounter_count": 4 + rng.negative_binomial(2, 1 / (1 + 12 * load)),
        "num_procedures": rng.negative_binomial(1, 1 / (1 + 30 * load * (1 + stroke))),
        "num_medications": medications,
        "num_immunizations": rng.poisson(np.where(age < 18, 18, 9)),
        "num_allergies": np.where(rng.random(n) < 0.12, rng.poisson(4, n), 0),
        "num_devices": rng.negative_binomial(1, 1 / (1 + 0.06 * age * (1 + stroke))),
        **{name: values.astype(float) for name, values in flags.items()},
        "mean_systolic_bp": systolic,
        "mean_diastolic_bp": 0.62 * systolic + 6 + rng.normal(0, 5, n),
        "mean_bmi": bmi,
        "mean_weight": bmi * height**2,
    }
    shares = {"GENDER": (0.5, 0.5), "RACE": (0.1, 0.09, 0.03, 0.02, 0.02, 0.74), "ETHNICITY": (0.11, 0.89)}
    codes = {name: rng.choice(CATEGORIES[name], n, p=shares[name]) for name in CATEGORIES}
    return _in_range(pl.DataFrame({name: codes[name] if name in codes else numbers[name] for name in COLUMNS}))


def _in_range(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        pl.col(name).cast(pl.Float64).round(2 if name in MEANS else 0).clip(*RANGES[name]) for name in NUMBERS
    )


def noise(b: Patients, seed: int) -> pl.DataFrame:
    """Move every number a little and swap some codes, in the order and by the streams of the contest's sample."""
    return _in_range(noisy(b, seed, AGE_ENDS))


def noisy(b: Patients, seed: int, age_ends: tuple[int, int]) -> pl.DataFrame:
    """Return what the contest's sample makes of a table, its first version having had other ends of ages."""
    stream = np.random.RandomState(seed % 2**32)
    other = random.Random(seed)  # noqa: S311 - The sample's own stream.
    n = len(b)
    cells: Json = {name: b.frame[name].to_numpy().copy() for name in COLUMNS}
    for name, share in SWAPS.items():
        codes = sorted(set(b.frame[name].drop_nulls().to_list()))
        for row in np.flatnonzero(stream.random_sample(n) < share):
            others = [code for code in codes if code != cells[name][row]]
            if others:
                cells[name][row] = other.choice(others)
    cells["AGE"] = np.clip(b.of("AGE") + stream.randint(-2, 3, n), *age_ends)
    for name, most in STEPS.items():
        values = b.of(name)
        cells[name] = np.clip(values + stream.randint(-most, most + 1, n), values.min(), values.max())
        # The sample draws for empty cells, too, whether or not there are any.
        stream.randint(int(values.min()), int(values.max()) + 1, n)
    for name, share in FLIPS.items():
        cells[name] = np.abs(b.of(name) - (stream.random_sample(n) < share))
    for name, by in NOISES.items():
        values = b.of(name)
        cells[name] = np.round(np.clip(values + stream.uniform(-by, by, n), values.min(), values.max()), 2)
    values = b.of("mean_bmi")
    moved = values + stream.uniform(-BMI_NOISE, BMI_NOISE, n)
    cells["mean_bmi"] = np.round(np.clip(moved, values.min(), values.max()), 2)
    return pl.DataFrame(cells).select(COLUMNS)


N_PARTNERS = 3


def crossover(b: Patients, seed: int) -> pl.DataFrame:
    """Draw every value of a row from a person or one of the few most like it, and restore each column by rank."""
    rng, n = generator(seed, "crossover"), len(b)
    scaled = _scaled(b, b)
    near = np.asarray(cKDTree(scaled).query(scaled, k=list(range(1, min(N_PARTNERS + 1, n) + 1)))[1])
    columns: dict[str, Cells] = {}
    for name in COLUMNS:
        drawn = near[np.arange(n), rng.integers(0, near.shape[1], n)]
        columns[name] = b.frame[name].to_numpy()[drawn]
        if name in NUMBERS:
            rank = np.argsort(np.lexsort([rng.random(n), columns[name].astype(float)]))
            columns[name] = np.sort(b.of(name))[rank]
    return _in_range(pl.DataFrame(columns).select(COLUMNS))


ANONYMIZERS: Mapping[str, Callable[[Patients, int], pl.DataFrame]] = {"noise": noise, "crossover": crossover}


def anonymize(name: str, b: Patients, seed: int, model: Path) -> pl.DataFrame:
    """Make C as a built-in anonymizer does, its rows sorted, and train D on half of B and C together."""
    frame = ANONYMIZERS[name](b, seed).sort(COLUMNS)
    both = pl.concat([b.frame.select(COLUMNS), frame], how="vertical_relaxed")
    drawn = both[generator(seed, "model").permutation(both.height)[: both.height // 2]]
    train_model(Patients(drawn), model)
    return frame


def train_model(patients: Patients, path: Path) -> None:
    """Train the contest's reference model of `stroke_flag`: on nine tenths, stopped by the last."""
    try:
        import xgboost
    except ImportError:
        raise MissingExtra("Training the model of PWSCUP 2025", "editions") from None
    features = {name: one for name, one in patients.features.items() if name != PREDICTED}
    names = list(features)
    matrix = np.column_stack(list(features.values())).astype(np.float32)
    target = (patients.of(PREDICTED) == 1).astype(int)
    train, held = _split(target)
    # One thread: a model must not depend on how many there are.
    model = xgboost.XGBClassifier(
        objective="binary:logistic",
        eval_metric="logloss",
        tree_method="hist",
        n_estimators=600,
        max_depth=6,
        learning_rate=0.05,
        subsample=0.9,
        colsample_bytree=0.9,
        early_stopping_rounds=50,
        random_state=42,
        n_jobs=1,
        # XGBoost begins with the share of strokes, which must not be 0 or 1.
        base_score=None if len(np.unique(target[train])) > 1 else 0.5,
    )
    model.fit(matrix[train], target[train], eval_set=[(matrix[held], target[held])], verbose=False)
    booster = model.get_booster()
    booster.feature_names = names
    version = str(xgboost.__version__)
    booster.set_attr(feature_names=json.dumps(names), target=PREDICTED, xgboost_version=version)
    path.write_bytes(bytes(booster.save_raw("json")))


def _split(target: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(target))
    counts = np.bincount(target, minlength=2)
    stratify = target if counts.min() >= 2 else None
    train, held = train_test_split(rows, test_size=0.1, random_state=42, stratify=stratify)
    return train, held


def _scaled(patients: Patients, by: Patients) -> Floats:
    """Bring numbers between 0 and 1 by the ends that they have in a table, and codes to a column each."""
    columns = []
    for name in NUMBERS:
        values, known = patients.of(name), by.of(name)
        low, high = np.nanmin(known), np.nanmax(known)
        if high > low:
            columns.append((np.where(np.isnan(values), np.nanmedian(known), values) - low) / (high - low))
    for name, codes in CATEGORIES.items():
        cells = patients.frame[name].str.strip_chars().str.to_lowercase()
        columns += [(cells == code.lower()).fill_null(False).to_numpy().astype(float) for code in codes]
    return np.column_stack(columns).astype(np.float32).astype(np.float64)


def nearest_marks(a: Patients, c: Patients) -> Bools:
    """Mark the row of A that is nearest to each row of C, by the sum of distances; the contest's sample."""
    places = cKDTree(_scaled(a, a)).query(_scaled(c, a), p=1)[1]
    marks = np.zeros(len(a), bool)
    marks[places] = True
    return marks


def model_error(a: Patients, model: Model) -> Floats:
    """How far the model's chance of each row is from what the row says."""
    features = {name: one for name, one in a.features.items() if name != PREDICTED}
    return np.abs(model.chances(features) - a.of(PREDICTED))


def model_marks(a: Patients, model: Model, within: float = 0.5) -> Bools:
    """Mark the rows that the model is right about, so far off at most."""
    error = model_error(a, model)
    return error <= within if within < 0.5 else (error < 0.5) | ((error == 0.5) & (a.of(PREDICTED) == 1))


@dataclass(frozen=True)
class Seen:
    """What an attacker has: all patients, the released table and its model."""

    a: Patients
    c: Patients
    model: Model


def nearest_row(seen: Seen) -> Floats:
    """Rows of A that are nearest to some row of C first, then those that are near to one."""
    distance = cKDTree(_scaled(seen.c, seen.a)).query(_scaled(seen.a, seen.a), p=1)[0]
    return np.where(nearest_marks(seen.a, seen.c), 1e6, 0.0) - distance


def model_confidence(seen: Seen) -> Floats:
    """Rows first about which the model is surest and right (TopConfAttack of the contest)."""
    return -model_error(seen.a, seen.model)


# How far apart two codes or flags are, where numbers are as far apart as the share of people between them.
CODE_APART = 0.4


def _ranked(patients: Patients, by: Patients) -> Floats:
    """Put numbers on the scale of the share of people below them, and codes on one of their own."""
    columns = []
    for name in NUMBERS:
        known = np.sort(by.of(name)[~np.isnan(by.of(name))])
        values = np.nan_to_num(patients.of(name), nan=float(np.median(known)))
        below = (np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")) / (2 * len(known))
        columns.append(below * CODE_APART if name in FLAGS else below)
    for name, codes in CATEGORIES.items():
        columns += [(patients.frame[name] == code).fill_null(False).to_numpy() * CODE_APART / 2 for code in codes]
    return np.column_stack(columns)


def mutual(seen: Seen) -> Floats:
    """Take rows of A to which some row of C is nearest, first those that it prefers most to the next.

    Most people have small counts, among whom a step of ten tells much, and a few have large ones, among whom it tells
    nothing: distances are in shares of people, not of the range as in the sample.
    """
    people, released = _ranked(seen.a, seen.a), _ranked(seen.c, seen.a)
    distance, place = (np.asarray(one) for one in cKDTree(people).query(released, k=[1, 2], p=1))
    preferred = 1 + (distance[:, 1] - distance[:, 0]) / np.maximum(distance[:, 1], 1e-12)
    told = np.zeros(len(people))
    np.maximum.at(told, place[:, 0], preferred)
    near = np.asarray(cKDTree(released).query(people, k=[1], p=1)[0])[:, 0]
    return told - 1e-3 * near


ATTACKS: Mapping[str, Callable[[Seen], Floats]] = {
    "nearest-row": nearest_row,
    "model-confidence": model_confidence,
    "mutual": mutual,
}


def best_rows(worth: Floats, n: int) -> Bools:
    """Mark the n rows that are worth most; of equals the first."""
    marks = np.zeros(len(worth), bool)
    marks[np.argsort(-worth, kind="stable")[:n]] = True
    return marks
