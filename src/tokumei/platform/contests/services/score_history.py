"""How scores and places went: the teams ranked anew after each scored submission, as far as the viewer may know."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, TeamEntry
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Counts, Kind, State, Submission
from tokumei.platform.contests.services.changed_teams import teams_that_count_no_more
from tokumei.platform.contests.services.editions import edition_of
from tokumei.platform.contests.services.phase_work import chosen_releases, the_one_that_counts
from tokumei.platform.contests.services.scoreboard import KEPT_FOR, Visibility, kept, name_of, rounded, seen_by

# A ranking takes a moment: of more moments than this some are left out.
MOST_MOMENTS = 200
# Team, score and place.
Ranking = list[tuple[str, float | None, int]]


@dataclass(frozen=True)
class HistoryPoint:
    """The score that a team was ranked by since a moment, and its place; no score where it was not ranked."""

    at: datetime
    team: str
    value: float | None
    place: int


@dataclass(frozen=True)
class Moment:
    """A submission that was scored, without its score: that is long, and mostly not needed again."""

    pk: int
    kind: str
    at: datetime
    finished_at: datetime | None
    knowledge: str
    team: str
    target: str | None


def history(contest: Contest, viewer: User | None) -> list[HistoryPoint]:
    """Return the scores that ranked teams after each scored submission; the last are those of the board."""
    seen = seen_by(contest, viewer)
    return [] if seen.is_hidden else kept("history", contest, seen, lambda: _history(contest, seen))


def _history(contest: Contest, seen: Visibility) -> list[HistoryPoint]:
    """Rank after the moments that are wanted, each once: what comes later changes nothing of it."""
    moments, chosen = _moments(contest, seen), chosen_releases(contest, seen.until)
    wanted = _spread(len(moments))
    so_far, marks = hash(tuple(sorted(chosen))), {}
    for number, one in enumerate(moments):
        so_far = hash((so_far, one.pk, one.finished_at))
        if number in wanted:
            marks[number] = so_far
    name = name_of("ranked", contest, seen)
    known: dict[int, Ranking] = cache.get(name, {})
    new = [number for number, mark in marks.items() if mark not in known]
    made = _after(contest, moments, new, chosen, seen.digits) if new else {}
    if made is None:
        return _history(contest, seen)
    ranked = {mark: known[mark] if mark in known else made[number] for number, mark in marks.items()}
    cache.set(name, ranked, KEPT_FOR)
    shown: dict[str, tuple[float | None, int]] = {}
    points = []
    for number, mark in marks.items():
        for team, value, place in ranked[mark]:
            if shown.get(team) != (value, place):
                shown[team] = (value, place)
                points.append(HistoryPoint(moments[number].at, team, value, place))
    return points


def _moments(contest: Contest, seen: Visibility) -> list[Moment]:
    """Return the scored submissions behind a viewer's board, in order of submission."""
    kinds = [Kind.RELEASE, Kind.GUESS] if seen.has_attacks else [Kind.RELEASE]
    scored = contest.submissions.filter(kind__in=kinds, state=State.SCORED, score__isnull=False)
    if seen.until is not None:
        scored = scored.filter(at__lte=seen.until)
    found = scored.exclude(team__in=teams_that_count_no_more(contest)).order_by("at", "pk")
    columns = ("pk", "kind", "at", "finished_at", "knowledge", "team__slug", "target__slug")
    return [Moment(*row) for row in found.values_list(*columns)]


def _after(
    contest: Contest, moments: Sequence[Moment], numbers: Sequence[int], chosen: set[int], digits: int | None
) -> dict[int, Ranking] | None:
    """Rank the teams after some of the moments; None where a submission was deleted for good meanwhile."""
    edition, is_latest = edition_of(contest), contest.counts == Counts.LATEST
    moments, wanted = moments[: numbers[-1] + 1], set(numbers)
    needed = _needed(moments, wanted, is_latest=is_latest)
    scored = Submission.objects.only("score").in_bulk(needed)
    if len(scored) < len(needed):
        return None
    came: dict[str, list[int]] = {}
    releases: dict[str, ReleaseScore] = {}
    guesses: dict[str, list[Attempt]] = {}
    ranked = {}
    for number, one in enumerate(moments):
        if one.kind == Kind.RELEASE:
            came.setdefault(one.team, []).append(one.pk)
            releases.pop(one.team, None)
        elif one.target is not None:
            attempt = Attempt(one.team, one.knowledge, GuessScore.of(scored[one.pk].score or {}))
            guesses.setdefault(one.target, []).append(attempt)
        if number not in wanted:
            continue
        for team in came.keys() - releases.keys():
            own = came[team][-1:] if is_latest else came[team]
            counts = the_one_that_counts(contest, [scored[pk] for pk in own], chosen)
            releases[team] = ReleaseScore.of(counts.score or {})
        entered = [TeamEntry(team, releases[team], tuple(guesses.get(team, ()))) for team in came]
        ranked[number] = [(line.team, rounded(line.value, digits), line.place) for line in edition.rank(entered)]
    return ranked


def _needed(moments: Sequence[Moment], wanted: Collection[int], *, is_latest: bool) -> list[int]:
    """Return the submissions whose scores decide: where the latest counts, none that another followed."""
    if not is_latest:
        return [one.pk for one in moments]
    needed = {one.pk for one in moments if one.kind != Kind.RELEASE}
    last: dict[str, int] = {}
    for number, one in enumerate(moments):
        if one.kind == Kind.RELEASE:
            last[one.team] = one.pk
        if number in wanted:
            needed |= set(last.values())
    return list(needed)


def _spread(n: int) -> set[int]:
    """Choose the moments that are ranked: all of a few, else every second, fourth and so on, and the last.

    Of those that were chosen once, the next one leaves all or every second in.
    """
    step = 1
    while n > step * MOST_MOMENTS:
        step *= 2
    return {*range(step - 1, n, step), n - 1}
