"""Every route, every role, everybody's things: what one may not see is to the byte what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from tests.cases import one_in
from tests.platform.security.world import (
    API,
    PLAYERS,
    RED,
    ROLES,
    RUNNERS,
    SUBMISSION,
    USERS,
    World,
    absent_value,
    address,
    all_routes,
    api_routes,
    captured,
    differences,
    may_see,
    named,
    normal,
    page_routes,
)

from tokumei.platform.access import Route

pytestmark = pytest.mark.slow

WHOSE = ("public", "private", "closed", "open")
# Where a right address may still be empty: no such reset was asked for.
EMPTY = {"reset/<str:user>/<str:token>", "verify/<str:token>"}


def kinds(route: Route) -> tuple[str, ...]:
    """Which of the world's things make a difference to a route."""
    return WHOSE if {"contest", "slug", *SUBMISSION} & set(captured(route)) else WHOSE[:1]


def tried(route: Route) -> Iterator[tuple[str, str, str]]:
    """Return every role and method of a route, and one of the things; all of them where they are asked for."""
    assert route.access is not None
    for role, method in product(ROLES, sorted(route.access.methods)):
        for whose in one_in(len(WHOSE), kinds(route), route.pattern, role, method):
            yield role, method, whose


@pytest.mark.parametrize("route", all_routes(), ids=named)
def test_every_route_can_be_addressed(world: World, route: Route) -> None:
    values = world.values_for(route, "public")
    assert set(values) == set(captured(route))
    assert route.access is not None
    may_see(route, "public")


@pytest.mark.parametrize("route", page_routes(), ids=named)
def test_page_is_not_there_for_who_may_not_see_it(world: World, route: Route) -> None:
    assert route.access is not None
    for role, method, whose in tried(route):
        path = address(route, world.values_for(route, whose))
        if role in may_see(route, whose) or (method == "HEAD" and whose != "public"):
            continue
        found, where = world.call(role, method, path), f"{role} {method} {path}"
        if role == "anonymous" and route.access.level not in {"anyone", "operator"}:
            assert (found.status, found.headers["Location"].partition("?")[0]) == (302, "/login"), where
        else:
            assert found.status == 404, f"{where} gives {found.status}"
        if captured(route):
            expected = answer_for_nothing(world, route, role, method)
            assert normal(found, path) == expected, f"{where}: {differences(normal(found, path), expected)}"


def answer_for_nothing(world: World, route: Route, role: str, method: str) -> Any:
    """Return the answer where what the address names first is not there; asked for once."""
    known = world.nothing.get((route.pattern, role, method))
    if known is None:
        first = captured(route)[0]
        path = address(route, world.values_for(route, "public") | {first: absent_value(route, first)})
        kind = "application/json" if route.pattern.startswith(API) else ""
        known = normal(world.call(role, method, path, content_type=kind), path)
        world.nothing[route.pattern, role, method] = known
    return known


@pytest.mark.parametrize("route", page_routes(), ids=named)
def test_page_is_there_for_who_may_see_it(world: World, route: Route) -> None:
    assert route.access is not None
    if "GET" not in route.access.methods or route.pattern in EMPTY:
        pytest.skip("nothing to look at")
    # Only what is over can be exported.
    whose = "closed" if route.pattern.endswith("/export") else "public"
    path = address(route, world.values_for(route, whose))
    statuses = {role: world.call(role, "GET", path).status for role in may_see(route, whose)}
    assert all(status in {200, 302} for status in statuses.values()), statuses


@pytest.mark.parametrize("route", [route for route in page_routes() if len(captured(route)) > 1], ids=named)
def test_page_of_ones_own_with_a_thing_of_others_is_not_there(world: World, route: Route) -> None:
    """Red's captain names red's team but blue's invitation, and the like."""
    assert route.access is not None
    values = world.values_for(route, "public")
    others = {
        "invitation": others_invitation(world, route),
        "member": str(world.user("rival").pk),
        "participation": world.values["private"]["contests/", "participation"],
        "name": "F.csv",
        "report": "found.json",
        "kind": "truth",
        "team": "grey-team",
        "token": "of-another",
        "key": world.keys["red-team cup"],
        "trusted": "0",
        "question": world.values["private"]["contests/", "question"],
        "place": "99",
        "step": "nothing",
    }
    for role in may_see(route, "public") & USERS:
        for name in captured(route)[1:]:
            path = address(route, values | {name: others[name]})
            nothing = address(route, values | {name: absent_value(route, name)})
            for method in sorted(route.access.methods):
                found, expected = (normal(world.call(role, method, one), one) for one in (path, nothing))
                assert found[0] == 404, f"{role} {method} {path}"
                assert found == expected, f"{role} {method} {path}: {differences(found, expected)}"


def others_invitation(world: World, route: Route) -> str:
    """Return the number of an invitation of another team, or of another contest."""
    from tokumei.platform.teams import services
    from tokumei.platform.teams.models import Team

    if route.pattern.startswith("teams/"):
        made, _token = services.invite(Team.objects.get(slug="blue-team"), world.user("rival"))
        return str(made.pk)
    return world.values["private"]["contests/", "invitation"]


@pytest.mark.parametrize("route", api_routes(), ids=named)
def test_operation_is_not_there_for_who_may_not_see_its_object(world: World, route: Route) -> None:
    assert route.access is not None
    names = captured(route)
    for role, method, whose in tried(route):
        path = address(route, world.values_for(route, whose))
        found, where = world.call(role, method, path, content_type="application/json"), f"{role} {method} {path}"
        assert found.status < 500, where
        if role == "anonymous":
            assert found.status == 401 or route.access.level == "anyone", where
        elif names and role not in sees_object(route, whose):
            expected = answer_for_nothing(world, route, role, method)
            assert normal(found, path) == expected, f"{where}: {differences(normal(found, path), expected)}"
            # What was sent is looked at first where it is part of the address's meaning.
            assert found.status in {400, 404}, where
        elif route.pattern.rpartition("/")[2] in {"schedule", "board"} and role not in RUNNERS:
            assert found.status in {400, 404}, where
        else:
            assert found.status not in {401, 405}, where


def sees_object(route: Route, whose: str) -> frozenset[str]:
    """Who may know of a contest or of a submission of red's."""
    if "exchange/" in route.pattern:
        return may_see(route, whose)
    if captured(route)[0] in SUBMISSION:
        return RED | RUNNERS
    return USERS if whose in {"public", "closed"} else PLAYERS | RUNNERS


@pytest.mark.parametrize("route", api_routes(), ids=named)
def test_operation_takes_no_session_for_a_token(world: World, route: Route) -> None:
    assert route.access is not None
    path = address(route, world.values_for(route, "public"))
    for method in sorted(route.access.methods):
        for role in ("captain", "admin"):
            by_session = world.call(role, method, path, by="session", content_type="application/json")
            as_nobody = world.call("anonymous", method, path, content_type="application/json")
            assert normal(by_session, path) == normal(as_nobody, path)
            if route.access.level != "anyone":
                assert by_session.status == 401


def test_figures_of_the_server_are_not_there_from_elsewhere(world: World) -> None:
    nothing = world.call("anonymous", "GET", "/nothing", REMOTE_ADDR="203.0.113.9")
    for extra in ({"REMOTE_ADDR": "203.0.113.9"}, {"headers": {"X-Forwarded-For": "127.0.0.1"}}):
        for role in ("anonymous", "admin"):
            found = world.call(role, "GET", "/metrics", **extra)
            assert found.status == 404
            if role == "anonymous":
                assert normal(found, "/metrics") == normal(nothing, "/nothing")


def test_submission_of_a_team_one_has_left_is_not_there(world: World) -> None:
    from tokumei.platform.teams import services
    from tokumei.platform.teams.models import Team

    services.remove_member(Team.objects.get(slug="red-team"), world.user("member").pk)
    for below in ("", "/state", "/report", "/files/R.csv"):
        path = f"/contests/submissions/{world.keys['red-team cup']}{below}"
        assert world.call("member", "GET", path).status == 404
        assert world.call("captain", "GET", path).status == 200
