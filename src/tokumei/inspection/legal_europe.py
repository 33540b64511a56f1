"""European Union: the three criteria of the Article 29 Working Party's Opinion 05/2014 (WP216)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.attacks.registry import HISTORY_ATTACKS, attack_title
from tokumei.attacks.verdict import (
    DECIDING,
    JUDGE,
    MARGIN,
    NOT_MEASURED,
    NOT_MET,
    SINGLED_OUT,
    SinglingOut,
    chance_of,
    judge_scores,
    singling_out_of,
    was_tried,
)
from tokumei.inspection.legal_case import Finding, LegalCase

ARTICLE = "WP216, 2.2.2"
NOTE = (
    "A criterion is met only by an attack that was run: where the upper end of its 95 % interval is at most {margin} "
    "above what chance finds. It is not met where the lower end lies above that, or somebody was found with certainty. "
    "In between it is yours to judge. A count of rows, such as k, decides nothing here."
)
TIGHT = "ranges of numbers are tight: both ends of each are values of people in the group"


def wp216(case: LegalCase) -> dict[str, Any]:
    """Judge singling out, linkability and inference by the attacks that were run, for each recipient."""
    linking, inferring = ("record-linkage", *HISTORY_ATTACKS), ("homogeneity",)
    items = [
        # What was measured comes before what is yours to judge.
        *_singling_out(case),
        *_written_values(case),
        *_by_attack(case, "linkability", linking),
        *_by_attack(case, "inference", inferring),
    ]
    return {
        "title": "European Union: the three criteria of WP216",
        "items": [one.as_dict() for one in items],
        "note": {"said": NOTE, "values": {"margin": f"{MARGIN:g}"}},
    }


def _singling_out(case: LegalCase) -> list[Finding]:
    """Not met if a row is alone, else what attacks on the labels found."""
    item, known = "singling out", ", ".join(case.known)
    if case.k < 2:
        return [Finding(ARTICLE, item, NOT_MET, "rows are alone by {known}", {"known": known})]
    return [_singled_out(one, known, case.k) for one in singling_out_of(case.attacks)]


def _written_values(case: LegalCase) -> list[Finding]:
    """Warn of values of people in the group that are written, whatever an attack makes of them."""
    said = [*([TIGHT] if case.ranges == "tight" else []), *([case.gives_away] if case.gives_away else [])]
    return [Finding(ARTICLE, "singling out", JUDGE, one) for one in said]


def _singled_out(found: SinglingOut, known: str, k: int) -> Finding:
    """Compare how often the ends of ranges fit one person with how often any value of the same ranges does."""
    if found.attack is None or found.found is None:
        said = "not measured: {why}; counted: every row shares {known} with {n} other rows or more"
        return Finding(ARTICLE, "singling out", NOT_MEASURED, said, {"why": found.why, "known": known, "n": k - 1})
    values = {"attack": found.attack["attack"], "found": f"{found.found:.3g}"}
    if found.low is None or found.high is None or found.blind is None:
        values["found"] = _with_interval(SINGLED_OUT, found.attack["scores"][SINGLED_OUT])
        return Finding(ARTICLE, "singling out", found.finding, "{attack}: {found}", values)
    values |= {"low": f"{found.low:.3g}", "high": f"{found.high:.3g}", "blind": f"{found.blind:.3g}"}
    said = "{attack}: the end of a range fits one person in {found} ({low} to {high}), any value of it in {blind}"
    return Finding(ARTICLE, "singling out", found.finding, said, values)


def _by_attack(case: LegalCase, criterion: str, attacks: Sequence[str]) -> list[Finding]:
    tried = [one for one in case.attacks if one["attack"] in attacks]
    if not tried:
        said = "the attack {attack} was not tried"
        return [Finding(ARTICLE, criterion, NOT_MEASURED, said, {"attack": attacks[0]})]
    return [_judged(one, criterion) for one in tried]


def _judged(attack: Mapping[str, Any], criterion: str) -> Finding:
    """Judge one attack on people who are known, and list each of its figures."""
    told = ", ".join(f"{kind} {_with_interval(kind, score)}" for kind, score in attack["scores"].items())
    found = f"{attack_title(attack['attack'], attack.get('sensitive'))}: {told or '–'}"
    finding = judge_scores(attack["scores"])
    return Finding(ARTICLE, criterion, finding, "{found}", {"found": found}, attack["threat"])


def _with_interval(name: str, score: Mapping[str, Any]) -> str:
    if not was_tried(score):
        return "–"
    low, high = score.get("interval") or (None, None)
    chance = chance_of(name, score) if name in DECIDING else None
    more = [] if low is None else [f"{low:.3g}–{high:.3g}"]
    more += [] if chance is None else [f"chance {chance:.3g}"]
    return f"{score['value']:.3g}" + (f" ({', '.join(more)})" if more else "")
