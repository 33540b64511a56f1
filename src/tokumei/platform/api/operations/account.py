"""Getting a token, and whose it is."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Status

from tokumei.platform.api import bodies, schemas, services
from tokumei.platform.api.bearer import READ, ApiRequest
from tokumei.platform.api.operations.router import router
from tokumei.platform.teams.services import teams_of

TAGS = ["account"]


@router.post("/tokens", auth=None, tags=TAGS, response={201: schemas.TokenOut})
def log_in(request: HttpRequest, given: bodies.LogIn) -> Status[schemas.TokenOut]:
    """Make a token by name and password, and by a code where the second factor is on."""
    user = services.log_in(request, username=given.username, password=given.password, code=given.code)
    made, text = services.make_token(user, name=given.name, scope=given.scope, days=given.days)
    return Status(201, schemas.TokenOut(token=text, name=made.name, scope=made.scope, expires=made.expires))


@router.delete("/tokens/current", auth=READ, tags=TAGS, response={204: None})
def log_out(request: ApiRequest) -> Status[None]:
    """Revoke the token that this request shows."""
    services.revoke(request.auth.user, request.auth.pk)
    return Status(204, None)


@router.get("/me", auth=READ, tags=TAGS, response={200: schemas.Me})
def me(request: ApiRequest) -> schemas.Me:
    """Tell whose token it is and what it may do."""
    token, user = request.auth, request.auth.user
    return schemas.Me(
        username=user.username,
        display_name=user.display_name,
        may_organize=user.may_organize,
        token_name=token.name,
        scope=token.scope,
        expires=token.expires,
    )


@router.get("/teams", auth=READ, tags=TAGS, response={200: list[schemas.TeamOut]})
def teams(request: ApiRequest) -> list[schemas.TeamOut]:
    """List the user's teams."""
    return [
        schemas.TeamOut(slug=one.team.slug, display_name=one.team.display_name, role=one.role)
        for one in teams_of(request.auth.user)
    ]
