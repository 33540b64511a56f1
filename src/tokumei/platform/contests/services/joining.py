"""Taking part: joining, leaving, invitations to private contests, questions, and what one finds after logging in.

Questions go to the organizers, with answers that everybody reads or who asked alone.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import ResolverMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.accounts.authentication import allow, token_digest
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import (
    Contest,
    ContestInvitation,
    Kind,
    Participation,
    Phase,
    Question,
    RosterEntry,
    State,
)
from tokumei.platform.contests.services import showing, submitting
from tokumei.platform.contests.services.news import record, tell_answer, tell_question
from tokumei.platform.contests.services.rulebook import counting_key
from tokumei.platform.contests.services.scoreboard import place_of
from tokumei.platform.contests.services.visibility import is_organizer, visible_contests
from tokumei.platform.middleware import CompiledQuery, columns_of, find_once, made
from tokumei.platform.teams.models import Membership, Role, Team

INVITATION_DAYS = 14
OPEN_INVITATIONS = 200
OWN_PART = CompiledQuery(
    lambda contest, user: (
        Participation.objects.filter(contest=contest, team__memberships__user=user, withdrawn_at=None)
        .order_by("pk")
        .values_list(*columns_of(Participation), *columns_of(Team, "team__"))[:1]
    ),
    *(int, int),
)


def participation_of(contest: Contest, user: User | None) -> Participation | None:
    """Return the participation of a user's team in a contest, if any."""
    if user is None or not user.is_authenticated:
        return None

    def find() -> Participation | None:
        rows = OWN_PART(contest.pk, user.pk)
        if not rows:
            return None
        n_columns = len(columns_of(Participation))
        found = made(Participation, rows[0][:n_columns])
        found.team = made(Team, rows[0][n_columns:])
        return found

    participation = find_once(("participation", contest.pk, user.pk), find)
    if participation is not None:
        participation.contest = contest
    return participation


def participants(contest: Contest) -> QuerySet[Participation]:
    """Return the participating teams."""
    return contest.participations.filter(withdrawn_at=None).select_related("team").order_by("team__display_key")


def teams_to_join_with(contest: Contest, user: User) -> list[Team]:
    """List the teams whose captain a user is and that are not in the contest yet."""
    led = Team.objects.filter(memberships__user=user, memberships__role=Role.CAPTAIN, closed=None)
    return list(led.exclude(participations__in=contest.participations.filter(withdrawn_at=None)))


def teams_without_captaincy(contest: Contest, user: User) -> list[Team]:
    """List the teams that a user is in without leading them, and that are not in the contest yet."""
    joined = Team.objects.filter(memberships__user=user, memberships__role=Role.MEMBER, closed=None)
    return list(joined.exclude(participations__in=contest.participations.filter(withdrawn_at=None)))


def join(contest: Contest, team: Team, user: User, token: str | None = None) -> Participation:
    """Enter a team in a contest; its captain does that, by an invitation where the contest is private."""
    if not Membership.objects.filter(team=team, user=user, role=Role.CAPTAIN).exists():
        raise NotAllowed(_("Only its captain enters a team in a contest."))
    _check_open(contest)
    if contest.is_public and not user.is_verified:
        raise NotAllowed(_("Confirm your email address first: see the settings of your account."))
    with transaction.atomic():
        # One joiner at a time, so that nobody gets into a contest twice by two teams.
        _check_open(Contest.objects.select_for_update().get(pk=contest.pk))
        invitation = None
        if not contest.is_public and not _was_in(contest, team):
            invitation = invitation_of(token or "")
            if invitation.contest_id != contest.pk:
                raise NotFound(_("There is no such invitation."))
        _check_members(contest, team)
        participation, _made = Participation.objects.update_or_create(
            contest=contest, team=team, defaults={"withdrawn_at": None}
        )
        for member in team.members.all():
            RosterEntry.objects.get_or_create(contest=contest, team=team, user=member)
        if invitation is not None:
            ContestInvitation.objects.filter(pk=invitation.pk).update(used_by=team)
    return participation


def _check_open(contest: Contest) -> None:
    if contest.phase_at() in (Phase.CLOSING, Phase.CLOSED):
        raise NotAllowed(_("The contest is over."))
    if contest.phase_at() in (Phase.PUBLISHING, Phase.ATTACK):
        # Teams that come now could only attack: throw-away accounts would multiply the guesses of who made them.
        raise NotAllowed(_("Attacks have begun: no team can join any more."))


def withdraw(participation: Participation, by: User | None = None) -> None:
    """Take a team out of a contest, until releases are published; it may come back."""
    with transaction.atomic():
        Participation.objects.select_for_update().get(pk=participation.pk)
        contest = Contest.objects.get(pk=participation.contest_id)
        if contest.phase_at() not in (Phase.PREPARING, Phase.UPCOMING, Phase.ANONYMIZE):
            raise NotAllowed(_("Releases are published: a team cannot leave any more."))
        participation.withdrawn_at = timezone.now()
        participation.save(update_fields=["withdrawn_at"])
        if by is not None:
            record(contest, by, "take_out", team=participation.team.slug)


def invite(
    contest: Contest, note: str = "", days: int = INVITATION_DAYS, by: User | None = None
) -> tuple[ContestInvitation, str]:
    """Make a link that lets one team in; its token is given here and kept nowhere."""
    token = secrets.token_urlsafe(24)
    expires_at = timezone.now() + timedelta(days=days)
    with transaction.atomic():
        Contest.objects.select_for_update().get(pk=contest.pk)
        if open_invitations(contest).count() >= OPEN_INVITATIONS:
            raise NotAllowed(_("There are too many open invitations. Revoke some first."))
        made = ContestInvitation.objects.create(
            contest=contest, token_hash=token_digest(token), note=note, expires_at=expires_at
        )
        record(contest, by, "invite", note=note)
    return made, token


def open_invitations(contest: Contest) -> QuerySet[ContestInvitation]:
    """Return the invitations that a team could still use."""
    return contest.invitations.filter(revoked_at=None, used_by=None, expires_at__gt=timezone.now()).order_by("pk")


def revoke_invitation(contest: Contest, invitation: int, by: User | None = None) -> None:
    """Make a link void."""
    if not open_invitations(contest).filter(pk=invitation).update(revoked_at=timezone.now()):
        raise NotFound(_("There is no such invitation."))
    record(contest, by, "revoke", invitation=invitation)


def invitation_of(token: str) -> ContestInvitation:
    """Return the invitation of a link; used, revoked, expired and invented ones are all refused alike."""
    found = ContestInvitation.objects.filter(
        token_hash=token_digest(token), revoked_at=None, used_by=None, expires_at__gt=timezone.now()
    )
    invitation = found.select_related("contest").first()
    if invitation is None:
        raise NotFound(_("There is no such invitation."))
    return invitation


def welcome_to_contest(match: ResolverMatch) -> str:
    """Name the contest that somebody logs in for: a public one, or one whose invitation they have."""
    title = ""
    if match.view_name == "contests:join_by_link":
        with suppress(NotFound):
            title = invitation_of(match.kwargs["token"]).contest.title
    elif match.view_name == "contests:contest":
        public = visible_contests(None).filter(slug=match.kwargs["contest"])
        title = public.values_list("title", flat=True).first() or ""
    return _("Then you take part in %(title)s.") % {"title": title} if title else ""


def _was_in(contest: Contest, team: Team) -> bool:
    return contest.participations.filter(team=team).exists()


def _check_members(contest: Contest, team: Team) -> None:
    """Refuse teams with somebody who knows a truth that they are to guess."""
    members = list(team.members.all())
    names = [member.username for member in members]
    # Also who was one once: what they saw they know.
    was_organizer = contest.actions.filter(what="add_organizer", details__user__in=names).exists()
    if was_organizer or any(is_organizer(contest, member) for member in members):
        raise NotAllowed(_("An organizer knows the truth and cannot take part."))
    if contest.roster.filter(user__in=members).exclude(team=team).exists():
        raise NotAllowed(_("Somebody of this team is or was in the contest with another team."))


def refuse_new_member(team: Team, _user: User) -> None:
    """Keep the roster of a team as it was when it joined a contest, until that contest is over."""
    running = team.participations.filter(contest__closed_at=None, withdrawn_at=None)
    if running.exists():
        raise NotAllowed(_("The team is in a contest that is not over: nobody can come in until it is."))


QUESTIONS_A_DAY = 10


def questions_for(contest: Contest, viewer: User | None) -> QuerySet[Question]:
    """Return the questions a user may read: public answers and their own; all for organizers."""
    found = contest.questions.select_related("by")
    if is_organizer(contest, viewer):
        return found
    public = Q(is_public=True) & ~Q(answered_at=None)
    return found.filter(public | Q(by=viewer)) if viewer is not None else found.filter(public)


def ask_organizers(contest: Contest, user: User, text: str) -> Question:
    """Put a question to the organizers."""
    if is_organizer(contest, user):
        raise NotAllowed(_("You organize this contest: announce instead."))
    said = _("You may ask %d questions a day.") % QUESTIONS_A_DAY
    allow("question", str(user.pk), at_most=QUESTIONS_A_DAY, within=timedelta(days=1), said=said)
    with transaction.atomic():
        made = Question.objects.create(contest=contest, by=user, text=text)
        tell_question(made)
    return made


def answer_question(question: Question, by: User, *, text: str, is_public: bool) -> None:
    """Answer a question, or answer it anew; who asked is named to nobody but the organizers."""
    with transaction.atomic():
        question.answer, question.is_public, question.answered_at = text, is_public, timezone.now()
        question.save(update_fields=["answer", "is_public", "answered_at"])
        record(question.contest, by, "answer", question=question.text[:200], text=text[:200])
        tell_answer(question)


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
    ends = {Phase.UPCOMING: contest.opens_at, Phase.ANONYMIZE: contest.attacks_open_at, Phase.ATTACK: contest.closes_at}
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
