"""What somebody finds after logging in: their contests, what ends when, what is left to try, and what waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Participation, Phase, State
from tokumei.platform.contests.services import showing, submitting
from tokumei.platform.contests.services.phase_work import counting_key
from tokumei.platform.contests.services.scoreboard import place_of

# A contest that was over longer ago is found in the list of contests.
SHOWN_AFTER = timedelta(days=30)
MOST_SHOWN = 12
N_LAST = 3


@dataclass(frozen=True)
class Waiting:
    """Something to do, and where."""

    says: str
    address: str


@dataclass(frozen=True)
class MyContest:
    """A contest of one's own: `until` is when its phase ends, `n_left` how many attempts there are now."""

    contest: Contest
    phase: Phase
    participation: Participation
    until: datetime | None
    n_left: int | None
    place: int | None
    n_teams: int
    last: list[showing.Shown] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)


def my_contests(user: User) -> list[MyContest]:
    """Return the contests of a user's teams: the next to end first, then those that are over."""
    recent = Q(contest__closed_at=None) | Q(contest__closed_at__gte=timezone.now() - SHOWN_AFTER)
    found = Participation.objects.filter(recent, team__members=user, withdrawn_at=None)
    found = found.select_related("contest", "team").order_by("contest__closes_at", "pk")
    running = sorted(found[:MOST_SHOWN], key=lambda one: one.contest.closed_at is not None)
    return [_mine(one, user) for one in running]


def organized_by(user: User) -> list[Contest]:
    """Return the contests that a user runs and that are not over."""
    run = Contest.objects.filter(Q(organizer=user) | Q(co_organizers=user), closed_at=None)
    return list(run.distinct().order_by("closes_at")[:MOST_SHOWN])


def _mine(participation: Participation, user: User) -> MyContest:
    contest = participation.contest
    phase = contest.phase_at()
    ends = {
        Phase.UPCOMING: contest.opens_at,
        Phase.ANONYMIZE: contest.attacks_open_at,
        Phase.ATTACK: contest.closes_at,
    }
    place, n_teams = place_of(contest, user, participation.team.slug)
    last = [showing.show(one, user, in_a_list=True) for one in showing.submissions_of(participation)[:N_LAST]]
    return MyContest(
        contest,
        phase,
        participation,
        ends.get(phase),
        _left(participation, phase),
        place,
        n_teams,
        last,
        _waiting(participation, phase, last),
    )


def _left(participation: Participation, phase: Phase) -> int | None:
    if phase == Phase.ANONYMIZE:
        return submitting.release_attempts(participation).n_left
    if phase == Phase.ATTACK:
        return submitting.guesses_left_today(participation)
    return None


def _waiting(participation: Participation, phase: Phase, last: list[showing.Shown]) -> list[Waiting]:
    contest, waiting = participation.contest, []
    if last and last[0].submission.state in (State.REFUSED, State.FAILED):
        address = reverse("contests:submission", args=[last[0].submission.key])
        waiting.append(Waiting(_("The last submission was not scored: see why."), address))
    counts = counting_key(contest, participation.team_id) is not None
    if phase == Phase.ANONYMIZE and not counts:
        waiting.append(Waiting(_("Hand in a first release."), reverse("contests:submit", args=[contest.slug])))
    if phase == Phase.ATTACK and counts:
        tried = showing.submissions_of(participation, Kind.GUESS).values_list("target_id", flat=True)
        n_new = len({team.pk for team in submitting.targets(participation)} - set(tried))
        if n_new:
            says = ngettext("%(n)d release not attacked yet.", "%(n)d releases not attacked yet.", n_new) % {"n": n_new}
            waiting.append(Waiting(says, reverse("contests:targets", args=[contest.slug])))
    return waiting
