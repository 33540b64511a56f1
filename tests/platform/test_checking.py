"""Checking files without handing them in: free, no score, all faults by kinds, and other forms of files converted."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    clients,
    everybody,
    finish,
    guess,
    make_contest,
    move_to,
    odd_edition,
    open_contest,
    participation,
    release,
    text_of,
)
from tests.platform.sites import upload

from tokumei.core.errors import Fault, InputError, NotAllowed
from tokumei.core.text import Text
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import CheckState, Contest, FileCheck, Phase, Submission
from tokumei.platform.contests.services import submitting
from tokumei.platform.contests.services.news import sweep_uploads
from tokumei.platform.jobs.child import faults_of
from tokumei.platform.messages import TooMany
from tokumei.platform.teams.models import Team
from tokumei.reports.japanese import found_in_japanese

pytestmark = pytest.mark.django_db

GOOD = "11 20 30 40 50 60"


def check(client: Client, rows: str | bytes, address: str = "/contests/cup/check", role: str = "R") -> FileCheck:
    """Have a file checked and give what came of it."""
    given: Any = upload(role, rows) if isinstance(rows, str) else {role: SimpleUploadedFile(f"{role}.csv", rows)}
    answer = client.post(address, given, headers={"x-upload": "yes"})
    assert answer.status_code == 200, answer.content.decode()
    made = FileCheck.objects.select_related("job").get(key=answer.json()["location"].rpartition("/")[2])
    finish(made.job)
    made.refresh_from_db()
    return made


def test_check_takes_no_attempt_and_gives_no_score(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    entered = participation(contest, team)
    before, n_submissions = submitting.release_attempts(entered), Submission.objects.count()
    client = log_in(alice)
    made = check(client, "60 50 40 30 20 10")
    assert made.state == CheckState.PASSED
    page = text_of(client.get(f"/contests/checks/{made.key}"))
    assert "keep all rules" in page
    # The release would lose 0.3 of its use; nothing on the page says so.
    assert "0.3" not in page
    assert submitting.release_attempts(entered) == before
    assert Submission.objects.count() == n_submissions
    assert client.get(f"/contests/checks/{made.key}/state").json()["is_final"]


def test_all_faults_are_told_by_kinds_in_both_languages(contest: Contest, log_in: LogIn, alice: User) -> None:
    client = log_in(alice)
    made = check(client, " ".join(["x"] * 40))
    assert (made.state, made.n_faults) == (CheckState.REFUSED, 41)
    assert [group["n_faults"] for group in made.groups] == [1, 40]
    page = " ".join(text_of(client.get(f"/contests/checks/{made.key}")).split())
    # The most frequent first; of 40 places the first five.
    assert "41 faults. No attempt was counted. a whole number 40 times A row is a whole number. number" in page
    assert page.count("R.csv") == 5 + 1
    page = " ".join(text_of(client.get(f"/contests/checks/{made.key}", headers={"accept-language": "ja"})).split())
    assert "誤りが 41 件あります。" in page
    assert "整数 40 件 各行は整数。" in page


@pytest.mark.parametrize(
    ("written", "said", "said_ja"),
    [
        ("匿\n20\n30\n40\n50\n60\n".encode("cp932"), "text in Shift-JIS", "文字コードは Shift-JIS"),
        (b"\xef\xbb\xbf11\n20\n30\n40\n50\n60\n", "byte order mark, which was taken off", "取り除きました"),
        ("11\n20\n30\n40\n50\n60\n".encode("utf-16"), "text in UTF-16", "文字コードは UTF-16"),
    ],
)
def test_other_encodings_are_converted_with_a_note(
    contest: Contest, log_in: LogIn, alice: User, written: bytes, said: str, said_ja: str
) -> None:
    client = log_in(alice)
    made = check(client, written)
    assert said in text_of(client.get(f"/contests/checks/{made.key}"))
    assert said_ja in text_of(client.get(f"/contests/checks/{made.key}", headers={"accept-language": "ja"}))
    assert (made.folder / "R.csv").read_bytes().decode("utf-8").splitlines()[1:] == GOOD.split()[1:]


def test_excel_sheet_is_checked_and_handed_in_as_csv(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    book = io.BytesIO()
    pl.DataFrame({"n": [11, 20, 30, 40, 50, 60]}).write_excel(book, worksheet="提出", include_header=False)
    client = log_in(alice)
    made = check(client, book.getvalue())
    assert made.state == CheckState.PASSED
    assert "its sheet 提出 was read" in text_of(client.get(f"/contests/checks/{made.key}"))
    entered = participation(contest, team)
    n_left = submitting.release_attempts(entered).n_left
    answer = client.post(f"/contests/checks/{made.key}/submit")
    submission = Submission.objects.get(key=answer["Location"].rpartition("/")[2])
    finish(submission.job)
    submission.refresh_from_db()
    assert submission.score is not None
    assert submission.score["utility"] == pytest.approx(0.01 / 6)
    assert submitting.release_attempts(entered).n_left == n_left - 1


def test_check_of_a_guess_says_nothing_of_what_is_right(
    contest: Contest, log_in: LogIn, alice: User, team: Team, other_team: Team
) -> None:
    contest = move_to(contest, Phase.ATTACK)
    truth = " ".join((contest.folder / "secret" / "truth" / "blue-team" / "F.csv").read_text().split())
    client, address = log_in(alice), "/contests/cup/attack/blue-team/check"
    pages = []
    for rows in (truth, "0 0 0 0 0 0"):
        made = check(client, rows, address, "G")
        assert (made.state, made.groups, made.notes) == (CheckState.PASSED, [], [])
        page = client.get(f"/contests/checks/{made.key}").content.decode()
        pages.append(page.replace(made.key, "KEY").split("<main")[1].split("csrfmiddlewaretoken")[0])
    assert pages[0] == pages[1]
    # It opens no secret: without the truth and the knowledge the check still works.
    (contest.folder / "secret").rename(contest.folder / "hidden")
    assert check(client, truth, address, "G").state == CheckState.PASSED


def test_checks_are_the_teams_own_and_only_while_files_could_be_handed_in(
    contest: Contest, people: dict[str, User | None], log_in: LogIn, alice: User, team: Team
) -> None:
    made = check(log_in(alice), GOOD)
    for role, client in clients(people, log_in).items():
        wanted = 200 if role in {"captain", "member"} else 302 if role == "visitor" else 404
        for page in ("", "/state"):
            assert client.get(f"/contests/checks/{made.key}{page}").status_code == wanted, role
        if wanted == 404:
            assert client.post(f"/contests/checks/{made.key}/submit").status_code == 404
    contest = move_to(contest, Phase.ATTACK)
    with pytest.raises(NotAllowed, match="could be handed in"):
        submitting.check_files(participation(contest, team), alice, upload("R", GOOD))
    answer = log_in(alice).post(f"/contests/checks/{made.key}/submit", headers={"x-upload": "yes"})
    assert answer.status_code == 403


def test_checks_are_limited_in_an_hour_and_at_once(
    contest: Contest, alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitting, "CHECKS_AN_HOUR", 5)
    entered = participation(contest, team)
    for _ in range(submitting.CHECKS_AT_ONCE):
        submitting.check_files(entered, alice, upload("R", GOOD))
    with pytest.raises(NotAllowed, match="being checked"):
        submitting.check_files(entered, alice, upload("R", GOOD))
    FileCheck.objects.update(state=CheckState.PASSED)
    for _ in range(2):
        submitting.check_files(entered, alice, upload("R", GOOD))
    FileCheck.objects.update(state=CheckState.PASSED)
    with pytest.raises(TooMany, match="an hour"):
        submitting.check_files(entered, alice, upload("R", GOOD))


def test_files_of_checks_stay_a_day_and_no_longer(contest: Contest, log_in: LogIn, alice: User) -> None:
    made = check(log_in(alice), GOOD)
    # What other tests left may be swept now, and the check's own files not.
    sweep_uploads()
    assert submitting.forget_checks() == 0
    assert made.folder.is_dir()
    FileCheck.objects.update(at=timezone.now() - timedelta(days=2))
    assert submitting.forget_checks() == 1
    assert not made.folder.exists()
    assert not FileCheck.objects.exists()


def test_faults_of_an_upload_are_in_the_readers_language(contest: Contest, log_in: LogIn, alice: User) -> None:
    script: Any = {"x-upload": "yes", "accept-language": "ja"}
    answer = log_in(alice).post("/contests/cup/check", {}, headers=script)
    assert answer.status_code == 400
    assert answer.json()["message"] == "R.csv：必要なもの：ファイル R.csv"


def test_what_was_found_keeps_its_form_from_a_job_to_its_page() -> None:
    """An empty line is told in the reader's language though nothing stands in its form."""
    fault = Fault(Text("{n} cells", n=3), file="R.csv", line=2, value=Text("an empty line"))
    told = json.loads(json.dumps(faults_of(InputError([fault]))))
    assert found_in_japanese(Fault.from_json(told["faults"][0])) == "空の行"
