"""What an attacker gains by what a private method counts: μ from shadow runs, beside the promised one.

Everything a method knows of the rows are noisy counts and choices (`PrivateRows`); the rows it draws follow from them.
The attacker sees these, knows everybody but one person, and asks whether that person is in. Of outcomes of two normal
distributions that lie μ apart nobody tells more: that is μ-Gaussian differential privacy (Dong, Roth and Su 2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtri
from scipy.stats import beta

from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.methods.perturbing.perturbation import Floats, Ints
from tokumei.methods.synthetic.graphical_model import Measurement
from tokumei.methods.synthetic.private import PrivateRows, PrivateSynthesizer
from tokumei.methods.synthetic.private_noise import Coins, rho_of

# The table that tells most: so many columns of two values, and so many people but one.
N_COLUMNS, N_PEOPLE = 4, 1_000
LEARNED = 0.1
# Of four limits one fails in 5 of 100 audits at most.
TAIL = 0.05 / 4


@dataclass(frozen=True)
class ShadowRuns:
    """μ from runs with and without one person, and the promised one.

    empirical: by the best threshold, chosen by a tenth of the runs and judged by the others. low, high: its 95 %
    interval. n_runs: with the person, and as many without. A method that keeps its promise has `low` above `promised`
    in one of forty audits at most.
    """

    promised: float
    empirical: float
    low: float
    high: float
    n_runs: int

    @property
    def is_kept(self) -> bool:
        """Whether chance explains what was found beyond the promise."""
        return self.low <= self.promised

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for the recipe and the dossier."""
        return {**asdict(self), "is_kept": self.is_kept, "share": self.empirical / self.promised}


@dataclass(eq=False)
class Transcript:
    """What a run answered, in its order, and the logarithm of the chance of each answer by the rows that gave it."""

    answers: list[Measurement | int] = field(default_factory=list)
    log_chance: float = 0.0


@dataclass(frozen=True, eq=False)
class WatchedRows(PrivateRows):
    """Rows whose answers are written down; where a transcript is followed, these are given, and weighed by the rows."""

    seen: Transcript = field(default_factory=Transcript)
    follows: Transcript | None = None

    def measure(self, clique: Sequence[int], sigma: float) -> Measurement:
        """Measure, or repeat the measurement; its chance is that of its noise."""
        found = super().measure(clique, sigma) if self.follows is None else self._next()
        if not isinstance(found, Measurement) or found.clique != tuple(clique):
            raise ArithmeticError("a method counts by what its earlier answers do not tell")
        self.seen.answers.append(found)
        noise = found.counts - self.count(clique)
        self.seen.log_chance -= float(np.square(noise).sum()) / (2 * sigma**2)
        return found

    def choose(self, scores: Sequence[float], sensitivity: float, epsilon: float) -> int:
        """Choose, or repeat the choice."""
        place = super().choose(scores, sensitivity, epsilon) if self.follows is None else self._next()
        if not isinstance(place, int):
            raise ArithmeticError("a method chooses by what its earlier answers do not tell")
        self.seen.answers.append(place)
        weights = np.asarray(scores) * (epsilon / (2 * sensitivity))
        self.seen.log_chance += float(weights[place] - logsumexp(weights))
        return place

    def _next(self) -> Measurement | int:
        assert self.follows is not None  # noqa: S101
        return self.follows.answers[len(self.seen.answers)]


def worst_rows(*, with_person: bool, n_columns: int = N_COLUMNS) -> tuple[Ints, ...]:
    """Return the columns of a table that one person moves as far as it can be moved.

    Half of the people have ones in the first half of the columns and zeros in the others, the other half the reverse;
    the one person has ones everywhere. All pairs of columns then are equally far from what the columns alone let
    expect, and the person raises the distance of those within a half and lowers that of the others, so that each choice
    tells most; each count is moved by one.
    """
    side = np.arange(N_PEOPLE) % 2
    more = [1] if with_person else []
    return tuple(np.append(side if at < n_columns / 2 else 1 - side, more).astype(np.int64) for at in range(n_columns))


def shadow_runs(method: PrivateSynthesizer, n_runs: int, *, seed: int) -> ShadowRuns:
    """Run a method so many times without and with one person, and compare what the likelihood ratio finds.

    The statistic of a run is the logarithm of how much likelier its answers are with the person than without: the same
    answers are given to the method on the other rows, whose chances are known; no test tells more (Neyman and Pearson).
    The promise of ρ-zCDP is √(2ρ), the μ of Gaussian noise that spends ρ. A run costs two times what counting costs;
    what comes after is left out. What a method tells beside its answers this does not see.

    Example: of a count that is moved by 1 with noise of σ = 2 the statistic is normal with deviation 1/2, −1/8 on
    average without the person and 1/8 with: μ is 1/2, and ρ = 1/(2·4) promises √(2/8) = 1/2.
    """
    rho = rho_of(method.epsilon, method.delta)
    found: list[list[float]] = [[], []]
    with step("shadow runs", 2 * n_runs) as bar:
        for world in (0, 1):
            for run in range(n_runs):
                found[world].append(_log_ratio(method, rho, world, Coins(seed, "shadow", str(world), str(run))))
                bar.advance()
    low, empirical, high = mu_between(np.array(found[0]), np.array(found[1]), seed=seed)
    return ShadowRuns(math.sqrt(2 * rho), empirical, low, high, n_runs)


def _log_ratio(method: PrivateSynthesizer, rho: float, world: int, coins: Coins) -> float:
    """Return how much likelier the answers of a run are with the person, as a logarithm."""
    tables = [worst_rows(with_person=False), worst_rows(with_person=True)]
    mine = WatchedRows(tables[world], (2,) * N_COLUMNS, 1, coins)
    method.measured(mine, rho)
    other = replace(mine, codes=tables[1 - world], seen=Transcript(), follows=mine.seen)
    method.measured(other, rho)
    logs = (mine.seen.log_chance, other.seen.log_chance)
    return logs[1 - world] - logs[world]


def mu_between(without: Floats, within: Floats, *, seed: int) -> tuple[float, float, float]:
    """Return how far apart two samples are, with a 95 % interval before and after: low, μ, high.

    A test at a threshold has shares α of false alarms and β of misses; its μ is Φ⁻¹(1 − α) − Φ⁻¹(β). The threshold is
    the one of the highest μ in the middle half of a tenth of each sample; its shares are counted by the others, and
    their exact limits (Clopper and Pearson 1934), each of which fails once in eighty, give those of μ.

    Example: of 10 false alarms and 20 misses in 100 each μ is 1.28 + 0.84 = 2.12.
    """
    random = generator(seed, "threshold")
    mixed = [random.permutation(one) for one in (without, within)]
    learned = [np.sort(one[: math.ceil(LEARNED * len(one))]) for one in mixed]
    judged = [one[len(tenth) :] for one, tenth in zip(mixed, learned, strict=True)]
    both = np.sort(np.concatenate(learned))
    # At the edges few outcomes decide; between two outcomes a threshold is as far from both as can be.
    thresholds = ((both[1:] + both[:-1]) / 2)[len(both) // 4 : -len(both) // 4]
    alarms = 1 - np.searchsorted(learned[0], thresholds, side="right") / len(learned[0])
    misses = np.searchsorted(learned[1], thresholds, side="right") / len(learned[1])
    found = _mu(alarms, misses, len(learned[0]))
    highest = np.flatnonzero(found >= found.max())
    threshold = thresholds[highest[len(highest) // 2]]
    is_alarm, is_missed = judged[0] > threshold, judged[1] <= threshold
    worst, best = (
        -ndtri(_limit(is_alarm, upper=upper)) - ndtri(_limit(is_missed, upper=upper)) for upper in (True, False)
    )
    middle = _mu(is_alarm.mean(keepdims=True), is_missed.mean(keepdims=True), len(is_alarm))
    return float(worst), float(middle[0]), float(best)


def _mu(alarms: Floats, misses: Floats, n: int) -> Floats:
    """Return Φ⁻¹(1 − α) − Φ⁻¹(β), of shares that are half a run from 0 and 1 at least."""
    least = 0.5 / n
    return np.asarray(-ndtri(np.clip(alarms, least, 1 - least)) - ndtri(np.clip(misses, least, 1 - least)))


def _limit(flags: npt.NDArray[np.bool_], *, upper: bool) -> float:
    """Return the exact limit of a share."""
    n, k = len(flags), int(flags.sum())
    if upper:
        return 1.0 if k == n else float(beta.ppf(1 - TAIL, k + 1, n - k))
    return 0.0 if k == 0 else float(beta.ppf(TAIL, k, n - k + 1))
