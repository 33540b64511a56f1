"""What may be done only so often: signing up, logging in, resetting, inviting, submitting."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.security.world import PASSWORD, World, files_of, state_of_database
from tests.platform.sites import do_jobs

from tokumei.platform.accounts import services as accounts
from tokumei.platform.accounts.models import Deed, User
from tokumei.platform.api import bearer
from tokumei.platform.contests.models import Contest, Submission
from tokumei.platform.contests.services import joining
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team


def person(world: World, role: str) -> Client:
    client = Client()
    client.cookies["tokumei_session"] = world.sessions[role]
    return client


def sign_up(number: int, **extra: Any) -> int:
    given = {"username": f"n{number}", "email": f"n{number}@example.com", "display_name": "N"}
    given |= {"password": "quite long enough", "password_again": "quite long enough"}
    return Client().post("/sign-up", given, **extra).status_code


def test_accounts_are_made_only_so_often_from_one_network(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "SIGN_UPS_AN_HOUR", 3)
    assert [sign_up(number) for number in range(4)] == [302, 302, 302, 429]
    assert not User.objects.filter(username="n3").exists()
    # What a client says of itself changes nothing; another network has its own count.
    assert sign_up(5, headers={"X-Forwarded-For": "198.51.100.7"}) == 429
    assert sign_up(6, REMOTE_ADDR="198.51.100.7") == 302
    for number, end in enumerate(("1", "2:3", "ffff", "9")):
        assert sign_up(10 + number, REMOTE_ADDR=f"2001:db8::{end}") == (302 if number < 3 else 429)


def test_passwords_are_tried_only_so_often(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "FAILED_LOGINS_AN_HOUR", 5)
    tried = [Client().post("/login", {"username": f"n{n}", "password": "x"}).status_code for n in range(7)]
    assert tried == [200] * 5 + [429] * 2
    assert Client().post("/login", {"username": "bob", "password": PASSWORD}).status_code == 429
    body = {"username": "bob", "password": PASSWORD, "name": "x"}
    assert Client().post("/api/v1/tokens", body, content_type="application/json").status_code == 429
    # Who is locked out here is not locked out elsewhere.
    elsewhere = Client().post("/login", {"username": "bob", "password": PASSWORD}, REMOTE_ADDR="198.51.100.7")
    assert elsewhere.status_code == 302


def test_one_name_is_locked_from_one_address_whatever_its_spelling(world: World) -> None:
    spellings = ["bob", "BOB", "bob@example.com", "Bob ", "BOB@example.com"] * 2
    for name in spellings:
        Client().post("/login", {"username": name, "password": "wrong"})
    assert Client().post("/login", {"username": "bob", "password": PASSWORD}).status_code == 429


def test_own_password_is_asked_only_so_often(world: World) -> None:
    client = person(world, "member")
    given = {"current_password": "wrong", "password": "quite long enough", "password_again": "quite long enough"}
    statuses = [client.post("/account/password", given).status_code for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    tokens = {"name": "x", "scope": "read", "days": "7", "current_password": PASSWORD}
    assert client.post("/account/tokens", tokens).status_code == 429


def test_links_for_new_passwords_are_sent_only_so_often(world: World, mailoutbox: Any) -> None:
    for address, n_sent in (("bob@example.com", 3), ("nobody@example.com", 3)):
        statuses = [Client().post("/reset", {"email": address}).status_code for _ in range(5)]
        # The same for an account that is not there.
        assert statuses == [302] * n_sent + [429] * 2
    do_jobs("mail")
    assert len(mailoutbox) == 3
    for number in range(30):
        last = Client().post("/reset", {"email": f"n{number}@example.com"}).status_code
    assert last == 429


def test_team_has_only_so_many_open_invitations(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        teams, "OPEN_INVITATIONS", teams.open_invitations(Team.objects.get(slug="red-team")).count() + 2
    )
    client = person(world, "captain")
    assert [client.post("/teams/red-team/invite").status_code for _ in range(3)] == [200, 200, 403]


def test_contest_has_only_so_many_open_invitations(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    n_open = joining.open_invitations(Contest.objects.get(slug="club")).count()
    monkeypatch.setattr(joining, "OPEN_INVITATIONS", n_open + 2)
    client = person(world, "organizer")
    invited = [client.post("/contests/club/organize/invite", {"note": "n"}).status_code for _ in range(3)]
    assert invited == [200, 200, 403]


def test_user_is_in_only_so_many_teams(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "TEAMS_OF_A_USER", 3)
    client = person(world, "member")
    made = [client.post("/teams/new", {"slug": f"t{n}", "display_name": f"T{n}"}).status_code for n in range(3)]
    assert made == [302, 302, 429]


def test_quota_of_teams_a_day_is_answered_with_its_reason(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "TEAMS_A_DAY", 1)
    client = person(world, "member")
    answers = [client.post("/teams/new", {"slug": f"q{n}", "display_name": f"Q{n}"}) for n in range(2)]
    assert [answer.status_code for answer in answers] == [302, 429]
    assert "You may make 1 teams a day." in answers[1].content.decode()
    # Leaving a team gives no new one: the quota is of what was made.
    assert client.post("/teams/q0/leave").status_code == 302
    assert client.post("/teams/new", {"slug": "q3", "display_name": "Q3"}).status_code == 429


@pytest.mark.parametrize("by", ["page", "program"])
def test_releases_are_taken_only_so_often(world: World, by: str) -> None:
    contest = Contest.objects.get(slug="draft")
    Contest.objects.filter(pk=contest.pk).update(releases_a_day=3)
    before, files = Submission.objects.count(), files_of(world.folder)
    statuses = []
    for _ in range(4):
        given = {"R": SimpleUploadedFile("R.csv", b"11\n20\n30\n40\n50\n60\n")}
        if by == "page":
            found = person(world, "captain").post("/contests/draft/submit", given, headers={"X-Upload": "1"})
        else:
            bearer_header = {"Authorization": f"Bearer {world.tokens['member']}"}
            found = Client().post("/api/v1/contests/draft/releases", given, headers=bearer_header)
        statuses.append(found.status_code)
    # One was handed in when the world was made.
    assert statuses == [200 if by == "page" else 201] * 2 + [403] * 2
    assert Submission.objects.count() == before + 2
    for submission in Submission.objects.order_by("-pk")[:2]:
        for file in submission.folder.iterdir():
            file.unlink()
        submission.folder.rmdir()
    assert files_of(world.folder) == files


def test_programs_change_things_only_so_often(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearer, "CHANGES_AN_HOUR", 2)
    header = {"Authorization": f"Bearer {world.tokens['organizer']}"}
    body = {"title": "t", "text": "t"}
    statuses = [
        Client()
        .post("/api/v1/contests/cup/announcements", body, content_type="application/json", headers=header)
        .status_code
        for _ in range(3)
    ]
    assert statuses == [201, 201, 429]


def test_what_is_counted_tells_no_address_and_no_name(world: World) -> None:
    Client().post("/login", {"username": "bob", "password": "wrong"}, REMOTE_ADDR="203.0.113.77")
    Client().post("/reset", {"email": "bob@example.com"}, REMOTE_ADDR="203.0.113.77")
    assert Deed.objects.exists()
    kept = repr(state_of_database()["Deed"])
    assert "203.0.113" not in kept
    assert "bob" not in kept
