"""What every answer tells browsers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.test_access import ROUTES, address, named

from tokumei.platform.access import Route
from tokumei.platform.accounts.models import User
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}
# What the policy would refuse to run, so that a page with it is broken.
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", re.IGNORECASE)
OUTSIDE = re.compile(r"""(?:src|href|action)=["'](?:https?:)?//""")
PLAIN = [
    route for route in ROUTES if route.access and "GET" in route.access.methods and not route.pattern.startswith("api/")
]


def check(answer: Any) -> None:
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]
    assert "no-store" in answer["Cache-Control"]
    if answer["Content-Type"].startswith("text/html"):
        page = answer.content.decode()
        assert INLINE.search(page) is None
        assert OUTSIDE.search(page) is None


@pytest.mark.parametrize("route", PLAIN, ids=named)
def test_every_page_has_the_headers_for_visitors_and_for_users(route: Route, admin: User, log_in: LogIn) -> None:
    check(Client().get(address(route)))
    check(log_in(admin).get(address(route)))


def test_pages_with_something_on_them_have_the_headers(team: Team, alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    for path in ("/teams/", "/teams/red-team", "/teams/red-team/rename", "/account", "/account/second-factor"):
        answer = client.get(path)
        assert answer.status_code == 200
        check(answer)
    check(client.post("/teams/red-team/invite"))


def test_error_pages_have_the_headers(client: Client) -> None:
    check(client.get("/nothing-there"))
    check(Client(enforce_csrf_checks=True).post("/login"))
    check(Client(raise_request_exception=False).get("/", headers={"host": "evil.example"}))


def test_cookies_are_kept_from_scripts_and_other_sites(client: Client, alice: User) -> None:
    client.get("/login")
    answer = client.post("/login", {"username": "alice", "password": "correct horse battery"})
    cookies = {**client.cookies, **answer.cookies}
    assert cookies.keys() == {"tokumei_session", "tokumei_csrf"}
    for cookie in cookies.values():
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_every_page_can_be_used_by_keyboard_and_reader(team: Team, alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    for path in ("/", "/teams/", "/teams/new", "/teams/red-team", "/account", "/account/password"):
        page = client.get(path).content.decode()
        assert page.count("<h1") == 1
        assert page.count("<main") == 1
        assert 'href="#content"' in page
        assert '<html lang="en">' in page
        for field in re.findall(r'<(?:input|select|textarea)(?![^>]*type="hidden")[^>]*\bid="([^"]+)"', page):
            assert f'for="{field}"' in page, (path, field)
