"""The teams of a contest of which something changed: who left, was disqualified, or chose what counts."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from tokumei.platform.compiled import CompiledQuery
from tokumei.platform.contests.models import Contest, Participation
from tokumei.platform.page_cache import find_once


class ChangedTeam(NamedTuple):
    """A team that is not as it was when it joined."""

    team_id: int
    team__display_name: str
    withdrawn_at: datetime | None
    disqualified_at: datetime | None
    disqualified_for: str
    chosen_at: datetime | None


CHANGED = CompiledQuery(
    lambda contest: (
        Participation.objects.filter(contest=contest)
        .filter(~Q(withdrawn_at=None) | ~Q(disqualified_at=None) | ~Q(chosen_at=None))
        .order_by("pk")
        .values_list(*ChangedTeam._fields)
    ),
    int,
)


def changed_teams(contest: Contest) -> list[ChangedTeam]:
    """List them, mostly none; every page of a contest needs them for one thing or another."""
    return find_once(("changed teams", contest.pk), lambda: [ChangedTeam(*row) for row in CHANGED(contest.pk)])


def disqualified(contest: Contest) -> list[ChangedTeam]:
    """List those that are disqualified."""
    return [one for one in changed_teams(contest) if one.disqualified_at is not None]


def teams_that_count_no_more(contest: Contest) -> set[int]:
    """Return the ids of the teams that left or were disqualified."""
    return {one.team_id for one in changed_teams(contest) if one.withdrawn_at or one.disqualified_at}
