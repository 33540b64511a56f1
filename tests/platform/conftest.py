"""People, teams and pages for the tests of the platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import translation
from tests.platform.sites import both_databases, postgres_database, site  # noqa: F401 - fixtures.

from tokumei.platform.accounts.models import User
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team

PASSWORD = "correct horse battery"

MakeUser = Callable[..., User]
LogIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def speak_english() -> Iterator[None]:
    """Forget the language that a request of a test chose: it stays with the thread, and the next test has none."""
    yield
    translation.deactivate()


@pytest.fixture
def make_user(db: None) -> MakeUser:
    """Make users: `make_user("alice", is_organizer=True)`; their password is PASSWORD."""

    def make(username: str, **facts: Any) -> User:
        return User.objects.create_user(username, f"{username}@example.com", PASSWORD, **facts)

    return make


@pytest.fixture
def alice(make_user: MakeUser) -> User:
    """A user, and the captain of `team` where a test asks for that too."""
    return make_user("alice", display_name="Alice")


@pytest.fixture
def bob(make_user: MakeUser) -> User:
    """A user, and a member of `team` where a test asks for that too."""
    return make_user("bob", display_name="Bob")


@pytest.fixture
def mallory(make_user: MakeUser) -> User:
    """A user who is in no team."""
    return make_user("mallory", display_name="Mallory")


@pytest.fixture
def organizer(make_user: MakeUser) -> User:
    """A user who may make contests."""
    return make_user("olga", display_name="Olga", is_organizer=True)


@pytest.fixture
def admin(make_user: MakeUser) -> User:
    """The site's admin."""
    return make_user("root", display_name="Root", is_superuser=True)


@pytest.fixture
def team(alice: User, bob: User) -> Team:
    """A team of two: alice is its captain, bob a member."""
    made = teams.create_team(alice, slug="red-team", display_name="Red Team")
    _, token = teams.invite(made, alice)
    teams.accept(bob, token)
    return made


@pytest.fixture
def other_team(mallory: User) -> Team:
    """A team that neither alice nor bob is in."""
    return teams.create_team(mallory, slug="blue-team", display_name="Blue Team")


@pytest.fixture
def log_in() -> LogIn:
    """Return a client that is logged in as a user: `log_in(alice).get("/teams/")`."""

    def enter(user: User) -> Client:
        client = Client()
        client.force_login(user, backend="tokumei.platform.accounts.authentication.NameOrEmail")
        return client

    return enter


@pytest.fixture
def page(browser: Any, live_server: Any) -> Iterator[Any]:
    """A page of the browser at the live server; an error of a script or a breach of the policy fails the test."""
    context = browser.new_context(base_url=live_server.url, locale="en", viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None,
    )
    yield opened
    context.close()
    assert complaints == []
