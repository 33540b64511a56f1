"""The use of a release in PWSCUP 2026: the least of four families of scores, each from 0 to 1, 1 is best.

| score | the least of                                                                               |
|-------|--------------------------------------------------------------------------------------------|
| gen   | marginals, rank correlations, telling C from B, survival curve, tails                      |
| spec  | intervals of a Cox regression, how well it orders B                                        |
| rare  | how many rare people there are, their profile, onsets, telling them from the true ones     |
| valid | the mean of four: censoring, no made-up regions, no copied rows, not closer to outsiders   |

The digits hold for the versions of the extra `editions`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from scipy.stats import ks_2samp, rankdata

from tokumei.contest.editions.pwscup2026.files import CONTINUOUS, LONGEST, RANGES, Cohort, Reference
from tokumei.core.errors import MissingExtra
from tokumei.core.text import Json
from tokumei.measures.table.survival import fit_cox, same_conclusions, survival_gap

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MEASURED = tuple(RANGES)
CORRELATED = ("age", "sex", "BMI", "SBP", "TG", "HDL", "ALT", "FPG", "smoking")
# How far correlations may move in the mean, and in the worst tenth.
MOST_MEAN, MOST_TENTH = 0.40, 0.80
UPPER, LOWER = (95.0, 99.0, 99.9), (5.0, 1.0, 0.1)
# The organizers' constants of the tails: the standard deviation of each percentile between samples of the same people,
# and how much wider it is in cohorts than that. Those that are too much wider are left out.
TAILS: Mapping[str, tuple[float, float]] = {
    "BMI_q95": (0.415386, 0.748556), "BMI_q99": (0.522764, 1.11703), "BMI_q99.9": (1.4888, 0.782028),
    "BMI_q5": (0.402778, 1.07909), "BMI_q1": (0.682569, 1.0333), "BMI_q0.1": (0.776767, 1.36512),
    "SBP_q95": (1.7476, 0.87246), "SBP_q99": (3.75378, 0.7633), "SBP_q99.9": (6.46491, 0.905826),
    "SBP_q5": (1.93559, 0.719767), "SBP_q1": (3.16199, 0.862397), "SBP_q0.1": (9.88755, 0.838015),
    "TG_q95": (16.1852, 0.92657), "TG_q99": (41.511, 1.18639), "TG_q99.9": (130.886, 0.917627),
    "TG_q5": (1.89912, 0.837884), "TG_q1": (1.93209, 0.850423), "TG_q0.1": (2.04054, 1.01599),
    "HDL_q95": (0.895643, 1.1688), "HDL_q99": (1.85015, 0.82863), "HDL_q99.9": (2.16295, 1.47664),
    "HDL_q5": (0.166002, 0.837766), "HDL_q1": (1.48876, 0.979232), "HDL_q0.1": (3.10918, 0.707434),
    "ALT_q95": (4.34779, 1.01606), "ALT_q99": (10.3073, 1.18393), "ALT_q99.9": (32.6288, 0.886652),
    "ALT_q5": (0.290767, 0.985701), "ALT_q1": (0.210292, 1.0116), "ALT_q0.1": (0.220869, 1.27939),
    "FPG_q95": (1.26154, 0.675785), "FPG_q99": (0.670097, 1.03633), "FPG_q99.9": (0.26179, 1.39481),
    "FPG_q5": (1.02516, 1.50827), "FPG_q1": (1.33555, 1.61169), "FPG_q0.1": (3.53362, 1.11229),
    "maha_q95": (0.161134, 1.03691), "maha_q99": (0.563894, 1.03532), "maha_q99.9": (1.82635, 0.972173),
}  # fmt: skip
MOST_RATIO, SHIFT_FREE, SHIFT_SCALE = 1.4, 3.0, 5.0
NORM_UPPER, NORM_LOWER = 0.3054, 0.3412
LEAST_OF_IQR, SPIKE_CAP, SPIKE_SCALE = 0.05, 10.0, 0.5
# Rows needed on a side before profile and onset, or telling apart, say anything.
GATE, GATE_APART = 3, 8
FABRICATED_FREE, FABRICATED_SCALE = 0.08, 0.5
NOVEL_FREE = 0.0534
NOVEL = (*CONTINUOUS, "time", "sex", "smoking", "onset", "death")


def clip(value: float) -> float:
    """Bring a score between 0 and 1; what is no number is 0."""
    return float(min(1.0, max(0.0, value))) if np.isfinite(value) else 0.0


def ks_similarity(one: Floats, other: Floats) -> float:
    """1 less the largest distance between two cumulative distributions."""
    grid = np.concatenate([one, other])
    shares = [np.searchsorted(np.sort(side), grid, side="right") / len(side) for side in (one, other)]
    return float(1 - np.abs(shares[0] - shares[1]).max())


def share_similarity(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """1 less the total variation distance between the shares of values."""
    values, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    shares = [np.bincount(part, minlength=len(values)) / len(part) for part in (place[: len(one)], place[len(one) :])]
    return float(1 - 0.5 * np.abs(shares[0] - shares[1]).sum())


@dataclass(frozen=True)
class Utility:
    """The use of release `c` of cohort `b`, of whom `is_rare` are known; `background` are people in no cohort."""

    b: Cohort
    c: Cohort
    background: Cohort
    reference: Reference
    is_rare: Bools

    def families(self) -> dict[str, Json]:
        """All four families; the score of each is its `score`."""
        return {"gen": self.general(), "spec": self.specific(), "rare": self.rare(), "valid": self.valid()}

    def general(self) -> Json:
        """Whether whoever looks at columns, pairs of columns, curves and tails sees the same."""
        scores: Json = {
            "marginals": self._marginals(),
            "corr": self._correlations(),
            "pmse": clip(1 - self.propensity()[0] / self.propensity()[1]),
            "time": self._time(),
            "tail": min(self._tails()),
        }
        shift, spike = self._tails()
        return {"score": min(scores.values()), **scores, "tail shift": shift, "tail spike": spike}

    def _marginals(self) -> float:
        found = [ks_similarity(self.c.of(name), self.b.of(name)) for name in CONTINUOUS]
        found += [share_similarity(self.c.of(name), self.b.of(name)) for name in ("sex", "smoking")]
        places = [one.frame["prefecture"].to_numpy() for one in (self.c, self.b)]
        return float(np.mean([*found, share_similarity(*places)]))

    def _correlations(self) -> float:
        """How little Spearman's correlations move; one that is undefined in one file alone counts as moved by 1."""
        before, after = (_rank_correlations(one) for one in (self.b, self.c))
        off = np.abs(before - after)
        off[np.isnan(before) != np.isnan(after)] = 1.0
        off = off[~np.isnan(off)]
        if not len(off):
            return 1.0
        return min(clip(1 - off.mean() / MOST_MEAN), clip(1 - float(np.quantile(off, 0.9)) / MOST_TENTH))

    def propensity(self) -> tuple[float, float]:
        """Mean squared error by which a logistic regression tells rows of C from rows of B, and that of telling all."""
        stack = np.vstack([self.c.continuous, self.b.continuous])
        spread = stack.std(axis=0)
        scaled = (stack - stack.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        codes = [np.concatenate([self.c.of(name), self.b.of(name)]) for name in ("sex", "smoking")]
        features = np.column_stack([np.ones(len(stack)), scaled, *codes])
        is_c = np.concatenate([np.ones(len(self.c)), np.zeros(len(self.b))])
        share = is_c.mean()
        chances = _logit_chances(features, is_c)
        return float(np.mean((chances - share) ** 2)), float(share * (1 - share))

    def _time(self) -> float:
        gap = survival_gap(self.c.watched, self.b.watched, LONGEST)
        return clip(1 - max(0.0, gap - self.reference.floor) / self.reference.signal)

    def _tails(self) -> tuple[float, float]:
        """Whether extremes stand where they stood: all of them together, and the worst ones each for itself."""
        sides = [
            {name: one.of(name) for name in MEASURED} | {"maha": self.reference.distances(one)}
            for one in (self.c, self.b)
        ]
        shifts: dict[bool, list[float]] = {True: [], False: []}
        excess = []
        for key, (deviation, ratio) in TAILS.items():
            if ratio > MOST_RATIO:
                continue
            name, _, percent = key.partition("_q")
            released, original = (float(np.percentile(side[name], float(percent))) for side in sides)
            sigma = deviation * max(ratio, 1.0)
            shifts[float(percent) > 50].append((released - original) / sigma)
            low, high = np.percentile(sides[1][name], [25, 75])
            allowed = max(3 * sigma, LEAST_OF_IQR * (high - low))
            excess.append(min(max(0.0, abs(released - original) / allowed - 1), SPIKE_CAP))
        upper, lower = np.mean(shifts[True]) / NORM_UPPER, np.mean(shifts[False]) / NORM_LOWER
        shift = float(np.hypot(upper, lower) / np.sqrt(2))
        return clip(1 - max(0.0, shift - SHIFT_FREE) / SHIFT_SCALE), clip(1 - float(np.mean(excess)) / SPIKE_SCALE)

    def specific(self) -> Json:
        """Whether a Cox regression of onset draws the same conclusions, and orders the people of B as well."""
        fits = {name: fit_cox(_explaining(one), *one.watched) for name, one in (("b", self.b), ("c", self.c))}
        if not all(one.is_sound for one in fits.values()):
            return {"score": 0.0, "settles": False}
        kept = same_conclusions(fits["b"], fits["c"])
        order = {name: one.order(_explaining(self.b), *self.b.watched) for name, one in fits.items()}
        gain = order["b"] - 0.5
        concordance = 1.0 if gain < 0.02 else clip((order["c"] - 0.5) / gain)
        found = {"intervals": float(np.mean(kept)), "concordance": concordance}
        coefficients = dict(zip(_explaining(self.b), kept.tolist(), strict=True))
        return {"score": min(found.values()), **found, "coefficients": coefficients}

    def rare(self) -> Json:
        """Whether the people far from all others are there still, and are of the true kind."""
        n = len(self.b)
        true = self.b.rows(self.is_rare)
        found = {name: self._far(one) for name, one in (("b", self.b), ("c", self.c))}
        shares = {name: len(one) / whole for (name, one), whole in zip(found.items(), (n, len(self.c)), strict=True)}
        error = float(np.sqrt(shares["b"] * (1 - shares["b"]) / n))
        mass = clip(1 - max(0.0, abs(shares["c"] - shares["b"]) - 2 * error) / max(shares["b"], 1e-6))
        scores = {"mass": mass}
        for name, (gate, alike) in {
            "profile": (GATE, _profile),
            "onset": (GATE, _onset),
            "apart": (GATE_APART, _not_apart),
        }.items():
            sizes = [len(one) >= gate for one in (true, found["b"], found["c"])]
            if sizes == [True, True, False]:
                scores[name] = 0.0
            elif all(sizes):
                base = alike(found["b"], true)
                if base > 1e-6:
                    scores[name] = clip(alike(found["c"], true) / base)
        return {"score": min(scores.values()), **scores}

    def _far(self, cohort: Cohort) -> Cohort:
        return cohort.rows(self.reference.distances(cohort) >= self.reference.least)

    def valid(self) -> dict[str, float]:
        """Whether the release is a plausible cohort that copies nobody from outside."""
        scores = {
            "censoring": self._censoring(),
            "no made-up regions": self._not_fabricated(),
            "no copied rows": 1
            - clip(float(self.c.frame.is_duplicated().sum() - self._n_distinct_copied) / len(self.c) / 0.2),
            "not nearer to outsiders": self._novel(),
        }
        return {"score": float(np.mean(list(scores.values()))), **scores}

    @cached_property
    def _n_distinct_copied(self) -> int:
        """Number of rows that are the first of several equal ones."""
        return self.c.frame.filter(self.c.frame.is_duplicated()).n_unique()

    def _censoring(self) -> float:
        def is_whole(one: Cohort) -> Bools:
            return np.abs(one.of("time") - LONGEST) <= 0.01 + 1e-4 * LONGEST

        nothing = (self.c.of("onset") == 0) & (self.c.of("death") == 0)
        row = float(is_whole(self.c)[nothing].mean()) if nothing.any() else 0.0
        return min(row, 1 - abs(float(is_whole(self.c).mean()) - float(is_whole(self.b).mean())))

    def _not_fabricated(self) -> float:
        kept = []
        for target in (*MEASURED, "onset"):
            values = self.b.of(target)
            spread = values.std()
            ours = np.clip(self.c.of(target), values.min(), values.max())
            for group in ("prefecture", "sex", "smoking"):
                sides = ((ours, self.c), (values, self.b))
                told = [_between_groups(one, side.frame[group].to_numpy()) for one, side in sides]
                gained = (told[0] - told[1]) / spread if spread > 0 else 0.0
                kept.append(clip(max(0.0, gained - FABRICATED_FREE) / FABRICATED_SCALE))
        return 1 - float(np.mean(kept))

    def _novel(self) -> float:
        """1 if rows of C are no nearer to people of the background than those of B are."""
        matrix = {
            id(one): np.column_stack([one.of(name) for name in NOVEL]) for one in (self.background, self.b, self.c)
        }
        outside = matrix[id(self.background)]
        spread = outside.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        tree = cKDTree(outside / spread)
        near = [np.asarray(tree.query(matrix[id(one)] / spread, k=[1])[0])[:, 0] for one in (self.c, self.b)]
        nearer = float(ks_2samp(near[0], near[1], alternative="greater").statistic)
        return clip(1 - max(0.0, nearer - NOVEL_FREE) / (1 - NOVEL_FREE))


def _rank_correlations(cohort: Cohort) -> Floats:
    """Spearman's correlation of each pair of columns; no number where one of them has a single value."""
    ranks = [rankdata(cohort.of(name)) for name in CORRELATED]
    found = []
    for one, other in combinations(ranks, 2):
        spread = one.std() * other.std()
        found.append(float(np.mean((one - one.mean()) * (other - other.mean())) / spread) if spread > 0 else np.nan)
    return np.array(found)


def _logit_chances(features: Floats, is_one: Floats) -> Floats:
    """Chances by an unpenalized logistic regression; by one with a light penalty where that does not settle."""
    try:
        import statsmodels.api as sm
    except ImportError:
        raise MissingExtra("The score of PWSCUP 2026", "editions") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = sm.Logit(is_one, features).fit(maxiter=200, disp=0)
            chances = np.asarray(fitted.predict(features), np.float64)
            if fitted.mle_retvals["converged"] and np.isfinite(chances).all():
                return chances
        except (np.linalg.LinAlgError, ValueError, sm.tools.sm_exceptions.PerfectSeparationError):
            pass
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1.0, fit_intercept=False, max_iter=1000).fit(features, is_one)
        found: Floats = model.predict_proba(features)[:, 1]
        return found


def _explaining(cohort: Cohort) -> dict[str, Floats]:
    """Return the columns by which the Cox regression explains onset."""
    logs = {name: np.log(np.maximum(cohort.of(name), 1e-6)) for name in ("TG", "ALT")}
    names = ("age", "sex", "BMI", "SBP", "TG", "HDL", "ALT", "FPG", "smoking")
    return {f"log {name}" if name in logs else name: logs.get(name, cohort.of(name)) for name in names}


def _profile(one: Cohort, other: Cohort) -> float:
    return float(np.mean([ks_similarity(one.of(name), other.of(name)) for name in CONTINUOUS]))


def _onset(one: Cohort, other: Cohort) -> float:
    return 1 - abs(float(one.of("onset").mean()) - float(other.of("onset").mean()))


def _not_apart(one: Cohort, other: Cohort) -> float:
    """1 if a forest cannot tell two groups apart, 0 if it always can."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    sides = [group.continuous[np.lexsort(group.continuous.T[::-1])] for group in (one, other)]
    is_one = np.concatenate([np.ones(len(sides[0]), int), np.zeros(len(sides[1]), int)])
    folds = StratifiedKFold(min(5, len(sides[0]), len(sides[1])), shuffle=True, random_state=0)
    forest = RandomForestClassifier(n_estimators=200, random_state=0, n_jobs=1)
    chances = cross_val_predict(forest, np.vstack(sides), is_one, cv=folds, method="predict_proba")[:, 1]
    return clip(1 - 2 * abs(float(roc_auc_score(is_one, chances)) - 0.5))


def _between_groups(values: Floats, groups: npt.NDArray[Any]) -> float:
    """Return the standard deviation of the means of groups, each weighted by its size."""
    _, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=values) / sizes
    return float(np.sqrt(np.average((means - values.mean()) ** 2, weights=sizes)))


def km_scale(cohort: Cohort) -> float:
    """Area above the survival curve of a cohort: how much there is to lose of it."""
    nobody = (np.array([LONGEST]), np.array([0.0]))
    return survival_gap(cohort.watched, nobody, LONGEST)
