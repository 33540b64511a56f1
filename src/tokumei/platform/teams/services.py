"""Everything that changes a team, and finding one for who may see it.

Each change locks the team first, so that two at once cannot leave it with two captains or with none.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import Http404
from django.urls import ResolverMatch
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.access import UserRequest
from tokumei.platform.accounts.authentication import allow, alone, token_digest
from tokumei.platform.accounts.models import User
from tokumei.platform.messages import TooMany
from tokumei.platform.teams.models import Invitation, Membership, Role, Team
from tokumei.platform.typed_text import same_name_key

# Asked before somebody comes into a team; other apps add reasons to refuse.
BEFORE_ACCEPTING: list[Callable[[Team, User], None]] = []
INVITATION_LIFE = timedelta(days=7)
TEAMS_OF_A_USER = 30
TEAMS_A_DAY = 10
MEMBERS_OF_A_TEAM = 50
OPEN_INVITATIONS = 50


def find_team(request: UserRequest, level: str, *, team: str, **_captured: object) -> dict[str, Team]:
    """Find the team of an address for its members, or for its captain: the `of` of access."""
    wanted = Membership.objects.filter(user=request.user, team__slug__iexact=team, team__closed=None)
    if level == "captain":
        wanted = wanted.filter(role=Role.CAPTAIN)
    membership = wanted.select_related("team").first()
    if membership is None:
        raise Http404
    return {"team": membership.team}


def teams_of(user: User) -> QuerySet[Membership]:
    """Return a user's memberships with their teams."""
    return Membership.objects.filter(user=user, team__closed=None).select_related("team").order_by("team__display_key")


def create_team(user: User, *, slug: str, display_name: str) -> Team:
    """Make a team; who makes it is its captain."""
    _check_teams_of(user)
    said = _("You may make %d teams a day.") % TEAMS_A_DAY
    allow("new team", str(user.pk), at_most=TEAMS_A_DAY, within=timedelta(days=1), said=said)
    try:
        with transaction.atomic():
            alone(user)
            _check_teams_of(user)
            team = Team.objects.create(slug=slug, display_name=display_name, display_key=same_name_key(display_name))
            Membership.objects.create(team=team, user=user, role=Role.CAPTAIN)
    except IntegrityError:
        raise NotAllowed(_("A team has this name already.")) from None
    return team


def _check_teams_of(user: User) -> None:
    if teams_of(user).count() >= TEAMS_OF_A_USER:
        raise TooMany(_("You are in too many teams."))


def rename_team(team: Team, *, display_name: str) -> None:
    """Change what a team is called; its short name stays, since files go by it."""
    team.display_name, team.display_key = display_name, same_name_key(display_name)
    try:
        with transaction.atomic():
            team.save(update_fields=["display_name", "display_key"])
    except IntegrityError:
        raise NotAllowed(_("A team has this name already.")) from None


def invite(team: Team, by: User) -> tuple[Invitation, str]:
    """Make a link that lets one user in once; its token is given here and kept nowhere."""
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        _lock(team)
        if open_invitations(team).count() >= OPEN_INVITATIONS:
            raise NotAllowed(_("There are too many open invitations. Revoke some first."))
        expires = timezone.now() + INVITATION_LIFE
        return Invitation.objects.create(team=team, digest=token_digest(token), invited_by=by, expires=expires), token


def open_invitations(team: Team) -> QuerySet[Invitation]:
    """Return the invitations that somebody could still accept."""
    return team.invitations.filter(revoked=None, accepted=None, expires__gt=timezone.now()).select_related("invited_by")


def revoke(team: Team, invitation: int) -> None:
    """Make a link void."""
    n_revoked = open_invitations(team).filter(pk=invitation).update(revoked=timezone.now())
    if not n_revoked:
        raise NotFound(_("There is no such invitation."))


def invitation_of(token: str) -> Invitation:
    """Return the invitation of a link; used, revoked, expired and invented ones are all refused alike."""
    found = Invitation.objects.filter(
        digest=token_digest(token), revoked=None, accepted=None, expires__gt=timezone.now(), team__closed=None
    )
    invitation = found.select_related("team", "invited_by").first()
    if invitation is None:
        raise NotFound(_("There is no such invitation."))
    return invitation


def welcome_to_team(match: ResolverMatch) -> str:
    """Name the invitation that somebody logs in for; whoever has its link may know."""
    if match.view_name != "teams:join":
        return ""
    try:
        invitation = invitation_of(match.kwargs["token"])
    except NotFound:
        return ""
    team = invitation.team.display_name
    if invitation.invited_by is None:
        return _("You are invited to the team %(team)s.") % {"team": team}
    named = {"who": invitation.invited_by.display_name, "team": team}
    return _("%(who)s invites you to the team %(team)s.") % named


def accept(user: User, token: str) -> Team:
    """Add a user to the team of a link, which is used up by it."""
    with transaction.atomic():
        team = invitation_of(token).team
        _lock(team)
        # Looked at again under the lock: somebody else may have been quicker.
        invitation = invitation_of(token)
        if team.memberships.filter(user=user).exists():
            return team
        for check in BEFORE_ACCEPTING:
            check(team, user)
        if team.memberships.count() >= MEMBERS_OF_A_TEAM:
            raise NotAllowed(_("The team is full."))
        alone(user)
        _check_teams_of(user)
        Membership.objects.create(team=team, user=user)
        invitation.accepted, invitation.accepted_by = timezone.now(), user
        invitation.save(update_fields=["accepted", "accepted_by"])
    return team


def leave(team: Team, user: User) -> None:
    """Take a user out of a team; a captain hands over first, and the last one closes the team."""
    with transaction.atomic():
        _lock(team)
        membership = _membership(team, user.pk)
        is_last = team.memberships.count() == 1
        if membership.is_captain and not is_last:
            raise NotAllowed(_("A captain cannot leave. Make another member captain first."))
        membership.delete()
        if is_last:
            team.closed = timezone.now()
            team.save(update_fields=["closed"])
            open_invitations(team).update(revoked=team.closed)


def leave_all(user: User) -> None:
    """Take somebody whose account is deleted out of every team."""
    for membership in teams_of(user):
        try:
            leave(membership.team, user)
        except NotAllowed:
            team = membership.team.display_name
            raise NotAllowed(_("You are the captain of %s. Make another member captain first.") % team) from None


def remove_member(team: Team, user: int) -> None:
    """Take somebody out of a team; the captain's own way out is to leave."""
    with transaction.atomic():
        _lock(team)
        membership = _membership(team, user)
        if membership.is_captain:
            raise NotAllowed(_("A captain cannot be removed."))
        membership.delete()


def make_captain(team: Team, user: int) -> None:
    """Make a member the captain; who was it becomes a member."""
    with transaction.atomic():
        _lock(team)
        membership = _membership(team, user)
        team.memberships.filter(role=Role.CAPTAIN).update(role=Role.MEMBER)
        membership.role = Role.CAPTAIN
        membership.save(update_fields=["role"])


def _lock(team: Team) -> None:
    Team.objects.select_for_update().get(pk=team.pk)


def _membership(team: Team, user: int) -> Membership:
    found = team.memberships.filter(user_id=user).first()
    if found is None:
        raise NotFound(_("There is no such member."))
    return found
