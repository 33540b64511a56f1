"""Whether customers are among those of a released history, for somebody who knows some of their purchases.

To be known to be in a history may be all that somebody needs to know: of a clinic's, or of a shop's for the poor.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.history.attackers import HistoryThreat, threat_of
from tokumei.attacks.history.membership import BY_CUSTOMER, BY_ROW, Asked, speak_for
from tokumei.attacks.judge import FALSE_ALARMS, Bools, Floats, judge_membership, published, told_at
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Facts, Result, Rows, Section, Sentence, UserFrame, as_kind
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.hierarchies.files import item_hierarchy, roll_together
from tokumei.tasks.attribute_history import ANYBODY
from tokumei.tasks.histories import history_of, released_of
from tokumei.tasks.threat_history import AT_RISK, seed_of_draw

MEMBERSHIP = "membership"
# Half choose the attacker, and of the others one in a hundred may be mistaken.
FEWEST_OUTSIDE = 200
# Customers inside and outside who are asked about, drawn where there are more.
N_PEOPLE = 2_000
# The scores of the worst attacker of all, and of the worst who goes by single purchases or by whole customers.
WAYS: dict[str, tuple[str, ...]] = {"": (*BY_ROW, *BY_CUSTOMER), " by rows": BY_ROW, " by customer": BY_CUSTOMER}
READ_AS = {
    "success": "told, with 1 % of those outside",
    "at-0.1%": "told, with .1 % of those outside",
    "auc": "area under the curve",
}
UNITS = "By rows: single purchases that stand in the release. By customer: all purchases of one under one pseudonym."


@dataclass(frozen=True, repr=False)
class CustomerMembership(Result):
    """How many customers are told to be in a release, of the worst attacker and of each."""

    threat: HistoryThreat
    scores: Mapping[str, Score]
    riskiest: pl.DataFrame
    facts: JsonView
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the result as `tokumei attack history membership --json` prints it."""
        success = {name: score.as_dict() for name, score in self.scores.items()}
        return {
            **self.facts,
            "threat": self.threat.as_dict(),
            "success": success,
            "riskiest": self.riskiest.head(10).to_dicts(),
        }

    def sections(self) -> Sequence[Section]:
        """Return who attacks, how many are told by the worst attackers and by each, and who is told most often."""
        rows = []
        for name, one in self.scores.items():
            kind, _, way = name.partition(" ")
            rows.append([READ_AS[kind], way or "any", one.inputs["by"], one.value, one.interval, one.baseline])
        heads = ["customers in the release", "attack", "worst", "share", "95 % interval", "guessing blindly"]
        each = [
            [name, "rows" if name in BY_ROW else "customer", found, self.scores["auc"].inputs["each"][name]]
            for name, found in self.scores["success"].inputs["each"].items()
        ]
        said: list[Section] = [
            Facts({"who": self.threat.who, **self.facts}),
            Rows(heads, rows),
            Rows(["attacker", "by", "told, with 1 % of those outside", "area under the curve"], each),
            Sentence(UNITS),
        ]
        if self.riskiest.height:
            said.append(Rows(["riskiest customers", "told in so many draws"], self.riskiest.head(10).rows()))
        return said

    def to_frame(self) -> UserFrame:
        """Return the customers who are told in half of the draws or more, the riskiest first."""
        return as_kind(self.riskiest, self.frame_kind)

    def __repr__(self) -> str:
        worst = self.scores["success"]
        return f"CustomerMembership({self.threat.who}: {worst.value:.1%} of customers told by {worst.inputs['by']})"


def attack_membership(
    original: object,
    release: object,
    threat: str | HistoryThreat | None = None,
    *,
    control: object,
    people: int = N_PEOPLE,
    draws: int = 3,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    hierarchy: object = None,
    **changes: Any,
) -> CustomerMembership:
    """Tell whether customers are in a release as somebody would who knows some of their purchases, and judge that.

    original: the history the release was made of, whose customers are in it.
    control: a history of the same shop and time whose customers are not in it; as much is known of them. Half of them
        are known to be outside and set what speaks for somebody by accident.
    threat: who attacks, a preset or a `HistoryThreat`; who knows a quarter of everybody's purchases if not given.
        `changes` are made to it.
    people: so many customers inside, and so many outside, are asked about, drawn where there are more; 0 for all.
    draws: knowledge is drawn so often. Draws have their customers in common, so that their mean is no surer than one.
    """
    for name, value, least in (("draws", draws, 1), ("people", people, 0)):
        if value < least:
            raise InputError.of(Text("{n} or more", n=least), option=name, value=value)
    if control is None:
        raise InputError.of("a history of customers who are not in the release", option="control")
    started = time.perf_counter()
    model, items = threat_of(ANYBODY if threat is None else threat, **changes), item_hierarchy(hierarchy)
    if model.period == "other":
        raise InputError.of("same, since single purchases are looked for", option="period", value=model.period)
    sides = [history_of(side, reading) for side in (original, control)]
    _check_control(*sides)
    seen = published(released_of(release, reading), seed=seed)
    if not seen.n_rows:
        raise InputError.of("a release with rows", file=seen.name)
    drawn = [_drawn(side, people, seed, name) for side, name in zip(sides, ("members", "outside"), strict=True)]
    n_inside, n_outside = (len(names) for names in drawn)
    deleted = max(0.0, 1 - seen.n_rows / max(1, sides[0].kept.height))
    judged: list[dict[str, Score]] = []
    told: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    with step("telling members", draws) as bar:
        for number in range(draws):
            luck = seed_of_draw(seed, number)
            asked, is_inside, halves = _asked(sides, drawn, model, deleted, luck)
            known, shown = roll_together(asked.known, _as_known(seen, model), items)
            spoken = speak_for(replace(asked, known=known), shown)
            both = {name: (one[is_inside], one[~is_inside]) for name, one in spoken.items()}
            judged.append(_judged(both, halves))
            names = np.array(asked.known.customers, dtype=object)[is_inside]
            inside, outside = both[judged[-1]["success"].inputs["by"]]
            is_told = told_at(inside, outside, FALSE_ALARMS["success"])
            told.update(names[is_told])
            # How far in front of the others, as places have no unit of their own.
            sure.update(dict(zip(names, np.searchsorted(np.sort(inside), inside).tolist(), strict=True)))
            bar.advance()
    riskiest = pl.DataFrame(
        [(who, n / draws, sure[who]) for who, n in told.items() if n >= AT_RISK * draws],
        schema={"customer": pl.String, "told": pl.Float64, "place": pl.Int64},
        orient="row",
    ).sort("told", "place", "customer", descending=[True, True, False])
    facts = {
        "attack": MEMBERSHIP,
        "customers": n_inside,
        "customers_outside": n_outside,
        "draws": draws,
        "customers_told": riskiest.height,
        "seconds": round(time.perf_counter() - started, 3),
    }
    scores = {name: _mean([one[name] for one in judged]) for name in judged[0]}
    return CustomerMembership(model, scores, riskiest.drop("place"), facts, sides[0].kind)


def _check_control(original: History, control: History) -> None:
    """Refuse a control that thresholds cannot be set by."""
    outside = control.customers
    if len(outside) < FEWEST_OUTSIDE:
        enough = Text("{n} customers or more, to tell one in a hundred", n=FEWEST_OUTSIDE)
        raise InputError.of(enough, file=control.name, value=counted(len(outside), "customer"))
    for who in sorted(set(original.customers) & set(outside))[:1]:
        raise InputError.of("customers who are not in the original", file=control.name, column="customer", value=who)
    if not set(original.periods) & set(control.periods):
        raise InputError.of("purchases of the months of the original", file=control.name)
    if len(original.customers) < 2:
        raise InputError.of("two customers or more", file=original.name)


def _drawn(history: History, most: int, seed: int, name: str) -> list[str]:
    """Draw the customers who are asked about."""
    names = history.customers
    if not most or len(names) <= most:
        return names
    chosen = generator(seed, "membership", name).permutation(len(names))[:most]
    return sorted(names[at] for at in chosen)


def _asked(
    sides: Sequence[History], drawn: Sequence[Sequence[str]], threat: HistoryThreat, deleted: float, seed: int
) -> tuple[Asked, Bools, tuple[Bools, Bools]]:
    """Draw what is known of customers inside and outside; who is inside; and who of either chooses the attacker."""
    known, n_rows = [], 0
    for number, (side, names) in enumerate(zip(sides, drawn, strict=True)):
        # Places would tell which history a purchase stands in, and rows of others how many there are.
        kept = threat.know(side, seed=seed_of_draw(seed, number)).kept
        known.append(kept.filter(pl.col("customer").is_in(list(names))))
        n_rows += side.kept.filter(pl.col("customer").is_in(list(names))).height
    # In an order that tells nothing of who is inside.
    rows = pl.concat(known).sort("customer", maintain_order=True)
    asked = History(rows, f"what {threat.who} knows")
    rng = generator(seed, "halves")
    inside = set(drawn[0])
    is_inside = np.array([name in inside for name in asked.customers])
    halves = tuple(rng.permutation(int(n)) % 2 == 0 for n in (is_inside.sum(), (~is_inside).sum()))
    is_outside = np.zeros(len(is_inside), np.bool_)
    # Whoever chooses the attacker knows who is outside, and holds everybody against them.
    is_outside[np.flatnonzero(~is_inside)[halves[1]]] = True
    share = min(1.0, rows.height / max(1, n_rows))
    return Asked(asked, share, deleted, is_outside), is_inside, (halves[0], halves[1])


def _as_known(seen: History, threat: HistoryThreat) -> History:
    """Cut released items to as many characters as are known of them."""
    if threat.item_characters is None or "item" in seen.absent:
        return seen
    return History(seen.frame.with_columns(pl.col("item").str.slice(0, threat.item_characters)), seen.name)


def _judged(both: Mapping[str, tuple[Floats, Floats]], halves: tuple[Bools, Bools]) -> dict[str, Score]:
    """Judge the worst attacker of each way, chosen by one half of the customers and counted by the other."""
    scores: dict[str, Score] = {}
    for way, attackers in WAYS.items():
        for name, score in judge_membership({one: both[one] for one in attackers}, halves).items():
            scores[f"{name}{way}"] = replace(score, name=f"{name}{way}")
    order = [f"{name}{way}" for name in READ_AS for way in WAYS]
    return {name: scores[name] for name in order if name in scores}


def _mean(scores: Sequence[Score]) -> Score:
    """Return the mean over draws, with the mean of the ends of their intervals."""
    intervals = [one.interval for one in scores if one.interval is not None]
    low, high = (float(np.mean(ends)) for ends in zip(*intervals, strict=True))
    first = scores[0]
    chosen = Counter(one.inputs["by"] for one in scores)
    each = {
        name: round(float(np.mean([one.inputs["each"][name] for one in scores])), 4) for name in first.inputs["each"]
    }
    inputs = {
        **first.inputs,
        "by": chosen.most_common(1)[0][0],
        "each": each,
        "draws": [one.value for one in scores],
        "chosen": [one.inputs["by"] for one in scores],
    }
    return replace(first, value=float(np.mean([one.value for one in scores])), interval=(low, high), inputs=inputs)
