"""From a contest to an account, a team and back; what is named at log-in; the dashboard; which contests come first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import PASSWORD, LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    guess,
    make_contest,
    move_to,
    odd_edition,
    open_contest,
    release,
    text_of,
)

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services import contests, joining
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db

NEW_TEAM = {"display_name": "新しい組", "slug": "new-team"}


def test_new_person_signs_up_makes_a_team_and_lands_in_the_contest(organizer: User) -> None:
    make_contest(organizer)
    client = Client()
    page = client.get("/contests/cup")
    assert 'href="/sign-up?next=/contests/cup"' in page.content.decode()
    signing = client.get("/sign-up?next=/contests/cup")
    assert "Then you take part in A <b>cup</b>." in text_of(signing)
    given = {"username": "hana", "display_name": "花", "email": "hana@example.com", "next": "/contests/cup"}
    answer = client.post("/sign-up", given | {"password": PASSWORD, "password_again": PASSWORD})
    assert answer["Location"] == "/contests/cup"
    # The address is not confirmed yet: the page says so, and no team is left behind by trying.
    assert "Confirm your address first" in text_of(client.get("/contests/cup"))
    refused = client.post("/contests/cup/team", NEW_TEAM | {"then": "enter"})
    assert "Confirm your email address first" in text_of(refused)
    assert not Team.objects.exists()
    User.objects.filter(username="hana").update(verified_at=timezone.now())
    answer = client.post("/contests/cup/team", NEW_TEAM | {"then": "enter"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/contests/cup"
    assert "Your team 新しい組 takes part." in " ".join(text_of(answer).split())


def test_team_that_is_made_to_invite_others_is_not_entered_yet(organizer: User, alice: User, log_in: LogIn) -> None:
    contest = make_contest(organizer)
    answer = log_in(alice).post("/contests/cup/team", NEW_TEAM | {"then": "invite"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/teams/new-team"
    assert "then enter it in A <b>cup</b>" in text_of(answer)
    assert not joining.participants(contest).exists()
    assert "新しい組" in text_of(log_in(alice).get("/contests/cup"))


def test_faults_of_a_new_team_are_told_on_the_page_of_the_contest(organizer: User, alice: User, log_in: LogIn) -> None:
    make_contest(organizer)
    answer = log_in(alice).post("/contests/cup/team", {"display_name": "", "slug": "a b"})
    assert answer.status_code == 200
    assert answer.content.decode().count('class="errorlist"') == 2


def test_invited_person_joins_the_team_from_the_contest(
    organizer: User, team: Team, alice: User, mallory: User, log_in: LogIn
) -> None:
    make_contest(organizer)
    _, token = teams.invite(team, alice)
    client = log_in(mallory)
    answer = client.post("/contests/cup/team/join", {"link": f"https://host.example/teams/join/{token}"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/contests/cup"
    said = text_of(answer)
    assert "You are in the team Red Team now." in said
    assert "its captain enters it" in said
    answer = client.post("/contests/cup/team/join", {"link": "made-up"}, follow=True)
    assert "There is no such invitation." in text_of(answer)


def test_invitation_is_named_at_log_in_in_both_languages(team: Team, alice: User, organizer: User) -> None:
    _, token = teams.invite(team, alice)
    _, private = joining.invite(make_contest(organizer, is_public=False))
    for page in ("/login", "/sign-up"):
        said = text_of(Client().get(f"{page}?next=/teams/join/{token}"))
        assert "Alice invites you to the team Red Team." in said
        said = text_of(Client().get(f"{page}?next=/teams/join/{token}", headers={"accept-language": "ja"}))
        assert "チーム「Red Team」に招待されています" in said
        assert "you take part in A <b>cup</b>" in text_of(Client().get(f"{page}?next=/contests/join/{private}"))
    # Neither a made-up link nor a private contest is named, nor an address of another host.
    for hidden in ("/teams/join/made-up", "/contests/join/made-up", "/contests/cup", "//evil.example/", "/no/page"):
        page = Client().get(f"/login?next={hidden}").content.decode()
        assert 'class="notice"' not in page, hidden


def test_captain_without_a_team_makes_one_and_comes_back_to_the_invitation(
    organizer: User, alice: User, log_in: LogIn
) -> None:
    _, token = joining.invite(make_contest(organizer, is_public=False))
    client, address = log_in(alice), f"/contests/join/{token}"
    assert f"/teams/new?next={address}" in client.get(address).content.decode()
    answer = client.post("/teams/new", NEW_TEAM | {"next": address})
    assert answer["Location"] == address
    assert client.post("/teams/new", {"display_name": "B", "slug": "b", "next": "//evil.example"})["Location"] == "/"


def test_dashboard_has_deadlines_attempts_scores_and_what_waits(
    contest: Contest, alice: User, bob: User, team: Team, other_team: Team, organizer: User, log_in: LogIn
) -> None:
    client = log_in(alice)
    said = " ".join(text_of(client.get("/")).split())
    assert "Hello, Alice" in said
    # One of five of today is used; the release lost 0.01 / 6.
    assert "Attempts left 4 Place 1 of 2 Last submissions Release : use lost 0.002" in said
    assert "data-until" in client.get("/").content.decode()
    release(contest, team, alice, "x")
    assert "was not scored" in text_of(client.get("/"))
    contest = move_to(contest, Phase.ATTACK)
    assert "1 release not attacked yet." in text_of(client.get("/"))
    assert "まだ攻撃していない加工データが 1 件" in text_of(client.get("/", headers={"accept-language": "ja"}))
    guess(contest, team, alice, other_team, "0 0 0 0 0 0")
    said = text_of(client.get("/"))
    assert "not attacked yet" not in said
    # How right it was stays hidden.
    assert "shown at the end" in said
    assert "0.167" not in said
    assert "Contests that you organize" in text_of(log_in(organizer).get("/"))
    assert "Your contests" not in text_of(Client().get("/"))


def test_hidden_board_tells_no_place_on_the_dashboard(contest: Contest, alice: User, log_in: LogIn) -> None:
    contests.change_board(contest, board="hidden", digits_shown=3, shows_guess_scores=False)
    assert "of 2" not in text_of(log_in(alice).get("/"))


def test_unconfirmed_person_is_told_on_the_dashboard(alice: User, log_in: LogIn) -> None:
    User.objects.filter(pk=alice.pk).update(verified_at=None)
    assert "Confirm your address" in text_of(log_in(alice).get("/"))


def test_open_contests_come_first_and_closed_ones_name_their_winners(
    contest: Contest, organizer: User, team: Team, alice: User
) -> None:
    move_to(contest, Phase.CLOSED)
    now = timezone.now()
    make_contest(
        organizer,
        slug="later",
        opens_at=now + timedelta(days=1),
        attacks_open_at=now + timedelta(days=2),
        closes_at=now + timedelta(days=3),
    )
    make_contest(organizer, slug="ends-last", closes_at=now + timedelta(days=9))
    make_contest(organizer, slug="ends-first", closes_at=now + timedelta(days=4))
    page = Client().get("/contests/").content.decode()
    found = [page.index(f'href="/contests/{slug}"') for slug in ("ends-first", "ends-last", "later", "cup")]
    assert found == sorted(found)
    assert " ".join(text_of(Client().get("/contests/")).split()).count("Won by Red Team") == 1
    said = " ".join(text_of(Client().get("/contests/cup")).split())
    assert "Winners Red Team score 0.000833 Blue Team" in said
    assert "入賞チーム" in text_of(Client().get("/contests/cup", headers={"accept-language": "ja"}))


def test_winners_are_nobodys_before_the_end(contest: Contest) -> None:
    assert "Winners" not in text_of(Client().get("/contests/cup"))
