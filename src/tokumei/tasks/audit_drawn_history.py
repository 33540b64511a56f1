"""The audit of purchases that a method drew: attacked before they are written, beside customers whom it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import polars as pl

from tokumei.attacks.history.attackers import HistoryThreat
from tokumei.attacks.history.drawn_purchases import hits_of_inference, hits_of_singling_out
from tokumei.attacks.judge import FALSE_ALARMS, share_beyond
from tokumei.core.errors import CannotAnonymize, NotAllowed
from tokumei.core.progress import step
from tokumei.core.seeds import fresh_seed
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.history import History
from tokumei.methods.history.basket_shadow_runs import basket_shadow_runs
from tokumei.methods.history.dp_baskets import DpBaskets
from tokumei.methods.history.drawn_customers import CustomerSynthesizer
from tokumei.methods.registry import HISTORY_ANONYMIZERS
from tokumei.reports.evaluation import measure_made_up
from tokumei.tasks.attack_membership import FEWEST_OUTSIDE, attack_membership
from tokumei.tasks.audit_drawn import PART_OF_RARE, Finding

KNOWS_ALL = HistoryThreat("somebody who knows all purchases of a customer", share=1, item_characters=None)
# Customers who are asked about on each side by the membership attack, which compares them with all drawn ones.
MOST_ASKED = 500
NO_PSEUDONYMS = Text("no pseudonym is a customer's: there is none to find, and no purchase to give to its buyer")
FEW_OUTSIDE = Text("it needs {n} customers who were kept out (hold_out)", n=FEWEST_OUTSIDE)
NOTHING_TO_FIND = Text("there was nothing to find")
PASSED, REFUSED = (
    "no pseudonym is anybody's, so that none is found; the audit "
    f"{word} it: {{attack}} finds {{beyond}} beyond others, at least {{low}}, and {{most}} may be"
    for word in ("passes", "refuses")
)
SEED = 1


def audit_drawn_history(
    history: History, drawn: History, outside: Sequence[str], method: CustomerSynthesizer
) -> dict[str, Any]:
    """Attack drawn purchases before they are released; NotAllowed if that finds more than the bound, unless anyway.

    What counts is what is found of customers whom the method knew beyond what is found of those kept out.
    """
    left_out: dict[str, str] = {"linkage": NO_PSEUDONYMS, "attribution": NO_PSEUDONYMS}
    shadows = _shadows(method)
    if not outside:
        if not method.anyway:
            raise NotAllowed(
                "Nobody was kept out of fitting, so that no attack could be judged: hold_out says how many are. "
                "(--anyway releases the purchases without an audit, and the recipe says so.)"
            )
        left_out["all"] = Text("nobody was kept out of fitting")
        return {"findings": [], "left_out": left_out, "bound": method.bound, "customers_outside": 0, **shadows}
    findings = _findings(history, drawn, outside, method.bound, left_out)
    worst = max(findings, key=lambda one: one.low - one.most, default=None)
    if worst is not None and worst.is_leak and not method.anyway:
        raise NotAllowed(
            Text(
                "The drawn purchases give customers away: {attack} finds {found} of those who were fitted, {beyond} "
                "(at least {low}) more than of others; the bound is {most}. Draw with less detail. (--anyway "
                "releases them all the same, and the recipe says so.)",
                attack=worst.attack,
                **{name: f"{getattr(worst, name):.1%}" for name in ("found", "beyond", "low", "most")},
            )
        )
    told = [{**asdict(one), "is_leak": one.is_leak} for one in findings]
    known = {"bound": method.bound, "customers_outside": len(outside), **shadows}
    return {"findings": told, "left_out": left_out, **known}


def _shadows(method: CustomerSynthesizer) -> Json:
    """Return what shadow runs found of one customer beside what is promised; NotAllowed if they found more."""
    if not isinstance(method, DpBaskets) or not method.shadow_runs:
        return {}
    found = basket_shadow_runs(method, method.shadow_runs, seed=SEED)
    if not found.is_kept and not method.anyway:
        raise NotAllowed(
            Text(
                "The counts tell more of one person than was promised: μ is {low} at least, {promised} was promised.",
                low=f"{found.low:.3f}",
                promised=f"{found.promised:.3f}",
            )
        )
    return {"promised_mu": found.promised, "shadow_runs": found.as_dict()}


def measure_drawn(history: History, method: CustomerSynthesizer, seed: int) -> Json:
    """Draw purchases for a sweep: what use is left, and what the audit finds, in words; nothing is refused.

    Noise that a promise rests on is drawn by a seed that nobody knows.
    """
    is_promised = isinstance(method, DpBaskets) and not method.reproducible
    used = fresh_seed() if is_promised else seed
    try:
        drawn = History(method.anonymize(history, seed=used).frame)
    except CannotAnonymize as error:
        none = dict.fromkeys(("utility", "found", "attack", "attributed"))
        return {**none, "evaluation": {"left_out": {"way": error.text}}}
    outside = method.outside(history, seed=used)
    audit = audit_drawn_history(history, drawn, outside, replace(method, anyway=True))
    done = measure_made_up(history, drawn, {"audit": _in_a_line(audit["findings"])})
    told = {"utility": done.contest_utility, "found": None, "attack": None, "attributed": None}
    return {**told, "evaluation": {**done.as_dict(), "left_out": {"audit": done.left_out["audit"]}, "audit": audit}}


def _in_a_line(findings: Sequence[JsonView]) -> Text:
    """Return what the attack found that comes nearest to its bound, or passes it by most."""
    worst = max(findings, key=lambda one: one["low"] - one["most"], default=None)
    if worst is None:
        return Text("no pseudonym is anybody's, so that none is found; the audit had nothing to measure")
    shares = {name: f"{max(0.0, worst[name]):.1%}" for name in ("beyond", "low", "most")}
    return Text(REFUSED if worst["is_leak"] else PASSED, attack=worst["attack"], **shares)


def drawn_history(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a dossier says of purchases that a method drew, by the facts of a release; None of others."""
    name = facts.get("method")
    if name not in HISTORY_ANONYMIZERS or not getattr(HISTORY_ANONYMIZERS.get(str(name)), "draws_all_rows", False):
        return None
    # A promise is void where its noise can be drawn again.
    names = ("audit",) if facts.get("promise") is not None else ("epsilon", "delta", "protects", "audit")
    return {one: facts[one] for one in names if one in facts}


def _findings(
    history: History, drawn: History, outside: Sequence[str], bound: float, left_out: dict[str, str]
) -> list[Finding]:
    is_outside = pl.col("customer").is_in(list(outside))
    fitted, others = History(history.kept.filter(~is_outside)), History(history.kept.filter(is_outside))
    findings = []
    with step("attacking what was drawn", 3) as bar:
        if len(others.customers) < FEWEST_OUTSIDE or len(fitted.customers) < 2:
            left_out["membership"] = FEW_OUTSIDE
        elif not set(fitted.periods) & set(others.periods):
            left_out["membership"] = NOTHING_TO_FIND
        else:
            findings += _membership(fitted, others, drawn, bound)
        bar.advance()
        (found, n), (found_else, n_else) = (hits_of_inference(one, drawn, seed=SEED) for one in (fitted, others))
        findings += _beyond("inference", found, n, found_else, n_else, bound, left_out)
        bar.advance()
        found, found_else, n = hits_of_singling_out((fitted, others), drawn, seed=SEED)
        findings += _beyond("singling-out", found, n, found_else, n, bound, left_out)
        bar.advance()
    return findings


def _membership(fitted: History, others: History, drawn: History, bound: float) -> list[Finding]:
    """Tell whether customers were fitted, all of whose purchases are known."""
    done = attack_membership(fitted, drawn, KNOWS_ALL, control=others, people=MOST_ASKED, draws=1, seed=SEED)
    found = []
    for name, rate in FALSE_ALARMS.items():
        score = done.scores.get(name)
        if score is not None and score.interval is not None:
            most = bound if name == "success" else bound / PART_OF_RARE
            low = score.interval[0] - rate
            found.append(Finding(f"membership {name}", None, score.value, score.value - rate, low, most))
    return found


def _beyond(
    attack: str, found: int, n: int, found_else: int, n_else: int, bound: float, left_out: dict[str, str]
) -> list[Finding]:
    """Return what is found beyond what is found of others."""
    if not n or not n_else:
        left_out[attack] = NOTHING_TO_FIND
        return []
    beyond, (low, _) = share_beyond(found, n, found_else, n_else)
    return [Finding(attack, None, found / n, beyond, low, bound)]
