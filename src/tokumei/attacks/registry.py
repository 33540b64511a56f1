"""The attacks by name, and what the figures of an attack say of a criterion.

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
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.core.text import JsonView
from tokumei.data.history import History
from tokumei.data.table import Table

if TYPE_CHECKING:
    from tokumei.attacks.public_knowledge import Deductions, PublicKnowledge


@runtime_checkable
class HistoryAttack(Protocol):
    """Finds customers in a release from knowledge of some purchases; its fields are its options."""

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym believed to be each customer's in each month: customer, period, pseudonym.

        A customer and month without a guess is left out. A guess is a function one way or the other: one pseudonym
        for a customer and month, or one customer for a pseudonym and month, who may then be given several.
        """


class TableAttack(Protocol):
    """Finds people in a released table from knowledge of some of their columns; its fields are its options."""

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:
        """Return for each published row the row of the knowledge believed to be the same person's, counted from 0.

        A row without a guess is missing. The roles of both tables say what may be compared.
        """


@runtime_checkable
class DisclosureAttack(Protocol):
    """Measures how much a released table gives away to somebody who knows people; its fields are its options."""

    needs: ClassVar[tuple[str, ...]]
    """What a scene must have besides the original and the release: sensitive, earlier, population, control, counts.

    An attack with `asks_whose` = False needs not be told whose record each is, so that records may be nobody's.
    """

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Attack the release as far as the scene allows and judge the guesses, the main score first."""


@runtime_checkable
class ReleaseAttack(DisclosureAttack, Protocol):
    """A disclosure attack that needs neither the original nor any person: the release and public knowledge suffice."""

    def deduce(self, public: PublicKnowledge, *, seed: int) -> Deductions:
        """Deduce what must be true of the original; where that is there, judge the claims by it."""


@runtime_checkable
class ChecksThreatModel(DisclosureAttack, Protocol):
    """A disclosure attack that needs more of a threat model than `needs` can name."""

    def lacks(self, threat_model: ThreatModel) -> str | None:
        """Return what keeps this attack from being tried, or None."""


@runtime_checkable
class NamesVictims(DisclosureAttack, Protocol):
    """A disclosure attack that tells whom it finds, so that `harden` knows which rows to change first."""

    def risks(self, threat_model: ThreatModel, *, seed: int) -> npt.NDArray[np.bool_]:
        """Whether the main score counts each target of the threat model as found."""


# The attackers who look for equal rows stand in one file.
HISTORY_ATTACKS: Registry[HistoryAttack] = Registry(
    "history attack",
    "tokumei.attacks",
    {
        "history.plain_attacks": [
            "exact-match",
            "jaccard",
            "s1",
            "s2",
            "s3",
            "s4",
            "s5",
            "s6",
            "same-day",
            "same-item",
            "same-month-and-item",
            "tfidf",
        ],
        "linkage.attack": ["linkage", "row-counts"],
    },
    group="tokumei.attacks.history",
)
TABLE_ATTACKS: Registry[TableAttack] = Registry(
    "table attack",
    "tokumei.attacks",
    {
        "nearest_rows": ["id-rand", "id-sa", "sa21", "sort"],
    },
    group="tokumei.attacks.table",
)
DISCLOSURE_ATTACKS: Registry[DisclosureAttack] = Registry(
    "disclosure attack",
    "tokumei.attacks.disclosure",
    {
        "downcoding": ["downcoding"],
        "intersection": ["intersection"],
        "known_people": ["background-knowledge", "homogeneity", "record-linkage"],
        "linked_rows": ["linked-rows"],
        "membership": ["membership"],
        "minimality": ["minimality"],
        "nearest_records": ["distance-linkage", "inference", "linkability"],
        "population": ["population-linkage", "presence"],
        "reconstruction": ["reconstruction"],
        "refine": ["refine"],
        "singling_out": ["singling-out"],
    },
)

# In the place of an attack's name.
ALL = "all"


def attack_title(attack: str, sensitive: str | None) -> str:
    """Name an attack that was tried, with the column it learned where that is one of several.

    >>> attack_title("homogeneity", "illness"), attack_title("record-linkage", None)
    ('homogeneity of illness', 'record-linkage')
    """
    return attack if sensitive is None else f"{attack} of {sensitive}"


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


def judge_scores(scores: Mapping[str, JsonView], margin: float = MARGIN) -> str:
    """Judge one attack by its scores, as `Score.as_dict` writes them: the worst finding of those that decide.

    margin: how much more than chance an attack may find.

    >>> judge_scores({"certain": {"value": 0.0, "interval": (0.0, 0.01)}})
    'met'
    >>> judge_scores({"success": {"value": 0.45, "interval": (0.43, 0.47), "baseline": 0.28}})
    'not met'
    """
    found = [_judge_score(name, score, margin) for name, score in scores.items() if name in DECIDING]
    measured = [one for one in found if one != NOT_MEASURED]
    return next((one for one in (NOT_MET, JUDGE, MET) if one in measured), NOT_MEASURED)


def was_tried(score: JsonView) -> bool:
    """Whether there was anything that an attack could be right about: people, cells, or predicates."""
    return not any(score.get("inputs", {}).get(kind) == 0 for kind in ("people", "cells", "predicates"))


def chance_of(name: str, score: JsonView) -> float | None:
    """Return the share that would be found by chance; None if the attack does not state it."""
    # Blind guessing is certain of nothing, and the control of a certain find counts how often it is a mistake.
    if name == "certain":
        return 0.0
    stated = [float(score[kind]) for kind in ("baseline", "control") if score.get(kind) is not None]
    return max(stated, default=None)


def _judge_score(name: str, score: JsonView, margin: float) -> str:
    if not was_tried(score):
        return NOT_MEASURED
    if name == "certain" and score["value"] > 0:
        return NOT_MET
    chance, interval = chance_of(name, score), score.get("interval")
    if chance is None or interval is None:
        return JUDGE
    low, high = interval
    return MET if high <= chance + margin else NOT_MET if low > chance + margin else JUDGE


@dataclass(frozen=True)
class SinglingOut:
    """Whether labels single people out: the finding and, where an attack measured it, its figures.

    found, low, high: share of predicates at the ends of ranges that fit one row of all, with its 95 % interval.
    blind: the same share for any value of those ranges. why: why it was not measured.
    """

    finding: str
    attack: JsonView | None = None
    found: float | None = None
    low: float | None = None
    high: float | None = None
    blind: float | None = None
    why: str | None = None


def singling_out_of(attacks: Iterable[JsonView]) -> list[SinglingOut]:
    """Collect what attacks found that looked for people whom labels single out; if none did, that it is not measured.

    attacks: as a dossier lists them. Two attackers who know nobody find the same, so that it stands there once.
    """
    every = list(attacks)
    tried = {one["attack"]: one for one in every if SINGLED_OUT in one["scores"]}
    if tried:
        return [_singled_out(one) for one in tried.values()]
    is_estimated = any(f"{SINGLED_OUT}-estimate" in one["scores"] for one in every)
    return [SinglingOut(NOT_MEASURED, why=NO_PEOPLE if is_estimated else NOT_RUN)]


def _singled_out(attack: JsonView) -> SinglingOut:
    score = attack["scores"][SINGLED_OUT]
    finding = judge_scores({SINGLED_OUT: score})
    if finding == NOT_MEASURED:
        return SinglingOut(finding, attack, why=NO_RANGES)
    low, high = score.get("interval") or (None, None)
    return SinglingOut(finding, attack, score["value"], low, high, chance_of(SINGLED_OUT, score))
