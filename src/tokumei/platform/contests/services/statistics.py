"""How much goes on in a contest, counted for its organizers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from statistics import median

from django.db.models import Count, Max
from django.db.models.functions import TruncDate

from tokumei.platform.contests.models import Contest, Kind, State
from tokumei.platform.contests.services.phase_work import counting_releases

DAYS_SHOWN = 14


@dataclass
class TeamActivity:
    """What a team handed in: how many of each kind, how many refused, and when it last did."""

    releases: int = 0
    guesses: int = 0
    refused: int = 0
    last: datetime | None = None


@dataclass(frozen=True)
class Statistics:
    """Counts of a contest; `days` has the last days on which something was handed in, with how much."""

    n_teams: int
    n_with_release: int
    n_releases: int
    n_guesses: int
    n_waiting: int
    n_refused: int
    n_failed: int
    # The middle of how long evaluations took, in seconds; nothing before the first.
    seconds: float | None
    days: list[tuple[date, int]]
    teams: dict[int, TeamActivity] = field(default_factory=dict)

    @property
    def busiest(self) -> int:
        """The most submissions of one day."""
        return max((n for _day, n in self.days), default=0)


def statistics_of(contest: Contest) -> Statistics:
    """Count what was handed in and what came of it."""
    counted = contest.submissions.order_by().values("team", "kind", "state").annotate(n=Count("pk"), last=Max("at"))
    teams: dict[int, TeamActivity] = {}
    kinds, states = dict.fromkeys(Kind, 0), dict.fromkeys(State, 0)
    for row in counted:
        team = teams.setdefault(row["team"], TeamActivity())
        kinds[Kind(row["kind"])] += row["n"]
        states[State(row["state"])] += row["n"]
        if row["kind"] == Kind.RELEASE:
            team.releases += row["n"]
        else:
            team.guesses += row["n"]
        team.refused += row["n"] if row["state"] == State.REFUSED else 0
        team.last = max(row["last"], team.last or row["last"])
    took = contest.submissions.filter(state=State.SCORED).values_list("at", "finished_at")
    seconds = [(end - start).total_seconds() for start, end in took[:1000] if end is not None]
    days = contest.submissions.order_by().annotate(day=TruncDate("at")).values_list("day").annotate(n=Count("pk"))
    return Statistics(
        n_teams=contest.participations.filter(withdrawn_at=None).count(),
        n_with_release=len(counting_releases(contest)),
        n_releases=kinds[Kind.RELEASE],
        n_guesses=kinds[Kind.GUESS],
        n_waiting=states[State.WAITING] + states[State.RUNNING],
        n_refused=states[State.REFUSED],
        n_failed=states[State.FAILED],
        seconds=median(seconds) if seconds else None,
        days=sorted(days)[-DAYS_SHOWN:],
        teams=teams,
    )
