"""Reading: contests, their rules, files, scoreboards and announcements."""

from __future__ import annotations

from typing import Annotated

from django.http import FileResponse
from ninja import Query
from pydantic import Field

from tokumei.platform.api import bodies, schemas
from tokumei.platform.api.bearer import READ, ApiRequest
from tokumei.platform.api.operations.router import SENDS_A_FILE, router
from tokumei.platform.api.serializers import give_contest, give_contest_line, give_file, give_scoreboard
from tokumei.platform.contests.services.contests import find_contest, visible_contests
from tokumei.platform.contests.services.export import export_folder
from tokumei.platform.contests.services.showing import downloads, find_download

TAGS = ["contests"]

MOST_ANNOUNCEMENTS = 100
Limit = Annotated[int, Field(ge=1, le=100)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]


@router.get("/contests", auth=READ, tags=TAGS, response={200: schemas.ContestPage})
def contests(request: ApiRequest, limit: Limit = 50, offset: Offset = 0) -> schemas.ContestPage:
    """List the contests that the user may know of, newest first."""
    found = visible_contests(request.auth.user)
    page = [give_contest_line(one, request.auth.user) for one in found[offset : offset + limit]]
    return schemas.ContestPage(n=found.count(), items=page)


@router.get("/contests/{slug}", auth=READ, tags=TAGS, response={200: schemas.ContestOut})
def contest(request: ApiRequest, slug: bodies.Slug) -> schemas.ContestOut:
    """Show a contest: phase, schedule, rules, limits and attempts left; Accept-Language chooses the language."""
    return give_contest(find_contest(request.auth.user, slug), request.auth.user)


@router.get("/contests/{slug}/announcements", auth=READ, tags=TAGS, response={200: list[schemas.AnnouncementOut]})
def announcements(request: ApiRequest, slug: bodies.Slug) -> list[schemas.AnnouncementOut]:
    """List what the organizer told everybody, newest first."""
    found = find_contest(request.auth.user, slug).announcements.all()[:MOST_ANNOUNCEMENTS]
    return [schemas.AnnouncementOut(title=one.title, text=one.text, at=one.at) for one in found]


@router.get("/contests/{slug}/scoreboard", auth=READ, tags=TAGS, response={200: schemas.ScoreboardOut})
def scoreboard(request: ApiRequest, slug: bodies.Slug) -> schemas.ScoreboardOut:
    """Show the scoreboard as far as the user may see it."""
    return give_scoreboard(find_contest(request.auth.user, slug), request.auth.user)


@router.get("/contests/{slug}/files", auth=READ, tags=TAGS, response={200: list[schemas.FileOut]})
def files(request: ApiRequest, slug: bodies.Slug) -> list[schemas.FileOut]:
    """List the files that the user may have now: data, knowledge, releases."""
    found = downloads(find_contest(request.auth.user, slug), request.auth.user)
    return [give_file(one) for one in found]


@router.get(
    "/contests/{slug}/files/{kind}/{name}",
    auth=READ,
    tags=TAGS,
    response={200: None},
    openapi_extra=SENDS_A_FILE,
)
def file(
    request: ApiRequest,
    slug: bodies.Slug,
    kind: bodies.FileKind,
    name: bodies.FileName,
    team: Annotated[bodies.Slug, Query(description="Whose release; only for releases.")] | None = None,
) -> FileResponse:
    """Send a file of a contest."""
    user = request.auth.user
    found = find_download(find_contest(user, slug), user, kind, name, team or "")
    return send(found.path.open("rb"), name)


@router.get("/contests/{slug}/export", auth=READ, tags=TAGS, response={200: None}, openapi_extra=SENDS_A_FILE)
def export(request: ApiRequest, slug: bodies.Slug) -> FileResponse:
    """Send the folder of a closed contest as a zip, to be replayed by anybody."""
    user = request.auth.user
    return send(export_folder(find_contest(user, slug), user), f"{slug}.zip")


def send(handle: object, name: str) -> FileResponse:
    """Send an open file as bytes, whatever it holds."""
    return FileResponse(handle, as_attachment=True, filename=name, content_type="application/octet-stream")
