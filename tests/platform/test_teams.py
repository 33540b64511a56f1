"""Teams: who may do what, and links that let one person in once."""

from __future__ import annotations

import re
import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn, MakeUser

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.teams import services
from tokumei.platform.teams.models import Invitation, Membership, Role, Team
from tokumei.platform.typed_text import inert_cell, same_name_key

pytestmark = pytest.mark.django_db

LINK = re.compile(r'value="http://testserver(/teams/join/[^"]+)"')


def roles(team: Team) -> dict[str, str]:
    return dict(Membership.objects.filter(team=team).values_list("user__username", "role"))


def link_of(client: Client, team: Team) -> str:
    found = LINK.search(client.post(f"/teams/{team.slug}/invite").content.decode())
    assert found is not None
    return found[1]


def test_team_made_in_the_browser_has_its_maker_as_captain(alice: User, log_in: LogIn) -> None:
    answer = log_in(alice).post("/teams/new", {"slug": "Red_1", "display_name": " チーム\u3000赤 "})
    assert (answer.status_code, answer["Location"]) == (302, "/teams/Red_1")
    team = Team.objects.get()
    assert team.display_name == "チーム 赤"
    assert roles(team) == {"alice": "captain"}


@pytest.mark.parametrize(
    ("slug", "display_name"),
    [
        ("RED-TEAM", "Another"),
        ("another", "ＲＥＤ　ｔｅａｍ"),
        ("another", "red  TEAM"),
        ("-red", "Another"),
        ("a" * 41, "Another"),
        ("ré", "Another"),
        ("a/b", "Another"),
        ("new", "Another"),
        ("another", "a\u202eb"),
        ("another", "a\u200bb"),
        ("another", "\u3164"),
        ("another", "a" * 61),
        ("another", "a" + 6 * "\u0301"),
        ("another", "\u0301a"),
        ("another", " "),
    ],
)
def test_team_name_that_is_taken_or_not_a_name_is_refused(
    team: Team, mallory: User, log_in: LogIn, slug: str, display_name: str
) -> None:
    answer = log_in(mallory).post("/teams/new", {"slug": slug, "display_name": display_name})
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert Team.objects.count() == 1


def test_team_name_taken_between_look_and_change_is_refused(team: Team, mallory: User) -> None:
    with pytest.raises(NotAllowed):
        services.create_team(mallory, slug="Red-Team", display_name="Other")
    with pytest.raises(NotAllowed):
        services.create_team(mallory, slug="other", display_name="RED TEAM")
    assert services.teams_of(mallory).count() == 0


@pytest.mark.parametrize(
    ("one", "other"), [("Ａｂｃ", "abc"), ("ﬁne", "FINE"), ("straße", "STRASSE"), ("ｶﾞ", "ガ"), ("葛\U000e0100", "葛")]
)
def test_names_that_look_the_same_have_one_key(one: str, other: str) -> None:
    assert same_name_key(one) == same_name_key(other)


def test_invitation_lets_one_user_in_once(
    team: Team, alice: User, mallory: User, make_user: MakeUser, log_in: LogIn
) -> None:
    link = link_of(log_in(alice), team)
    eve, token = make_user("eve"), link.rpartition("/")[2]
    assert token not in str(list(Invitation.objects.values()))
    page = log_in(mallory).get(link).content.decode()
    assert "Alice invites you to the team Red Team." in page
    assert roles(team).keys() == {"alice", "bob"}
    assert log_in(mallory).post(link)["Location"] == "/teams/red-team"
    assert roles(team) == {"alice": "captain", "bob": "member", "mallory": "member"}
    made_up = log_in(eve).get("/teams/join/made-up-token")
    for answer in (log_in(eve).get(link), log_in(eve).post(link)):
        assert answer.status_code == made_up.status_code == 404
    assert "eve" not in roles(team)


def test_invitation_of_somebody_not_logged_in_leads_through_logging_in(team: Team, alice: User, log_in: LogIn) -> None:
    link = link_of(log_in(alice), team)
    answer = Client().get(link)
    assert answer["Location"] == f"/login?next={link}"
    assert Client().get("/teams/join/made-up")["Location"] == "/login?next=/teams/join/made-up"


def test_invitation_accepted_by_a_member_is_not_used_up(team: Team, alice: User, bob: User, mallory: User) -> None:
    _, token = services.invite(team, alice)
    services.accept(bob, token)
    services.accept(mallory, token)
    assert "mallory" in roles(team)


def test_invitation_revoked_or_expired_is_void(team: Team, alice: User, mallory: User, log_in: LogIn) -> None:
    invitation, token = services.invite(team, alice)
    assert log_in(alice).post(f"/teams/red-team/invitations/{invitation.pk}/revoke").status_code == 302
    with pytest.raises(NotFound):
        services.accept(mallory, token)
    invitation, token = services.invite(team, alice)
    Invitation.objects.filter(pk=invitation.pk).update(expires=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotFound):
        services.accept(mallory, token)
    assert "mallory" not in roles(team)


def test_invitation_of_another_team_cannot_be_revoked(
    team: Team, other_team: Team, alice: User, mallory: User, log_in: LogIn
) -> None:
    invitation, token = services.invite(team, alice)
    assert log_in(mallory).post(f"/teams/blue-team/invitations/{invitation.pk}/revoke").status_code == 404
    assert services.invitation_of(token).pk == invitation.pk


@pytest.mark.django_db(transaction=True)
def test_invitation_accepted_by_many_at_once_lets_one_in(alice: User, make_user: MakeUser) -> None:
    team = services.create_team(alice, slug="rush", display_name="Rush")
    _, token = services.invite(team, alice)
    others = [make_user(f"user{n}") for n in range(6)]
    refused: list[User] = []

    def accept(user: User) -> None:
        try:
            services.accept(user, token)
        except NotFound:
            refused.append(user)
        finally:
            connection.close()

    threads = [threading.Thread(target=accept, args=(user,)) for user in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    assert len(roles(team)) == 2


def test_pages_of_a_team_for_others_are_the_same_as_for_none(
    team: Team, other_team: Team, alice: User, mallory: User, organizer: User, admin: User, log_in: LogIn
) -> None:
    for user in (mallory, organizer, admin):
        client = log_in(user)
        for path in ("", "/rename"):
            theirs, none = client.get(f"/teams/red-team{path}"), client.get(f"/teams/no-such-team{path}")
            assert theirs.status_code == none.status_code == 404
            assert _without_address(theirs.content) == _without_address(none.content)
        for path in ("invite", "leave", f"members/{alice.pk}/remove", f"members/{alice.pk}/make-captain", "rename"):
            assert client.post(f"/teams/red-team/{path}").status_code == 404
    assert roles(team) == {"alice": "captain", "bob": "member"}


def _without_address(page: bytes) -> str:
    return re.sub(r'name="(next|csrfmiddlewaretoken)" value="[^"]*"', "", page.decode())


def test_member_who_is_no_captain_cannot_do_what_captains_do(team: Team, alice: User, bob: User, log_in: LogIn) -> None:
    client = log_in(bob)
    page = client.get("/teams/red-team").content.decode()
    assert "Leave the team" in page
    for word in ("Make captain", "Rename", "invitation link", "Close the team"):
        assert word not in page
    for path in ("invite", f"members/{alice.pk}/remove", f"members/{bob.pk}/make-captain", "rename"):
        assert client.post(f"/teams/red-team/{path}").status_code == 404
    assert roles(team) == {"alice": "captain", "bob": "member"}


def test_captain_removes_a_member_who_then_sees_nothing(team: Team, alice: User, bob: User, log_in: LogIn) -> None:
    assert log_in(bob).get("/teams/red-team").status_code == 200
    assert log_in(alice).post(f"/teams/red-team/members/{bob.pk}/remove").status_code == 302
    assert log_in(bob).get("/teams/red-team").status_code == 404
    assert log_in(alice).post(f"/teams/red-team/members/{bob.pk}/remove").status_code == 404
    assert log_in(alice).post(f"/teams/red-team/members/{alice.pk}/remove").status_code == 403


def test_captaincy_handed_over_leaves_one_captain(team: Team, alice: User, bob: User, log_in: LogIn) -> None:
    assert log_in(alice).post("/teams/red-team/leave").status_code == 403
    assert log_in(alice).post(f"/teams/red-team/members/{bob.pk}/make-captain").status_code == 302
    assert roles(team) == {"alice": "member", "bob": "captain"}
    assert log_in(alice).post("/teams/red-team/leave").status_code == 302
    assert roles(team) == {"bob": "captain"}


def test_second_captain_is_refused_by_the_database(team: Team, bob: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.filter(user=bob).update(role=Role.CAPTAIN)


def test_last_one_to_leave_closes_the_team_and_its_links(alice: User, mallory: User, log_in: LogIn) -> None:
    team = services.create_team(alice, slug="solo", display_name="Solo")
    _, token = services.invite(team, alice)
    assert log_in(alice).post("/teams/solo/leave").status_code == 302
    assert log_in(alice).get("/teams/solo").status_code == 404
    with pytest.raises(NotFound):
        services.accept(mallory, token)
    with pytest.raises(NotAllowed):
        services.create_team(mallory, slug="SOLO", display_name="Another")


def test_user_may_be_in_several_teams(team: Team, other_team: Team, bob: User, mallory: User) -> None:
    _, token = services.invite(other_team, mallory)
    services.accept(bob, token)
    assert [membership.team.slug for membership in services.teams_of(bob)] == ["blue-team", "red-team"]


def test_limits_on_teams_members_and_invitations_hold(
    team: Team, alice: User, mallory: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "OPEN_INVITATIONS", 1)
    _, token = services.invite(team, alice)
    with pytest.raises(NotAllowed, match="open invitations"):
        services.invite(team, alice)
    monkeypatch.setattr(services, "MEMBERS_OF_A_TEAM", 2)
    with pytest.raises(NotAllowed, match="full"):
        services.accept(mallory, token)
    monkeypatch.setattr(services, "TEAMS_OF_A_USER", 1)
    with pytest.raises(NotAllowed, match="too many teams"):
        services.create_team(alice, slug="more", display_name="More")


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 }}", "=1+1"])
def test_names_with_code_in_them_are_inert_in_pages(make_user: MakeUser, log_in: LogIn, name: str) -> None:
    user = make_user("tricky", display_name=name)
    services.create_team(user, slug="tricky", display_name=name)
    client = log_in(user)
    for path in ("/teams/", "/teams/tricky", "/account"):
        page = client.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page
        assert name in page.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1"])
def test_names_that_spreadsheets_take_for_formulas_are_made_inert(name: str) -> None:
    assert inert_cell(name) == f"'{name}"


def test_plain_names_are_exported_as_they_are() -> None:
    assert inert_cell("チーム匿名") == "チーム匿名"
