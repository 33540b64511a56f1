"""Deleting an account for good: what goes, what stays as a tombstone, and what must be settled first."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from tests.platform.conftest import PASSWORD, LogIn, MakeUser
from tests.platform.contest_plays import make_contest, odd_edition, release  # noqa: F401 - a fixture.
from tests.platform.programs import program_of
from tests.platform.test_accounts import enter, is_logged_in
from tests.platform.test_second_factor import switch_on

from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import delete_account
from tokumei.platform.exchange.models import exchange_folder
from tokumei.platform.exchange.services import requesting
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db


def everything_kept() -> str:
    """All rows of all tables as text."""
    return repr([list(model._base_manager.values()) for model in apps.get_models()])


def test_deleted_account_leaves_a_tombstone_and_nothing_of_the_person(
    bob: User, team: Team, log_in: LogIn, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    client, program = log_in(bob), program_of(bob)
    Client().post("/login", {"username": "bob", "password": "wrong"})
    switch_on(client, bob)
    requesting.introduce(bob, organization="Institute of Bob")
    key_file = exchange_folder() / "keys" / f"{bob.recipient.key_name}.key"
    assert key_file.exists()
    before = everything_kept()
    assert all(word in before for word in ("'bob'", "bob@example.com", "Institute of Bob"))

    assert client.post("/account/delete", {"current_password": "wrong"}).status_code == 200
    assert User.objects.get(pk=bob.pk).deleted_at is None
    with caplog.at_level(logging.WARNING, "tokumei.accounts"), django_capture_on_commit_callbacks(execute=True):
        assert client.post("/account/delete", {"current_password": PASSWORD})["Location"] == "/"

    after = everything_kept().lower()
    assert "bob" not in after
    assert [record.facts for record in caplog.records if record.name == "tokumei.accounts"] == [{"account": bob.pk}]  # type: ignore[attr-defined]
    stone = User.objects.get(pk=bob.pk)
    assert stone.deleted_at is not None
    assert not stone.has_usable_password()
    assert not team.memberships.filter(user=bob).exists()
    assert not key_file.exists()
    assert not is_logged_in(client)
    assert program.get("/me").status_code == 401
    visitor = Client()
    enter(visitor, username="bob")
    assert not is_logged_in(visitor)
    # The name is free again, and the new owner is somebody else.
    assert User.objects.create_user("bob", "bob@example.com", PASSWORD).pk != bob.pk


def test_deleted_account_is_not_opened_again_by_an_admin(bob: User, admin: User, log_in: LogIn) -> None:
    delete_account(bob)
    bob.refresh_from_db()
    assert log_in(admin).post(f"/people/{bob.username}", {"do": "open"}).status_code == 403
    assert not User.objects.get(pk=bob.pk).is_active
    assert bob.username not in log_in(admin).get("/people").content.decode()


def test_what_a_team_handed_in_outlives_the_account(
    organizer: User, alice: User, bob: User, team: Team, other_team: Team, mallory: User, log_in: LogIn
) -> None:
    contest = make_contest(organizer, (team, alice), (other_team, mallory))
    made = release(contest, team, bob)
    delete_account(bob)
    page = log_in(alice).get(f"/contests/submissions/{made.key}")
    assert page.status_code == 200
    assert "Bob" not in page.content.decode()


def test_who_others_depend_on_settles_that_first(
    alice: User, team: Team, organizer: User, admin: User, make_user: MakeUser
) -> None:
    contest = make_contest(organizer)
    for user, reason in ((alice, "captain of Red Team"), (organizer, "which is not over"), (admin, "last admin")):
        with pytest.raises(NotAllowed, match=reason):
            delete_account(user)
        assert User.objects.get(pk=user.pk).is_active
    # Refused means untouched: alice still leads, nothing half-done.
    assert team.memberships.get(user=alice).is_captain
    teams.make_captain(team, User.objects.get(username="bob").pk)
    make_user("second", is_superuser=True)
    contest.delete()
    for user in (alice, organizer, admin):
        delete_account(user)
    assert User.objects.filter(deleted_at=None).count() == 2


def test_page_for_deleting_tells_why_it_refuses(alice: User, team: Team, log_in: LogIn) -> None:
    answer = log_in(alice).post("/account/delete", {"current_password": PASSWORD})
    assert answer.status_code == 403
    assert "captain of Red Team" in answer.content.decode()
