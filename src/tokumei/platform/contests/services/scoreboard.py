"""Who stands where, as far as the viewer may know, and how much guesses may tell before a contest is over.

Places are worked out from exact scores by the edition; what is shown is rounded while the contest runs, since each
exact score tells something of the truth. Guesses tell nothing, or one of a few bands, with a bound on what that tells:
exact scores are an oracle, by which an attacker finds out with guesses that differ in a line, or by an integer program
over some that differ in many, which lines are right. The organizer sees everything. Lists of contests name the winners.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import Case, Count, DateTimeField, F, Max, QuerySet, When
from django.utils import timezone

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, Standing, TeamEntry
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Board, Contest, Phase, State, Submission
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.contests.services.phase_work import (
    changed_teams,
    counting_releases,
    edition_of,
    scored_guesses,
    teams_that_count_no_more,
    terms_of,
)
from tokumei.platform.middleware import CompiledQuery, find_once

N_BANDS = 4


def in_band(success: float) -> float:
    """Return the lower end of the band of a success: 0, 0.25, 0.5 or 0.75."""
    return min(int(success * N_BANDS), N_BANDS - 1) / N_BANDS


@dataclass(frozen=True)
class LeakBound:
    """What the allowed guesses at one release can tell before the end, whoever makes them."""

    n_guesses: int
    bits: float


def bound_of(contest: Contest, n_levels: int, n_teams: int) -> LeakBound:
    """Bound what all other teams together can learn of one release: an answer is one of so many bands, and no more.

    n_levels: levels of knowledge, each of which has guesses of its own.
    """
    n_guesses = contest.guesses_on_one * max(n_levels, 1) * max(n_teams - 1, 0)
    bits = n_guesses * math.log2(N_BANDS) if contest.shows_guess_scores else 0.0
    return LeakBound(n_guesses, bits)


Made = TypeVar("Made")

# How many submissions were scored, and when the last one; no row before the first.
SCORED = CompiledQuery(
    lambda contest: (
        Submission.objects.filter(contest=contest, state=State.SCORED)
        .order_by()
        .values("contest_id")
        .annotate(n=Count("pk"), last=Max("finished_at"))
        .values_list("n", "last")
    ),
    int,
)
# Seconds that a ranking is kept in a process, unless something changes it.
KEPT_FOR = 300
# Held while something is made that many will ask for; making one thing takes up others.
_making = threading.RLock()


@dataclass(frozen=True)
class Visibility:
    """How much a viewer may see of a contest's scores."""

    is_hidden: bool
    until: datetime | None
    has_attacks: bool
    digits: int | None
    has_bands: bool = False


@dataclass(frozen=True)
class Scoreboard:
    """The standings with how they are to be read: `names` has each team's name to be called by."""

    lines: list[Standing]
    names: dict[str, str]
    seen: Visibility


@dataclass(frozen=True)
class AttackSeen:
    """The best guess of one attacker at one release with one level of knowledge."""

    target: str
    attacker: str
    level: str
    success: float


def seen_by(contest: Contest, viewer: User | None) -> Visibility:
    """Return how much a viewer may see."""
    if contest.shows_results or is_organizer(contest, viewer):
        return Visibility(is_hidden=False, until=None, has_attacks=True, digits=None)
    return Visibility(
        is_hidden=contest.board == Board.HIDDEN,
        until=contest.board_frozen_at if contest.board == Board.FROZEN else None,
        # Places that follow from guesses would tell more of them than a band does.
        has_attacks=False,
        has_bands=contest.shows_guess_scores,
        digits=contest.digits_shown,
    )


def entries(contest: Contest, until: datetime | None = None, *, has_attacks: bool = True) -> list[TeamEntry]:
    """Return what the ranking is made of: each team's counting release and the judged attacks on it."""
    gone = teams_that_count_no_more(contest)
    guesses = [one for one in scored_guesses(contest) if _is_early(one, until)] if has_attacks else []
    guesses = [one for one in guesses if one.team_id not in gone]
    return [
        TeamEntry(
            release.team.slug,
            ReleaseScore.of(release.score or {}),
            tuple(
                Attempt(guess.team.slug, guess.knowledge, GuessScore.of(guess.score or {}))
                for guess in guesses
                if guess.target_id == team
            ),
        )
        for team, release in counting_releases(contest, until).items()
    ]


def standings(contest: Contest, viewer: User | None) -> Scoreboard:
    """Rank the teams as far as the viewer may know."""
    seen = seen_by(contest, viewer)
    if seen.is_hidden:
        return Scoreboard([], {}, seen)
    names = dict(contest.participations.values_list("team__slug", "team__display_name"))
    return Scoreboard([_rounded_line(line, seen.digits) for line in _ranked(contest, seen)], names, seen)


def place_of(contest: Contest, viewer: User | None, team: str) -> tuple[int | None, int]:
    """Return a team's place, if any, and the number of ranked teams, as far as the viewer may know."""
    seen = seen_by(contest, viewer)
    lines = [] if seen.is_hidden else _ranked(contest, seen)
    return next((line.place for line in lines if line.team == team), None), len(lines)


def _ranked(contest: Contest, seen: Visibility) -> list[Standing]:
    """Rank the teams, once for all visitors until something changes."""

    def rank() -> list[Standing]:
        found = entries(contest, seen.until, has_attacks=seen.has_attacks)
        return edition_of(contest).rank(found) if found else []

    return kept("standings", contest, (seen.until, seen.has_attacks), rank)


def kept(what: str, contest: Contest, seen: object, make: Callable[[], Made]) -> Made:
    """Cache what follows from the scores of a contest for all who see the same, until something changes."""
    key, version = name_of(what, contest, seen), version_of(contest)
    found: tuple[tuple[object, ...], Made] | None = cache.get(key)
    if found is None or found[0] != version:
        # Whoever comes meanwhile waits: that is sooner than if each made it.
        with _making:
            found = cache.get(key)
            if found is None or found[0] != version:
                found = version, make()
                cache.set(key, found, KEPT_FOR)
    return found[1]


def name_of(what: str, contest: Contest, seen: object) -> str:
    """Name what is kept of a contest for all who see the same."""
    return f"{what}-{contest.folder_key}-{hash(seen)}"


def version_of(contest: Contest) -> tuple[object, ...]:
    """Return a cache version that changes when a submission is scored or chosen, or a team comes or goes."""
    scored = find_once(("scored", contest.pk), lambda: SCORED(contest.pk))
    return contest.folder_key, *map(tuple, scored), *changed_teams(contest)


def attacks_on(contest: Contest, viewer: User | None) -> list[AttackSeen]:
    """Return the best guess of each attacker at each release and knowledge level, as far as the viewer may see."""
    seen = seen_by(contest, viewer)
    best: dict[tuple[str, str, str], float] = {}
    if seen.is_hidden or not (seen.has_attacks or seen.has_bands):
        return []
    gone = teams_that_count_no_more(contest)
    for guess in scored_guesses(contest):
        if {guess.team_id, guess.target_id} & gone:
            continue
        if guess.target is not None and guess.score is not None and _is_early(guess, seen.until):
            key = (guess.target.slug, guess.team.slug, guess.knowledge)
            # Bands first: what is worked out from them tells no more than they do.
            success = float(guess.score["success"]) if seen.has_attacks else in_band(float(guess.score["success"]))
            best[key] = max(best.get(key, 0.0), success)
    return [AttackSeen(*key, success) for key, success in sorted(best.items())]


def attack_matrix(contest: Contest, viewer: User | None) -> dict[tuple[str, str], float]:
    """Return the share each attacker found in each release, as the board counts it, by short names."""
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for one in attacks_on(contest, viewer):
        found.setdefault((one.attacker, one.target), []).append((one.level, one.success))
    rule = terms_of(contest).attack_rule
    return {pair: rule.found(guesses) for pair, guesses in sorted(found.items())}


def rounded(value: Any, digits: int | None) -> Any:
    """Round every number with a fraction in a score, however deep, to so many decimals."""
    if digits is None:
        return value
    if isinstance(value, float):
        return round(value, digits)
    if isinstance(value, dict):
        return {name: rounded(part, digits) for name, part in value.items()}
    return [rounded(part, digits) for part in value] if isinstance(value, (list, tuple)) else value


def _rounded_line(line: Standing, digits: int | None) -> Standing:
    return replace(
        line,
        value=rounded(line.value, digits),
        utility=rounded(line.utility, digits),
        safety=rounded(line.safety, digits),
        numbers=rounded(dict(line.numbers), digits),
    )


def _is_early(submission: Submission, until: datetime | None) -> bool:
    return until is None or submission.at <= until


N_WINNERS = 3


@dataclass(frozen=True)
class Winner:
    """One of the best teams of a contest that is over, by its name."""

    place: int
    name: str
    value: float | None


@dataclass(frozen=True)
class Listed:
    """A contest in a list; `winners` share its first place, where it is over."""

    contest: Contest
    phase: Phase
    winners: list[Winner]


def open_first(contests: QuerySet[Contest]) -> QuerySet[Contest]:
    """Order contests: open ones by their end, then those to come, then those that are over, the latest first."""
    now = timezone.now()
    return contests.annotate(
        group=Case(When(closed_at__isnull=False, then=2), When(opens_at__gt=now, then=1), default=0),
        ends=Case(When(closed_at=None, then=F("closes_at")), output_field=DateTimeField()),
    ).order_by("group", F("ends").asc(nulls_last=True), "-closes_at", "-pk")


def listed(contests: Iterable[Contest]) -> list[Listed]:
    """Return contests with what a card of the list shows."""
    return [
        Listed(contest, contest.phase_at(), [one for one in winners_of(contest) if one.place == 1])
        for contest in contests
    ]


def winners_of(contest: Contest) -> list[Winner]:
    """Return the first three places of a closed contest; unranked teams have none."""
    if not contest.shows_results:
        return []
    board = standings(contest, None)
    ranked = [line for line in board.lines if line.place <= N_WINNERS and line.value is not None]
    return [Winner(line.place, board.names.get(line.team, line.team), line.value) for line in ranked]
