"""Who could be found in a history: by how many known purchases, and under a threat model.

`unicity_history` counts how many known purchases single customers out, by how exactly they are known (`tokumei
knowledge --unicity`). `threat_history` tells who is found, how surely, against whom it was not, and who is at risk.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tokumei.attacks.history.attackers import HistoryThreat, threat_of
from tokumei.attacks.history.singling_out import EXACTNESS, Curve, judge_baskets, learn_baskets, unicity_curve
from tokumei.attacks.judge import found_customers, judge, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, UserFrame, as_kind
from tokumei.core.score import Score
from tokumei.core.seeds import LARGEST_SEED, generator
from tokumei.core.text import Json, JsonView, choice_of
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.hierarchies.files import item_hierarchy, roll_together, roll_up
from tokumei.reports.figures import line_figure
from tokumei.reports.needs import absent_in_words, announce, lacks
from tokumei.reports.page import Page
from tokumei.tasks.histories import history_of, released_of

# Marks of the literature: who knows four points singles out 90 % of the users of credit cards.
SHOWN_AT = 4
OF_ALL = "Customers singled out by so many purchases; who made fewer is known by all"
OF_ENOUGH = "The same of those alone who made as many"


@dataclass(frozen=True, repr=False)
class Unicity(Result):
    """The share of customers singled out by p known purchases, a curve for each exactness of knowledge."""

    curves: Sequence[Curve]
    facts: JsonView
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> Json:
        """Return the curves as `tokumei knowledge --unicity --json` prints them."""
        curves = [
            {
                "knows": one.knows,
                "singled_out": list(one.shares),
                "interval": [list(ends) for ends in one.intervals],
                "customers_with_as_many": list(one.n_enough),
                "singled_out_with_as_many": list(one.shares_of_enough),
            }
            for one in self.curves
        ]
        return {**self.facts, "curves": curves, "left_out": dict(self.left_out)}

    def sections(self) -> Sequence[Section]:
        """Return the shares by number of points, with the interval at four."""
        n = len(self.curves[0].shares)
        at = min(SHOWN_AT, n) - 1
        rows = [[one.knows, *one.shares, one.intervals[at]] for one in self.curves]
        heads = ["known of each purchase", *map(str, range(1, n + 1)), f"95 % interval at {at + 1}"]
        said: list[Section] = [Facts(self.facts), Rows(heads, rows, OF_ALL), self._of_enough()]
        if self.left_out:
            said.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
        return said

    def _of_enough(self) -> Rows:
        """Return the shares of those who made as many purchases, and how many of them the last share is of."""
        n = len(self.curves[0].shares)
        rows = [[one.knows, *one.shares_of_enough, one.n_enough[-1]] for one in self.curves]
        return Rows(["known of each purchase", *map(str, range(1, n + 1)), f"customers at {n}"], rows, OF_ENOUGH)

    def to_frame(self) -> UserFrame:
        """Return a row for each curve and number of points."""
        return pl.DataFrame(
            [
                {
                    "knows": one.knows,
                    "points": p,
                    "singled_out": one.shares[p - 1],
                    "from": one.intervals[p - 1][0],
                    "to": one.intervals[p - 1][1],
                    "singled_out_with_as_many": one.shares_of_enough[p - 1],
                    "customers_with_as_many": one.n_enough[p - 1],
                }
                for one in self.curves
                for p in range(1, len(one.shares) + 1)
            ]
        )

    def figure(self) -> Drawing:
        """Draw the curves."""
        return Drawing(
            line_figure(
                self.to_frame(),
                x="points",
                y="singled_out",
                series="knows",
                x_title="purchases that are known",
                y_title="customers singled out",
                series_title="known of each",
                x_format="d",
            )
        )

    def page(self) -> Page:
        """Return the page with the figure and the table."""
        page = Page("How many purchases single a customer out")
        page.paragraph(
            "So many purchases of a customer are drawn at random; the customer is singled out if nobody else made "
            "them all. Who made fewer is known by all of them."
        )
        page.figure(self.figure().svg, "Share of customers singled out, by how exactly a purchase is known.")
        rows = [[one.knows, *(float(share) for share in one.shares)] for one in self.curves]
        page.table(["known of each purchase", *map(str, range(1, len(rows[0])))], rows, "The same in figures.")
        enough = self._of_enough()
        page.table(enough.columns, enough.rows, OF_ENOUGH)
        return page

    def __repr__(self) -> str:
        first = self.curves[0]
        at = min(SHOWN_AT, len(first.shares))
        return f"Unicity({first.shares[at - 1]:.1%} of customers singled out by {at} purchases, {first.knows} known)"


def unicity_history(
    history: object,
    *,
    points: int = 10,
    draws: int = 5,
    seed: int = 0,
    exactness: Sequence[str] | None = None,
    reading: Reading = AS_IT_IS,
) -> Unicity:
    """Measure which share of the customers 1, 2, … known purchases single out.

    history: an original; of a release, pseudonyms stand in the place of customers.
    points, draws: the most purchases that are known, and how often they are drawn.
    exactness: some of "day and item", "month and item" …; all that the history has if not given.
    """
    for name, value in (("points", points), ("draws", draws)):
        if value < 1:
            raise InputError.of("1 or more", option=name, value=value)
    for name in exactness or ():
        if name not in EXACTNESS:
            raise InputError.of(choice_of(EXACTNESS), option="exactness", value=name)
    found = released_of(history, reading)
    if not found.kept.height:
        raise InputError.of("a history with rows", file=found.name)
    left_out, wanted = {}, []
    for name in exactness or EXACTNESS:
        absent = [column for column in EXACTNESS[name][1] if column in found.absent]
        if absent:
            left_out[name] = absent_in_words(absent)
        else:
            wanted.append(name)
    if not wanted:
        raise InputError.of("what the history has", option="exactness", value="; ".join(left_out.values()))
    curves = []
    with step("singling out", len(wanted)) as bar:
        for name in wanted:
            curves.append(unicity_curve(found, name, n_points=points, draws=draws, seed=seed))
            bar.advance()
    return Unicity(curves, {"customers": len(found.customers), "draws": draws, "seed": seed}, left_out)


# An attacker who is not told how the release was made has one try: the strongest attack for the time they know.
UNTOLD = {"same": ("linkage",), "other": ("tfidf",)}
# Only these compare what people buy, whenever they do.
TIMELESS = ("jaccard", "tfidf")
# Found in at least this share of the draws.
AT_RISK = 0.5
# So many of the customers are taken out of the release to see whom an attack names though nobody is there.
CONTROL_SHARE = 0.1


@dataclass(frozen=True, repr=False)
class ThreatReport(Result):
    """What an attacker of a stated kind finds: a score an attack, and the share of draws that find each customer."""

    threat: HistoryThreat
    scores: Mapping[str, Score]
    left_out: Mapping[str, str]
    at_risk: pl.DataFrame
    facts: JsonView
    inference: Score | None = None
    frame_kind: str = "polars"

    @property
    def best(self) -> str:
        """The attack that finds most."""
        return max(self.scores, key=lambda name: self.scores[name].value)

    def to_dict(self) -> Json:
        """Return the result as `tokumei attack history --threat --json` prints it."""
        return {
            **self.facts,
            "threat": self.threat.as_dict(),
            "best": self.best,
            "success": {name: score.as_dict() for name, score in self.scores.items()},
            **({} if self.inference is None else {"basket_inference": self.inference.as_dict()}),
            "left_out": dict(self.left_out),
            "at_risk": self.at_risk.to_dicts(),
        }

    def sections(self) -> Sequence[Section]:
        """Return who attacks, what each attack finds, what was left out and who is at risk."""
        ranked = sorted(self.scores.items(), key=lambda one: -one[1].value)
        rows = [[name, one.value, one.interval, one.baseline, one.control] for name, one in ranked]
        heads = ["attack", "customers found", "95 % interval", "guessing blindly", "named though absent"]
        said: list[Section] = [Facts({"who": self.threat.who, **self.facts}), Rows(heads, rows)]
        if self.inference is not None:
            inferred = self.inference
            heads = ["rest of baskets learned", "95 % interval", "guessing blindly", "of claims right"]
            said.append(
                Rows(heads, [[inferred.value, inferred.interval, inferred.baseline, inferred.inputs["precision"]]])
            )
        if self.left_out:
            said.append(Rows(["left out", "because"], [[name, why] for name, why in self.left_out.items()]))
        if self.at_risk.height:
            said.append(Rows(["customers at risk", "found in so many draws"], self.at_risk.head(10).rows()))
        return said

    def to_frame(self) -> UserFrame:
        """Return the customers at risk with the share of draws that find them."""
        return as_kind(self.at_risk, self.frame_kind)

    def __repr__(self) -> str:
        found = f"{self.scores[self.best].value:.1%} of customers found by {self.best}"
        return f"ThreatReport({self.threat.who}: {found}, {self.at_risk.height:,} at risk)"


def threat_history(
    original: object,
    release: object,
    threat: str | HistoryThreat = "rivals",
    *,
    attacks: Sequence[str] | None = None,
    draws: int = 3,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    hierarchy: object = None,
    **changes: object,
) -> ThreatReport:
    """Attack a release that keeps the rows of its original as somebody of a stated kind would, several times.

    threat: a preset (neighbor, spouse, data-broker, rivals, insider) or a `HistoryThreat`; `changes` are made to it.
    attacks: those to try; if not given, all that can work for who is told of the method, else the strongest.
    draws: knowledge is drawn so often; intervals are over draws.
    hierarchy: of items: who knows items by some characters knows them by their categories of level 1 then, and a
        release in categories is compared at its level.
    """
    if draws < 1:
        raise InputError.of("one draw or more", option="draws", value=draws)
    model, items = threat_of(threat, **changes), item_hierarchy(hierarchy)
    knows_kinds = items is not None and model.item_characters is not None
    before, after = history_of(original, reading), released_of(release, reading)
    months = model.attacked_months(before)
    truth = truth_of(before, after).filter(pl.col("period").is_in(months))
    seen = _published(after, months, seed)
    names = list(attacks) if attacks else list(HISTORY_ATTACKS) if model.is_told else list(UNTOLD[model.period])
    left_out = {name: why for name in names if (why := why_not(name, model, before)) is not None}
    names = [name for name in names if name not in left_out]
    if not names:
        said = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError.of(f"an attack that can work on this history ({said})", option="attacks")
    no_baskets = why_no_baskets(model, before)
    if no_baskets is not None:
        left_out["rest of baskets"] = no_baskets
    customers = before.customers
    if model.period == "other":
        # Who bought in one half only cannot be known by what was bought in the other.
        earlier = set(before.frame.filter(~before.period.is_in(months))["customer"].drop_nulls())
        customers = sorted(earlier & set(truth["customer"]))
    verdicts: dict[str, list[Score]] = {name: [] for name in names}
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    inferred: list[Score] = []
    controls: dict[str, float] = {}
    with step("attacking", draws * len(names) + len(names)) as bar:
        for number in range(draws):
            asked = replace(model, item_characters=None) if knows_kinds else model
            drawn = asked.know(before, seed=seed_of_draw(seed, number))
            if items is not None:
                drawn = roll_up(drawn, items, min(1, items.height)) if knows_kinds else drawn
                drawn, seen = roll_together(drawn, seen, items)
            known = drawn if model.knows_places else History(drawn.kept, drawn.name)
            for name in names:
                if not number:
                    announce(HISTORY_ATTACKS.make(name), name, known, seen)
                guesses = HISTORY_ATTACKS.make(name).guess(known, seen).filter(pl.col("period").is_in(months))
                verdicts[name].append(judge(guesses, truth, customers, months).found)
                found[name].update(found_customers(guesses, truth, customers, months))
                if not number:
                    controls[name] = _control(name, known, seen, truth, seed)
                    bar.advance()
                bar.advance()
            if no_baskets is None:
                whole = before if items is None else roll_together(before, seen, items)[0]
                inferred.append(judge_baskets(learn_baskets(drawn, seen), whole, drawn))
    scores = {name: over_draws(verdicts[name], controls[name]) for name in names}
    best = max(scores, key=lambda name: scores[name].value)
    at_risk = pl.DataFrame(
        [(who, n / draws) for who, n in found[best].items() if n >= AT_RISK * draws],
        schema={"customer": pl.String, "found": pl.Float64},
        orient="row",
    ).sort("found", "customer", descending=[True, False])
    facts = {"customers": len(customers), "months": len(months), "draws": draws, "at_risk_customers": at_risk.height}
    inference = inferred[0] if inferred else None
    return ThreatReport(model, scores, left_out, at_risk, facts, inference, before.kind)


def why_not(name: str, threat: HistoryThreat, history: History) -> str | None:
    """Explain why an attack cannot work on what is there; None where it can."""
    absent = lacks(history, HISTORY_ATTACKS.make(name), name)
    if absent:
        return absent_in_words(absent)
    if threat.period == "other" and name not in TIMELESS:
        return "it compares purchases of the same time, and those of another are known"
    return None


def why_no_baskets(threat: HistoryThreat, history: History) -> str | None:
    """Explain why nothing can be learned of the rest of a known basket; None where something can."""
    if "item" in history.absent:
        return "the history has no item"
    if threat.period == "other":
        return "no basket of the time that is attacked is known"
    if threat.draw == "basket" and threat.rows is None:
        return "baskets are known whole or not at all, so that nothing is left to learn"
    if threat.share >= 1 and threat.rows is None:
        return "all rows are known"
    if threat.days:
        return "who is not sure of the day cannot say what stood beside a purchase"
    return None


def _published(after: History, months: Sequence[int], seed: int) -> History:
    """Return the rows left in the attacked months, in an order that reveals nothing."""
    rows = after.frame.filter(after.period.is_in(list(months)))
    order = generator(seed, "threat", "publish").permutation(rows.height)
    return History(rows[np.asarray(order)], "release, published")


def _control(name: str, known: History, seen: History, truth: pl.DataFrame, seed: int) -> float:
    """Take some customers out of the release and give the share of them that the attack names all the same."""
    present = truth["customer"].unique().sort()
    drawn = generator(seed, "threat", "control").permutation(len(present))
    gone = present.gather(drawn[: max(1, round(CONTROL_SHARE * len(present)))])
    names = truth.filter(pl.col("customer").is_in(gone.implode())).select("period", customer="pseudonym").unique()
    rows = seen.frame.with_columns(period=seen.period).join(names, on=["period", "customer"], how="anti")
    guesses = HISTORY_ATTACKS.make(name).guess(known, History(rows.select(seen.frame.columns)))
    named = guesses.filter(pl.col("customer").is_in(gone.implode()))["customer"].n_unique()
    return named / max(1, len(gone))


def over_draws(rows: Sequence[Score], control: float | None = None) -> Score:
    """Return the mean over draws with Student's interval; of one draw, that of the score itself."""
    values = np.array([one.value for one in rows])
    mean, interval = float(values.mean()), rows[0].interval
    if len(values) > 1:
        from scipy.special import stdtrit

        # Student's t, as the draws are few.
        half = float(stdtrit(len(values) - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(len(values))
        interval = (max(0.0, mean - half), min(1.0, mean + half))
    baselines = [one.baseline for one in rows if one.baseline is not None]
    baseline = float(np.mean(baselines)) if baselines else None
    inputs = {**rows[0].inputs, "draws": values.tolist()}
    return replace(rows[0], value=mean, interval=interval, baseline=baseline, control=control, inputs=inputs)


def seed_of_draw(seed: int, number: int) -> int:
    """Return the seed of one draw of knowledge."""
    return int(generator(seed, "threat", number).integers(LARGEST_SEED, endpoint=True))
