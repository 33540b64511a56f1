"""Reports on histories: `tokumei report`, `tokumei sweep` and `tokumei knowledge`.

One release in full, many in comparison, and what each kind of knowledge of a purchase is worth to an attacker.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from tokumei.attacks.history.attackers import AS_STATED, danger_by_kind, measure_risks, predict_risks
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text, choice_of, counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import Draw, History
from tokumei.hierarchies.files import item_hierarchy, roll_up
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.reports.evaluation import (
    CONTEST_UTILITIES,
    LINE,
    Evaluation,
    default_attacks,
    default_grid,
    evaluate,
    measure_made_up,
    possible_ways,
    read_grid,
    rolled_ways,
)
from tokumei.reports.evaluation import sweep as run_sweep
from tokumei.reports.figures import frontier_figure
from tokumei.reports.history_page import add_frontier, attack_figure, crowd_drawing, history_page, knowledge_page
from tokumei.reports.needs import REPORT_ROWS, SWEEP_ROWS, lacks, sample_customers, within_time
from tokumei.reports.page import Page
from tokumei.tasks.attribute_history import ATTRIBUTION, OF_SOME, sources_if_known
from tokumei.tasks.audit_drawn_history import NO_PSEUDONYMS, measure_drawn
from tokumei.tasks.histories import characters_known, history_of, known_of, released_of
from tokumei.tasks.table_release import told_of_audit
from tokumei.tasks.threat_history import unicity_history

REPORT_SHARES, SWEEP_SHARES = (25, 50, 75, 100), (25,)


@dataclass(frozen=True, repr=False)
class HistoryReport(Result):
    """The scores of one release, and the page that shows them."""

    name: str
    evaluation: Evaluation
    seconds: float
    swept: pl.DataFrame | None = None
    sampled: str | None = None
    # What attacks found of rows of nobody before they were released.
    audit: Mapping[str, Any] | None = None

    def to_dict(self) -> Json:
        """Return all scores as `tokumei report --json` prints them."""
        return {
            **self.evaluation.as_dict(),
            "contest_utility": self.evaluation.contest_utility,
            "sampled": self.sampled,
            **({} if self.audit is None else {"audit": self.audit}),
            "seconds": self.seconds,
        }

    def sections(self) -> Sequence[Section]:
        """Return the worst loss and the best attack."""
        done = self.evaluation
        lost = done.contest_utility
        facts: dict[str, object] = {
            "use lost": f"left out: {done.why_left_out(CONTEST_UTILITIES)}" if lost is None else lost
        }
        if done.attacks.height:
            for known in dict.fromkeys([done.least_known, done.most_known]):
                attack, share = done.best_attack(known)
                facts[f"customers found, {known} % known"] = f"{share:.1%} by {attack}"
        else:
            facts["customers found"] = (
                f"left out: {done.why_left_out(list(HISTORY_ATTACKS)) or 'no attack was asked for'}"
            )
        for known, given in done.attribution.items():
            facts[f"purchases given to their buyer, {known} % known"] = f"{given.rows.value:.1%}"
        said: list[Section] = [Facts(facts), *([] if self.audit is None else told_of_audit(self.audit))]
        if done.left_out:
            said.append(Rows(["left out", "because"], [list(pair) for pair in done.left_out.items()]))
        return [*said, *([] if self.sampled is None else [Sentence(self.sampled)])]

    def figure(self) -> Drawing | None:
        """Draw who is found by whom."""
        return Drawing(attack_figure(self.evaluation)) if self.evaluation.attacks.height else None

    def page(self) -> Page:
        """Return the page."""
        return history_page(self.name, self.evaluation, self.swept, introduction=self.sampled, audit=self.audit)


def least_loss(ways: Sequence[JsonView], most_found: float) -> str | None:
    """Name the way with the least use lost of those that were attacked and meet a target; None if none does.

    Of several that lose alike the one in which fewest are found.
    """
    met = [one for one in ways if None not in (one["utility"], one["found"]) and one["found"] <= most_found]
    best = min(met, key=lambda one: (one["utility"], one["found"]), default=None)
    return None if best is None else str(best["name"])


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """Many ways to anonymize one history, each with the use it lost and the customers found."""

    lines: Sequence[JsonView]
    seconds: float
    sampled: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def ways(self) -> pl.DataFrame:
        """The ways as a frame."""
        return pl.DataFrame(self.lines, schema={**LINE, "is_on_frontier": pl.Boolean})

    def recommended(self, most_found: float) -> str | None:
        """Name the way that loses least among those in which no attack finds more than a share of the customers."""
        return least_loss(self.lines, most_found)

    def to_dict(self) -> Json:
        """Return the ways, the safest first, as `tokumei sweep --json` prints them."""
        order = self.ways.with_row_index().sort("found", "utility")["index"]
        said = {"left_out": dict(self.left_out), "sampled": self.sampled}
        return {"ways": [dict(self.lines[at]) for at in order], **said, "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Return the ways, the safest first."""
        columns = ("name", "utility", "found", "attack", "attributed", "is_on_frontier")
        ordered = self.ways.sort("found", "utility").select(columns)
        said = [
            [n, "left out" if u is None else u, "left out" if f is None else f, a or "", p, "yes" if b else ""]
            for n, u, f, a, p, b in ordered.iter_rows()
        ]
        table = Rows(["way", "use lost", "found", "by", "purchases attributed", "frontier"], said)
        why: list[Section] = [
            Sentence(f"Left out: {one}.") for one in dict.fromkeys(self.ways["left_out"].drop_nulls())
        ]
        if self.left_out:
            why.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
        return [table, *why, *([] if self.sampled is None else [Sentence(self.sampled)])]

    def figure(self) -> Drawing | None:
        """Draw what safety costs."""
        if not self.ways["is_on_frontier"].any():
            return None
        return Drawing(
            frontier_figure(
                self.ways,
                x="utility",
                y="found",
                is_best="is_on_frontier",
                x_title="use lost (worst of the losses measured)",
                y_title="customers found by the best attack",
            )
        )

    def page(self) -> Page:
        """Return the page with the frontier."""
        page = Page("What safety costs")
        if self.sampled is not None:
            page.paragraph(self.sampled)
        add_frontier(page, self.ways)
        return page

    def __repr__(self) -> str:
        return f"Sweep({self.ways.height} ways, {int(self.ways['is_on_frontier'].sum())} on the frontier)"


def report_history(
    original: object,
    release: object,
    *,
    knowledge: Sequence[str | int] | Mapping[str, object] | None = None,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    swept: pl.DataFrame | None = None,
    draw: Draw = "contest",
    sample: int | None = None,
    seed: int = 0,
    reading: Reading = AS_IT_IS,
    name: str | None = None,
    hierarchy: object = None,
    made_up: bool = False,
) -> HistoryReport:
    """Measure and attack a release in every way.

    knowledge: how much is known in per cent, each drawn anew, or `25=FILE` or a mapping from it to a history. Items of
        a contest's file are known by two characters, all others whole.
    draw: how it is drawn: `contest` leaves nobody without a known row, `uniform` gives each row the same chance.
    minutes: how long attacks may take in all: the strongest that fit are tried, and the others said to be left out.
    sample: attack at most so many customers, drawn at random; as many as take minutes if not given.
    hierarchy: of items, where the release names categories: what is known is rolled up to them.
    made_up: no row is anybody's, so that there is no pseudonym to find; a release of `tk.anonymize` knows that, and
        which attacks were tried before it was released.
    """
    started = time.perf_counter()
    before, after = history_of(original, reading), released_of(release, reading)
    if made_up or getattr(release, "is_made_up", False):
        if attacks:
            expected = "no attack that looks for pseudonyms, since no row is anybody's"
            raise InputError.of(expected, option="attacks", value=", ".join(attacks))
        left_out = dict.fromkeys([*default_attacks(before), ATTRIBUTION], NO_PSEUDONYMS)
        done = measure_made_up(before, after, left_out)
        audit = getattr(release, "facts", {}).get("audit")
        seconds = round(time.perf_counter() - started, 2)
        return HistoryReport(name or f"Report on {after.name}", done, seconds, swept, None, audit)
    some = sample_customers(before, after, sample, most_rows=REPORT_ROWS, seed=seed)
    items = item_hierarchy(hierarchy)
    characters = characters_known(original, reading)
    known = read_knowledge(
        knowledge or list(REPORT_SHARES),
        some.original,
        seed,
        reading,
        draw=draw,
        hierarchy=items,
        item_characters=characters,
    )
    used, not_tried = _in_time(list(attacks or default_attacks(before)), some.original, known, minutes)
    sources, not_judged = sources_if_known(before, release, after)
    if some.said is not None:
        sources, not_judged = None, {ATTRIBUTION: OF_SOME}
    done = evaluate(
        before,
        after,
        known,
        utilities=list(HISTORY_UTILITIES),
        attacks=used,
        attacked=(some.original, some.released),
        is_named=attacks is not None,
        not_tried={**not_tried, **not_judged},
        hierarchy=items,
        sources=sources,
    )
    title = name or f"Report on {after.name}"
    return HistoryReport(title, done, round(time.perf_counter() - started, 2), swept, some.said)


def sweep_history(
    history: object,
    out: Path | str | None = None,
    *,
    grid: Path | str | JsonView | None = None,
    knowledge: Sequence[str | int] | Mapping[str, object] | None = None,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    draw: Draw = "contest",
    sample: int | None = None,
    seed: int = 0,
    reading: Reading = AS_IT_IS,
    hierarchy: object = None,
) -> Sweep:
    """Anonymize a history in many ways, measuring and attacking each; with a folder, nothing is done twice.

    Of the ways that are tried if none are named, those that need what the history does not have are left out; of the
    attacks, those that do not fit in so many `minutes` for all ways. With the file of an item `hierarchy`, items are
    rolled up, too, and what is known is compared at the level of each release.
    """
    started = time.perf_counter()
    some = sample_customers(history_of(history, reading), None, sample, most_rows=SWEEP_ROWS, seed=seed)
    left_out: dict[str, Text] = {}
    items = item_hierarchy(hierarchy)
    if grid is None:
        named = hierarchy.get("item") if isinstance(hierarchy, Mapping) else hierarchy
        rolled = rolled_ways(str(named), items) if items is not None and isinstance(named, (str, Path)) else {}
        ways, left_out = possible_ways({**default_grid(some.original.absent), **rolled}, some.original)
    else:
        ways = dict(grid) if isinstance(grid, Mapping) else read_grid(grid)
    characters = characters_known(history, reading)
    known = read_knowledge(
        knowledge or list(SWEEP_SHARES),
        some.original,
        seed,
        reading,
        draw=draw,
        hierarchy=items,
        item_characters=characters,
    )
    folder = None if out is None else Path(out)
    wanted = list(attacks or default_attacks(some.original))
    used, not_tried = _in_time(wanted, some.original, known, minutes, n_releases=len(ways))
    options: dict[str, Any] = {"seed": seed, "attacks": used, "not_tried": not_tried, "hierarchy": items}
    swept = run_sweep(some.original, known, ways, folder, measured_drawn=measure_drawn, **options)
    return Sweep(swept, round(time.perf_counter() - started, 2), some.said, {**left_out, **not_tried})


def _in_time(
    attacks: list[str], history: History, known: Mapping[str, History], minutes: float | None, *, n_releases: int = 1
) -> tuple[list[str], dict[str, Text]]:
    """Return the attacks that fit in the time, if one is given, and why the others do not."""
    if minutes is None:
        return attacks, {}
    possible = [name for name in attacks if not lacks(history, HISTORY_ATTACKS.make(name), name)]
    fitting, late = within_time(possible, history, known, minutes, n_releases=n_releases)
    if not fitting:
        said = "; ".join(f"{name}: {why}" for name, why in late.items())
        raise InputError.of(f"time for one attack at least ({said})", option="minutes", value=minutes)
    return [name for name in attacks if name not in late], late


def read_knowledge(
    given: Sequence[str | int] | Mapping[str, object],
    original: History,
    seed: int,
    reading: Reading = AS_IT_IS,
    *,
    draw: Draw = "contest",
    hierarchy: Hierarchy | None = None,
    item_characters: int | None = None,
) -> dict[str, History]:
    """Return what is known by its share in per cent; drawn anew where no file is named.

    Items are drawn whole, or by their first characters, as the contests did; with a hierarchy, by their categories of
    level 1.
    """
    if isinstance(given, Mapping):
        known = {str(share): known_of(one, reading) for share, one in given.items()}
    else:
        known = {}
        for text in map(str, given):
            share, _, file = text.partition("=")
            if not share.isdecimal() or not 0 < int(share) <= 100:
                raise InputError.of("a share in per cent, as in 25=T25.csv", option="--knowledge", value=text)
            if file:
                known[share] = known_of(file, reading)
            elif hierarchy is None:
                known[share] = original.known(int(share) / 100, seed=seed, draw=draw, item_characters=item_characters)
            else:
                whole = original.known(int(share) / 100, seed=seed, draw=draw, item_characters=None)
                known[share] = roll_up(whole, hierarchy, min(1, hierarchy.height))
    # Numbers as text: in the order of the shares, so that the smallest is the first.
    return dict(sorted(known.items(), key=lambda pair: int(pair[0])))


Weight = Literal["usual", "baskets", "rows"]
WEIGHTS = ("usual", "baskets", "rows")
STATED = (
    "Attackers 4 and 9 are stated to know all items and how many rows there were. The figures printed by Ito, Kikuchi "
    "and Nakagawa (2017) follow where whoever bought these items fits (measured); by the statement the number of rows "
    "must agree, too (as stated)."
)
ABOVE_ONE = (
    "Theory is Π ω / m, the number of things that may be known by the number of rows. It takes every row to be another "
    "customer's and all kinds of knowledge to be independent: where there are more combinations than rows it exceeds "
    "1, and says that about so many combinations fall on each row, not a chance."
)


@dataclass(frozen=True, repr=False)
class Knowledge(Result):
    """The risk of being found by each of ten attackers, measured and by theory."""

    history: History
    risks: Sequence[Score]
    theory: Sequence[float]
    danger: pl.DataFrame
    weight: Weight = "usual"

    def to_dict(self) -> Json:
        """Return the attackers and the kinds of knowledge, as `tokumei knowledge --json` prints them."""
        attackers = [
            {
                "attacker": number,
                "knows": score.name,
                "measured": score.value,
                "as_stated": score.inputs[AS_STATED],
                "theory": expected,
                "theory_is_a_chance": expected <= 1,
            }
            for number, (score, expected) in enumerate(zip(self.risks, self.theory, strict=True))
        ]
        return {"attackers": attackers, "danger": self.danger.to_dicts(), "weight": self.weight}

    def sections(self) -> Sequence[Section]:
        """Return both tables, and a word where theory is no chance."""
        rows = [
            [
                number,
                score.name,
                score.value,
                score.inputs[AS_STATED],
                expected,
                "" if expected <= 1 else "above 1: no chance",
            ]
            for number, (score, expected) in enumerate(zip(self.risks, self.theory, strict=True))
        ]
        danger = Rows(
            self.danger.columns,
            [list(row) for row in self.danger.iter_rows()],
            "Which kind of knowledge is dangerous",
        )
        parts: list[Section] = [Rows(["attacker", "knows", "measured", AS_STATED, "theory", ""], rows), danger]
        differs = any(score.value != score.inputs[AS_STATED] for score in self.risks)
        parts += [Sentence(STATED)] if differs else []
        return [*parts, *([Sentence(ABOVE_ONE)] if any(one > 1 for one in self.theory) else [])]

    def figure(self) -> Drawing:
        """Draw how many customers fit what may be known."""
        return Drawing(crowd_drawing(self.history))

    def page(self) -> Page:
        """Return the page with the tables and the figure."""
        return knowledge_page(self.history, self.risks, self.theory, self.danger)

    def __repr__(self) -> str:
        worst = max(self.risks, key=lambda score: score.value)
        whom = counted(len(self.history.customers), "customer")
        return f"Knowledge(of {whom}, at worst {worst.value:.4g} by {worst.name})"


def knowledge_history(
    history: object,
    release: object = None,
    *,
    weight: Weight = "usual",
    unicity: bool = False,
    reading: Reading = AS_IT_IS,
    **options: Any,
) -> Any:
    """Measure how dangerous each kind of knowledge is; with `unicity`, how many purchases single customers out.

    weight: what share meets a piece of knowledge: of `rows`, of `baskets`, or as `usual`, of rows where an item is
        known and of baskets otherwise.
    unicity: give `Unicity` in place of `Knowledge`; its `options` are `points`, `draws`, `exactness` and `seed`.
    """
    if unicity:
        if release is not None:
            expected = "a release in the place of the history: its pseudonyms are singled out then"
            raise InputError.of(expected, option="release", value="unicity")
        return unicity_history(history, reading=reading, **options)
    for name in options:
        raise InputError.of("an option of knowledge: 'weight', 'unicity'", value=name)
    if weight not in WEIGHTS:
        raise InputError.of(choice_of(WEIGHTS), option="weight", value=weight)
    original = history_of(history, reading)
    original.check_has(["item"], "knowledge")
    with step("measuring knowledge"):
        released = None if release is None else released_of(release, reading)
        risks = measure_risks(original, released, met=weight)
        return Knowledge(original, risks, predict_risks(original), danger_by_kind(risks), weight)
