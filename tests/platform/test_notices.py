"""Notices: who is told of what, that nobody is told too much, mail for those who want it, and the calendar."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    guess,
    move_to,
    odd_edition,
    open_contest,
    participation,
    release,
    text_of,
)

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Phase, State, Submission
from tokumei.platform.contests.services import contests, joining, news, phase_work, steering
from tokumei.platform.contests.services.news import tell_phases
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run_here
from tokumei.platform.notices import services
from tokumei.platform.notices.models import Mailing, Notice, NoticeKind, Preferences
from tokumei.platform.notices.services import owner_of, token_of
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db


def told(user: User, kind: NoticeKind | None = None) -> list[str]:
    found = services.notices_of(user)
    return [one.in_words for one in (found.filter(kind=kind) if kind else found)]


def want_mail(user: User, how: Mailing = Mailing.AT_ONCE, *kinds: str) -> None:
    services.change_preferences(
        user, mailing=how, kinds=list(kinds or NoticeKind.values), origin="https://tokumei.example"
    )


def send_letters() -> list[Any]:
    for job in Job.objects.filter(kind="letter", is_done=False):
        assert run_here(job.pk)
    return mail.outbox


def test_announcement_reaches_every_player_in_their_language(
    contest: Contest, alice: User, bob: User, mallory: User, organizer: User, log_in: LogIn
) -> None:
    contests.announce(contest, title="Hello", text="**New** data", text_ja="**新しい**データ", by=organizer)
    for player in (alice, bob, mallory):
        assert told(player, NoticeKind.ANNOUNCEMENT) == ["An announcement in A <b>cup</b>: Hello"]
    assert told(organizer, NoticeKind.ANNOUNCEMENT) == []
    page = log_in(alice).get("/notices/").content.decode()
    assert "A &lt;b&gt;cup&lt;/b&gt;: Hello" in page
    assert "<strong>New</strong> data" in page
    japanese = log_in(alice).get("/notices/", headers={"accept-language": "ja"}).content.decode()
    assert "<strong>新しい</strong>データ" in japanese
    assert "のお知らせ" in japanese


def test_scores_are_told_without_the_score_and_failures_to_the_organizer_too(
    contest: Contest, team: Team, alice: User, bob: User, organizer: User
) -> None:
    assert told(bob, NoticeKind.SCORE) == ["Your release in A <b>cup</b> is scored"]
    assert not any(re.search(r"0\.\d", str(one.facts) + one.text) for one in Notice.objects.all())
    made = release(contest, team, alice, "99 99")
    assert made.state == State.REFUSED
    assert told(bob, NoticeKind.FAILURE) == ["Your submission in A <b>cup</b> was refused"]
    Submission.objects.filter(pk=made.pk).update(state=State.WAITING)
    assert made.job is not None
    news._write_failure(made.job, "died")
    made.refresh_from_db()
    assert (made.state, made.reason) == (State.FAILED, phase_work.DIED)
    assert told(organizer, NoticeKind.FAILURE) == ["An evaluation in A <b>cup</b> failed; no attempt was counted"]


@pytest.mark.parametrize(
    ("board", "shows", "expected"), [("live", True, 1), ("live", False, 0), ("hidden", True, 0), ("frozen", True, 0)]
)
def test_attack_is_told_at_once_only_where_the_board_shows_it_to_everybody(
    contest: Contest,
    team: Team,
    alice: User,
    other_team: Team,
    mallory: User,
    organizer: User,
    board: str,
    shows: bool,
    expected: int,
) -> None:
    contests.change_board(contest, board=board, digits_shown=3, shows_guess_scores=shows, by=organizer)
    contest = move_to(contest, Phase.ATTACK)
    guess(contest, team, alice, other_team)
    guess(contest, team, alice, other_team)
    tell_phases()
    # The second one is not told of again while the first is unread.
    assert len(told(mallory, NoticeKind.ATTACK)) == expected
    assert not any("Red" in one for one in told(mallory))
    contest = move_to(contest, Phase.CLOSED)
    tell_phases()
    tell_phases()
    assert told(mallory, NoticeKind.ATTACK)[0].startswith("Attacks on your release in A <b>cup</b>: 2, by so many")
    assert len(told(mallory, NoticeKind.ATTACK)) == expected + 1


def test_held_results_tell_of_the_end_and_of_no_attack(
    contest: Contest, team: Team, alice: User, other_team: Team, mallory: User, organizer: User
) -> None:
    steering.hold_results(contest, organizer, is_held=True)
    contest = move_to(contest, Phase.ATTACK)
    guess(contest, team, alice, other_team)
    contest = move_to(contest, Phase.CLOSED)
    tell_phases()
    assert "A <b>cup</b> is over; the results follow" in told(mallory, NoticeKind.PHASE)
    assert told(mallory, NoticeKind.ATTACK) == []
    steering.hold_results(contest, organizer, is_held=False)
    tell_phases()
    assert "The results of A <b>cup</b> are there" in told(mallory, NoticeKind.PHASE)
    assert len(told(mallory, NoticeKind.ATTACK)) == 1


def test_phases_are_told_once_and_old_ones_not_at_all(contest: Contest, alice: User) -> None:
    tell_phases()
    tell_phases()
    assert told(alice, NoticeKind.PHASE) == ["A <b>cup</b> is open: releases can be handed in"]
    now = timezone.now()
    Contest.objects.update(
        opens_at=now - timedelta(days=9),
        attacks_open_at=now + timedelta(hours=20),
        closes_at=now + timedelta(days=9),
        told=[],
    )
    tell_phases()
    assert told(alice, NoticeKind.PHASE)[0] == "Releases in A <b>cup</b> can be handed in for one more day"
    assert len(told(alice, NoticeKind.PHASE)) == 2


def test_message_and_disqualification_reach_the_team_alone(
    contest: Contest, team: Team, alice: User, mallory: User, organizer: User, log_in: LogIn
) -> None:
    client = log_in(organizer)
    given = {"teams": ["red-team"], "text": "Please **call**"}
    assert client.post("/contests/cup/organize/message", given).status_code == 302
    assert client.post("/contests/cup/organize/message", given | {"teams": ["grey"]}).status_code == 400
    assert told(alice, NoticeKind.ANNOUNCEMENT) == ["A message from the organizers of A <b>cup</b>"]
    assert told(mallory, NoticeKind.ANNOUNCEMENT) == []
    assert contest.actions.get(what="message").details["teams"] == "red-team"
    steering.disqualify(participation(contest, team), organizer, "cheated")
    assert services.notices_of(alice)[0].text == "Your team is disqualified: cheated"


def test_question_is_answered_for_everybody_or_for_who_asked(
    contest: Contest, alice: User, mallory: User, organizer: User, log_in: LogIn
) -> None:
    page = "/contests/cup/questions"
    assert log_in(alice).post(f"{page}/ask", {"text": " "}).status_code == 400
    assert log_in(alice).post(f"{page}/ask", {"text": "May we <b>ask</b>?"}).status_code == 302
    assert log_in(organizer).post(f"{page}/ask", {"text": "Why?"}).status_code == 403
    assert told(organizer, NoticeKind.REQUEST) == ["A question about A <b>cup</b>"]
    assert "May we" not in text_of(log_in(mallory).get(page)), "nobody else sees what is not answered"
    assert "May we" in text_of(log_in(alice).get(page))
    asked = contest.questions.get()
    answer = f"/contests/cup/organize/questions/{asked.pk}"
    assert log_in(mallory).post(answer, {"text": "No"}).status_code == 404
    assert log_in(organizer).post(answer, {"text": ""}).status_code == 400
    log_in(organizer).post(answer, {"text": "**Yes**"})
    assert "May we" not in text_of(log_in(mallory).get(page)), "answered for alice alone"
    log_in(organizer).post(answer, {"text": "**Yes**", "is_public": "on"})
    said = Client().get(page).content.decode()
    assert "May we &lt;b&gt;ask&lt;/b&gt;?" in said
    assert "<strong>Yes</strong>" in said
    assert "Alice" not in said
    assert told(alice, NoticeKind.ANSWER)[0] == "Your question about A <b>cup</b> is answered"


def test_questions_of_one_person_are_limited(
    contest: Contest, alice: User, log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "QUESTIONS_A_DAY", 1)
    client = log_in(alice)
    assert [client.post("/contests/cup/questions/ask", {"text": "?"}).status_code for _ in range(2)] == [302, 429]


def test_notice_is_mailed_at_once_to_a_confirmed_address_alone(
    contest: Contest, alice: User, bob: User, mallory: User, organizer: User
) -> None:
    for user in (alice, bob):
        want_mail(user)
    User.objects.filter(pk=bob.pk).update(verified_at=None)
    contests.announce(contest, title="Hello", text="New data", by=organizer)
    (letter,) = send_letters()
    assert letter.to == ["alice@example.com"]
    assert letter.subject == "An announcement in A <b>cup</b>: Hello"
    assert "https://tokumei.example/contests/cup" in letter.body
    assert "New data" in letter.body
    assert mallory.notices.count() > 0


def test_kinds_that_are_not_chosen_are_not_mailed_and_letters_are_limited(
    contest: Contest, alice: User, organizer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    want_mail(alice, Mailing.AT_ONCE, NoticeKind.SCORE)
    contests.announce(contest, title="Hello", text="x", by=organizer)
    assert send_letters() == []
    want_mail(alice)
    monkeypatch.setattr(services, "LETTERS_AN_HOUR", 2)
    for n in range(4):
        contests.announce(contest, title=f"Hello {n}", text="x", by=organizer)
    assert len(send_letters()) == 2
    assert len(told(alice, NoticeKind.ANNOUNCEMENT)) == 5


def test_digest_goes_out_once_a_day_with_what_was_not_read(contest: Contest, alice: User, organizer: User) -> None:
    want_mail(alice, Mailing.DIGEST)
    services.mark_read(alice)
    User.objects.filter(pk=alice.pk).update(language="ja")
    for n in range(2):
        contests.announce(contest, title=f"Hello {n}", text="x", by=organizer)
    services.send_digests()
    assert send_letters() == [], "a day has not passed"
    Preferences.objects.update(digest_at=timezone.now() - timedelta(hours=25))
    services.send_digests()
    services.send_digests()
    (letter,) = send_letters()
    assert letter.subject == "Tokumei からのお知らせ（2件）"
    assert letter.body.count("https://tokumei.example/contests/cup") == 2
    Preferences.objects.update(digest_at=timezone.now() - timedelta(hours=25))
    services.send_digests()
    assert len(send_letters()) == 1, "nothing new"


def test_inbox_is_ones_own_and_read_notices_are_marked(
    contest: Contest, alice: User, mallory: User, log_in: LogIn
) -> None:
    first = services.notices_of(alice)[0]
    client = log_in(alice)
    assert 'class="badge">1' in client.get("/").content.decode()
    assert log_in(mallory).post(f"/notices/{first.pk}/open").status_code == 404
    assert services.n_unread(alice) == 1
    assert client.post(f"/notices/{first.pk}/open")["Location"] == first.link
    assert services.n_unread(alice) == 0
    assert "badge" not in client.get("/").content.decode()
    assert "nothing here" in text_of(client.get("/notices/?unread=1"))
    assert client.post("/notices/read").status_code == 302


def test_inbox_keeps_so_many(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST_KEPT", 3)
    for n in range(5):
        services.notify([alice], NoticeKind.SCORE, "Number %(n)d", n=n)
    assert told(alice) == ["Number 4", "Number 3", "Number 2"]


def test_settings_are_chosen_on_the_page(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    assert client.post("/notices/settings", {"mailing": "hourly"}).status_code == 400
    client.post("/notices/settings", {"mailing": "at_once", "kinds": ["score", "phase"]})
    kept = Preferences.objects.get(user=alice)
    assert (kept.mailing, kept.kinds, kept.origin) == ("at_once", ["score", "phase"], "http://testserver")


def test_calendar_has_the_deadlines_at_an_address_that_can_be_renewed(
    contest: Contest, alice: User, mallory: User, log_in: LogIn
) -> None:
    User.objects.filter(pk=alice.pk).update(language="ja")
    Contest.objects.update(title="杯, 第1回; " + "長" * 40)
    alice.refresh_from_db()
    address = re.search(r"http://testserver(/calendar/[^\"]+)", log_in(alice).get("/notices/settings").content.decode())
    assert address is not None
    answer = Client().get(address[1])
    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    written = answer.content.decode()
    assert all(len(line.encode()) <= 75 for line in written.split("\r\n"))
    lines = written.replace("\r\n ", "").split("\r\n")
    assert lines[0] == "BEGIN:VCALENDAR"
    assert sum(line == "BEGIN:VEVENT" for line in lines) == 3
    assert f"DTSTART:{contest.closes_at:%Y%m%dT%H%M%SZ}" in lines
    assert any(line.startswith("SUMMARY:杯\\, 第1回\\; 長") for line in lines)
    assert "URL:http://testserver/contests/cup" in lines
    log_in(alice).post("/notices/calendar")
    assert Client().get(address[1]).status_code == 404
    assert Client().get(f"/calendar/{token_of(alice)}.ics").status_code == 200


@pytest.mark.parametrize("token", ["", "1", "1-", "-1-x", "٣-x", "9" * 30 + "-x", "1-" + "0" * 40, "é"])
def test_made_up_address_of_a_calendar_is_nobodys(alice: User, token: str) -> None:
    assert owner_of(token) is None


def test_calendar_and_notices_end_with_the_account(alice: User, contest: Contest) -> None:
    token = token_of(alice)
    services.forget(alice)
    assert not Notice.objects.filter(user=alice).exists()
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert owner_of(token) is None
