"""What attackers find in PWSCUP 2026, and the built-in attacks.

Membership: who of the attacker's own people is in the cohort of the target, by the true positives at 1 % of false
alarms. Attribute inference: the time of people whose check-up is known, told right within half a year, beyond what is
told right of people who are not in the cohort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.spatial import cKDTree

from tokumei.contest.editions.pwscup2026.files import CONTINUOUS, Challenge, Cohort
from tokumei.core.seeds import generator

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

FALSE_ALARMS = 0.01
# A membership attack that is so many times better than chance has all of a team's anonymity.
MOST_TIMES = 12.0
HALF_A_YEAR = 0.5
# One-sided, at 5 %: by how many standard errors hits among the few rare people are taken back.
SURE = 1.64
N_PERMUTATIONS, AT_ONCE = 20_000, 2_000
COMPARED = ("age", "SBP", "TG", "HDL", "ALT")


def true_positives(confidence: Floats, is_member: Bools, false_alarms: float = FALSE_ALARMS) -> float:
    """Share of members told at a share of false alarms, between the thresholds that there are; 0 without both kinds.

    People of one confidence are told together.

    >>> true_positives(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([True, True, False, True, False])).__round__(4)
    0.6667
    """
    if is_member.all() or not is_member.any():
        return 0.0
    order = np.argsort(-confidence, kind="stable")
    is_last = np.append(np.diff(confidence[order]) != 0, True)
    return float(_at_false_alarms(is_member[order][None, :], is_last, false_alarms)[0])


def _at_false_alarms(is_member: Bools, is_last: Bools, false_alarms: float) -> Floats:
    """Do so for several sides at once, a row each; people stand in the order of confidence, ties end at `is_last`."""
    n_in = is_member.sum(axis=1, keepdims=True)
    n_out = is_member.shape[1] - n_in
    told = np.cumsum(is_member, axis=1)[:, is_last]
    alarms = np.flatnonzero(is_last)[None, :] + 1 - told
    start = np.zeros((len(told), 1))
    rate, found = np.hstack([start, alarms / n_out]), np.hstack([start, told / n_in])
    # The last threshold with no more false alarms, and the next.
    here = (rate <= false_alarms).sum(axis=1) - 1
    after = np.minimum(here + 1, rate.shape[1] - 1)
    rows = np.arange(len(rate))
    gap = rate[rows, after] - rate[rows, here]
    part = np.divide(false_alarms - rate[rows, here], gap, out=np.zeros(len(rate)), where=gap > 0)
    result: Floats = found[rows, here] + part * (found[rows, after] - found[rows, here])
    return result


def chance_floor(confidence: Floats, is_member: Bools, is_rare: Bools, *, seed: int = 0) -> float:
    """95th percentile of the membership score when members are drawn at random: what luck alone may reach.

    As many of the rare people are drawn as are members: among few of them luck goes far.
    """
    order = np.argsort(-confidence, kind="stable")
    member, rare, told = is_member[order], is_rare[order], confidence[order]
    has_rare = bool((member & rare).any())
    kinds = [part for part in (rare, ~rare) if part.any()] if has_rare else [np.ones(len(order), bool)]
    counted = [part for part in (np.ones(len(order), bool), rare) if 0 < member[part].sum() < part.sum()]
    rng, found = generator(seed, "permutations"), []
    for _ in range(N_PERMUTATIONS // AT_ONCE if counted else 0):
        drawn = np.empty((AT_ONCE, len(order)), bool)
        for part in kinds:
            drawn[:, part] = rng.permuted(np.broadcast_to(member[part], (AT_ONCE, part.sum())), axis=1)
        lasts = [np.append(np.diff(told[part]) != 0, True) for part in counted]
        scores = [
            _at_false_alarms(drawn[:, part], last, FALSE_ALARMS) for part, last in zip(counted, lasts, strict=True)
        ]
        found.append(np.max(scores, axis=0))
    return float(np.quantile(np.concatenate(found), 0.95)) if found else 0.0


def anonymity_lost(beta: float) -> float:
    """Anonymity that true positives at 1 % of false alarms cost: 0 at chance, 1 at twelve times that.

    >>> round(anonymity_lost(0.065), 9), anonymity_lost(0.01), anonymity_lost(0.12)
    (0.5, 0.0, 1.0)
    """
    return float(np.clip((beta / FALSE_ALARMS - 1) / (MOST_TIMES - 1), 0, 1))


def membership_score(confidence: Floats, is_member: Bools, is_rare: Bools) -> float:
    """Return the true positives among all, or among the rare alone if any of them is a member, whichever is more."""
    everybody = true_positives(confidence, is_member)
    if not (is_member & is_rare).any():
        return everybody
    return max(everybody, true_positives(confidence[is_rare], is_member[is_rare]))


def beyond_controls(hits: int, n: int, control_hits: int, n_controls: int, sure: float = 0.0) -> float:
    """Share of members found beyond what is found of controls, of all that could be: 0 if no more, 1 if all.

    sure: standard errors by which the difference is taken back first.

    >>> round(beyond_controls(85, 100, 80, 100), 9)
    0.25
    """
    if not (n and n_controls) or control_hits == n_controls:
        return 0.0
    share, control = hits / n, control_hits / n_controls
    error = np.sqrt(share * (1 - share) / n + control * (1 - control) / n_controls)
    return float(np.clip((share - control - sure * error) / (1 - control), 0, 1))


def attribute_score(guess: Floats, truth: Floats, is_member: Bools, is_rare: Bools) -> float:
    """How far beyond controls times are told right, of all members or of the rare ones, whichever is more."""
    is_right = np.abs(guess - truth) <= HALF_A_YEAR

    def beyond(is_counted: Bools, sure: float) -> float:
        sides = (is_member & is_counted, ~is_member & is_counted)
        hits, controls = (int(is_right[side].sum()) for side in sides)
        return beyond_controls(hits, int(sides[0].sum()), controls, int(sides[1].sum()), sure)

    return max(beyond(np.ones(len(guess), bool), 0.0), beyond(is_rare, SURE))


@dataclass(frozen=True)
class Seen:
    """What an attacker has: the release, people in no cohort, whose membership is asked, and whose time is."""

    release: Cohort
    background: Cohort
    own: Cohort
    challenge: Challenge


def density_ratio(release: Cohort, background: Cohort, people: Cohort) -> Floats:
    """How much denser the release is where people are than the background is, as a chance; the contest's sample.

    Densities are sums of normal kernels of Scott's width over the seven columns, each in the background's spread.
    """
    from scipy.stats import gaussian_kde

    middle, spread = background.continuous.mean(axis=0), background.continuous.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    sides = [((one.continuous - middle) / spread).T for one in (release, background, people)]
    try:
        inside, outside = (gaussian_kde(side)(sides[2]) for side in sides[:2])
    except (np.linalg.LinAlgError, ValueError):
        return np.full(len(people), 0.5)
    ratio = inside / np.maximum(outside, 1e-300)
    found: Floats = ratio / (1 + ratio)
    return found


def nearest_time(release: Cohort, background: Cohort, people: pl.DataFrame) -> Floats:
    """Name the time of the most similar row of the same sex and prefecture, else sex, else of all; the sample."""
    spread = np.array([max(float(np.std(background.of(name), ddof=1)), 1e-12) for name in COMPARED])
    values = np.column_stack([release.of(name) for name in COMPARED]) / spread
    asked = np.column_stack([people[name].to_numpy().astype(float) for name in COMPARED]) / spread
    sex, place = release.of("sex"), release.frame["prefecture"].to_numpy()
    times, found = release.of("time"), np.empty(people.height)
    for row, (own_sex, own_place) in enumerate(people.select("sex", "prefecture").iter_rows()):
        for likely in ((sex == own_sex) & (place == own_place), sex == own_sex, np.ones(len(sex), bool)):
            if likely.any():
                rows = np.flatnonzero(likely)
                found[row] = times[rows[np.argmin(((values[rows] - asked[row]) ** 2).sum(axis=1))]]
                break
    return found


OUTCOMES = ("time", "onset", "death", "sex", "smoking")


def near_record(release: Cohort, background: Cohort, people: Cohort) -> Floats:
    """How much nearer a release's record is to a person than people of the background are to anybody, as a chance.

    Unlike the sample it looks at the nearest record alone, and at outcomes and codes as well: a synthesizer that keeps
    one of its people shows it there. What is near in a crowded place says little, so the distance counts in units of
    the distance to the tenth nearest person of the background.
    """
    names = (*CONTINUOUS, *OUTCOMES)
    outside = np.column_stack([background.of(name) for name in names])
    spread = outside.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def scaled(cohort: Cohort) -> Floats:
        found: Floats = np.column_stack([cohort.of(name) for name in names]) / spread
        return found

    asked = scaled(people)
    near = cKDTree(scaled(release)).query(asked)[0]
    usual = np.asarray(cKDTree(scaled(background)).query(asked, k=[min(10, len(background))])[0])[:, -1]
    found: Floats = 1 / (1 + near / np.maximum(usual, 1e-9))
    return found


def density_and_nearest(seen: Seen) -> tuple[Floats, Floats]:
    """Play the contest's two samples."""
    times = nearest_time(seen.release, seen.background, seen.challenge.frame)
    return density_ratio(seen.release, seen.background, seen.own), times


def nearest_records(seen: Seen) -> tuple[Floats, Floats]:
    """Play ours; of times the sample is as good as what was tried beside it."""
    times = nearest_time(seen.release, seen.background, seen.challenge.frame)
    return near_record(seen.release, seen.background, seen.own), times


ATTACKS: Mapping[str, Callable[[Seen], tuple[Floats, Floats]]] = {
    "density-ratio": density_and_nearest,
    "near-record": nearest_records,
}
