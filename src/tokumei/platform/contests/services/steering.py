"""What organizers do while a contest runs, and what they look at: statistics, and tables as CSV.

They change texts and limits, judge again, disqualify and hold results back. A spreadsheet opens the tables and takes
every cell for text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from statistics import median
from typing import Any

from django.db import transaction
from django.db.models import Count, Max
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import FINAL_STATES, Contest, Kind, Participation, State, Submission
from tokumei.platform.contests.services.news import record, record_changes, tell_message
from tokumei.platform.contests.services.phase_work import CLOSE, PUBLISH, begin_amending, phase_jobs
from tokumei.platform.contests.services.rulebook import counting_releases, ranked, terms_of
from tokumei.platform.jobs.queue import begin_again
from tokumei.platform.teams.models import Team
from tokumei.platform.typed_text import inert_cell

TEXTS = ("title", "description", "description_ja")
LIMITS = ("releases_a_day", "releases_in_all", "guesses_a_day", "guesses_on_one")


def change_texts(contest: Contest, by: User, **texts: str) -> None:
    """Change what a contest is called and what is told of it."""
    _change(contest, by, "texts", dict(texts))


def change_limits(contest: Contest, by: User, **limits: int) -> None:
    """Change how often teams may try; what they have used stays used."""
    allowed = terms_of(contest).n_guesses_allowed
    if limits["guesses_on_one"] > allowed:
        raise InputError.of(
            _("at most %d guesses at one release, by the edition") % allowed,
            column="guesses_on_one",
            value=limits["guesses_on_one"],
        )
    _change(contest, by, "limits", dict(limits))


def _change(contest: Contest, by: User, what: str, values: dict[str, object]) -> None:
    with transaction.atomic():
        locked = Contest.objects.select_for_update().get(pk=contest.pk)
        before = {name: getattr(locked, name) for name in values}
        Contest.objects.filter(pk=contest.pk).update(**values)
        record_changes(locked, by, what, before, values)
    contest.refresh_from_db(fields=list(values))


def hold_results(contest: Contest, by: User, *, is_held: bool) -> None:
    """Keep the final results to the organizers, or let everybody see them."""
    with transaction.atomic():
        locked = Contest.objects.select_for_update().get(pk=contest.pk)
        if is_held and locked.shows_results:
            raise NotAllowed(_("Everybody has seen the results already: they cannot be held back."))
        Contest.objects.filter(pk=contest.pk).update(is_held=is_held)
        record_changes(locked, by, "hold", {"is_held": locked.is_held}, {"is_held": is_held})
    contest.is_held = is_held


def rejudge(contest: Contest, by: User, submissions: Iterable[Submission]) -> int:
    """Evaluate submissions once more; says how many. What stands in the contest's log is not judged again."""
    wanted = [one.pk for one in submissions]
    with transaction.atomic():
        # A change of phase holds these locks while it looks whether all is evaluated.
        list(Participation.objects.select_for_update().filter(contest=contest).values_list("pk", flat=True))
        locked = Contest.objects.get(pk=contest.pk)
        begun = set(phase_jobs(locked).values_list("kind", flat=True))
        fixed = {Kind.RELEASE: PUBLISH in begun or CLOSE in begun, Kind.GUESS: CLOSE in begun}
        found = locked.submissions.filter(pk__in=wanted, state__in=FINAL_STATES).select_related("job")
        again = [one for one in found if not fixed[Kind(one.kind)]]
        if not again:
            raise NotAllowed(_("There is nothing that could be judged again: it is being judged, or fixed by the log."))
        for one in again:
            if one.job is not None:
                begin_again(one.job)
        Submission.objects.filter(pk__in=[one.pk for one in again]).update(
            state=State.WAITING, score=None, seal="", faults=[], n_faults=0, reason="", finished_at=None
        )
        before = {one.key: _result(one) for one in again}
        record(locked, by, "rejudge", n=len(again), before=before)
    return len(again)


def _result(submission: Submission) -> float | str:
    """Return a submission's outcome in one value: the use lost, the success, or its state."""
    score = submission.score or {}
    found: float | None = score.get("utility", score.get("success"))
    return submission.state if found is None else found


def disqualify(participation: Participation, by: User, reason: str) -> None:
    """Disqualify a team and announce the reason; its rows and files stay."""
    _set_disqualified(participation, by, reason)


def readmit(participation: Participation, by: User) -> None:
    """Readmit a team, whose results count again."""
    _set_disqualified(participation, by, "")


def _set_disqualified(participation: Participation, by: User, reason: str) -> None:
    with transaction.atomic():
        locked = Participation.objects.select_for_update().select_related("contest", "team").get(pk=participation.pk)
        if (locked.disqualified_at is None) == (not reason):
            raise NotAllowed(_("That change is not possible."))
        contest = locked.contest
        job = phase_jobs(contest).filter(kind=PUBLISH, is_done=False)
        if contest.published_at is None and job.exists():
            raise NotAllowed(_("The change of phase is under way: try again when it is done."))
        if not reason and contest.published_at is not None and not _is_published(locked):
            raise NotAllowed(_("The releases were published without this team's: it cannot come back."))
        locked.disqualified_at = timezone.now() if reason else None
        locked.disqualified_for = reason
        locked.save(update_fields=["disqualified_at", "disqualified_for"])
        facts = {"team": locked.team.slug} | ({"reason": reason} if reason else {})
        record(contest, by, "disqualify" if reason else "readmit", **facts)
        if contest.closed_at is not None and contest.published_at is not None:
            begin_amending(contest)
        if reason:
            tell_message(contest, [locked.team], _("Your team is disqualified: %s") % reason)


def _is_published(participation: Participation) -> bool:
    folder = participation.contest.folder / "public" / "releases" / participation.team.slug
    return folder.is_dir()


def write_to_teams(contest: Contest, by: User, teams: list[Team], text: str) -> None:
    """Send some teams a message into their inboxes."""
    if not teams:
        raise NotAllowed(_("Choose at least one team."))
    with transaction.atomic():
        tell_message(contest, teams, text)
        record(contest, by, "message", teams=", ".join(team.slug for team in teams), text=text)


def add_co_organizer(contest: Contest, by: User, user: User) -> None:
    """Add a co-organizer; players of the contest cannot be one."""
    with transaction.atomic():
        # Whoever joins holds this lock: nobody becomes both at once.
        Contest.objects.select_for_update().get(pk=contest.pk)
        if contest.roster.filter(user=user).exists():
            raise NotAllowed(_("Who is or was in a team of this contest cannot organize it."))
        if user.pk == contest.organizer_id or contest.co_organizers.filter(pk=user.pk).exists():
            raise NotAllowed(_("They organize this contest already."))
        contest.co_organizers.add(user)
        record(contest, by, "add_organizer", user=user.username)


def remove_co_organizer(contest: Contest, by: User, user: User) -> None:
    """Remove a co-organizer."""
    with transaction.atomic():
        contest.co_organizers.remove(user)
        record(contest, by, "remove_organizer", user=user.username)


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


Rows = Iterator[list[Any]]


def as_csv(name: str, contest: Contest) -> str:
    """Write a table; names of people and teams cannot be formulas, and a spreadsheet tells that it is UTF-8."""
    written = io.StringIO()
    writer = csv.writer(written)
    for row in TABLES[name](contest):
        writer.writerow([_cell(value) for value in row])
    return "\ufeff" + written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    # A number is no formula, though it may begin with a minus.
    if isinstance(value, (int, float)):
        return str(value)
    return inert_cell(value if isinstance(value, str) else value.isoformat(timespec="seconds"))


def _teams(contest: Contest) -> Rows:
    yield ["team", "name", "members", "joined_at", "withdrawn_at", "disqualified_at", "disqualified_for"]
    found = contest.participations.select_related("team").prefetch_related("team__members").order_by("team__slug")
    for one in found:
        members = ", ".join(sorted(member.display_name for member in one.team.members.all()))
        facts = [one.joined_at, one.withdrawn_at, one.disqualified_at, one.disqualified_for]
        yield [one.team.slug, one.team.display_name, members, *facts]


def _submissions(contest: Contest) -> Rows:
    yield ["key", "at", "team", "by", "kind", "target", "knowledge", "state", "utility", "success", "finished_at"]
    for one in contest.submissions.select_related("team", "by", "target"):
        score = one.score or {}
        target = "" if one.target is None else one.target.slug
        what = [one.kind, target, one.knowledge, one.state, score.get("utility"), score.get("success")]
        yield [one.key, one.at, one.team.slug, one.by.display_name, *what, one.finished_at]


def _standings(contest: Contest) -> Rows:
    lines = ranked(contest)
    numbers = list(dict.fromkeys(name for line in lines for name in line.numbers))
    yield ["place", "team", "value", "utility", "safety", *numbers, "reason"]
    for line in lines:
        further = [line.numbers.get(name) for name in numbers]
        yield [line.place, line.team, line.value, line.utility, line.safety, *further, line.reason]


def _log(contest: Contest) -> Rows:
    yield ["at", "by", "what", "details"]
    for one in contest.actions.select_related("by"):
        details = "; ".join(f"{name}: {value}" for name, value in one.details.items())
        yield [one.at, "" if one.by is None else one.by.username, one.what, details]


TABLES: Mapping[str, Callable[[Contest], Rows]] = {
    "teams": _teams,
    "submissions": _submissions,
    "standings": _standings,
    "log": _log,
}
