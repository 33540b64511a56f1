"""Requests that no browser sends: odd addresses, hosts, methods and values. None is a fault of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.db.utils import DataError
from django.test import Client, RequestFactory, override_settings
from django.urls import is_valid_path
from tests.cases import one_in
from tests.platform.security.world import (
    PASSWORD,
    ROLES,
    World,
    address,
    all_routes,
    api_routes,
    captured,
    may_see,
    named,
    page_routes,
    send,
    unsafe_methods,
)
from tests.platform.sites import do_jobs

from tokumei.platform.access import Route

pytestmark = pytest.mark.slow

# As they stand in an address, after its quoting is undone or not.
ODD = (
    "../../../../secret-key",
    "..\\..\\secret-key",
    "/etc/passwd",
    "a\0b",
    "\u202egnp.exe",
    "é" * 1000,
    "';DROP TABLE accounts_user;--",
    "{{7*7}}<script>alert(1)</script>",
    "99999999999999999999999999",
    "9" * 5000,
    "\ud800",
    " \r\nSet-Cookie: x=1",
)
RAW = ("%ff%fe", "%C0%AE%C0%AE%2f", "%2e%2e%2f", "%zz")
FINE = {200, 201, 204, 302, 400, 401, 403, 404, 405, 410, 413}


@contextmanager
def as_postgres() -> Iterator[None]:
    """Refuse what PostgreSQL refuses and SQLite takes: NUL in a text."""

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        given = params.values() if isinstance(params, dict) else params or ()
        if any(isinstance(one, str) and "\0" in one for one in given):
            raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield


def somebody(route: Route) -> str:
    """Choose who gets furthest with a route; a visitor where it leads nobody anywhere."""
    allowed = may_see(route, "public") or {"anonymous"}
    return next(role for role in ("captain", "organizer", "admin", "anonymous", *ROLES) if role in allowed)


def spelled(value: str) -> str:
    from urllib.parse import quote

    return quote(value.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.parametrize("route", [route for route in all_routes() if captured(route)], ids=named)
def test_odd_address_leads_nowhere(world: World, route: Route) -> None:
    assert route.access is not None
    values, role = world.values_for(route, "public"), somebody(route)
    beginning = route.pattern.partition("/")[0]
    with as_postgres():
        for name in captured(route):
            for value in one_in(3, (*map(spelled, ODD), *RAW), route.pattern, name):
                path = address(route, values | {name: "HERE"}).replace("HERE", value)
                is_taken = names_a_route(path)
                for method in sorted(route.access.methods - {"HEAD"}):
                    # Where no view is asked, one address tells for all that begin like it.
                    if not is_taken and (beginning, value, method) in world.refused:
                        continue
                    world.refused.add((beginning, value, method))
                    kind = "application/json" if route.pattern.startswith("api/") else ""
                    found = world.call(role, method, path, content_type=kind)
                    assert found.status in FINE, f"{role} {method} {path:.200} gives {found.status}"
                    assert b"root:" not in found.body
                    assert "\n" not in found.headers.get("Location", "")


def names_a_route(path: str) -> bool:
    """Whether the server has a view for an address, with or without the slash at its end."""
    read = RequestFactory().get(path).path_info
    return bool(is_valid_path(read) or is_valid_path(f"{read}/"))


QUERY = (
    "page",
    "q",
    "kind",
    "next",
    "team",
    "limit",
    "offset",
    "knowledge",
    "language",
    "criterion",
    "contest",
    "level",
)


@pytest.mark.parametrize(
    "route", [route for route in all_routes() if route.access and "GET" in route.access.methods], ids=named
)
def test_odd_query_is_no_fault_of_the_server(world: World, route: Route) -> None:
    path, role = address(route, world.values_for(route, "public")), somebody(route)
    with as_postgres():
        for value in one_in(2, ("a\0b", "\ud800", "9" * 5000, "'\"><script>alert(1)</script>"), path):
            query = "&".join(f"{name}={spelled(value)}" for name in QUERY)
            found = world.call(role, "GET", f"{path}?{query}")
            assert found.status in FINE, f"{role} {path} with {value[:20]!r} gives {found.status}"
            assert "<script>alert" not in found.text
        for query in ("%&&&=%ff=%fe", "a" * 20_000):
            assert world.call(role, "GET", f"{path}?{query}").status in FINE


FIELDS = (
    *("username", "display_name", "email", "password", "password_again", "current_password", "language", "code", "do"),
    *("slug", "team", "title", "text", "note", "opens_at", "attacks_open_at", "closes_at", "board", "digits_shown"),
    *("edition", "options", "own_toml", "knowledge", "name", "scope", "days", "next", "releases_a_day", "invitation"),
    *("purpose", "criterion", "levels", "organization", "about", "provider", "k", "answer", "column", "summary"),
)


ODD_FIELDS = ("a\0b", "9" * 5000, "-1", "0001-01-01T00:00", "9999-12-31T23:59", "{{7*7}}\r\n<script>", "NaN", "")


@pytest.mark.parametrize("route", [route for route in page_routes() if unsafe_methods(route)], ids=named)
def test_odd_form_is_no_fault_of_the_server(world: World, route: Route) -> None:
    path, role = address(route, world.values_for(route, "public")), somebody(route)
    with as_postgres():
        for value in one_in(3, ODD_FIELDS, path):
            found = world.call(role, "POST", path, dict.fromkeys(FIELDS, value))
            assert found.status in FINE | {429}, f"{role} POST {path} with {value[:20]!r} gives {found.status}"
            assert "<script>\n" not in found.text


BODIES = (
    "",
    "{",
    "[]",
    "null",
    '"x"',
    "[" * 5000,
    '{"a":' * 2000,
    '{"name":"\\ud800"}',
    '{"name":"\\u0000"}',
    "NaN",
    "\ufeff{}",
)


ODD_VALUES: tuple[Any, ...] = ("a\0b", "\ud800", 10**400, -1, None, [], {})


@pytest.mark.parametrize("route", [route for route in api_routes() if unsafe_methods(route)], ids=named)
def test_odd_json_is_no_fault_of_the_server(world: World, route: Route) -> None:
    assert route.access is not None
    path, role = address(route, world.values_for(route, "open")), somebody(route)
    bodies = [
        *BODIES,
        *(json.dumps(dict.fromkeys(FIELDS, one)) for one in ODD_VALUES),
    ]
    with as_postgres():
        for method in sorted(unsafe_methods(route)):
            for body in one_in(3, bodies, path, method):
                found = world.call(role, method, path, body.encode(), content_type="application/json")
                assert found.status in FINE | {429}, f"{role} {method} {path} with {body[:40]!r} gives {found.status}"
                assert found.status == 204 or json.loads(found.body) is not None


TOKENS = ("", "x", "tokumei_x", "é", "a" * 9000, "\0", "Basic YWxpY2U6eA==", "Bearer", "Bearer  ", "bearer\tx")


@pytest.mark.parametrize("token", TOKENS)
def test_odd_token_is_nobodys(world: World, token: str) -> None:
    for header in (token, f"Bearer {token}"):
        found = send(Client(raise_request_exception=False), "GET", "/api/v1/me", None, "", HTTP_AUTHORIZATION=header)
        assert found.status == 401
        metrics = send(
            Client(raise_request_exception=False),
            "GET",
            "/metrics",
            None,
            "",
            HTTP_AUTHORIZATION=header,
            REMOTE_ADDR="203.0.113.9",
        )
        assert metrics.status == 404


def test_metrics_need_the_whole_token(world: World) -> None:
    with override_settings(METRICS_TOKEN="s3cret"):
        for header, status in (("Bearer s3cret", 200), ("Bearer s3cre", 404), ("Bearer é", 404), ("", 404)):
            assert world.call("anonymous", "GET", "/metrics", HTTP_AUTHORIZATION=header).status == status


@pytest.mark.parametrize(
    "host", ["evil.example", "testserver.evil.example", "testserver@evil.example", "a b", "", "[::1", "é"]
)
def test_other_host_is_refused(world: World, host: str) -> None:
    for path in ("/", "/login", "/reset", "/api/v1/me"):
        client = Client(raise_request_exception=False)
        found = client.get(path, headers={"Host": host})
        assert found.status_code == 400, path
        assert "evil.example" not in found.content.decode()
        assert "evil.example" not in str(found.headers)


def test_link_in_a_mail_leads_here_whatever_the_request_says(world: World, mailoutbox: Any) -> None:
    for headers in ({"X-Forwarded-Host": "evil.example"}, {"X-Host": "evil.example", "Forwarded": "host=evil.example"}):
        assert Client().post("/reset", {"email": "bob@example.com"}, headers=headers).status_code == 302
    found = Client(raise_request_exception=False).post(
        "/reset", {"email": "bob@example.com"}, headers={"Host": "evil.example"}
    )
    assert found.status_code == 400
    do_jobs("mail")
    assert len(mailoutbox) == 2
    for mail in mailoutbox:
        assert "http://testserver/reset/" in mail.body
        assert "evil" not in str(mail.message())


ELSEWHERE = (
    *("https://evil.example", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example"),
    *("/\t/evil.example", "/%09/evil.example/../..//evil.example", "javascript:alert(1)", "http:evil.example"),
    *(
        "//testserver@evil.example",
        "https://testserver.evil.example/",
        "\x01//evil.example",
        "/\r\nLocation: https://evil.example",
    ),
    *("//evil.example%2f@testserver", "http:///evil.example", "/.//evil.example/..//", "data:text/html,x"),
)


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_next_page_is_one_of_ours(world: World, wanted: str) -> None:
    from urllib.parse import urljoin, urlsplit

    given = {"next": wanted, "language": "en", "username": "bob", "password": PASSWORD}
    visits = [
        Client().post("/login", given),
        Client().post(f"/login?next={spelled(wanted)}", given | {"next": ""}),
        Client().post("/language", given),
    ]
    client = Client()
    client.cookies["tokumei_session"] = world.sessions["member"]
    visits += [client.get("/login", {"next": wanted}), client.get("/sign-up", {"next": wanted})]
    for found in visits:
        assert found.status_code == 302
        # As a browser reads it: tabs and line ends are dropped, a backslash is a slash.
        read = found["Location"].replace("\t", "").replace("\r", "").replace("\n", "").replace("\\", "/")
        assert urlsplit(urljoin("http://testserver/login", read)).netloc == "testserver", found["Location"]


@pytest.mark.parametrize(
    "path", ["//evil.example/teams", "//evil.example/contests/", "/teams", "/contests", "/%2f%2fevil.example"]
)
def test_address_without_its_slash_stays_here(world: World, path: str) -> None:
    # The test's client would take what follows two slashes for a host.
    found = Client(raise_request_exception=False).get("/", PATH_INFO=path)
    assert found.status_code in {301, 302, 404}
    assert not found.headers.get("Location", "/").startswith(("//", "http"))


@pytest.mark.parametrize("route", page_routes(), ids=named)
def test_method_in_a_header_or_field_is_not_obeyed(world: World, route: Route) -> None:
    assert route.access is not None
    path, role = address(route, world.values_for(route, "public")), somebody(route)
    headers = {"X-HTTP-Method-Override": "POST", "X-HTTP-Method": "POST", "X-Method-Override": "POST"}
    expected = world.call(role, "GET", path).status
    assert world.call(role, "GET", f"{path}?_method=POST", headers=headers).status == expected
    for method in one_in(3, ("PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "OPTIONS", "X" * 200), path):
        if method not in route.access.methods:
            assert world.call(role, method, path).status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/static/../secret-key",
        "/static/%2e%2e/secret-key",
        "/static//etc/passwd",
        "/static/..%2fsettings.py",
        "/static/\0",
        "/static/" + "a" * 5000,
        "/static/%00",
        "/static/tokumei.css/../../settings.py",
        "/.git/config",
        "/files/contests",
    ],
)
def test_static_files_are_all_there_is(world: World, path: str) -> None:
    found = Client(raise_request_exception=False).get(path)
    assert found.status_code in {400, 404}
    assert found.headers["X-Content-Type-Options"] == "nosniff"


def test_static_files_have_their_headers(world: World) -> None:
    for name in ("tokumei.css", "tokumei.js", "icon.svg"):
        found = Client().get(f"/static/{name}")
        found.close()
        assert found.status_code == 200
        assert found.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in found.headers["Content-Security-Policy"]
        assert "Set-Cookie" not in found.headers


def test_long_and_odd_addresses_lead_nowhere(world: World) -> None:
    for path in (
        "/" + "a/" * 2000,
        "/" + "%41" * 5000,
        "/\u202e",
        "/%ff",
        "/ ",
        "/;x=1",
        "/./..//",
        "/*",
        "/admin/",
        "/debug",
    ):
        for role in ("anonymous", "admin"):
            assert world.call(role, "GET", path).status in {404, 301}
