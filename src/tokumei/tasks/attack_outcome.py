"""What an attack on a table comes to, in the same figures for every attack, and why a figure is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tokumei.attacks.registry import was_tried
from tokumei.core.score import Score
from tokumei.core.text import Json

# Of each the first score that is there: how much an attack finds, and of how many it is certain.
FINDS = ("success", "singled-out", "singled-out-estimate", "above-bound", "cells-certain")
CERTAIN = ("certain", "claimed", "cells-certain")
# What the share is a share of: rows or people unless it is said.
COUNTED = ("people", "predicates", "cells")

NO_OTHERS = "no people outside the release were given (--control)"
FIGURES = ("success", "interval", "baseline", "control", "risk", "certain", "highest", "riskiest")
# Why a figure cannot be given, by attack.
WHY_NOT: Mapping[str, Mapping[str, str]] = {
    "background-knowledge": {
        "control": "values are ruled out of people in the release alone",
        "highest": "guesses go by what is frequent; `certain` counts those that are sure",
    },
    "distance-linkage": {"risk": "the control is of claims: of somebody outside no record is right"},
    "downcoding": {
        "baseline": "the release holds no range, whose ends are tried",
        "control": "it looks for nobody",
        "highest": "claims are proven or not made",
        "riskiest": "claims name rows of the release: `claims` lists them",
    },
    "homogeneity": {"highest": "guesses go by what is frequent; `certain` counts those that are sure"},
    "inference": {"certain": "guesses go by how like a record is; `anonymity-loss` weighs how sure they are"},
    "intersection": {"control": "somebody outside has no record in any release"},
    "linkability": {"certain": "two parts meet with a chance"},
    "linked-rows": {"control": "somebody outside has no value of the linking column"},
    "membership": {
        "control": "the area under the curve holds people in and out together",
        "risk": "the area under the curve holds people in and out together",
        "riskiest": "too few people are outside to set a threshold by",
        "certain": "thresholds are set by false alarms, so that nobody is told for certain",
        "highest": "people are told at a threshold, not with a chance of their own",
    },
    "minimality": {},
    "population-linkage": {"control": "somebody outside has no record"},
    "presence": {
        "risk": "the control is of certain finds; `success` counts who is told to be outside, too",
        "riskiest": "people are rows of the population, not of the original",
        "highest": "`largest` among the inputs is the largest chance to be in the release",
    },
    "reconstruction": {
        "certain": "no group was proven in the time that programs may take",
        "control": "nobody outside was given, or no table that fits was found",
        "highest": "groups are proven or open; `candidates` has the share of fits that hold a row",
        "riskiest": "the original is not given, or nobody is in a proven group",
    },
    "record-linkage": {"risk": "the control is of certain finds: of somebody outside no record is right"},
    "refine": {
        "baseline": "claims are proven or not made, so that nothing is guessed",
        "control": "it looks for nobody",
        "highest": "claims are proven or not made",
        "riskiest": "claims name rows of the release: `claims` lists them",
    },
    "singling-out": {"highest": "descriptions fit one row or do not"},
}
# Of an attack of another package nothing else is known.
UNKNOWN = "the attack does not state it"


@dataclass(frozen=True)
class Outcome:
    """The figures of one attack.

    success: the share found, with its 95 % interval. baseline: what blind guessing finds. control: what the same attack
    finds of people who are not in the release, by the score that `control_of` names. risk: the share above the control.
    certain: how many were found for certain, or claimed with more than even odds. highest: the highest chance with
    which one person is found. riskiest: rows of the original that are found most surely, from 0. n: how many were
    tried. why: for each figure that is not there, why.
    """

    measure: str
    success: float | None
    interval: tuple[float, float] | None
    baseline: float | None
    control: float | None
    risk: float | None
    certain: int | None
    highest: float | None
    riskiest: Sequence[int] | None
    n: int | None
    control_of: str = ""
    why: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, attack: str, scores: Mapping[str, Score], *, has_control: bool) -> Outcome:
        """Collect the figures of an attack from its scores."""
        if not scores:
            why = dict.fromkeys(FIGURES, "no attack ended in the time it may take")
            return cls("", None, None, None, None, None, None, None, None, 0, why=why)
        main = next((name for name in FINDS if name in scores), next(iter(scores)))
        score, sure = scores[main], next((scores[name] for name in CERTAIN if name in scores), None)
        if not was_tried(score.as_dict()):
            why = dict.fromkeys(FIGURES, "there was nothing to find")
            return cls(main, None, None, None, None, None, None, None, None, 0, why=why)
        told: Json = {}
        for one in scores.values():
            for name in ("highest", "riskiest"):
                if name in one.inputs:
                    told.setdefault(name, one.inputs[name])
        control, risk = score.control, score.risk
        if attack == "membership" and main == "success":
            # The share of people outside who are taken for members sets the threshold.
            control, risk = score.baseline, None
        if control is not None and risk is None:
            risk = min(1.0, max(0.0, (score.value - control) / (1 - control))) if control < 1 else 0.0
        is_of_certain = control is None and sure is not None and sure.control is not None
        if is_of_certain and sure is not None:
            control = sure.control
        n = next((int(score.inputs[name]) for name in COUNTED if name in score.inputs), None)
        figures: Json = {
            "success": score.value,
            "interval": score.interval,
            "baseline": score.baseline,
            "control": control,
            "risk": risk,
            "certain": _n_certain(attack, score, sure),
            "highest": told.get("highest"),
            "riskiest": None if "riskiest" not in told else [row - 1 for row in told["riskiest"]],
        }
        lacking = [name for name, value in figures.items() if value is None]
        own = WHY_NOT.get(attack, {})
        why = {}
        for name in lacking:
            if name == "risk" and control is None and name not in own:
                why[name] = own.get("control", UNKNOWN if has_control else NO_OTHERS)
            else:
                why[name] = own.get(name, NO_OTHERS if name in ("control", "risk") and not has_control else UNKNOWN)
        control_of = sure.name if is_of_certain and sure is not None else main if control is not None else ""
        return cls(main, **figures, n=n, control_of=control_of, why=why)

    def as_dict(self) -> Json:
        """Return the figures for JSON, where rows count from 1."""
        rows = None if self.riskiest is None else [row + 1 for row in self.riskiest]
        told = {name: getattr(self, name) for name in FIGURES} | {"riskiest": rows}
        return {"measure": self.measure, "control_of": self.control_of, **told, "not_given": dict(self.why)}


def _n_certain(attack: str, score: Score, sure: Score | None) -> int | None:
    if attack == "singling-out":
        return round(score.value * int(score.inputs["predicates"]))
    if sure is None:
        return None
    n = next((sure.inputs[name] for name in COUNTED if name in sure.inputs), None)
    return None if n is None else round(sure.value * int(n))
