"""Taking part: joining, submitting, and what came of it."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import FileResponse
from django.utils.translation import gettext as _
from ninja import Query, Status

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.api import bodies, schemas
from tokumei.platform.api.bearer import READ, SUBMIT, ApiRequest
from tokumei.platform.api.operations.contests import Limit, Offset, send
from tokumei.platform.api.operations.router import FILES_AS_BODY, SENDS_A_FILE, router
from tokumei.platform.api.serializers import give_attempts, give_contest, give_submission, give_team
from tokumei.platform.contests.models import Contest, Participation, Submission
from tokumei.platform.contests.services import joining, showing, submitting, teamwork
from tokumei.platform.contests.services.contests import find_contest
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.teams.models import Role
from tokumei.platform.teams.services import teams_of

TAGS = ["taking part"]


@router.post("/contests/{slug}/join", auth=SUBMIT, tags=TAGS, response={200: schemas.ContestOut})
def join(request: ApiRequest, slug: bodies.Slug, given: bodies.Join) -> schemas.ContestOut:
    """Enter a team whose captain the user is; private contests need an invitation."""
    user = request.auth.user
    contest = _invited_to(slug, given.invitation) if given.invitation else find_contest(user, slug)
    membership = teams_of(user).filter(team__slug=given.team).first()
    if membership is None:
        raise NotFound(_("There is no such team."))
    joining.join(contest, membership.team, user, given.invitation or None)
    return give_contest(contest, user)


@router.post("/contests/{slug}/withdraw", auth=SUBMIT, tags=TAGS, response={204: None})
def withdraw(request: ApiRequest, slug: bodies.Slug) -> Status[None]:
    """Take the user's team out of a contest; its captain does that, until releases are published."""
    own = _own(find_contest(request.auth.user, slug), request.auth.user)
    if not own.team.memberships.filter(user=request.auth.user, role=Role.CAPTAIN).exists():
        raise NotAllowed(_("Only its captain takes a team out of a contest."))
    joining.withdraw(own)
    return Status(204, None)


@router.post(
    "/contests/{slug}/releases",
    auth=SUBMIT,
    tags=TAGS,
    response={201: schemas.SubmissionOut},
    openapi_extra=FILES_AS_BODY,
)
def submit_release(request: ApiRequest, slug: bodies.Slug) -> Status[schemas.SubmissionOut]:
    """Submit a release; ask for the submission until its state is final."""
    user = request.auth.user
    made = submitting.submit_release(_own(find_contest(user, slug), user), user, uploads_of(request))
    return Status(201, give_submission(made, user))


@router.get("/contests/{slug}/targets", auth=READ, tags=TAGS, response={200: list[schemas.Target]})
def targets(request: ApiRequest, slug: bodies.Slug) -> list[schemas.Target]:
    """List the teams whose releases can be attacked, with the attempts at each by level of knowledge."""
    contest = find_contest(request.auth.user, slug)
    own, levels = _own(contest, request.auth.user), terms_of(contest).knowledge_files
    return [
        schemas.Target(
            team=give_team(team),
            attempts={one: give_attempts(submitting.guess_attempts(own, team, one)) for one in levels},
        )
        for team in submitting.targets(own)
    ]


@router.post(
    "/contests/{slug}/targets/{team}/guesses",
    auth=SUBMIT,
    tags=TAGS,
    response={201: schemas.SubmissionOut},
    openapi_extra=FILES_AS_BODY,
)
def submit_guess(
    request: ApiRequest,
    slug: bodies.Slug,
    team: bodies.Slug,
    knowledge: Annotated[bodies.Line, Query(max_length=20, description="The level it was made with.")] = "",
) -> Status[schemas.SubmissionOut]:
    """Submit a guess at another team's release."""
    user = request.auth.user
    own = _own(find_contest(user, slug), user)
    target = next((one for one in submitting.targets(own) if one.slug == team), None)
    if target is None:
        raise NotFound(_("No other team with this name has published a release."))
    made = submitting.submit_guess(own, user, target, knowledge, uploads_of(request))
    return Status(201, give_submission(made, user))


@router.get("/contests/{slug}/submissions", auth=READ, tags=TAGS, response={200: schemas.SubmissionPage})
def submissions_in(
    request: ApiRequest,
    slug: bodies.Slug,
    kind: Literal["release", "guess"] | None = None,
    limit: Limit = 30,
    offset: Offset = 0,
) -> schemas.SubmissionPage:
    """List what the user's team submitted in a contest, newest first."""
    user = request.auth.user
    found = showing.submissions_of(_own(find_contest(user, slug), user), kind)
    page = [give_submission(one, user) for one in found[offset : offset + limit]]
    return schemas.SubmissionPage(n=found.count(), items=page)


@router.get("/submissions", auth=READ, tags=TAGS, response={200: schemas.SubmissionPage})
def submissions(request: ApiRequest, limit: Limit = 30, offset: Offset = 0) -> schemas.SubmissionPage:
    """List what the user's teams submitted anywhere, newest first."""
    user = request.auth.user
    found = Submission.objects.filter(team__in=[one.team_id for one in teams_of(user)])
    listed = found.select_related("contest", "team", "target", "job", "by")[offset : offset + limit]
    return schemas.SubmissionPage(n=found.count(), items=[give_submission(one, user) for one in listed])


@router.get("/submissions/{key}", auth=READ, tags=TAGS, response={200: schemas.SubmissionOut})
def submission(request: ApiRequest, key: bodies.Key) -> schemas.SubmissionOut:
    """Show a submission: its state, how far its evaluation is, its faults or its score."""
    return give_submission(showing.find_submission(request.auth.user, key), request.auth.user)


@router.get("/submissions/{key}/files/{name}", auth=READ, tags=TAGS, response={200: None}, openapi_extra=SENDS_A_FILE)
def submitted_file(request: ApiRequest, key: bodies.Key, name: bodies.FileName) -> FileResponse:
    """Send a submitted file back."""
    found = showing.submitted_file(showing.find_submission(request.auth.user, key), name)
    return send(found.open("rb"), name)


@router.post("/submissions/{key}/choose", auth=SUBMIT, tags=TAGS, response={200: schemas.SubmissionOut})
def choose(request: ApiRequest, key: bodies.Key) -> schemas.SubmissionOut:
    """Choose the scored release that counts, until attacks begin, where the rules leave that to teams."""
    user = request.auth.user
    found = showing.find_submission(user, key)
    if not found.team.memberships.filter(user=user).exists():
        raise NotFound(_("There is no such submission."))
    teamwork.choose(found, user)
    return give_submission(found, user)


def _own(contest: Contest, user: User) -> Participation:
    found = joining.participation_of(contest, user)
    if found is None:
        raise NotAllowed(_("None of your teams takes part in this contest."))
    return found


def _invited_to(slug: str, token: str) -> Contest:
    contest = joining.invitation_of(token).contest
    if contest.slug != slug:
        raise NotFound(_("There is no such invitation."))
    return contest
