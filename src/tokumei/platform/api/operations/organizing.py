"""What organizers do: make a contest, change its schedule and its board, tell teams."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from ninja import Status

from tokumei.contest.registry import EDITIONS
from tokumei.core.errors import InputError, NotAllowed, NotFound, UnknownPart
from tokumei.platform.accounts.models import User
from tokumei.platform.api import bodies, schemas
from tokumei.platform.api.bearer import ORGANIZE, ApiRequest
from tokumei.platform.api.operations.router import router
from tokumei.platform.api.serializers import give_contest
from tokumei.platform.contests.forms import TAKEN
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import contests
from tokumei.platform.contests.services.contests import find_contest, is_organizer

TAGS = ["organizing"]


@router.post("/contests", auth=ORGANIZE, tags=TAGS, response={201: schemas.ContestOut})
def create_contest(request: ApiRequest, given: bodies.NewContest) -> Status[schemas.ContestOut]:
    """Make a contest on made-up data; one on data of your own is made on the page for it, which takes a file."""
    if not request.auth.user.may_organize:
        raise NotAllowed(_("Only organizers make contests."))
    if given.slug in TAKEN:
        raise InputError.of("another name: this is an address of a page", column="slug", value=given.slug)
    facts: dict[str, Any] = given.dict()
    try:
        facts["options"] = _read_options(given.edition, given.options)
        made = contests.create_contest(request.auth.user, **facts)
    except UnknownPart as error:
        # Not a 404: the address is right, what was sent to it is not.
        raise InputError.of(str(error), column="edition", value=given.edition) from None
    return Status(201, give_contest(made, request.auth.user))


@router.put("/contests/{slug}/schedule", auth=ORGANIZE, tags=TAGS, response={200: schemas.ContestOut})
def change_schedule(request: ApiRequest, slug: bodies.Slug, given: bodies.Schedule) -> schemas.ContestOut:
    """Move the phases that have not begun."""
    contest = _organized(request.auth.user, slug)
    contests.change_schedule(contest, **given.dict(), by=request.auth.user)
    return give_contest(contest, request.auth.user)


@router.put("/contests/{slug}/board", auth=ORGANIZE, tags=TAGS, response={200: schemas.ContestOut})
def change_board(request: ApiRequest, slug: bodies.Slug, given: bodies.BoardIn) -> schemas.ContestOut:
    """Choose what teams see of scores while the contest runs."""
    contest = _organized(request.auth.user, slug)
    contests.change_board(contest, **given.dict(), by=request.auth.user)
    return give_contest(contest, request.auth.user)


@router.post("/contests/{slug}/announcements", auth=ORGANIZE, tags=TAGS, response={201: schemas.AnnouncementOut})
def announce(request: ApiRequest, slug: bodies.Slug, given: bodies.NewAnnouncement) -> Status[schemas.AnnouncementOut]:
    """Announce something to everybody in a contest."""
    user = request.auth.user
    made = contests.announce(_organized(user, slug), title=given.title, text=given.text, by=user)
    return Status(201, schemas.AnnouncementOut(title=made.title, text=made.text, at=made.at))


def _organized(user: User, slug: str) -> Contest:
    contest = find_contest(user, slug)
    if not is_organizer(contest, user):
        raise NotFound(_("There is no such contest."))
    return contest


def _read_options(edition: str, texts: dict[str, str]) -> dict[str, Any]:
    """Read options by their types, as the commands do; lists stay lists through JSON."""
    if not edition:
        if texts:
            raise InputError.of("options only with an edition", column="options")
        return {}
    part = EDITIONS.make_from_text(edition, texts)
    read = {name: getattr(part, name) for name in texts}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in read.items()}
