"""The use of a release in PWSCUP 2025, in points: 40 for statistics, 20 each for regression, tests and the model.

Three of the four are what the worst of many numbers moved by; the model counts its right answers about rows that were
held back. The digits hold for the versions of the extra `editions`.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.stats import chi2, kruskal, norm, rankdata

from tokumei.contest.editions.pwscup2025.files import CATEGORIES, NUMBERS, Patients
from tokumei.contest.editions.pwscup2025.trees import Model
from tokumei.core.errors import MissingExtra
from tokumei.core.text import Json

Floats = npt.NDArray[np.float64]
Terms = dict[tuple[str, ...], float]

TARGET = "asthma_flag"
PREDICTED = "stroke_flag"
ALWAYS = "ETHNICITY_hispanic"
METRICS = ("encounter_count", "num_medications", "num_procedures", "num_immunizations", "num_devices")
AGES = (0.0, 18.0, 45.0, 65.0, 75.0)
OLDEST = 200.0
# Below this an inverse has ten digits that are right.
WELL_CONDITIONED = 1e5
POINTS: Mapping[str, int] = {"statistics": 40, "regression": 20, "tests": 20, "model": 20}


@dataclass(frozen=True)
class Moved:
    """How far the worst of many numbers moved, and which it is."""

    value: float
    by: str

    def points(self, most: int) -> float:
        """Points that are left of the most there are."""
        return most * max(0.0, 1 - self.value)


def compare(before: Patients, after: Patients) -> dict[str, Moved]:
    """Compare both in statistics, in the regression and in the tests."""
    return {
        "statistics": _worst(statistics(before), statistics(after)),
        "regression": _worst(regression(before), regression(after)),
        "tests": _worst(age_tests(before), age_tests(after)),
    }


def _worst(before: Terms, after: Terms) -> Moved:
    """Return the number that moved most; one that a side lacks, or that is no number, is 0 there."""
    moved = {key: abs(_distance(key, _number(after.get(key)), _number(before.get(key)))) for key in before | after}
    by = max(moved, key=lambda key: moved[key])
    return Moved(float(moved[by]), " ".join(by))


def _number(value: float | None) -> float:
    return 0.0 if value is None or math.isnan(value) else value


def _distance(key: tuple[str, ...], one: float, other: float) -> float:
    """Difference, of coefficients of a regression brought between −1 and 1."""
    if key[-1] == "coef":
        return 2 * (float(expit(one - other)) - 0.5)
    return one - other


def statistics(patients: Patients) -> Terms:
    """Means, deviations and quartiles on the scale of all columns, shares of codes, and correlations."""
    matrix = np.column_stack([patients.of(name) for name in NUMBERS])
    terms: Terms = {}
    rows: dict[str, Floats] = {}
    with warnings.catch_warnings():
        # Columns without a value have no mean.
        warnings.simplefilter("ignore", RuntimeWarning)
        rows["mean"] = np.asarray(np.nanmean(matrix, axis=0))
        rows["std"] = np.asarray(np.nanstd(matrix, axis=0, ddof=1))
        quartiles = np.asarray(np.nanpercentile(matrix, (25, 50, 75), axis=0))
    rows |= dict(zip(("q25", "q50", "q75"), quartiles, strict=True))
    for kind, values in rows.items():
        low, high = np.nanmin(values), np.nanmax(values)
        scaled = (values - low) / (high - low) if high > low else np.zeros(len(values))
        terms |= {(kind, name): float(one) for name, one in zip(NUMBERS, scaled, strict=True)}
    for name in CATEGORIES:
        cells = patients.frame[name]
        for code, n in cells.drop_nulls().value_counts().iter_rows():
            terms["share", name, code] = n / len(patients)
    return terms | _correlations(matrix)


def _correlations(matrix: Floats) -> Terms:
    """Pearson's correlation of each two columns, by the rows that have both."""
    pairs = list(itertools.combinations(range(len(NUMBERS)), 2))
    if not np.isnan(matrix).any():
        spread = matrix.std(axis=0)
        scaled = (matrix - matrix.mean(axis=0)) / np.where(spread > 0, spread, np.nan)
        joint = scaled.T @ scaled / len(matrix)
        return {("correlation", NUMBERS[i], NUMBERS[j]): float(joint[i, j]) for i, j in pairs}
    terms: Terms = {}
    for i, j in pairs:
        both = matrix[~np.isnan(matrix[:, [i, j]]).any(axis=1)][:, [i, j]]
        has_spread = len(both) > 1 and (both.std(axis=0) > 0).all()
        terms["correlation", NUMBERS[i], NUMBERS[j]] = (
            float(np.asarray(np.corrcoef(both.T))[0, 1]) if has_spread else 0.0
        )
    return terms


def regression(patients: Patients) -> Terms:
    """Coefficients, p-values, odds ratios with their intervals, and inflation of a logistic regression of asthma.

    On four fifths of the rows. Of a table on which it cannot be fitted every number is 0.
    """
    try:
        import statsmodels.api as sm
    except ImportError:
        raise MissingExtra("The score of PWSCUP 2025", "editions") from None
    from sklearn.model_selection import train_test_split

    terms: Terms = {(ALWAYS, kind): 0.0 for kind in ("coef", "p", "OR", "low", "high", "VIF")}
    columns = dict(patients.features)
    asthma = columns.pop(TARGET, np.zeros(len(patients)))
    if len(np.unique(asthma)) < 2 or not columns:
        return terms
    try:
        train, _, is_ill, _ = train_test_split(
            np.column_stack(list(columns.values())), asthma, test_size=0.2, random_state=42, stratify=asthma
        )
    except ValueError:
        return terms
    exog = np.column_stack([np.ones(len(train)), train])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fitted = sm.GLM(is_ill, exog, family=sm.families.Binomial()).fit()
        except (ValueError, np.linalg.LinAlgError):
            return terms
        low, high = fitted.conf_int().T
        inflations = _inflations(exog)
        for place, name in enumerate(columns, start=1):
            inflation = float(inflations[place - 1])
            terms |= {
                (name, "coef"): float(fitted.params[place]),
                (name, "p"): float(fitted.pvalues[place]),
                (name, "OR"): _odds(fitted.params[place]),
                (name, "low"): _odds(low[place]),
                (name, "high"): _odds(high[place]),
                (name, "VIF"): 1 - 1 / max(inflation, 1.0) if math.isfinite(inflation) else 0.0,
            }
    return terms


def _inflations(exog: Floats) -> Floats:
    """How much each column's variance is inflated by the others; the first column is the constant."""
    joint = np.atleast_2d(np.asarray(np.corrcoef(exog[:, 1:].T)))
    if np.isfinite(joint).all() and np.linalg.cond(joint) < WELL_CONDITIONED:
        found: Floats = np.diag(np.linalg.inv(joint)).copy()
        return found
    from statsmodels.stats.outliers_influence import variance_inflation_factor

    # A regression for each column takes twenty times as long, and tells better where columns repeat each other.
    return np.array([variance_inflation_factor(exog, place) for place in range(1, exog.shape[1])], np.float64)


def _odds(exponent: float) -> float:
    """Odds ratio brought between 0 and 1; one too large to be written is no number, as in the contest's scorer."""
    odds = np.exp(np.float64(exponent))
    return float(odds / (1 + odds))


def age_tests(patients: Patients) -> Terms:
    """Kruskal and Wallis's test of five counts by age group, and how large the differences are."""
    terms: Terms = {}
    age = patients.of("AGE")
    oldest = max(OLDEST, float(np.nanmax(age)) if not np.isnan(age).all() else 0.0) + 1e-9
    for metric in METRICS:
        values = patients.of(metric)
        known = ~np.isnan(age) & ~np.isnan(values)
        group = np.digitize(age[known], [*AGES[1:], oldest])
        sides = [values[known][group == one] for one in range(len(AGES))]
        sides = [side for side in sides if len(side) >= 2]
        terms |= {(metric, name): value for name, value in _kruskal(sides).items()}
    return terms


def _kruskal(sides: list[Floats]) -> dict[str, float]:
    names = ("H", "-log10 p", "epsilon2", "eta2", "rank eta2", "A", "A symmetric")
    nothing = dict.fromkeys(names, 0.0)
    if len(sides) < 2 or len({float(one) for side in sides for one in (side.min(), side.max())}) == 1:
        # Nothing to compare, or all values alike.
        return nothing
    found = float(kruskal(*sides).statistic)
    sizes = np.array([len(side) for side in sides], float)
    n, k = sizes.sum(), len(sides)
    # The largest H there is: groups one after the other.
    ideal = np.cumsum(sizes) - sizes + (sizes + 1) / 2
    most = 12 / (n * (n + 1)) * float((sizes * (ideal - (n + 1) / 2) ** 2).sum())
    freedom = k - 1
    log_p = -float(chi2.logsf(found, freedom)) / math.log(10)
    if not math.isfinite(log_p):
        log_p = _far_log_p(found, freedom)
    ranks = np.split(rankdata(np.concatenate(sides)), np.cumsum(sizes[:-1]).astype(int))
    middle = (n + 1) / 2
    total = sum(float(((one - middle) ** 2).sum()) for one in ranks)
    between = float(sum(len(one) * (one.mean() - middle) ** 2 for one in ranks))
    effect = symmetric = weight = 0.0
    for one, other in itertools.combinations(sides, 2):
        n_one, n_other = len(one), len(other)
        rank_sum = float(rankdata(np.concatenate([one, other]))[:n_one].sum())
        superior = (rank_sum - n_one * (n_one + 1) / 2) / (n_one * n_other)
        effect += n_one * n_other * superior
        symmetric += n_one * n_other * 2 * abs(superior - 0.5)
        weight += n_one * n_other
    values = (
        min(1.0, max(0.0, found / most)) if most > 0 else 0.0,
        2 / math.pi * math.atan(log_p / 10),
        min(1.0, max(0.0, (found - freedom) / (n - freedom))),
        min(1.0, max(0.0, (found - freedom) / (n - 1))),
        between / total if total > 0 else 0.0,
        effect / weight,
        symmetric / weight,
    )
    return dict(zip(names, values, strict=True))


def _far_log_p(statistic: float, freedom: int) -> float:
    """Minus the logarithm of p where it is too small for a float, after Wilson and Hilferty; of both tails."""
    spread = 2 / (9 * freedom)
    z = float(((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))
    return float(-(float(norm.logsf(z)) + math.log(2)) / math.log(10))


def right_answers(model: Model, patients: Patients, threshold: float = 0.5) -> float:
    """Share of rows whose `stroke_flag` the model tells."""
    features = {name: one for name, one in patients.features.items() if name != PREDICTED}
    if not features:
        features = {"": np.zeros(len(patients))}
    told = model.chances(features) >= threshold
    return float((told == (patients.of(PREDICTED) == 1)).mean())


def total_points(moved: Mapping[str, Moved], share_right: float | None) -> Json:
    """Return the points of each part; without the model's answers there are 80 in all."""
    points = {name: one.points(POINTS[name]) for name, one in moved.items()}
    if share_right is not None:
        points["model"] = POINTS["model"] * share_right
    return points
