"""What the figures of an attack say of a criterion: met, not met, yours to judge, or not measured.

| finding        | when                                                                                            |
|----------------|-------------------------------------------------------------------------------------------------|
| met            | the upper end of the 95 % interval is at most `MARGIN` above chance                              |
| not met        | its lower end lies above that, or somebody was found with certainty                             |
| yours to judge | the interval lies on both sides of it, or the attack states no interval or no chance            |
| not measured   | no attack was run, or it had nothing to try                                                     |

Chance is what blind guessing finds, or the control group where that is more. A count, such as k, is no attack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MET, NOT_MET, JUDGE, NOT_MEASURED = "met", "not met", "yours to judge", "not measured"
# Far below the .17 by which tight ranges at k = 5 give people of Adult away, and wide enough that the interval of a few
# thousand people can lie within it.
MARGIN = 0.02
SINGLED_OUT = "singled-out"
# Which of several scores are shares of people rightly found; others say how much is known of cells or rows.
DECIDING = (SINGLED_OUT, "certain", "success", "found", "row", "pseudonym")
NOT_RUN = "no attack looked for people whom labels single out"
NO_PEOPLE = "no released row is a row of the original, so that nobody can judge what the attack claims"
NO_RANGES = "no label of the release is a range, whose ends the attack tries"
NOTHING_TO_FIND = "nothing to find"


def judge_scores(scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Judge one attack by its scores, as `Score.as_dict` writes them: the worst finding of those that decide.

    >>> judge_scores({"certain": {"value": 0.0, "interval": (0.0, 0.01)}})
    'met'
    >>> judge_scores({"success": {"value": 0.45, "interval": (0.43, 0.47), "baseline": 0.28}})
    'not met'
    """
    found = [_judge_score(name, score) for name, score in scores.items() if name in DECIDING]
    measured = [one for one in found if one != NOT_MEASURED]
    return next((one for one in (NOT_MET, JUDGE, MET) if one in measured), NOT_MEASURED)


def was_tried(score: Mapping[str, Any]) -> bool:
    """Whether there was anything that an attack could be right about: people, cells, or predicates."""
    return not any(score.get("inputs", {}).get(kind) == 0 for kind in ("people", "cells", "predicates"))


def chance_of(name: str, score: Mapping[str, Any]) -> float | None:
    """Return the share that would be found by chance; None if the attack does not state it."""
    # Blind guessing is certain of nothing, and the control of a certain find counts how often it is a mistake.
    if name == "certain":
        return 0.0
    stated = [float(score[kind]) for kind in ("baseline", "control") if score.get(kind) is not None]
    return max(stated, default=None)


def _judge_score(name: str, score: Mapping[str, Any]) -> str:
    if not was_tried(score):
        return NOT_MEASURED
    if name == "certain" and score["value"] > 0:
        return NOT_MET
    chance, interval = chance_of(name, score), score.get("interval")
    if chance is None or interval is None:
        return JUDGE
    low, high = interval
    return MET if high <= chance + MARGIN else NOT_MET if low > chance + MARGIN else JUDGE


@dataclass(frozen=True)
class SinglingOut:
    """Whether labels single people out: the finding and, where an attack measured it, its figures.

    found, low, high: share of predicates at the ends of ranges that fit one row of all, with its 95 % interval.
    blind: the same share for any value of those ranges. why: why it was not measured.
    """

    finding: str
    attack: Mapping[str, Any] | None = None
    found: float | None = None
    low: float | None = None
    high: float | None = None
    blind: float | None = None
    why: str | None = None


def singling_out_of(attacks: Iterable[Mapping[str, Any]]) -> list[SinglingOut]:
    """Collect what attacks found that looked for people whom labels single out; if none did, that it is not measured.

    attacks: as a dossier lists them. Two attackers who know nobody find the same, so that it stands there once.
    """
    every = list(attacks)
    tried = {one["attack"]: one for one in every if SINGLED_OUT in one["scores"]}
    if tried:
        return [_singled_out(one) for one in tried.values()]
    is_estimated = any(f"{SINGLED_OUT}-estimate" in one["scores"] for one in every)
    return [SinglingOut(NOT_MEASURED, why=NO_PEOPLE if is_estimated else NOT_RUN)]


def _singled_out(attack: Mapping[str, Any]) -> SinglingOut:
    score = attack["scores"][SINGLED_OUT]
    finding = judge_scores({SINGLED_OUT: score})
    if finding == NOT_MEASURED:
        return SinglingOut(finding, attack, why=NO_RANGES)
    low, high = score.get("interval") or (None, None)
    return SinglingOut(finding, attack, score["value"], low, high, chance_of(SINGLED_OUT, score))
