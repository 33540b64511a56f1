"""European Union: the three criteria of the Article 29 Working Party's Opinion 05/2014 (WP216)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.attack.registry import HISTORY_ATTACKS, attack_title
from tokumei.inspection.legal_case import JUDGE, MET, NOT_MEASURED, NOT_MET, Finding, LegalCase

ARTICLE = "WP216, 2.2.2"
SINGLING_OUT = "singled-out"
TIGHT = "ranges of numbers are tight: both ends of each are values of people in the group"


def wp216(case: LegalCase) -> dict[str, Any]:
    """Judge singling out, linkability and inference by the attacks that were run, for each recipient."""
    linking, inferring = ("record-linkage", *HISTORY_ATTACKS), ("homogeneity",)
    items = [
        *_tight_ranges(case),
        *_singling_out(case),
        *_by_attack(case, "linkability", linking),
        *_by_attack(case, "inference", inferring),
    ]
    return {"title": "European Union: the three criteria of WP216", "items": [one.as_dict() for one in items]}


def _tight_ranges(case: LegalCase) -> list[Finding]:
    """Warn of ranges that end with values of people in the group, whatever an attack makes of them."""
    if case.ranges != "tight":
        return []
    return [Finding(ARTICLE, "singling out", JUDGE, TIGHT)]


def _singling_out(case: LegalCase) -> list[Finding]:
    """Not met if a row is alone or labels give people away; met only if an attack looked for that and found nothing."""
    item, known = "singling out", ", ".join(case.known)
    if case.k < 2:
        return [Finding(ARTICLE, item, NOT_MET, "rows are alone by {known}", {"known": known})]
    tried = [one for one in case.attacks if SINGLING_OUT in one["scores"]]
    if not tried:
        said = "every row shares {known} with {n} others or more; whether labels single people out was not tried"
        return [Finding(ARTICLE, item, NOT_MEASURED, said, {"known": known, "n": case.k - 1})]
    return [_singled_out(one) for one in {one["attack"]: one for one in tried}.values()]


def _singled_out(attack: Mapping[str, Any]) -> Finding:
    """Compare how often what labels give away fits one person with how often any value that they allow does."""
    score = attack["scores"][SINGLING_OUT]
    blind, interval = score.get("baseline"), score.get("interval")
    values = {"attack": attack["attack"], "found": f"{score['value']:.3g}"}
    if blind is None or interval is None:
        return Finding(ARTICLE, "singling out", JUDGE, "{attack}: {found}", values)
    values |= {"low": f"{interval[0]:.3g}", "high": f"{interval[1]:.3g}", "blind": f"{blind:.3g}"}
    said = "{attack}: the end of a range fits one person in {found} ({low} to {high}), any value of it in {blind}"
    return Finding(ARTICLE, "singling out", NOT_MET if interval[0] > blind else MET, said, values)


def _by_attack(case: LegalCase, criterion: str, attacks: Sequence[str]) -> list[Finding]:
    tried = [one for one in case.attacks if one["attack"] in attacks]
    if not tried:
        said = "the attack {attack} was not tried"
        return [Finding(ARTICLE, criterion, NOT_MEASURED, said, {"attack": attacks[0]})]
    return [_judged(one, criterion) for one in tried]


def _judged(attack: Mapping[str, Any], criterion: str) -> Finding:
    """Call a criterion met if nobody is found with certainty, and not met if somebody is."""
    scores = attack["scores"]
    certain = scores.get("certain", {}).get("value")
    told = ", ".join(f"{kind} {_with_interval(score)}" for kind, score in scores.items())
    found = f"{attack_title(attack['attack'], attack.get('sensitive'))}: {told}"
    finding = JUDGE if certain is None else NOT_MET if certain > 0 else MET
    return Finding(ARTICLE, criterion, finding, "{found}", {"found": found}, attack["threat"])


def _with_interval(score: Mapping[str, Any]) -> str:
    low, high = score.get("interval") or (None, None)
    return f"{score['value']:.3g}" + ("" if low is None else f" ({low:.3g}–{high:.3g})")
