"""A release of a history made harder: the least further changes until no attack finds more than is allowed.

`least_change` is the search over changes; `harden_history` is the job around it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.history.attribution import attribute_release
from tokumei.attacks.judge import found_customers, judge, published, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import Bar, step
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.seeds import fresh_seed
from tokumei.core.text import Json
from tokumei.data.files.histories import TABLE
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import Draw, History
from tokumei.data.release import Release
from tokumei.hierarchies.files import item_hierarchy, roll_together
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.hardening import WIDENED, Change, lives_of, longest_life, unname
from tokumei.reports.evaluation import CONTEST_UTILITIES
from tokumei.reports.needs import (
    REPORT_ROWS,
    check_needs,
    fitting_attacks,
    measure_or_say_why,
    sample_customers,
    within_time,
)
from tokumei.tasks.anonymize_history import anonymize_history
from tokumei.tasks.attribute_history import ATTRIBUTION, OF_SOME, sources_if_known
from tokumei.tasks.histories import HistoryRelease, history_of, released_of
from tokumei.tasks.report_history import read_knowledge

DELETED = (0.0, 0.1, 0.25)
LIFETIMES = (6, 3, 1)
# Groups may bring fewer customers below the bound than are expected: so far is the aim put below it, step by step.
MARGINS = (1.0, 0.9, 0.75, 0.5)
# How often knowledge is drawn anew to attack what holds, since it was chosen by the draws before.
FRESH_DRAWS = 2
Key = tuple[str, str]


@dataclass(frozen=True)
class Evidence:
    """Who attacks: with which knowledge, by which attacks, the strongest first; and who is looked for."""

    original: History
    knowledge: Mapping[str, Sequence[History]]
    attacks: Sequence[str]
    seed: int
    some: Callable[[History], History] = field(default=lambda released: released)
    """Select the rows of the customers that are attacked, where attacking all would take too long."""
    hierarchy: Hierarchy | None = None
    """Of items: what is known and what is released are compared at the coarser of their levels."""
    draw_again: Callable[[int], Mapping[str, History]] | None = None
    """Draws knowledge by a number, where drawing again makes a difference."""

    def confirm(self, released: History, bound: float, shares: Mapping[Key, float], number: int) -> dict[Key, float]:
        """Attack what holds with knowledge that nothing was chosen by: the larger shares of before and now."""
        if self.draw_again is None:
            return dict(shares)
        drawn = [self.draw_again(FRESH_DRAWS * number + one) for one in range(FRESH_DRAWS)]
        fresh = {share: [one[share] for one in drawn] for share in drawn[0]}
        now, _ = replace(self, knowledge=fresh).try_on(released, bound)
        return {key: max(share, now.get(key, 0.0)) for key, share in shares.items()}

    def try_on(self, released: History, bound: float) -> tuple[dict[Key, float], set[str]]:
        """Attack with everything until one finds more than the bound: shares by attack and knowledge, and who is found.

        Of several draws of knowledge the one that finds most counts.
        """
        after = self.some(released)
        truth, seen = truth_of(self.original, after), published(after, seed=self.seed)
        customers, months = self.original.customers, self.original.periods
        shares: dict[Key, float] = {}
        found: set[str] = set()
        for name in self.attacks:
            for known, drawn in sorted(self.knowledge.items(), key=lambda pair: -int(pair[0])):
                for part in drawn:
                    guesses = HISTORY_ATTACKS.make(name).guess(*roll_together(part, seen, self.hierarchy))
                    share = judge(guesses, truth, customers, months).found.value
                    shares[name, known] = max(share, shares.get((name, known), 0.0))
                    found |= set(found_customers(guesses, truth, customers, months))
                    if share > bound:
                        return shares, found
        return shares, found


@dataclass(frozen=True)
class Attempt:
    """One change that was made: what it costs and, where it was attacked, what was found and whether that holds."""

    change: Change
    release: Release
    cost: float
    shares: Mapping[Key, float] = field(default_factory=dict)
    holds: bool = False

    @property
    def worst(self) -> tuple[str, float]:
        """The attack that finds most, and what it finds."""
        (attack, _), share = max(self.shares.items(), key=lambda one: one[1])
        return attack, share


@dataclass(frozen=True)
class Hardening:
    """What the search found: the change and its release, what every attack finds before and after, and all attempts."""

    change: Change
    release: Release
    before: Mapping[Key, float]
    after: Mapping[Key, float]
    tried: Sequence[Attempt]


def least_change(
    original: History,
    released: History,
    evidence: Evidence,
    bound: float,
    *,
    moves: Sequence[str],
    losses: Mapping[str, Score],
    seed: int,
) -> Hardening:
    """Return the change that costs least use of those under which every attack stays under the bound.

    The cost of a change is the largest rise of the contest's losses. Changes are attacked in the order of what they
    cost; one that goes less far in every way than one that failed is not tried. CannotAnonymize where none holds.
    """
    unnamed = unname(original, released)
    lives = lives_of(unnamed, released)
    before, at_risk = evidence.try_on(released, 1.0)
    n = len(evidence.original.customers)
    # Nobody knows of customers who were not attacked whether they would be found.
    at_risk |= set(original.customers) - set(evidence.original.customers)
    if max(before.values(), default=0.0) <= bound:
        before = evidence.confirm(released, bound, before, 0)
    if max(before.values(), default=0.0) <= bound:
        release = Change().apply(unnamed, lives, at_risk, seed=seed)
        return Hardening(Change(), release, before, before, [])
    changes = list(_changes(moves, longest_life(lives), bound * len(original.customers)))
    refused: list[str] = []

    def attempt(change: Change) -> Attempt | None:
        """Make a change and measure what it costs; None where those at risk cannot be grouped."""
        try:
            release = change.apply(unnamed, lives, at_risk, seed=seed)
        except CannotAnonymize as error:
            refused.append(str(error))
            return None
        return Attempt(change, release, _cost(original, History(release.frame), losses))

    with step("hardening", len(changes)) as bar:
        found, tried = _first_that_holds(changes, attempt, evidence, bound, bar)
    if found is None:
        attacked = [one for one in tried if one.shares]
        nearest = min(attacked, key=lambda one: one.worst[1], default=None)
        said = "" if nearest is None else f"; nearest came '{nearest.change.name}' with {nearest.worst[1]:.3f}"
        why = f" Of those at risk: {refused[0]}" if refused else ""
        raise CannotAnonymize(f"No further change keeps every attack under {bound:g} of {n:,} customers{said}.{why}")
    return Hardening(found.change, found.release, before, found.shares, tried)


def _changes(moves: Sequence[str], longest: int, n_found: float) -> Iterator[Change]:
    """List the changes that are considered: all combinations of widening, deleting and shorter lives; or groups."""
    widened = range(len(WIDENED) + 1) if "widen" in moves else (0,)
    lifetimes = [one for one in LIFETIMES if one < longest] if "re-pseudonymize" in moves else []
    for lifetime, widen, delete in itertools.product(
        [None, *lifetimes], widened, DELETED if "delete" in moves else (0.0,)
    ):
        if lifetime or widen or delete:
            yield Change(widen, delete, lifetime)
    if "permute" in moves:
        # A hair is added, since 0.29 · 100 is 28.999….
        yield from (Change(found=one) for one in sorted({int(n_found * margin + 1e-9) for margin in MARGINS}))


def _first_that_holds(
    changes: Sequence[Change],
    attempt: Callable[[Change], Attempt | None],
    evidence: Evidence,
    bound: float,
    bar: Bar,
) -> tuple[Attempt | None, list[Attempt]]:
    """Attack the changes, the cheapest first, but before them what goes farthest without permuting.

    If that does not hold, nothing that goes less far needs to be tried. Gives the first that holds, and all attempts.
    """
    tried: dict[Change, Attempt] = {}

    def attack(one: Attempt) -> Attempt:
        if not one.shares:
            released = History(one.release.frame)
            shares, _ = evidence.try_on(released, bound)
            if max(shares.values()) <= bound:
                shares = evidence.confirm(released, bound, shares, 1 + len(tried))
            one = replace(one, shares=shares, holds=max(shares.values()) <= bound)
            bar.advance()
        tried[one.change] = one
        return one

    def is_hopeless(change: Change) -> bool:
        return change.found is None and any(
            one.shares and not one.holds and change.is_within(one.change) for one in tried.values()
        )

    plain = [one for one in changes if one.found is None]
    for change in plain:
        if not any(change != other and change.is_within(other) for other in plain) and (one := attempt(change)):
            attack(one)
    made = [tried.get(change) or attempt(change) for change in changes if not is_hopeless(change)]
    # Of equal cost, what goes less far comes first.
    ordered = sorted(
        (one for one in made if one is not None),
        key=lambda one: (one.cost, one.change.widen, one.change.delete, -(one.change.found or 0)),
    )
    for one in ordered:
        if not is_hopeless(one.change) and (done := attack(one)).holds:
            return done, list(tried.values())
    return None, list(tried.values())


def _cost(original: History, released: History, losses: Mapping[str, Score]) -> float:
    """Return the largest rise of a contest loss."""
    rises = [0.0]
    for name in CONTEST_UTILITIES:
        found = measure_or_say_why(HISTORY_UTILITIES.make(name), name, original, released)
        if isinstance(found, Score) and name in losses:
            rises.append(found.value - losses[name].value)
    return max(rises)


MOVES = ("widen", "delete", "re-pseudonymize", "permute")
SHARES = (25, 100)
SAME_AGAIN = "what is known is the same in every draw"
UNPUBLISHED = "The release before must not be published: pseudonyms are new, but rows of both could be compared."


@dataclass(frozen=True, eq=False, repr=False)
class Hardened(Result):
    """A hardened release with what it cost, measure by measure, and what every attack finds before and after."""

    release: HistoryRelease
    found: Hardening
    bound: float
    losses: Mapping[str, tuple[float, float]]
    left_out: Mapping[str, str]
    facts: Mapping[str, Any]
    sampled: str | None = None

    def to_dict(self) -> Json:
        """Return the result as `tokumei harden --json` prints it."""
        attacks = [
            {"attack": attack, "known": known, "before": share, "after": self.found.after.get((attack, known))}
            for (attack, known), share in self.found.before.items()
        ]
        costs = {name: {"before": a, "after": b, "rise": b - a} for name, (a, b) in self.losses.items()}
        tried = [
            {"change": one.change.name, "cost": one.cost, "found": one.worst[1], "by": one.worst[0], "holds": one.holds}
            for one in self.found.tried
        ]
        return {**self.facts, "attacks": attacks, "costs": costs, "tried": tried, "left_out": dict(self.left_out)}

    def sections(self) -> Sequence[Section]:
        """Return what was done, what each attack finds now, what each measure lost, and what else was tried."""
        rows = [
            [attack, f"{known} %", share, self.found.after.get((attack, known))]
            for (attack, known), share in sorted(self.found.before.items(), key=lambda one: -one[1])
        ]
        costs = [[name, a, b, b - a] for name, (a, b) in sorted(self.losses.items(), key=lambda one: -one[1][1])]
        said: list[Section] = [
            Facts({**self.facts, "seed": str(self.facts["seed"])}),
            Rows(["attack", "known", "found before", "found now"], rows),
            Rows(["loss", "before", "now", "it cost"], costs),
        ]
        tried = [[one.change.name, one.cost, one.worst[1], one.worst[0]] for one in self.found.tried]
        if tried:
            said.append(Rows(["change tried", "costs", "found", "by"], tried))
        if self.left_out:
            said.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
        return [*said, Sentence(UNPUBLISHED), *([] if self.sampled is None else [Sentence(self.sampled)])]

    def save(self, out: Path | str, **options: Any) -> None:
        """Write the release and, where named, what is published of it, who is who and the recipe."""
        self.release.save(out, **options)

    def __repr__(self) -> str:
        worst = max(self.found.after.values(), default=0.0)
        return f"Hardened(by {self.found.change.name}: at most {worst:.1%} of customers found)"


def harden_history(
    original: object,
    release: object = None,
    *,
    bound: float,
    pipeline: Path | str | None = None,
    knowledge: Sequence[str | int] | Mapping[str, object] | None = None,
    draw: Draw = "contest",
    draws: int = 1,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    changes: Sequence[str] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    form: str = TABLE,
    reading: Reading = AS_IT_IS,
    hierarchy: object = None,
) -> Hardened:
    """Change a release no more than needed for every attack to find at most a share of the customers.

    release: one that keeps the rows of its original and is not published yet; or `pipeline`, which makes it.
    bound: the largest share of customers that any attack may find.
    knowledge: what attackers know in per cent, drawn `draws` times with items in full, or files as for
        `report_history`; 25 and 100 if not given.
        What holds is attacked again by fresh draws before it is given.
    attacks: those to try; if not given, all that the history allows, or as fit in so many `minutes` an attempt.
    changes: some of widen, delete, re-pseudonymize and permute; all if not given.
    hierarchy: of items, where the release names categories: what is known is rolled up to them.
    """
    started = time.perf_counter()
    moves = _checked(bound, draws, changes)
    before = history_of(original, reading)
    if (release is None) == (pipeline is None):
        raise InputError.of("either a release or a pipeline that makes it")
    used = fresh_seed() if seed is None else seed
    made_before = anonymize_history(before, pipeline=pipeline, seed=used) if release is None else release
    after = released_of(made_before, reading)
    truth_of(before, after)
    if not after.kept.height:
        raise InputError.of("a release with rows", file=after.name)
    items = item_hierarchy(hierarchy)
    some = sample_customers(before, after, sample, most_rows=REPORT_ROWS, seed=0)
    drawn = [
        read_knowledge(knowledge or list(SHARES), some.original, number, reading, draw=draw, hierarchy=items)
        for number in range(draws)
    ]
    known = {share: [one[share] for one in drawn] for share in drawn[0]}
    names, left_out = _attacks(attacks, before, {share: one[0] for share, one in known.items()}, minutes)
    is_some = None if some.said is None else before.frame["customer"].is_in(some.original.customers)

    # Files are what is known, and who knows all rows knows them in every draw.
    wanted = [] if isinstance(knowledge, Mapping) else [str(one) for one in knowledge or SHARES]
    again = [one for one in wanted if "=" not in one and one != "100"]
    if len(again) < len(known):
        left_out |= {f"further draws of {share} %": SAME_AGAIN for share in known if share not in again}

    def draw_again(number: int) -> Mapping[str, History]:
        return read_knowledge(again, some.original, draws + number, reading, draw=draw, hierarchy=items)

    def rows_of_some(released: History) -> History:
        return released if is_some is None else History(released.frame.filter(is_some), released.name)

    evidence = Evidence(some.original, known, names, 0, rows_of_some, items, draw_again if again else None)
    losses = _losses(before, after)
    found = least_change(before, after, evidence, bound, moves=moves, losses=losses, seed=used)
    hardened = found.release
    sources, not_judged = sources_if_known(before, made_before, after)
    if hardened.rows is not None:
        # Back through the release before, which may have moved purchases, too.
        hardened = replace(hardened, rows=None if sources is None else sources.gather(hardened.rows))
    now = _losses(before, History(hardened.frame))
    worst = max(found.after.values(), default=0.0)
    given: dict[str, float | None] = {}
    if some.said is not None:
        not_judged = {ATTRIBUTION: OF_SOME}
    elif sources is not None and hardened.rows is not None:
        least = known[min(known, key=int)][0]
        given["attributed_before"] = _attributed(before, after, sources, least, names)
        given["attributed"] = _attributed(before, History(hardened.frame), hardened.rows, least, names)
    left_out |= {name: str(why) for name, why in not_judged.items()}
    kept = hardened.frame["customer"].drop_nulls()
    facts = {
        "method": "harden",
        "bound": bound,
        "change": found.change.name,
        "found_before": max(found.before.values(), default=0.0),
        "found": worst,
        **given,
        "rows": before.n_rows,
        "released_before": after.kept.height,
        "released": len(kept),
        "customers": len(before.customers),
        "pseudonyms": kept.n_unique(),
        **hardened.recipe.found,
        "fresh_draws": FRESH_DRAWS if again else 0,
        "seed": used,
        "seconds": round(time.perf_counter() - started, 2),
    }
    made = HistoryRelease(before, hardened, facts, form, before.kind)
    costs = {name: (score.value, now[name].value) for name, score in losses.items() if name in now}
    return Hardened(made, found, bound, costs, left_out, facts, some.said)


def _attributed(
    original: History, released: History, sources: pl.Series, known: History, attacks: Sequence[str]
) -> float | None:
    """Return the share of the unknown rows that are given to their buyers; None where all are known."""
    name = next((one for one in attacks if one == "linkage"), None)
    guesses = None if name is None else HISTORY_ATTACKS.make(name).guess(known, published(released, seed=0))
    judged, _ = attribute_release(original, released, sources, known, guesses)
    return judged.rows.value if judged.rows.inputs["rows"] else None


def _checked(bound: float, draws: int, changes: Sequence[str] | None) -> list[str]:
    """Look at the options and give the kinds of changes that may be made."""
    if not 0 < bound <= 1:
        raise InputError.of("a share above 0 and up to 1", option="bound", value=bound)
    if draws < 1:
        raise InputError.of("one draw or more", option="draws", value=draws)
    for one in changes or ():
        if one not in MOVES:
            raise InputError.of(f"some of {', '.join(MOVES)}", option="changes", value=one)
    return list(MOVES if changes is None else changes)


def _attacks(
    wanted: Sequence[str] | None, history: History, knowledge: Mapping[str, History], minutes: float | None
) -> tuple[list[str], dict[str, str]]:
    """Return the attacks that are tried, the strongest first, and why others are left out."""
    for name in wanted or ():
        check_needs(history, HISTORY_ATTACKS.make(name), name)
    names, why_not = fitting_attacks(history, wanted)
    left_out: dict[str, str] = dict(why_not)
    if minutes is not None:
        names, late = within_time(names, history, knowledge, minutes)
        left_out |= late
    if not names:
        said = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError.of(f"an attack that can be tried ({said})", option="attacks")
    return names, left_out


def _losses(before: History, after: History) -> dict[str, Score]:
    """Measure every loss that the history allows."""
    found = {name: measure_or_say_why(HISTORY_UTILITIES.make(name), name, before, after) for name in HISTORY_UTILITIES}
    return {name: score for name, score in found.items() if isinstance(score, Score)}
