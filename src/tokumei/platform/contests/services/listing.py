"""Contests in lists: those that are open first, and of those that are over the winners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Case, DateTimeField, F, QuerySet, When
from django.utils import timezone

from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services.scoreboard import standings

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
