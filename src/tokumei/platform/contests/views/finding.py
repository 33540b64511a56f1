"""Finding what an address names, for somebody who may see it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest

from tokumei.core.errors import NotFound
from tokumei.platform.access import UserRequest
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Participation, Phase
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
    participation = _part(request, found)
    if participation is None:
        raise Http404
    return {"contest": found, "participation": participation}


def find_one(request: UserRequest, level: str, submission: str, **_: Any) -> dict[str, Any]:
    """Find a submission of one of the user's teams, or of a contest they organize."""
    try:
        return {"submission": find_submission(request.user, submission)}
    except NotFound:
        raise Http404 from None


def _part(request: HttpRequest, contest: Contest) -> Participation | None:
    """Give the visitor's team in a contest, asked for once a request."""
    known: dict[int, Participation | None] = request.__dict__.setdefault("parts", {})
    if contest.pk not in known:
        known[contest.pk] = participation_of(contest, request.user if request.user.is_authenticated else None)
    return known[contest.pk]


def is_captain(participation: Participation, user: User) -> bool:
    """Whether somebody leads the team that takes part."""
    return participation.team.memberships.filter(user=user, role=Role.CAPTAIN).exists()


def frame(request: HttpRequest, contest: Contest) -> dict[str, Any]:
    """Give what the head of every page of a contest shows."""
    user = request.user if request.user.is_authenticated else None
    return {
        "contest": contest,
        "phase": contest.phase_at(),
        "participation": _part(request, contest),
        "is_organizer": is_organizer(contest, user),
        "disqualified": contest.participations.exclude(disqualified_at=None).select_related("team"),
    }
