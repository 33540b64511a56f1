"""Forms from elsewhere, planted sessions, passwords tried out."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.sessions.models import Session
from django.test import Client, override_settings
from tests.platform.security.world import (
    PASSWORD,
    USERS,
    World,
    address,
    may_see,
    named,
    normal,
    page_routes,
    send,
    state_of_database,
    unsafe_methods,
)
from tests.platform.sites import do_jobs

from tokumei.platform.access import Route
from tokumei.platform.accounts.models import User
from tokumei.platform.api import services as tokens
from tokumei.platform.notices.services import token_of

UNSAFE = [route for route in page_routes() if unsafe_methods(route)]
NEW_PASSWORD = "another horse battery"
# What the forms of pages want, so that a post with a token really does something.
PAYLOADS: dict[str, dict[str, Any]] = {
    "language": {"language": "ja"},
    "account": {"display_name": "Other", "email": "alice@example.com", "language": "ja"},
    "teams/new": {"slug": "new-team", "display_name": "New"},
    "teams/<str:team>/rename": {"display_name": "Renamed"},
    "people/<str:username>": {"do": "make_organizer"},
    "contests/<slug:contest>/organize/announce": {"title": "t", "text": "t"},
    "contests/<slug:contest>/organize/board": {"board": "hidden", "digits_shown": "2"},
    "contests/<slug:contest>/organize/invite": {"note": "n"},
    "contests/<slug:contest>/organize/phase": {"move": "close"},
    "contests/<slug:contest>/organize/hold": {"hold": "yes"},
    "contests/<slug:contest>/organize/texts": {"title": "Another"},
    "contests/<slug:contest>/organize/limits": {
        "releases_a_day": "2",
        "releases_in_all": "2",
        "guesses_a_day": "2",
        "guesses_on_one": "1",
    },
    "contests/<slug:contest>/organize/message": {"teams": ["red-team"], "text": "t"},
    "contests/<slug:contest>/organize/questions/<int:question>": {"text": "t"},
    "contests/<slug:contest>/questions/ask": {"text": "t"},
    "notices/settings": {"mailing": "digest"},
    "contests/<slug:contest>/organize/organizers": {"username": "oscar"},
    "contests/<slug:contest>/organize/teams/<int:participation>/disqualify": {"reason": "r"},
    "contests/<slug:contest>/join": {"team": "red-team"},
}
# A right post to these changes a row in the world as it is.
CHANGING = {
    "account",
    "account/tokens/<int:token>/revoke",
    "language",
    "people/<str:username>",
    "teams/new",
    "teams/<str:team>/rename",
    "teams/<str:team>/invite",
    "teams/<str:team>/leave",
    "teams/<str:team>/invitations/<int:invitation>/revoke",
    "teams/<str:team>/members/<int:member>/remove",
    "teams/<str:team>/members/<int:member>/make-captain",
    "contests/<slug:contest>/organize/announce",
    "contests/<slug:contest>/organize/board",
    "contests/<slug:contest>/organize/invite",
    "contests/<slug:contest>/organize/phase",
    "contests/<slug:contest>/organize/hold",
    "contests/<slug:contest>/organize/texts",
    "contests/<slug:contest>/organize/limits",
    "contests/<slug:contest>/organize/organizers",
    "contests/<slug:contest>/organize/rejudge",
    "contests/<slug:contest>/organize/message",
    "contests/<slug:contest>/organize/questions/<int:question>",
    "contests/<slug:contest>/questions/ask",
    "notices/read",
    "notices/settings",
    "notices/calendar",
    "notices/<int:notice>/open",
    "contests/<slug:contest>/organize/teams/<int:participation>/disqualify",
    "contests/<slug:contest>/organize/invitations/<int:invitation>/revoke",
}


def logged_in(world: World, role: str, **options: Any) -> Client:
    """Return a client with the session of somebody."""
    client = Client(**options)
    client.cookies[settings.SESSION_COOKIE_NAME] = world.sessions[role]
    return client


def role_for(route: Route) -> str:
    """Choose somebody who may send the form."""
    allowed = may_see(route, "public") & USERS
    return next(role for role in ("member", "captain", "organizer", "admin", "rival") if role in allowed)


@pytest.mark.parametrize("route", UNSAFE, ids=named)
def test_form_without_its_token_changes_nothing(world: World, route: Route) -> None:
    assert route.access is not None
    path, role = address(route, world.values_for(route, "public")), role_for(route)
    before = state_of_database()
    for method in sorted(unsafe_methods(route)):
        for token in ({}, {"csrfmiddlewaretoken": "a" * 64}):
            client = logged_in(world, role, enforce_csrf_checks=True)
            client.cookies[settings.CSRF_COOKIE_NAME] = "b" * 32
            found = client.generic(
                method,
                path,
                "&".join(f"{name}={value}" for name, value in (PAYLOADS.get(route.pattern, {}) | token).items()),
                content_type="application/x-www-form-urlencoded",
            )
            assert found.status_code == 403, f"{role} {method} {path}"
            assert "did not come from this site" in found.content.decode()
    assert state_of_database() == before


@pytest.mark.parametrize("route", [route for route in UNSAFE if route.pattern in CHANGING], ids=named)
def test_form_with_its_token_does_its_work(world: World, route: Route) -> None:
    """What the test above shows would be worth nothing if the same form did nothing anyway."""
    path, role = address(route, world.values_for(route, "public")), role_for(route)
    client = logged_in(world, role, enforce_csrf_checks=True)
    client.get("/account")
    before = state_of_database()
    token = client.cookies[settings.CSRF_COOKIE_NAME].value
    found = client.post(path, PAYLOADS.get(route.pattern, {}) | {"csrfmiddlewaretoken": token})
    assert found.status_code in {200, 302}, path
    assert state_of_database() != before


def test_form_of_another_site_is_refused_even_with_a_token(world: World) -> None:
    client = logged_in(world, "captain", enforce_csrf_checks=True)
    client.get("/account")
    token = client.cookies[settings.CSRF_COOKIE_NAME].value
    given = {"display_name": "Renamed", "csrfmiddlewaretoken": token}
    for origin in ("https://evil.example", "null", "http://testserver.evil.example"):
        assert client.post("/teams/red-team/rename", given, headers={"Origin": origin}).status_code == 403
    assert client.post("/teams/red-team/rename", given, headers={"Origin": "http://testserver"}).status_code == 302


def test_session_planted_before_logging_in_is_worth_nothing(world: World) -> None:
    victim, planted = Client(), Client()
    planted.post("/language", {"language": "en"})
    session = planted.session
    session["mark"] = "planted"
    session.save()
    victim.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    assert victim.post("/login", {"username": "bob", "password": PASSWORD}).status_code == 302
    assert victim.cookies[settings.SESSION_COOKIE_NAME].value != session.session_key
    planted.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    assert planted.get("/account").status_code == 302
    assert not Session.objects.filter(session_key=session.session_key).exists()
    # A key that the server never gave is not taken up.
    victim = Client()
    victim.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
    victim.post("/login", {"username": "bob", "password": PASSWORD})
    assert victim.cookies[settings.SESSION_COOKIE_NAME].value != "a" * 32


def test_logging_out_ends_the_session_on_the_server(world: World) -> None:
    client = logged_in(world, "member")
    stolen = SimpleCookie({settings.SESSION_COOKIE_NAME: world.sessions["member"]})
    assert client.get("/logout").status_code == 405
    assert client.get("/account").status_code == 200
    client.post("/logout")
    thief = Client()
    thief.cookies = stolen
    assert thief.get("/account").status_code == 302
    assert not Session.objects.filter(session_key=world.sessions["member"]).exists()


def changed_by_form(world: World) -> Client:
    client = logged_in(world, "member")
    given = {"current_password": PASSWORD, "password": NEW_PASSWORD, "password_again": NEW_PASSWORD}
    assert client.post("/account/password", given)["Location"] == "/account"
    return client


def changed_by_link(world: World) -> Client:
    from django.core import mail

    Client().post("/reset", {"email": "bob@example.com"})
    do_jobs("mail")
    link = next(word for word in str(mail.outbox[-1].body).split() if word.startswith("http"))
    client = Client()
    given = {"password": NEW_PASSWORD, "password_again": NEW_PASSWORD}
    assert client.post(link, given)["Location"] == "/login"
    # The link works once.
    assert client.post(link, given).status_code == 404
    return client


@pytest.mark.parametrize("change", [changed_by_form, changed_by_link])
def test_new_password_ends_all_other_sessions_and_tokens(world: World, change: Any) -> None:
    elsewhere = Client()
    elsewhere.post("/login", {"username": "bob", "password": PASSWORD})
    _, token = tokens.make_token(world.user("member"), name="script", scope="read", days=None)
    bearer = {"Authorization": f"Bearer {token}"}
    assert elsewhere.get("/account").status_code == 200
    assert Client().get("/api/v1/me", headers=bearer).status_code == 200
    calendar = f"/calendar/{token_of(world.user('member'))}.ics"
    assert Client().get(calendar).status_code == 200
    here = change(world)
    # Whoever was in the account may have seen the address of the calendar.
    assert Client().get(calendar).status_code == 404
    assert elsewhere.get("/account").status_code == 302
    assert Client().get("/api/v1/me", headers=bearer).status_code == 401
    assert here.get("/account").status_code == (200 if change is changed_by_form else 302)
    for password, status in ((PASSWORD, 200), (NEW_PASSWORD, 302)):
        assert Client().post("/login", {"username": "bob", "password": password}).status_code == status


def test_closed_account_has_neither_session_nor_token(world: World) -> None:
    User.objects.filter(username="bob").update(is_active=False)
    assert world.call("member", "GET", "/account").status == 302
    assert world.call("member", "GET", "/api/v1/me").status == 401
    assert Client().post("/login", {"username": "bob", "password": PASSWORD}).status_code == 200


@pytest.mark.parametrize("is_secure", [False, True])
def test_cookies_have_their_flags(world: World, is_secure: bool) -> None:
    with override_settings(SESSION_COOKIE_SECURE=is_secure, CSRF_COOKIE_SECURE=is_secure):
        client = Client()
        client.get("/login", secure=is_secure)
        client.post("/login", {"username": "bob", "password": PASSWORD}, secure=is_secure)
        client.post("/language", {"language": "ja"}, secure=is_secure)
    assert set(client.cookies) == {"tokumei_session", "tokumei_csrf", "tokumei_language"}
    for name, cookie in client.cookies.items():
        assert (cookie["httponly"], cookie["samesite"], cookie["domain"]) == (True, "Lax", ""), name
        assert bool(cookie["secure"]) == (is_secure and name != "tokumei_language")


@pytest.fixture
def n_hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes every computation of a password's hash."""
    done: list[str] = []
    for name in ("encode", "verify"):
        real = getattr(Argon2PasswordHasher, name)

        def counted(self: Any, *given: Any, real: Any = real, name: str = name) -> Any:
            done.append(name)
            return real(self, *given)

        monkeypatch.setattr(Argon2PasswordHasher, name, counted)
    return done


@pytest.mark.parametrize("where", ["/login", "/api/v1/tokens"])
def test_unknown_name_and_wrong_password_are_alike(world: World, where: str, n_hashed: list[str]) -> None:
    User.objects.create_user("closed", "closed@example.com", PASSWORD, is_active=False)
    answers, work = set(), set()
    for name in ("nobody", "nobody@example.com", "bob", "bob@example.com", "BOB", "closed"):
        for password in ("wrong password", PASSWORD if name == "closed" else "x"):
            n_hashed.clear()
            found = attempt(world, where, name, password)
            status, headers, text = normal(found, where)
            answers.add((status, str(headers), text.replace(f'value="{name}"', 'value="NAME"')))
            work.add(len(n_hashed))
    assert len(answers) == 1
    assert work == {1}


def attempt(world: World, where: str, name: str, password: str) -> Any:
    """Try a password."""
    if where == "/login":
        return send(Client(), "POST", where, {"username": name, "password": password}, "")
    import json

    body = json.dumps({"username": name, "password": password, "name": "x"})
    return send(Client(), "POST", where, body, "application/json")


@pytest.mark.parametrize("where", ["/login", "/api/v1/tokens"])
def test_unknown_and_known_names_are_locked_out_alike(world: World, where: str) -> None:
    courses = []
    for name in ("nobody", "bob"):
        course = [attempt(world, where, name, f"wrong {number}").status for number in range(12)]
        course.append(attempt(world, where, name, PASSWORD).status)
        courses.append(course)
    assert courses[0] == courses[1]
    assert courses[0][-1] == 429
    assert 429 not in courses[0][:9]


def test_forgotten_password_tells_nothing_of_accounts(world: World) -> None:
    known = send(Client(), "POST", "/reset", {"email": "bob@example.com"}, "")
    unknown = send(Client(), "POST", "/reset", {"email": "nobody@example.com"}, "")
    assert normal(known, "/reset") == normal(unknown, "/reset")


def test_code_cannot_be_asked_for_without_the_password(world: World) -> None:
    for client in (Client(), logged_in(world, "rival")):
        assert client.post("/login/code", {"code": "000000"})["Location"] == "/login"
