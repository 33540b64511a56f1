"""The search for the least further changes under which no attack finds more customers than is allowed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokumei.attacks.judge import found_customers, judge
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.attacks.truth import published, truth_of
from tokumei.core.errors import CannotAnonymize
from tokumei.core.progress import Bar, step
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.data.release import Release
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.items import roll_together
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.hardening import WIDENED, Change, lives_of, longest_life, unname
from tokumei.report.evaluation import CONTEST_UTILITIES
from tokumei.report.needs import measure_or_say_why

DELETED = (0.0, 0.1, 0.25)
LIFETIMES = (6, 3, 1)
# Groups may bring fewer customers below the bound than are expected: so far is the aim put below it, step by step.
MARGINS = (1.0, 0.9, 0.75, 0.5)
Key = tuple[str, str]


@dataclass(frozen=True)
class Evidence:
    """Who attacks: with which knowledge, by which attacks, the strongest first; and who is looked for."""

    original: History
    knowledge: Mapping[str, Sequence[History]]
    attacks: Sequence[str]
    seed: int
    some: Callable[[History], History] = field(default=lambda released: released)
    """Gives the rows of the customers that are attacked, where attacking all would take too long."""
    hierarchy: Hierarchy | None = None
    """Of items: what is known and what is released are compared at the coarser of their levels."""

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
            shares, _ = evidence.try_on(History(one.release.frame), bound)
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
