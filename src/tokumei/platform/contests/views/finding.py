"""Finding what an address names, for somebody who may see it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import Http404, HttpRequest

from tokumei.core.errors import NotFound
from tokumei.platform.access import UserRequest
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Participation, Phase
from tokumei.platform.contests.services.changed_teams import disqualified
from tokumei.platform.contests.services.contests import find_contest, is_organizer
from tokumei.platform.contests.services.joining import participation_of
from tokumei.platform.contests.services.showing import find_submission
from tokumei.platform.teams.models import Role

# The phases in which a team may still leave.
BEFORE_ATTACKS = (Phase.PREPARING, Phase.UPCOMING, Phase.ANONYMIZE)


def find(request: HttpRequest, level: str, contest: str, **_: Any) -> dict[str, Any]:
    """Find a contest; members get their team's part in it as well, and only its organizer gets beyond `organizer`."""
    user = request.user if request.user.is_authenticated else None
    try:
        found = find_contest(user, contest)
    except NotFound:
        raise Http404 from None
    if level == "organizer" and not is_organizer(found, user):
        raise Http404
    if level != "member":
        return {"contest": found}
    participation = participation_of(found, user)
    if participation is None:
        raise Http404
    return {"contest": found, "participation": participation}


def find_one(request: UserRequest, level: str, submission: str, **_: Any) -> dict[str, Any]:
    """Find a submission of one of the user's teams, or of a contest they organize."""
    try:
        return {"submission": find_submission(request.user, submission)}
    except NotFound:
        raise Http404 from None


def is_captain(participation: Participation, user: User) -> bool:
    """Whether somebody leads the team that takes part."""
    return participation.team.memberships.filter(user=user, role=Role.CAPTAIN).exists()


def frame(request: HttpRequest, contest: Contest) -> dict[str, Any]:
    """Return the context of the head of every contest page."""
    user = request.user if request.user.is_authenticated else None
    return {
        "contest": contest,
        "phase": contest.phase_at(),
        "participation": participation_of(contest, user),
        "is_organizer": is_organizer(contest, user),
        # Only pages that show them ask for them.
        "disqualified": partial(disqualified, contest),
    }
