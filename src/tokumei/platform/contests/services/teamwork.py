"""What helps a team to see where it stands: what counts, how places changed, and two submissions side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import Fault, NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Counts, Kind, Participation, Phase, State, Submission
from tokumei.platform.contests.services.actions import record
from tokumei.platform.contests.services.score_history import history
from tokumei.platform.contests.services.showing import Shown

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


def _numbers(value: Any, names: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
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


def log_of(shown: Shown) -> dict[str, Any]:
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
