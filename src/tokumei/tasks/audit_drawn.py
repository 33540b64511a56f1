"""The audit of rows that a method drew: attacked before they are written, beside people whom the method never saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tokumei.attacks.judge import FALSE_ALARMS
from tokumei.core.errors import NotAllowed
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.methods.synthetic.synthesizer import Synthesizer

if TYPE_CHECKING:
    from tokumei.core.score import Score
    from tokumei.methods.rows import RowRelease

CRITERIA = ("singling-out", "linkability")
# What one false alarm in a thousand tells may be this part of the bound.
PART_OF_RARE = 4
# Of more rows fewer descriptions are drawn, each of which is counted in all of them.
MANY_ROWS, FEW_DESCRIPTIONS = 100_000, 200
# All attacks of one audit draw people by this.
SEED = 1


@dataclass(frozen=True)
class Finding:
    """What one attack finds beyond what it would find of people whom the method never saw, and the most it may.

    low: the lower end of its 95 % interval. A finding is a leak if that lies above `most`: what chance may explain is
    none. Example: .06 of the people told at one false alarm in a hundred, .047 at least, are .05 and .037 beyond.
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


def audit_drawn(table: Table, made: RowRelease, method: Synthesizer) -> dict[str, object]:
    """Attack drawn rows before they are released; NotAllowed if an attack finds more than the bound, unless anyway.

    An attacker knows all columns that are drawn, and of a sensitive one the others.
    """
    if made.held_out is None or not len(made.held_out):
        if not method.anyway:
            raise NotAllowed(
                "Nobody was kept out of fitting, so that no attack could be judged: hold_out says how many are. "
                "(--anyway releases the rows without an audit, and the recipe says so.)"
            )
        return {"findings": [], "left_out": {"all": "nobody was kept out of fitting"}, "bound": method.bound}
    findings, left_out = _findings(table, made.release.frame, made.held_out, method.bound)
    worst = max(findings, key=lambda one: one.low - one.most, default=None)
    if worst is not None and worst.is_leak and not method.anyway:
        raise NotAllowed(
            Text(
                "The drawn rows give people away: {attack} finds {found} of those who were fitted, {beyond} (at least "
                "{low}) more than of others; the bound is {most}. Draw by another method or with less detail. "
                "(--anyway releases them all the same, and the recipe says so.)",
                attack=worst.attack,
                **{name: f"{getattr(worst, name):.1%}" for name in ("found", "beyond", "low", "most")},
            )
        )
    told = [{**asdict(one), "is_leak": one.is_leak} for one in findings]
    return {"findings": told, "left_out": left_out, "bound": method.bound, "people_outside": len(made.held_out)}


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
        options = {"descriptions": FEW_DESCRIPTIONS} if name == "singling-out" and drawn.height > MANY_ROWS else {}
        threat_model = everything if sensitive is None else everything.learning(sensitive)
        part, title = DISCLOSURE_ATTACKS.make(name, **options), attack_title(name, sensitive)
        lack = what_is_missing(threat_model, part)
        if lack is not None:
            left_out[title] = str(lack)
            return
        for tried in try_each({name: part}, threat_model, SEED):
            found = _of_scores(name, sensitive, tried.scores, bound)
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
    if score is not None and score.risk is not None and score.risk_interval is not None:
        found.append(Finding(attack, column, score.value, score.risk, score.risk_interval[0], bound))
    return found
