"""The pages of organizers: changing a contest, and inviting teams."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    make_contest,
    odd_edition,
    open_contest,
    participation,
    text_of,
)

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import joining, phase_work
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db


def schedule(**changed: datetime) -> dict[str, str]:
    now = timezone.localtime().replace(second=0, microsecond=0)
    given = {
        "opens_at": now + timedelta(days=1),
        "attacks_open_at": now + timedelta(days=2),
        "closes_at": now + timedelta(days=3),
    } | changed
    return {name: f"{moment:%Y-%m-%dT%H:%M}" for name, moment in given.items()}


BOARD = {"board": "live", "digits_shown": "2", "shows_guess_scores": "on"}


def test_organizer_changes_schedule_and_board_and_announces(contest: Contest, log_in: LogIn, organizer: User) -> None:
    client, page = log_in(organizer), "/contests/cup/organize"
    given = schedule(opens_at=timezone.localtime(contest.opens_at))
    assert "The schedule is changed." in text_of(client.post(f"{page}/schedule", given, follow=True))
    # What the form cannot show, the seconds, has stayed.
    assert Contest.objects.get().opens_at == contest.opens_at
    earlier = client.post(f"{page}/schedule", given | {"opens_at": "2020-01-01T00:00"})
    assert earlier.status_code == 400
    assert "The contest is open already" in text_of(earlier)
    wrong = client.post(f"{page}/schedule", given | {"closes_at": given["opens_at"]})
    assert wrong.status_code == 400
    assert "the times are out of order" in text_of(wrong)
    assert "The scoreboard is changed." in text_of(client.post(f"{page}/board", BOARD, follow=True))
    assert client.post(f"{page}/board", BOARD | {"board": "secret"}).status_code == 400
    contest.refresh_from_db()
    assert contest.digits_shown == 2
    client.post(f"{page}/announce", {"title": "Hello <b>", "text": "A & B\n\nC"})
    said = Client().get("/contests/cup").content.decode()
    assert "Hello &lt;b&gt;" in said
    assert "<p>A &amp; B</p>" in said
    assert client.post(f"{page}/announce", {"title": "", "text": ""}).status_code == 400


def test_organizer_takes_a_team_out_revokes_retries_and_removes(
    organizer: User, team: Team, alice: User, log_in: LogIn
) -> None:
    contest = make_contest(organizer, (team, alice), is_public=False)
    client, page = log_in(organizer), "/contests/cup/organize"
    invitation, _ = joining.invite(contest)
    assert "The invitation is revoked." in text_of(
        client.post(f"{page}/invitations/{invitation.pk}/revoke", follow=True)
    )
    assert client.post(f"{page}/invitations/{invitation.pk}/revoke").status_code == 404
    number = participation(contest, team).pk
    assert "The team takes part no more." in text_of(client.post(f"{page}/teams/{number}/withdraw", follow=True))
    assert client.post(f"{page}/teams/{number}/withdraw").status_code == 404
    assert client.post(f"{page}/retry").status_code == 403
    Contest.objects.update(trouble=phase_work.NOT_PUBLISHED, trouble_details="<details>")
    said = client.get(page).content.decode()
    assert phase_work.NOT_PUBLISHED in said
    assert "&lt;details&gt;" in said
    assert client.post(f"{page}/delete")["Location"] == "/contests/"
    assert not Contest.objects.exists()


def test_contest_that_could_not_be_prepared_is_its_organizers_alone(
    organizer: User, alice: User, log_in: LogIn
) -> None:
    contest = make_contest(organizer)
    assert log_in(alice).get("/contests/cup").status_code == 200
    Contest.objects.update(prepared_at=None, trouble=phase_work.BAD_SOURCE)
    assert log_in(alice).get("/contests/cup").status_code == Client().get("/contests/cup").status_code == 404
    assert contest.title not in text_of(Client().get("/contests/"))
    assert log_in(organizer).get("/contests/cup").status_code == 200
