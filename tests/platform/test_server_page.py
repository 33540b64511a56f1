"""The admins' console: what it shows of the server, and what an admin may do there."""

from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.contest_plays import text_of

from tokumei.platform.accounts import authentication
from tokumei.platform.accounts.models import User
from tokumei.platform.jobs import queue
from tokumei.platform.jobs.models import Job, WorkerSeen
from tokumei.platform.jobs.running import run_here

pytestmark = pytest.mark.django_db


def failed(kind: str = "letter") -> Job:
    facts = {"queue": "mail", "is_done": True, "outcome": "failed", "reason": queue.TOO_LONG}
    return Job.objects.create(kind=kind, subject=f"{kind}-x", last_failure="timeout", n_attempts=3, **facts)


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("en", ("Evaluations and phases", "The work took longer than is allowed.", "Quotas", "host:7")),
        ("ja", ("評価とフェーズ", "処理が制限時間を超えました。", "上限", "host:7")),
    ],
)
def test_page_shows_jobs_workers_failures_disk_mail_and_quotas(
    admin: User, log_in: LogIn, language: str, says: tuple[str, ...]
) -> None:
    failed()
    WorkerSeen.objects.create(name="host:7", seen_at=timezone.now())
    said = text_of(log_in(admin).get("/server", headers={"accept-language": language}))
    for words in (*says, "timeout", "TOKUMEI_WORKBENCH_QUOTA", "tokumei@localhost"):
        assert words in said, words
    for state in ("waiting", "running", "done", "refused", "nonsense"):
        assert log_in(admin).get(f"/server?state={state}").status_code == 200


def test_page_without_a_worker_says_so(admin: User, log_in: LogIn) -> None:
    assert "No worker is there" in text_of(log_in(admin).get("/server"))


def test_failed_letter_is_tried_again_and_a_failed_evaluation_is_not(admin: User, log_in: LogIn) -> None:
    letter, score = failed(), failed("score")
    client = log_in(admin)
    assert client.post(f"/server/jobs/{letter.pk}/retry").status_code == 302
    assert client.post(f"/server/jobs/{score.pk}/retry").status_code == 404
    letter.refresh_from_db()
    assert (letter.is_done, letter.n_attempts) == (False, 0)


def test_test_letter_goes_to_the_admin(admin: User, log_in: LogIn) -> None:
    log_in(admin).post("/server/mail")
    assert run_here(Job.objects.get(kind="letter").pk)
    (letter,) = mail.outbox
    assert (letter.to, letter.subject) == ([admin.email], "A test letter from Tokumei")


def test_admin_sees_confirmations_and_log_ins_and_resets_a_second_factor(
    admin: User, alice: User, make_user: MakeUser, log_in: LogIn
) -> None:
    make_user("carol", verified_at=None)
    TOTPDevice.objects.create(user=alice, name="app", confirmed=True)
    theirs, client = log_in(alice), log_in(admin)
    said = text_of(client.get("/people"))
    assert said.count("not confirmed") == 1
    assert "never" in said
    assert "Reset two-factor login" in said
    assert client.post("/people/carol", {"do": "confirm"}).status_code == 302
    assert User.objects.get(username="carol").is_verified
    assert client.post("/people/alice", {"do": "reset_second_factor"}).status_code == 302
    assert not authentication.has_second_factor(alice)
    assert theirs.get("/account").status_code == 302, "a session that was open has ended"
    assert client.post("/people/root", {"do": "reset_second_factor"}).status_code == 403


def test_address_that_another_has_confirmed_is_not_confirmed_by_an_admin(
    admin: User, alice: User, make_user: MakeUser, log_in: LogIn
) -> None:
    other = make_user("carol", verified_at=None)
    User.objects.filter(pk=other.pk).update(email=alice.email)
    assert log_in(admin).post("/people/carol", {"do": "confirm"}).status_code == 403


def test_letter_that_confirms_is_sent_again(admin: User, make_user: MakeUser, log_in: LogIn) -> None:
    make_user("carol", verified_at=None)
    log_in(admin).post("/people/carol", {"do": "send_confirmation"})
    assert Job.objects.get(kind="letter").payload["what"] == "verify"


def test_nobody_else_learns_of_the_page(alice: User, organizer: User, log_in: LogIn) -> None:
    for user in (alice, organizer):
        assert log_in(user).get("/server").status_code == 404
        assert log_in(user).post("/server/mail").status_code == 404
    assert Client().get("/server")["Location"].startswith("/login")
