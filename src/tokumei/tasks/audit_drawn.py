"""The audit of rows that a method drew: attacked before they are written, beside people whom the method never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import ndtri

from tokumei.attacks.copied_people import copied_people
from tokumei.attacks.disclosure.singling_out import SingledOut
from tokumei.attacks.judge import FALSE_ALARMS, share_beyond
from tokumei.core.errors import NotAllowed
from tokumei.core.progress import step
from tokumei.core.score import NORMAL_95
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Bools
from tokumei.methods.synthetic.private import PrivateSynthesizer
from tokumei.methods.synthetic.private_noise import rho_of
from tokumei.methods.synthetic.shadow_runs import shadow_runs
from tokumei.methods.synthetic.synthesizer import Synthesizer
from tokumei.tasks.use_of_drawn import use_of_drawn

if TYPE_CHECKING:
    from tokumei.attacks.threat_model import ThreatModel
    from tokumei.core.score import Score
    from tokumei.methods.rows import RowRelease

CRITERIA = ("singling-out", "linkability")
# What one false alarm in a thousand tells may be this part of the bound; and this, people whose whole row is copied,
# where fewer than one in a hundred of those outside are.
PART_OF_RARE, PART_OF_COPIES = 4, 10
# All attacks of an audit together take chance for a leak this often at most.
FALSE_REFUSALS = 0.05
# Of few people the method draws again with others kept out, until so many were outside, or so often.
MOST_OUTSIDE, MOST_REDRAWN = 4_000, 7
# Descriptions are as many as rows, within these; of more rows few, each of which is counted in all of them.
FEW_DESCRIPTIONS, MOST_DESCRIPTIONS, MANY_ROWS = 200, 2_000, 100_000
# All attacks of one audit draw people by this.
SEED = 1


@dataclass(frozen=True)
class Finding:
    """What one attack finds beyond what it would find of people whom the method never saw, and the most it may.

    low: the lower end of its interval, of 95 % for one attack and of more for several, so that all together take chance
    for a leak in one audit of twenty at most (Bonferroni). A finding is a leak if that lies above `most`. Example: .06
    of the people told at one false alarm in a hundred, .047 at least, are .05 and .037 beyond.
    """

    attack: str
    column: str | None
    found: float
    beyond: float
    low: float
    most: float

    @property
    def is_leak(self) -> bool:
        """Whether more than the bound was shown to be found."""
        return self.low > self.most


def audit_drawn(
    table: Table, made: RowRelease, method: Synthesizer, again: Callable[[int], RowRelease] | None = None
) -> dict[str, object]:
    """Attack drawn rows before they are released; NotAllowed if an attack finds more than the bound, unless anyway.

    An attacker knows all columns that are drawn, and of a sensitive one the others. again: draws once more, with others
    kept out; what spends a budget is not drawn again.
    """
    shadows = _shadows(method)
    if made.held_out is None or not len(made.held_out):
        if not method.anyway:
            raise NotAllowed(
                "Nobody was kept out of fitting, so that no attack could be judged: hold_out says how many are. "
                "(--anyway releases the rows without an audit, and the recipe says so.)"
            )
        return {"findings": [], "left_out": {"all": "nobody was kept out of fitting"}, "bound": method.bound, **shadows}
    copies, n_drawn = _copies(table, made, None if getattr(method, "spends_budget", False) else again, method.bound)
    if not method.anyway:
        # Copies are counted in a moment: where they say enough, nothing else is tried.
        _refuse_leaks(corrected(copies, len(copies) + len(CRITERIA) + len(FALSE_ALARMS) + len(table.sensitive)))
    findings, left_out = _findings(table, made.release.frame, made.held_out, method.bound)
    findings = corrected([*findings, *copies])
    if not method.anyway:
        _refuse_leaks(findings)
    told = [{**asdict(one), "is_leak": one.is_leak} for one in findings]
    use = {name: one.as_dict() for name, one in use_of_drawn(table, made.release.frame, made.held_out).items()}
    outside = {"people_outside": len(made.held_out), "draws": n_drawn, "use": use}
    return {"findings": told, "left_out": left_out, "bound": method.bound, **outside, **shadows}


def _shadows(method: Synthesizer) -> dict[str, object]:
    """Return the promised μ of a private method, and what shadow runs found of it; NotAllowed if they found more."""
    if not isinstance(method, PrivateSynthesizer):
        return {}
    if not method.shadow_runs:
        return {"promised_mu": math.sqrt(2 * rho_of(method.epsilon, method.delta))}
    found = shadow_runs(method, method.shadow_runs, seed=SEED)
    if not found.is_kept and not method.anyway:
        raise NotAllowed(
            Text(
                "The counts tell more of one person than was promised: μ is {low} at least, {promised} was promised.",
                low=f"{found.low:.3f}",
                promised=f"{found.promised:.3f}",
            )
        )
    return {"promised_mu": found.promised, "shadow_runs": found.as_dict()}


def _refuse_leaks(findings: Sequence[Finding]) -> None:
    """Refuse a release of which an attack finds more than the bound, with the figures of the one that finds most."""
    worst = max(findings, key=lambda one: one.low - one.most, default=None)
    if worst is not None and worst.is_leak:
        raise NotAllowed(
            Text(
                "The drawn rows give people away: {attack} finds {found} of those who were fitted, {beyond} (at least "
                "{low}) more than of others; the bound is {most}. Draw by another method or with less detail. "
                "(--anyway releases them all the same, and the recipe says so.)",
                attack=worst.attack,
                **{name: f"{getattr(worst, name):.1%}" for name in ("found", "beyond", "low", "most")},
            )
        )


def corrected(findings: Sequence[Finding], n_attacks: int | None = None) -> list[Finding]:
    """Lower the lower ends, so that all attacks together take chance for a leak once in twenty audits at most.

    n_attacks: of all that are tried, where these are some. Example: of five attacks each may in one of a hundred, which
    is 2.33 deviations and not 1.96.
    """
    n_attacks = max(1, len(findings) if n_attacks is None else n_attacks)
    deviations = max(NORMAL_95, float(ndtri(1 - FALSE_REFUSALS / n_attacks)))
    return [replace(one, low=one.beyond - (one.beyond - one.low) * deviations / NORMAL_95) for one in findings]


def _copies(
    table: Table, made: RowRelease, again: Callable[[int], RowRelease] | None, bound: float
) -> tuple[list[Finding], int]:
    """Return how many people are copied beyond those kept out, in this draw and in others, and how many draws.

    Whoever is kept out of one draw is fitted by another, so that few people are as many trials.
    """
    draws = [made]
    n_outside = max(1, 0 if made.held_out is None else len(made.held_out))
    n_more = 0 if again is None else min(MOST_REDRAWN, math.ceil(MOST_OUTSIDE / n_outside) - 1)
    with step("drawing again", n_more) as bar:
        for seed in range(n_more):
            if again is not None:
                draws.append(again(seed))
            bar.advance()
    counts = {"copies": np.zeros(4), "near-copies": np.zeros(4)}
    alike, n_trials = dict.fromkeys(counts, 0.0), 0.0
    for one in draws:
        if one.held_out is None:
            continue
        drawn = one.release.frame
        columns = [name for name in drawn.columns if name in table.frame.columns]
        is_outside = np.zeros(table.n_rows, np.bool_)
        is_outside[one.held_out.to_numpy()] = True
        for name, flags in zip(counts, copied_people(table.frame, drawn, columns), strict=True):
            if flags is not None:
                counts[name] += [
                    (flags & ~is_outside).sum(), (~is_outside).sum(), (flags & is_outside).sum(), is_outside.sum()
                ]  # fmt: skip
                alike[name] += _trials_lost(table.frame, columns, is_outside, is_near=name == "near-copies")
        n_trials += 1 / (~is_outside).sum() + 1 / max(1, is_outside.sum())
    found = []
    for name, (copied, n, copied_else, n_else) in counts.items():
        if n:
            # People whose rows are equal are copied together, or none of them, and so are one trial.
            each = max(1.0, float(alike[name] / n_trials))
            beyond, (low, _) = share_beyond(*(float(one) / each for one in (copied, n, copied_else, n_else)))
            # Where many others have a copy, too, it tells little of anybody.
            is_telling = name == "copies" and copied_else < FALSE_ALARMS["success"] * n_else
            most = bound / PART_OF_COPIES if is_telling else bound
            found.append(Finding(name, None, float(copied / n), beyond, low, most))
    return found, len(draws)


def _trials_lost(frame: pl.DataFrame, columns: Sequence[str], is_outside: Bools, *, is_near: bool) -> float:
    """Return the variance of a difference of shares where people with equal rows go together, in units of one's own.

    It is the sum of (share of those fitted − share of those outside)² over rows that differ, and 1 / n + 1 / m of n
    fitted and m outside who are all different. Near copies are equal in all columns but one, the worst one counts.
    """
    n, n_else = max(1, int((~is_outside).sum())), max(1, int(is_outside.sum()))
    weight = np.where(is_outside, -1 / n_else, 1 / n)
    # Digests are added up modulo 2^64, so that one column less is one subtraction.
    digests = [frame[name].hash().to_numpy() for name in columns]
    every = np.asarray(np.sum(digests, axis=0, dtype=np.uint64))
    lost = []
    for key in [every - one for one in digests] if is_near else [every]:
        together = pl.DataFrame({"key": key, "weight": weight}).group_by("key").agg(pl.col("weight").sum())
        lost.append(float((together["weight"] ** 2).sum()))
    return max(lost)


def _findings(
    table: Table, drawn: pl.DataFrame, held_out: pl.Series, bound: float
) -> tuple[list[Finding], dict[str, str]]:
    from tokumei.attacks.registry import DISCLOSURE_ATTACKS, attack_title
    from tokumei.tasks.attack_table import try_each, what_is_missing
    from tokumei.tasks.table_threat_model import threat_model_of

    is_fitted = np.ones(table.n_rows, np.bool_)
    is_fitted[held_out.to_numpy()] = False
    known = [name for name in drawn.columns if name in table.frame.columns]
    secret = [name for name in table.sensitive if name in known]
    fitted = Table(table.frame.filter(pl.Series(is_fitted)), known, name=table.name)
    people = fitted if table.unit is None else fitted.of_unit(table.unit)
    # One model for all attacks, so that what columns say is learned once.
    everything = threat_model_of(people, drawn, control=table.frame[held_out], may_be_made_up=True, seed=SEED)
    findings: list[Finding] = []
    left_out: dict[str, str] = {}

    def attack(name: str, sensitive: str | None = None) -> None:
        threat_model = everything if sensitive is None else everything.learning(sensitive)
        part, title = DISCLOSURE_ATTACKS.make(name), attack_title(name, sensitive)
        lack = what_is_missing(threat_model, part)
        if lack is not None:
            left_out[title] = str(lack)
            return
        found = []
        if name == "singling-out":
            found = _singled_out(threat_model, table, ~is_fitted, bound)
        else:
            for tried in try_each({name: part}, threat_model, SEED):
                found += _of_scores(name, sensitive, tried.scores, bound)
        findings.extend(found)
        if not found:
            left_out[title] = "there was nothing to find"

    wanted = [*((name, None) for name in (*CRITERIA, "membership")), *(("inference", column) for column in secret)]
    with step("attacking what was drawn", len(wanted)) as bar:
        for name, column in wanted:
            if len(known) > 1 or name not in ("linkability", "inference"):
                attack(name, column)
            else:
                left_out[attack_title(name, column)] = "needs two columns or more"
            bar.advance()
    return findings, left_out


def _singled_out(threat_model: ThreatModel, table: Table, is_outside: Bools, bound: float) -> list[Finding]:
    """Return how often descriptions fit one of those fitted beyond chance, by whom they fit of all people."""
    n_drawn = threat_model.published.table.n_rows
    few = FEW_DESCRIPTIONS if n_drawn > MANY_ROWS else min(MOST_DESCRIPTIONS, max(FEW_DESCRIPTIONS, n_drawn))
    people = None
    if table.unit is not None:
        whose = table.frame[table.unit.column].rank("dense").fill_null(0).to_numpy().astype(np.int64)
        people = whose[~is_outside], whose[is_outside]
    found = SingledOut.of(threat_model, few, people, seed=SEED)
    if found is None:
        return []
    beyond, low = found.beyond()
    return [Finding("singling-out", None, found.found, beyond, low, bound)]


def _of_scores(attack: str, column: str | None, scores: Mapping[str, Score], bound: float) -> list[Finding]:
    """Return what the scores of one attack say: membership above its false alarms, others above the control."""
    found = []
    if attack == "membership":
        for name, rate in FALSE_ALARMS.items():
            score = scores.get(name)
            if score is not None and score.interval is not None:
                most = bound if name == "success" else bound / PART_OF_RARE
                low = score.interval[0] - rate
                found.append(Finding(f"membership {name}", None, score.value, score.value - rate, low, most))
        return found
    score = scores.get("success")
    if score is not None and score.control is not None and "outside" in score.inputs:
        n, n_else = max(1, int(score.inputs["people"])), max(1, int(score.inputs["outside"]))
        beyond, (low, _) = share_beyond(score.value * n, n, score.control * n_else, n_else)
        found.append(Finding(attack, column, score.value, beyond, low, bound))
    return found
