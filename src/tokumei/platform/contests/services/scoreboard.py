"""Who stands where, as far as the viewer may know.

Places are worked out from exact scores by the edition; what is shown is rounded while the contest runs, since each
exact score tells something of the truth. The organizer sees everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, Standing, TeamEntry
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Board, Contest, Kind, State, Submission
from tokumei.platform.contests.services.bands import in_band
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.contests.services.editions import edition_of
from tokumei.platform.contests.services.phase_work import counting_releases, scored_guesses

# Seconds that a ranking is kept in a process; what changes it gives it another name.
KEPT_FOR = 300


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
class HistoryPoint:
    """A team's best utility after one of its releases."""

    at: datetime
    team: str
    utility: float
    best: float


def seen_by(contest: Contest, viewer: User | None) -> Visibility:
    """Say how much somebody may see."""
    if contest.closed_at is not None or is_organizer(contest, viewer):
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
    """Give what the ranking is made of: each team's counting release and the judged attacks on it."""
    guesses = [one for one in scored_guesses(contest) if _is_early(one, until)] if has_attacks else []
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


def _ranked(contest: Contest, seen: Visibility) -> list[Standing]:
    """Rank the teams, once for all visitors until something changes."""
    key = f"standings-{hash((version_of(contest), seen.until, seen.has_attacks))}"
    lines: list[Standing] | None = cache.get(key)
    if lines is None:
        found = entries(contest, seen.until, has_attacks=seen.has_attacks)
        lines = edition_of(contest).rank(found) if found else []
        cache.set(key, lines, KEPT_FOR)
    return lines


def version_of(contest: Contest) -> tuple[object, ...]:
    """Give what is another whenever a submission has been scored or a team came or went: a name for what is kept."""
    scored = contest.submissions.filter(state=State.SCORED).aggregate(n=Count("pk"), last=Max("finished_at"))
    gone = contest.participations.exclude(withdrawn_at=None).aggregate(n=Count("pk"), last=Max("withdrawn_at"))
    return contest.folder_key, *scored.values(), *gone.values()


def attack_matrix(contest: Contest, viewer: User | None) -> dict[tuple[str, str], float]:
    """Give the best success of each attacker at each target, by their short names."""
    seen = seen_by(contest, viewer)
    best: dict[tuple[str, str], float] = {}
    if seen.is_hidden or not (seen.has_attacks or seen.has_bands):
        return best
    for guess in scored_guesses(contest):
        if guess.target is not None and guess.score is not None and _is_early(guess, seen.until):
            pair = (guess.team.slug, guess.target.slug)
            best[pair] = max(best.get(pair, 0.0), float(guess.score["success"]))
    return {pair: success if seen.has_attacks else in_band(success) for pair, success in best.items()}


def history(contest: Contest, viewer: User | None) -> list[HistoryPoint]:
    """Give how each team's best utility went, release by release."""
    seen = seen_by(contest, viewer)
    if seen.is_hidden:
        return []
    withdrawn = set(contest.participations.exclude(withdrawn_at=None).values_list("team_id", flat=True))
    scored = contest.submissions.filter(kind=Kind.RELEASE, state=State.SCORED).select_related("team")
    best: dict[str, float] = {}
    points = []
    for release in scored.order_by("at", "pk"):
        if release.team_id in withdrawn or not _is_early(release, seen.until) or release.score is None:
            continue
        team, utility = release.team.slug, float(release.score["utility"])
        best[team] = min(best.get(team, utility), utility)
        points.append(HistoryPoint(release.at, team, rounded(utility, seen.digits), rounded(best[team], seen.digits)))
    return points


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
