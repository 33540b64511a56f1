"""Who may see what: every view says so, and every form is guarded."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from tests.platform.conftest import LogIn
from tests.platform.security.world import unsafe_methods

from tokumei.platform.access import LEVELS, Route, access, routes
from tokumei.platform.accounts.models import User

pytestmark = pytest.mark.django_db

ROUTES = list(routes())
SAMPLES = {"str": "nothing", "int": "1", "slug": "nothing", "uuid": "00000000-0000-0000-0000-000000000000", "path": "x"}


def address(route: Route) -> str:
    """Return an address that leads to the view, with nothing there."""
    return "/" + re.sub(r"<(?:(\w+):)?\w+>", lambda found: SAMPLES.get(found[1] or "str", "nothing"), route.pattern)


def named(route: Route) -> str:
    return route.pattern or "/"


def test_every_view_says_who_may_see_it() -> None:
    missing = [route.pattern for route in ROUTES if route.access is None]
    assert missing == []
    assert {route.access.level for route in ROUTES if route.access} <= set(LEVELS)


@pytest.mark.parametrize("route", [route for route in ROUTES if unsafe_methods(route)], ids=named)
def test_every_unsafe_route_without_a_csrf_token_is_refused(route: Route, admin: User) -> None:
    if getattr(route.view, "csrf_exempt", False):
        # Programs log in by a token in a header, which no other site's page can make a browser send.
        assert route.pattern.startswith("api/")
        return
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin, backend="tokumei.platform.accounts.authentication.NameOrEmail")
    assert route.access is not None
    for method in unsafe_methods(route):
        answer = client.generic(method, address(route))
        assert answer.status_code == 403
        assert "did not come from this site" in answer.content.decode()


@pytest.mark.parametrize(
    "route",
    [
        route
        for route in ROUTES
        if route.access and route.access.level in LEVELS[2:] and not route.pattern.startswith("api/")
    ],
    ids=named,
)
def test_every_guarded_route_sends_a_visitor_to_log_in_and_learn_nothing(route: Route, client: Client) -> None:
    assert route.access is not None
    for method in route.access.methods:
        answer = client.generic(method, address(route))
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login?next=/")


@pytest.mark.parametrize(
    "route",
    [
        route
        for route in ROUTES
        if route.access
        and route.access.level in {"member", "captain", "admin"}
        and not route.pattern.startswith("api/")
    ],
    ids=named,
)
def test_every_guarded_route_is_nothing_to_a_user_without_the_right(route: Route, alice: User, log_in: LogIn) -> None:
    assert route.access is not None
    for method in route.access.methods:
        assert log_in(alice).generic(method, address(route)).status_code == 404


@pytest.mark.parametrize("route", [route for route in ROUTES if not route.pattern.startswith("api/")], ids=named)
def test_every_route_by_another_method_is_refused(route: Route, admin: User, log_in: LogIn) -> None:
    assert route.access is not None
    answer = log_in(admin).delete(address(route))
    assert answer.status_code == 405
    assert set(answer["Allow"].split(", ")) == route.access.methods


def test_view_for_members_that_does_not_say_of_what_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="of what"):
        access("member")


def test_level_of_organizers_lets_organizers_and_admins_in(
    rf: RequestFactory, alice: User, organizer: User, admin: User
) -> None:
    @access("organizer")
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("in")

    @access("organizer", of=lambda request, level, contest: {"contest": f"{contest} for {level}"})
    def view_of_contest(request: HttpRequest, contest: Any) -> HttpResponse:
        return HttpResponse(contest)

    def call(user: User) -> HttpResponse:
        request = rf.get("/")
        request.user = user
        answer = view(request)
        assert isinstance(answer, HttpResponse)
        return answer

    assert call(organizer).content == call(admin).content == b"in"
    with pytest.raises(Http404):
        call(alice)
    request = rf.get("/")
    request.user = alice
    found = view_of_contest(request, contest="c")
    assert isinstance(found, HttpResponse)
    assert found.content == b"c for organizer"
