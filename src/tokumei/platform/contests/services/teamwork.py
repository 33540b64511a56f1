"""What helps a team to see where it stands: what counts, how places changed, and two submissions side by side.

The teams are ranked anew after each scored submission, as far as the viewer may know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore
from tokumei.contest.season import scores_decide, standings_of, team_entries, which_counts
from tokumei.core.errors import Fault, NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Counts, Kind, Participation, Phase, State, Submission
from tokumei.platform.contests.services.news import record
from tokumei.platform.contests.services.rulebook import chosen_releases, edition_of, teams_that_count_no_more
from tokumei.platform.contests.services.scoreboard import KEPT_FOR, kept, name_of, rounded
from tokumei.platform.contests.services.showing import Shown
from tokumei.platform.contests.services.visibility import Visibility, seen_by

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
    rank = edition_of(contest).rank
    moments, wanted = moments[: numbers[-1] + 1], set(numbers)
    scored: dict[int, Submission] = {}

    def score_of(release: int) -> ReleaseScore:
        return ReleaseScore.of(scored[release].score or {})

    def counting(own: list[int]) -> int:
        return which_counts(contest.counts, own, rank, score_of, chosen.__contains__)

    needed = _needed(moments, wanted, None if scores_decide(contest.counts) else counting)
    scored |= Submission.objects.only("score").in_bulk(needed)
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
            releases[team] = score_of(counting(came[team]))
        lines = standings_of(team_entries(releases, guesses), rank)
        ranked[number] = [(line.team, rounded(line.value, digits), line.place) for line in lines]
    return ranked


def _needed(
    moments: Sequence[Moment], wanted: Collection[int], counting: Callable[[list[int]], int] | None
) -> list[int]:
    """Return the submissions whose scores are needed: none of a release that does not count at a wanted moment.

    counting: finds which release of a team counts, where that follows without scores.
    """
    if counting is None:
        return [one.pk for one in moments]
    needed = {one.pk for one in moments if one.kind != Kind.RELEASE}
    came: dict[str, list[int]] = {}
    for number, one in enumerate(moments):
        if one.kind == Kind.RELEASE:
            came.setdefault(one.team, []).append(one.pk)
        if number in wanted:
            needed |= {counting(own) for own in came.values()}
    return list(needed)


def _spread(n: int) -> set[int]:
    """Choose the moments that are ranked: all of a few, else every second, fourth and so on, and the last.

    Of those that were chosen once, the next one leaves all or every second in.
    """
    step = 1
    while n > step * MOST_MOMENTS:
        step *= 2
    return {*range(step - 1, n, step), n - 1}


# The latest changes are those that matter.
MOST_PLACES = 30


@dataclass(frozen=True)
class PlaceThen:
    """A team's score and place since a moment, and by how many places it rose then."""

    at: datetime
    value: float | None
    place: int
    rise: int

    @property
    def fall(self) -> int:
        """By how many places it fell."""
        return -self.rise


def choose(submission: Submission, by: User) -> None:
    """Choose the release that counts, where the rules leave that to teams; noted in the contest's log."""
    with transaction.atomic():
        # A change of phase holds this lock while it looks what counts.
        found = Participation.objects.select_for_update().select_related("contest")
        own = found.get(contest=submission.contest_id, team=submission.team_id)
        submission.refresh_from_db()
        if not can_choose(own.contest, submission):
            raise NotAllowed(_("Teams choose a scored release until attacks begin, where the rules let them."))
        own.chosen, own.chosen_at = submission, timezone.now()
        own.save(update_fields=["chosen", "chosen_at"])
        record(own.contest, by, "choose", team=submission.team.slug, submission=submission.key)


def can_choose(contest: Contest, submission: Submission) -> bool:
    """Whether a team may let this submission count now."""
    is_scored_release = (submission.kind, submission.state) == (Kind.RELEASE, State.SCORED)
    return contest.counts == Counts.CHOSEN and is_scored_release and contest.phase_at() == Phase.ANONYMIZE


def places_of(contest: Contest, team: str, viewer: User) -> list[PlaceThen]:
    """Return a team's former places as far as the viewer may know, latest first."""
    places: list[PlaceThen] = []
    for point in history(contest, viewer):
        if point.team == team:
            rise = places[-1].place - point.place if places else 0
            places.append(PlaceThen(point.at, point.value, point.place, rise))
    return places[::-1][:MOST_PLACES]


@dataclass(frozen=True)
class ComparedNumber:
    """One number of two submissions, by the names that lead to it, and by how much it grew."""

    names: tuple[str, ...]
    one: Any
    other: Any
    difference: float | None


def compare(one: Shown, other: Shown) -> list[ComparedNumber]:
    """Put the numbers of two scores side by side, as far as they are shown."""
    numbers = [_numbers(shown.score or {}) for shown in (one, other)]
    names = list(dict.fromkeys([*numbers[0], *numbers[1]]))
    return [
        ComparedNumber(
            name, numbers[0].get(name), numbers[1].get(name), _difference(*(all_.get(name) for all_ in numbers))
        )
        for name in names
    ]


def _numbers(value: object, names: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Flatten a score into its numbers by the path of their names; other values are left out."""
    if isinstance(value, Mapping):
        return {
            key: number for name, part in value.items() for key, number in _numbers(part, (*names, str(name))).items()
        }
    if isinstance(value, list):
        return {
            key: number
            for place, part in enumerate(value, 1)
            for key, number in _numbers(part, (*names, str(place))).items()
        }
    return {names: value} if isinstance(value, int | float) and not isinstance(value, bool) else {}


def _difference(one: Any, other: Any) -> float | None:
    return None if one is None or other is None else other - one


def log_of(shown: Shown) -> dict[str, object]:
    """Return the history of a submission, with its score as far as it is shown."""
    submission: Submission = shown.submission
    job = submission.job
    return {
        "submission": submission.key,
        "contest": submission.contest.slug,
        "team": submission.team.slug,
        "kind": submission.kind,
        "target": submission.target.slug if submission.target else None,
        "knowledge": submission.knowledge or None,
        "by": submission.by.username,
        "handed_in": submission.at.isoformat(),
        "finished": submission.finished_at.isoformat() if submission.finished_at else None,
        "attempts_of_the_server": job.n_attempts if job is not None else None,
        "state": submission.state,
        "reason": submission.reason or None,
        "files": submission.files,
        "faults": [Fault.from_json(fault).as_dict() for fault in submission.faults],
        "n_faults": submission.n_faults,
        "score": shown.score,
        "score_is_hidden": shown.is_score_hidden,
        "note": submission.note,
    }
