"""European Union: the three criteria of the Article 29 Working Party's Opinion 05/2014 (WP216)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.attack.registry import HISTORY_ATTACKS, attack_title
from tokumei.inspection.legal_case import JUDGE, MET, NOT_MET, Finding, LegalCase

ARTICLE = "WP216, 2.2.2"


def wp216(case: LegalCase) -> dict[str, Any]:
    """Check singling out, linkability and inference, the latter two for each recipient whose attack was tried."""
    known = ", ".join(case.known)
    alone = Finding(
        ARTICLE,
        "singling out",
        MET,
        "every row shares {known} with {n} others or more",
        {"known": known, "n": case.k - 1},
    )
    if case.k < 2:
        alone = Finding(ARTICLE, "singling out", NOT_MET, "rows are alone by {known}", {"known": known})
    linking, inferring = ("record-linkage", *HISTORY_ATTACKS), ("homogeneity",)
    items = [alone, *_by_attack(case, "linkability", linking), *_by_attack(case, "inference", inferring)]
    return {"title": "European Union: the three criteria of WP216", "items": [one.as_dict() for one in items]}


def _by_attack(case: LegalCase, criterion: str, attacks: Sequence[str]) -> list[Finding]:
    tried = [one for one in case.attacks if one["attack"] in attacks]
    if not tried:
        return [Finding(ARTICLE, criterion, JUDGE, "the attack {attack} was not tried", {"attack": attacks[0]})]
    return [_judged(one, criterion) for one in tried]


def _judged(attack: Mapping[str, Any], criterion: str) -> Finding:
    """Call a criterion met if nobody is found with certainty, and not met if somebody is."""
    scores = attack["scores"]
    certain = scores.get("certain", {}).get("value")
    told = ", ".join(f"{kind} {score['value']:.3g}" for kind, score in scores.items())
    found = f"{attack_title(attack['attack'], attack.get('sensitive'))}: {told}"
    finding = JUDGE if certain is None else NOT_MET if certain > 0 else MET
    return Finding(ARTICLE, criterion, finding, "{found}", {"found": found}, attack["threat"])
