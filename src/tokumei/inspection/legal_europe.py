"""European Union: the three criteria of the Article 29 Working Party's Opinion 05/2014 (WP216)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokumei.attack.registry import attack_title
from tokumei.inspection.legal_case import JUDGE, MET, NOT_MET, Finding, LegalCase


def wp216(case: LegalCase) -> dict[str, Any]:
    """Check singling out, linkability and inference, the latter two for each recipient whose attack was tried."""
    article = "WP216, 2.2.2"
    alone = Finding(
        article, "singling out", MET, f"every row shares {', '.join(case.known)} with {case.k - 1} others or more"
    )
    if case.k < 2:
        alone = Finding(article, "singling out", NOT_MET, f"rows are alone by {', '.join(case.known)}")
    items = [alone, *_by_attack(case, "linkability", "record-linkage"), *_by_attack(case, "inference", "homogeneity")]
    return {"title": "European Union: the three criteria of WP216", "items": [one.as_dict() for one in items]}


def _by_attack(case: LegalCase, criterion: str, attack: str) -> list[Finding]:
    tried = [one for one in case.attacks if one["attack"] == attack]
    if not tried:
        return [Finding("WP216, 2.2.2", criterion, JUDGE, f"the attack {attack} was not tried")]
    return [_judged(one, criterion) for one in tried]


def _judged(attack: Mapping[str, Any], criterion: str) -> Finding:
    """Call a criterion met if nobody is found with certainty, and not met if somebody is."""
    scores = attack["scores"]
    certain = scores.get("certain", {}).get("value")
    said = ", ".join(f"{kind} {score['value']:.3g}" for kind, score in scores.items())
    item, evidence = (
        f"{criterion} ({attack['threat']})",
        f"{attack_title(attack['attack'], attack['sensitive'])}: {said}",
    )
    finding = JUDGE if certain is None else NOT_MET if certain > 0 else MET
    return Finding("WP216, 2.2.2", item, finding, evidence)
