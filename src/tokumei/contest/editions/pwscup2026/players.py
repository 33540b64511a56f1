"""Made-up cohorts of a health check, and the built-in anonymizers of PWSCUP 2026.

The contest's cohorts were drawn from a synthetic one; those here have its columns and the size of its effects, none of
its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.spatial import cKDTree
from scipy.stats import norm, rankdata

from tokumei.contest.editions.pwscup2026.files import (
    BINARY,
    COLUMNS,
    CONTINUOUS,
    LONGEST,
    RANGES,
    RARE,
    WATCHED_TO_END,
    Cohort,
)
from tokumei.core.errors import MissingExtra
from tokumei.core.seeds import generator

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

PREFECTURES = (
    "北海道", "青森県", "岩手県", "宮城県", "秋田県", "山形県", "福島県", "茨城県", "栃木県", "群馬県",
    "埼玉県", "千葉県", "東京都", "神奈川県", "新潟県", "富山県", "石川県", "福井県", "山梨県", "長野県",
    "岐阜県", "静岡県", "愛知県", "三重県", "滋賀県", "京都府", "大阪府", "兵庫県", "奈良県", "和歌山県",
    "鳥取県", "島根県", "岡山県", "広島県", "山口県", "徳島県", "香川県", "愛媛県", "高知県", "福岡県",
    "佐賀県", "長崎県", "熊本県", "大分県", "宮崎県", "鹿児島県", "沖縄県",
)  # fmt: skip
DAY = 1 / 365.25


def make_people(n: int, n_rare: int, rng: Rng) -> pl.DataFrame:
    """Make up people; the last ones have a rare kind of diabetes ahead of them: lean, with high glucose and low fat."""
    is_rare = np.arange(n) >= n - n_rare
    age = rng.integers(40, 75, n).astype(float)
    sex, smoking = (rng.random(n) < 0.5).astype(float), (rng.random(n) < 0.22).astype(float)
    fat = rng.standard_normal(n)

    def drawn(middle: Floats | float, spread: float, by_fat: float) -> Floats:
        found: Floats = middle + spread * (by_fat * fat + np.sqrt(1 - by_fat**2) * rng.standard_normal(n))
        return found

    body = drawn(22.6 + 0.9 * sex, 3.3, 0.85) - 4.5 * is_rare
    pressure = drawn(104 + 0.32 * age + 3 * sex, 16, 0.35)
    triglycerides = np.exp(drawn(4.35 + 0.2 * sex, 0.48, 0.5) - 0.5 * is_rare)
    good = drawn(55 - 9 * sex, 10, -0.4) + 14 * is_rare
    liver = np.exp(drawn(2.75 + 0.2 * sex, 0.45, 0.45))
    glucose = np.minimum(drawn(84 + 0.1 * age + 2 * sex, 8.5, 0.35) + 26 * is_rare, 125.9)
    risk = 0.045 * (glucose - 92) + 0.08 * (body - 23) + 0.35 * sex + 0.3 * smoking + 0.02 * (age - 57)
    onset = rng.exponential(1, n) / (0.0075 * np.exp(risk + 1.2 * is_rare))
    death = rng.exponential(1, n) / (0.006 * np.exp(0.08 * (age - 57) + 0.5 * smoking + 0.3 * sex))
    columns = {
        "age": age,
        "sex": sex,
        "prefecture": rng.choice(PREFECTURES, n, p=_prefecture_shares()),
        "BMI": body,
        "SBP": pressure,
        "TG": triglycerides,
        "HDL": good,
        "ALT": liver,
        "smoking": smoking,
        "FPG": glucose,
    }
    frame = pl.DataFrame(columns | _first_of(onset, death) | {RARE: is_rare.astype(float)})
    return _within(frame).with_columns(pl.col(*RANGES).round(3)).select(*COLUMNS, RARE)


def _prefecture_shares() -> Floats:
    """Few large prefectures and many small ones."""
    shares = 1 / (3.0 + np.abs(np.arange(len(PREFECTURES)) - 12))
    found: Floats = shares / shares.sum()
    return found


def _first_of(onset: Floats, death: Floats) -> dict[str, Floats]:
    """Outcomes: what came first, in whole days, or neither until the end."""
    first = np.minimum(onset, death)
    is_seen = first < WATCHED_TO_END
    time = np.where(is_seen, np.maximum(DAY, np.floor(np.minimum(first, LONGEST) / DAY) * DAY), WATCHED_TO_END)
    is_onset = is_seen & (onset <= death)
    return {"time": time, "onset": is_onset.astype(float), "death": (is_seen & ~is_onset).astype(float)}


def _within(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(name).clip(low, high) for name, (low, high) in RANGES.items()).with_columns(
        pl.col("time").clip(DAY, LONGEST)
    )


def copula(b: Cohort, rng: Rng) -> pl.DataFrame:
    """Draw people anew: columns of numbers by a Gaussian copula, codes and outcomes each on its own; the sample."""
    columns = _copula_columns(b, rng)
    n, state = len(b), b.of("onset") + 2 * b.of("death")
    drawn = rng.choice(state, n)
    times = np.empty(n)
    for value in np.unique(state):
        times[drawn == value] = rng.choice(b.of("time")[state == value], int((drawn == value).sum()))
    outcomes = {"time": times, "onset": (drawn == 1).astype(float), "death": (drawn == 2).astype(float)}
    return pl.DataFrame(columns | outcomes).select(COLUMNS)


def copula_survival(b: Cohort, rng: Rng) -> pl.DataFrame:
    """Draw people by the copula, and what becomes of them by two Cox regressions, of onset and of death."""
    try:
        import pandas as pd
        from lifelines import CoxPHFitter
    except ImportError:
        raise MissingExtra("The anonymizer copula-survival", "editions") from None
    columns = _copula_columns(b, rng)
    names = [*CONTINUOUS, "sex", "smoking"]
    moments = {}
    for event in ("onset", "death"):
        frame = pd.DataFrame({name: b.of(name) for name in (*names, "time", event)})
        if frame[event].sum() < 1:
            moments[event] = np.full(len(b), np.inf)
            continue
        model = CoxPHFitter(penalizer=0.1).fit(frame, duration_col="time", event_col=event)
        people = pd.DataFrame({name: columns[name] for name in names})
        hazard = model.baseline_cumulative_hazard_
        level = rng.exponential(1, len(b)) / model.predict_partial_hazard(people).to_numpy()
        place = np.searchsorted(hazard.to_numpy()[:, 0], level)
        times = np.append(hazard.index.to_numpy(float), np.inf)
        moments[event] = times[place]
    return pl.DataFrame(columns | _first_of(moments["onset"], moments["death"])).select(COLUMNS)


def _copula_columns(b: Cohort, rng: Rng) -> dict[str, npt.NDArray[np.generic]]:
    n = len(b)
    normal = norm.ppf(np.column_stack([rankdata(column) for column in b.continuous.T]) / (n + 1))
    values, vectors = np.linalg.eigh(np.nan_to_num(np.corrcoef(normal.T), nan=0.0) + 0.0)
    joint = vectors @ np.diag(np.maximum(values, 1e-8)) @ vectors.T
    scale = np.sqrt(np.diag(joint))
    drawn = norm.cdf(rng.multivariate_normal(np.zeros(len(CONTINUOUS)), joint / np.outer(scale, scale), n))
    found: dict[str, npt.NDArray[np.generic]] = {
        name: np.quantile(b.of(name), drawn[:, place]) for place, name in enumerate(CONTINUOUS)
    }
    found["age"] = np.floor(found["age"].astype(float))
    for name in ("sex", "smoking", "prefecture"):
        found[name] = rng.choice(b.frame[name].to_numpy(), n)
    return found


def perturb(b: Cohort, rng: Rng, by: float = 0.3) -> pl.DataFrame:
    """Add noise of a share of each column's spread, and flip some codes."""
    columns = {name: b.frame[name].to_numpy() for name in COLUMNS}
    for name in CONTINUOUS:
        columns[name] = columns[name] + by * b.of(name).std() * rng.standard_normal(len(b))
    columns["age"] = np.floor(np.clip(columns["age"], 40, 74))
    for name in ("sex", "smoking"):
        columns[name] = np.abs(columns[name] - (rng.random(len(b)) < min(0.5, 0.15 * by)))
    columns["time"] = columns["time"] * (1 + 0.1 * by * rng.standard_normal(len(b)))
    return _within(pl.DataFrame(columns).select(COLUMNS))


# People among whom each value of a row is drawn, beside the person of the row.
N_PARTNERS = 8


def crossover(b: Cohort, rng: Rng) -> pl.DataFrame:
    """Draw every value of a row from one of the people much like a person, then restore each column's values by rank.

    No row is anybody's; what goes together among neighbors stays together, and columns keep their values and tails.
    Sex and what became of somebody go together, or nobody's time would fit what happened.
    """
    n, state = len(b), b.of("onset") + 2 * b.of("death") + 4 * b.of("sex")
    scaled = b.continuous / np.maximum(b.continuous.std(axis=0), 1e-12)
    pool = np.empty((n, N_PARTNERS + 1), int)
    for value in np.unique(state):
        rows = np.flatnonzero(state == value)
        n_near = min(N_PARTNERS + 1, len(rows))
        near = cKDTree(scaled[rows]).query(scaled[rows], k=n_near)[1].reshape(len(rows), -1)
        pool[rows] = rows[near[:, np.arange(N_PARTNERS + 1) % n_near]]

    def drawn() -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = pool[np.arange(n), rng.integers(0, N_PARTNERS + 1, n)]
        return found

    together = ("sex", "time", "onset", "death")
    outcome = drawn()
    columns = {name: b.frame[name].to_numpy()[outcome if name in together else drawn()] for name in COLUMNS}
    for name in CONTINUOUS:
        rank = np.argsort(np.lexsort([rng.random(n), columns[name]]))
        columns[name] = np.sort(b.of(name))[rank]
    return pl.DataFrame(columns).select(COLUMNS)


ANONYMIZERS: Mapping[str, Callable[[Cohort, Rng], pl.DataFrame]] = {
    "copula": copula,
    "copula-survival": copula_survival,
    "perturb": perturb,
    "crossover": crossover,
}


def anonymize(name: str, b: Cohort, seed: int) -> pl.DataFrame:
    """Make C as a built-in anonymizer does, its rows sorted."""
    frame = ANONYMIZERS[name](b, generator(seed, "anonymize", name))
    return Cohort(frame.with_columns(pl.col("age", *BINARY).cast(pl.Float64))).sorted().frame
