"""Who stands where, as far as the viewer may know.

Places are worked out from exact scores by the contest's rulebook; what is shown is rounded while the contest runs,
since each exact score tells something of the truth. Lists of contests name the winners.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import Case, Count, DateTimeField, F, Max, QuerySet, When
from django.utils import timezone

from tokumei.contest.edition import Attempt, GuessScore, Standing, TeamEntry
from tokumei.contest.season import attacks_found, best_guesses
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Phase, State, Submission
from tokumei.platform.contests.services.rulebook import changed_teams, entries, ranked, terms_of
from tokumei.platform.contests.services.visibility import Visibility, in_band, seen_by
from tokumei.platform.middleware import CompiledQuery, find_once

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
    return kept(
        "standings",
        contest,
        (seen.until, seen.has_attacks),
        lambda: ranked(contest, seen.until, has_attacks=seen.has_attacks),
    )


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
    best = best_guesses(_attacked(contest, viewer))
    return [AttackSeen(*key, success) for key, success in sorted(best.items())]


def attack_matrix(contest: Contest, viewer: User | None) -> dict[tuple[str, str], float]:
    """Return the share each attacker found in each release, as the board counts it, by short names."""
    return dict(sorted(attacks_found(_attacked(contest, viewer), terms_of(contest).attack_rule).items()))


def _attacked(contest: Contest, viewer: User | None) -> list[TeamEntry]:
    """Return the releases with the attacks on them as far as the viewer may see them: exact, in bands, or none."""
    seen = seen_by(contest, viewer)
    if seen.is_hidden or not (seen.has_attacks or seen.has_bands):
        return []
    found = entries(contest, seen.until)
    if seen.has_attacks:
        return found
    # Bands first: what is worked out from them tells no more than they do.
    return [replace(entry, attempts=[_in_band(one) for one in entry.attempts]) for entry in found]


def _in_band(attempt: Attempt) -> Attempt:
    return replace(attempt, score=GuessScore(in_band(attempt.score.success), {}))


def rounded(value: object, digits: int | None) -> Any:
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
