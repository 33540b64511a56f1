"""The operations of the API: getting a token, reading contests, taking part, and what organizers do.

All stand on the one `router`, those of other apps too: importing this module is what puts these on it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import FileResponse, HttpRequest
from django.utils.translation import gettext as _
from ninja import Query, Router, Status
from pydantic import Field

from tokumei.contest.edition import EDITIONS
from tokumei.core.errors import InputError, NotAllowed, NotFound, UnknownPart
from tokumei.platform.accounts.models import User
from tokumei.platform.api import schemas, serializers, services
from tokumei.platform.api.bearer import ORGANIZE, READ, SUBMIT, ApiRequest
from tokumei.platform.contests.forms import TAKEN
from tokumei.platform.contests.models import Contest, Participation, Submission
from tokumei.platform.contests.services import contests as service
from tokumei.platform.contests.services import joining, showing, submitting, teamwork
from tokumei.platform.contests.services.rulebook import terms_of
from tokumei.platform.contests.services.showing import downloads, export_folder, find_download
from tokumei.platform.contests.services.visibility import find_contest, is_organizer, visible_contests
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.teams.models import Role
from tokumei.platform.teams.services import teams_of

# One for all: two routers that know the same address hide each other's methods.
router = Router()

# The names of the parts are those of the edition's files, such as AT; one zip may have any name.
FILES_AS_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": "A part for each file of the edition, named as the edition names it, or one zip of all files.",
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}}
            }
        },
    }
}
SENDS_A_FILE: dict[str, object] = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    }
}


ACCOUNT_TAGS = ["account"]


@router.post("/tokens", auth=None, tags=ACCOUNT_TAGS, response={201: schemas.TokenOut})
def log_in(request: HttpRequest, given: schemas.LogIn) -> Status[schemas.TokenOut]:
    """Make a token by name and password, and by a code where the second factor is on."""
    user = services.log_in(request, username=given.username, password=given.password, code=given.code)
    made, text = services.make_token(user, name=given.name, scope=given.scope, days=given.days)
    return Status(201, schemas.TokenOut(token=text, name=made.name, scope=made.scope, expires=made.expires))


@router.delete("/tokens/current", auth=READ, tags=ACCOUNT_TAGS, response={204: None})
def log_out(request: ApiRequest) -> Status[None]:
    """Revoke the token that this request shows."""
    services.revoke(request.auth.user, request.auth.pk)
    return Status(204, None)


@router.get("/me", auth=READ, tags=ACCOUNT_TAGS, response={200: schemas.Me})
def me(request: ApiRequest) -> schemas.Me:
    """Whose token it is and what it may do."""
    token, user = request.auth, request.auth.user
    return schemas.Me(
        username=user.username,
        display_name=user.display_name,
        may_organize=user.may_organize,
        token_name=token.name,
        scope=token.scope,
        expires=token.expires,
    )


@router.get("/teams", auth=READ, tags=ACCOUNT_TAGS, response={200: list[schemas.TeamOut]})
def teams(request: ApiRequest) -> list[schemas.TeamOut]:
    """List the user's teams."""
    return [
        schemas.TeamOut(slug=one.team.slug, display_name=one.team.display_name, role=one.role)
        for one in teams_of(request.auth.user)
    ]


CONTEST_TAGS = ["contests"]

MOST_ANNOUNCEMENTS = 100
Limit = Annotated[int, Field(ge=1, le=100)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]


@router.get("/contests", auth=READ, tags=CONTEST_TAGS, response={200: schemas.ContestPage})
def contests(request: ApiRequest, limit: Limit = 50, offset: Offset = 0) -> schemas.ContestPage:
    """List the contests that the user may know of, newest first."""
    found = visible_contests(request.auth.user)
    page = [serializers.give_contest_line(one, request.auth.user) for one in found[offset : offset + limit]]
    return schemas.ContestPage(n=found.count(), items=page)


@router.get("/contests/{slug}", auth=READ, tags=CONTEST_TAGS, response={200: schemas.ContestOut})
def contest(request: ApiRequest, slug: schemas.Slug) -> schemas.ContestOut:
    """Show a contest: phase, schedule, rules, limits and attempts left; Accept-Language chooses the language."""
    return serializers.give_contest(find_contest(request.auth.user, slug), request.auth.user)


@router.get(
    "/contests/{slug}/announcements", auth=READ, tags=CONTEST_TAGS, response={200: list[schemas.AnnouncementOut]}
)
def announcements(request: ApiRequest, slug: schemas.Slug) -> list[schemas.AnnouncementOut]:
    """List what the organizer told everybody, newest first."""
    found = find_contest(request.auth.user, slug).announcements.all()[:MOST_ANNOUNCEMENTS]
    return [schemas.AnnouncementOut(title=one.title, text=one.text, at=one.at) for one in found]


@router.get("/contests/{slug}/scoreboard", auth=READ, tags=CONTEST_TAGS, response={200: schemas.ScoreboardOut})
def scoreboard(request: ApiRequest, slug: schemas.Slug) -> schemas.ScoreboardOut:
    """Show the scoreboard as far as the user may see it."""
    return serializers.give_scoreboard(find_contest(request.auth.user, slug), request.auth.user)


@router.get("/contests/{slug}/files", auth=READ, tags=CONTEST_TAGS, response={200: list[schemas.FileOut]})
def files(request: ApiRequest, slug: schemas.Slug) -> list[schemas.FileOut]:
    """List the files that the user may have now: data, those of the own team alone, knowledge, releases."""
    found = downloads(find_contest(request.auth.user, slug), request.auth.user)
    return [serializers.give_file(one) for one in found]


@router.get(
    "/contests/{slug}/files/{kind}/{name}",
    auth=READ,
    tags=CONTEST_TAGS,
    response={200: None},
    openapi_extra=SENDS_A_FILE,
)
def file(
    request: ApiRequest,
    slug: schemas.Slug,
    kind: schemas.FileKind,
    name: schemas.FileName,
    team: Annotated[schemas.Slug, Query(description="Whose release; only for releases.")] | None = None,
) -> FileResponse:
    """Send a file of a contest."""
    user = request.auth.user
    found = find_download(find_contest(user, slug), user, kind, name, team or "")
    return send(found.path.open("rb"), name)


@router.get("/contests/{slug}/export", auth=READ, tags=CONTEST_TAGS, response={200: None}, openapi_extra=SENDS_A_FILE)
def export(request: ApiRequest, slug: schemas.Slug) -> FileResponse:
    """Send the folder of a closed contest as a zip, to be replayed by anybody."""
    user = request.auth.user
    return send(export_folder(find_contest(user, slug), user), f"{slug}.zip")


def send(handle: object, name: str) -> FileResponse:
    """Send an open file as bytes, whatever it holds."""
    return FileResponse(handle, as_attachment=True, filename=name, content_type="application/octet-stream")


TAKING_PART_TAGS = ["taking part"]


@router.post("/contests/{slug}/join", auth=SUBMIT, tags=TAKING_PART_TAGS, response={200: schemas.ContestOut})
def join(request: ApiRequest, slug: schemas.Slug, given: schemas.Join) -> schemas.ContestOut:
    """Enter a team whose captain the user is; private contests need an invitation."""
    user = request.auth.user
    contest = _invited_to(slug, given.invitation) if given.invitation else find_contest(user, slug)
    membership = teams_of(user).filter(team__slug=given.team).first()
    if membership is None:
        raise NotFound(_("There is no such team."))
    joining.join(contest, membership.team, user, given.invitation or None)
    return serializers.give_contest(contest, user)


@router.post("/contests/{slug}/withdraw", auth=SUBMIT, tags=TAKING_PART_TAGS, response={204: None})
def withdraw(request: ApiRequest, slug: schemas.Slug) -> Status[None]:
    """Take the user's team out of a contest; its captain does that, until releases are published."""
    own = _own(find_contest(request.auth.user, slug), request.auth.user)
    if not own.team.memberships.filter(user=request.auth.user, role=Role.CAPTAIN).exists():
        raise NotAllowed(_("Only its captain takes a team out of a contest."))
    joining.withdraw(own)
    return Status(204, None)


@router.post(
    "/contests/{slug}/releases",
    auth=SUBMIT,
    tags=TAKING_PART_TAGS,
    response={201: schemas.SubmissionOut},
    openapi_extra=FILES_AS_BODY,
)
def submit_release(request: ApiRequest, slug: schemas.Slug) -> Status[schemas.SubmissionOut]:
    """Submit a release; ask for the submission until its state is final."""
    user = request.auth.user
    made = submitting.submit_release(_own(find_contest(user, slug), user), user, uploads_of(request))
    return Status(201, serializers.give_submission(made, user))


@router.get("/contests/{slug}/targets", auth=READ, tags=TAKING_PART_TAGS, response={200: list[schemas.Target]})
def targets(request: ApiRequest, slug: schemas.Slug) -> list[schemas.Target]:
    """List the teams whose releases can be attacked, with the attempts at each by level of knowledge."""
    contest = find_contest(request.auth.user, slug)
    own, levels = _own(contest, request.auth.user), terms_of(contest).knowledge_files
    return [
        schemas.Target(
            team=serializers.give_team(team),
            attempts={one: serializers.give_attempts(submitting.guess_attempts(own, team, one)) for one in levels},
        )
        for team in submitting.targets(own)
    ]


@router.post(
    "/contests/{slug}/targets/{team}/guesses",
    auth=SUBMIT,
    tags=TAKING_PART_TAGS,
    response={201: schemas.SubmissionOut},
    openapi_extra=FILES_AS_BODY,
)
def submit_guess(
    request: ApiRequest,
    slug: schemas.Slug,
    team: schemas.Slug,
    knowledge: Annotated[schemas.Line, Query(max_length=20, description="The level it was made with.")] = "",
) -> Status[schemas.SubmissionOut]:
    """Submit a guess at another team's release."""
    user = request.auth.user
    own = _own(find_contest(user, slug), user)
    target = next((one for one in submitting.targets(own) if one.slug == team), None)
    if target is None:
        raise NotFound(_("No other team with this name has published a release."))
    made = submitting.submit_guess(own, user, target, knowledge, uploads_of(request))
    return Status(201, serializers.give_submission(made, user))


@router.get("/contests/{slug}/submissions", auth=READ, tags=TAKING_PART_TAGS, response={200: schemas.SubmissionPage})
def submissions_in(
    request: ApiRequest,
    slug: schemas.Slug,
    kind: Literal["release", "guess"] | None = None,
    limit: Limit = 30,
    offset: Offset = 0,
) -> schemas.SubmissionPage:
    """List what the user's team submitted in a contest, newest first."""
    user = request.auth.user
    found = showing.submissions_of(_own(find_contest(user, slug), user), kind)
    page = [serializers.give_submission(one, user) for one in found[offset : offset + limit]]
    return schemas.SubmissionPage(n=found.count(), items=page)


@router.get("/submissions", auth=READ, tags=TAKING_PART_TAGS, response={200: schemas.SubmissionPage})
def submissions(request: ApiRequest, limit: Limit = 30, offset: Offset = 0) -> schemas.SubmissionPage:
    """List what the user's teams submitted anywhere, newest first."""
    user = request.auth.user
    found = Submission.objects.filter(team__in=[one.team_id for one in teams_of(user)])
    listed = found.select_related("contest", "team", "target", "job", "by")[offset : offset + limit]
    return schemas.SubmissionPage(n=found.count(), items=[serializers.give_submission(one, user) for one in listed])


@router.get("/submissions/{key}", auth=READ, tags=TAKING_PART_TAGS, response={200: schemas.SubmissionOut})
def submission(request: ApiRequest, key: schemas.Key) -> schemas.SubmissionOut:
    """Show a submission: its state, how far its evaluation is, its faults or its score."""
    return serializers.give_submission(showing.find_submission(request.auth.user, key), request.auth.user)


@router.get(
    "/submissions/{key}/files/{name}",
    auth=READ,
    tags=TAKING_PART_TAGS,
    response={200: None},
    openapi_extra=SENDS_A_FILE,
)
def submitted_file(request: ApiRequest, key: schemas.Key, name: schemas.FileName) -> FileResponse:
    """Send a submitted file back."""
    found = showing.submitted_file(showing.find_submission(request.auth.user, key), name)
    return send(found.open("rb"), name)


@router.post("/submissions/{key}/choose", auth=SUBMIT, tags=TAKING_PART_TAGS, response={200: schemas.SubmissionOut})
def choose(request: ApiRequest, key: schemas.Key) -> schemas.SubmissionOut:
    """Choose the scored release that counts, until attacks begin, where the rules leave that to teams."""
    user = request.auth.user
    found = showing.find_submission(user, key)
    if not found.team.memberships.filter(user=user).exists():
        raise NotFound(_("There is no such submission."))
    teamwork.choose(found, user)
    return serializers.give_submission(found, user)


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


ORGANIZING_TAGS = ["organizing"]


@router.post("/contests", auth=ORGANIZE, tags=ORGANIZING_TAGS, response={201: schemas.ContestOut})
def create_contest(request: ApiRequest, given: schemas.NewContest) -> Status[schemas.ContestOut]:
    """Make a contest on made-up data; one on data of your own is made on the page for it, which takes a file."""
    if not request.auth.user.may_organize:
        raise NotAllowed(_("Only organizers make contests."))
    if given.slug in TAKEN:
        raise InputError.of("another name: this is an address of a page", column="slug", value=given.slug)
    facts: dict[str, Any] = given.dict()
    try:
        facts["options"] = _read_options(given.edition, given.options)
        made = service.create_contest(request.auth.user, **facts)
    except UnknownPart as error:
        # Not a 404: the address is right, what was sent to it is not.
        raise InputError.of(str(error), column="edition", value=given.edition) from None
    return Status(201, serializers.give_contest(made, request.auth.user))


@router.put("/contests/{slug}/schedule", auth=ORGANIZE, tags=ORGANIZING_TAGS, response={200: schemas.ContestOut})
def change_schedule(request: ApiRequest, slug: schemas.Slug, given: schemas.Schedule) -> schemas.ContestOut:
    """Move the phases that have not begun."""
    contest = _organized(request.auth.user, slug)
    service.change_schedule(contest, **given.dict(), by=request.auth.user)
    return serializers.give_contest(contest, request.auth.user)


@router.put("/contests/{slug}/board", auth=ORGANIZE, tags=ORGANIZING_TAGS, response={200: schemas.ContestOut})
def change_board(request: ApiRequest, slug: schemas.Slug, given: schemas.BoardIn) -> schemas.ContestOut:
    """Choose what teams see of scores while the contest runs."""
    contest = _organized(request.auth.user, slug)
    service.change_board(contest, **given.dict(), by=request.auth.user)
    return serializers.give_contest(contest, request.auth.user)


@router.post(
    "/contests/{slug}/announcements", auth=ORGANIZE, tags=ORGANIZING_TAGS, response={201: schemas.AnnouncementOut}
)
def announce(
    request: ApiRequest, slug: schemas.Slug, given: schemas.NewAnnouncement
) -> Status[schemas.AnnouncementOut]:
    """Announce something to everybody in a contest."""
    user = request.auth.user
    made = service.announce(_organized(user, slug), title=given.title, text=given.text, by=user)
    return Status(201, schemas.AnnouncementOut(title=made.title, text=made.text, at=made.at))


def _organized(user: User, slug: str) -> Contest:
    contest = find_contest(user, slug)
    if not is_organizer(contest, user):
        raise NotFound(_("There is no such contest."))
    return contest


def _read_options(edition: str, texts: dict[str, str]) -> dict[str, object]:
    """Read options by their types, as the commands do; lists stay lists through JSON."""
    if not edition:
        if texts:
            raise InputError.of("options only with an edition", column="options")
        return {}
    part = EDITIONS.make_from_text(edition, texts)
    read = {name: getattr(part, name) for name in texts}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in read.items()}
