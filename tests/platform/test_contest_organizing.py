"""The pages of organizers: making a contest, changing it, and inviting teams."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
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

from tokumei.contest.custom.template import template
from tokumei.platform.accounts.models import User
from tokumei.platform.contests import reasons
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import joining
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
LIMITS = {"releases_a_day": "3", "guesses_a_day": "4"}


def test_organizer_makes_a_contest_of_an_edition_or_of_a_text(organizer: User, log_in: LogIn) -> None:
    client = log_in(organizer)
    form = schedule() | BOARD | LIMITS | {"title": "New", "is_public": "on"}
    given = form | {"slug": "new-cup", "edition": "pwscup2018", "options": "n-customers = 5\n"}
    answer = client.post("/contests/new", given)
    assert answer["Location"] == "/contests/new-cup/organize"
    made = Contest.objects.get(slug="new-cup")
    assert (made.options, made.digits_shown, made.releases_a_day) == ({"n_customers": 5}, 2, 3)
    assert made.releases_in_all == 20
    answer = client.post("/contests/new", form | {"slug": "own-cup", "own_toml": template("table")})
    assert answer["Location"] == "/contests/own-cup/organize"
    for page in ("", "/rules", "/data", "/organize"):
        assert client.get(f"/contests/own-cup{page}").status_code == 200
    assert "[contest]" in client.get("/contests/new?own=history").content.decode()
    assert "n_customers" in client.get("/contests/new?own=nothing").content.decode()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"slug": "new"}, "This name cannot be used."),
        ({"slug": "ä b"}, "slug"),
        ({"title": ""}, "This field is required."),
        ({"edition": ""}, "Choose an edition, or give a text of your own."),
        ({"own_toml": "x"}, "Choose an edition, or give a text of your own."),
        ({"options": "n_customers=many"}, "many"),
        ({"options": "nonsense"}, "nonsense"),
        ({"options": "n_customers=0"}, "at least 1 customer"),
        ({"edition": "", "own_toml": "kind ="}, "contest.toml"),
        ({"reading": "column=customer=id"}, "one of encoding, delimiter"),
        ({"reading": "columns=customer"}, "ROLE=NAME, separated by commas"),
        ({"reading": "skip_rows=five"}, "how many lines to skip"),
        ({"reading": "encoding=cp932"}, "a data file, which is read so"),
        ({"digits_shown": "9"}, "less than or equal to 6"),
        ({"guesses_on_one": "999"}, "at most 1 guess at one release"),
        ({"closes_at": "2020-01-01T00:00"}, "the times are out of order"),
        ({"opens_at": "tomorrow"}, "Enter a valid date/time."),
    ],
)
def test_contest_that_cannot_be_made_is_told_why(
    organizer: User, log_in: LogIn, changed: dict[str, str], says: str
) -> None:
    given = schedule() | BOARD | LIMITS | {"title": "New", "slug": "new-cup", "edition": "pwscup2018"} | changed
    answer = log_in(organizer).post("/contests/new", given)
    assert answer.status_code == 400
    assert says in text_of(answer)
    assert not Contest.objects.exists()


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
    Contest.objects.update(trouble=reasons.NOT_PUBLISHED, trouble_details="<details>")
    said = client.get(page).content.decode()
    assert reasons.NOT_PUBLISHED in said
    assert "&lt;details&gt;" in said
    assert client.post(f"{page}/delete")["Location"] == "/contests/"
    assert not Contest.objects.exists()


def test_data_of_another_encoding_is_refused_before_anything_is_made(organizer: User, log_in: LogIn) -> None:
    given = schedule() | BOARD | LIMITS | {"title": "New", "slug": "new-cup", "edition": "odd"}
    sent = SimpleUploadedFile("D.csv", "名前\n山田\n".encode("cp932"))
    answer = log_in(organizer).post("/contests/new", given | {"source": sent})
    assert answer.status_code == 400
    assert "encoding=cp932" in text_of(answer)
    assert not Contest.objects.exists()


def test_contest_that_could_not_be_prepared_is_its_organizers_alone(
    organizer: User, alice: User, log_in: LogIn
) -> None:
    contest = make_contest(organizer)
    assert log_in(alice).get("/contests/cup").status_code == 200
    Contest.objects.update(prepared_at=None, trouble=reasons.BAD_SOURCE)
    assert log_in(alice).get("/contests/cup").status_code == Client().get("/contests/cup").status_code == 404
    assert contest.title not in text_of(Client().get("/contests/"))
    assert log_in(organizer).get("/contests/cup").status_code == 200
