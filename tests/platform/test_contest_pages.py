"""The pages of contests: what each shows to whom in which phase, and what it never shows."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    clients,
    everybody,
    guess,
    make_contest,
    move_to,
    odd_edition,
    open_contest,
    participation,
    read,
    release,
    status_of,
    text_of,
)
from tests.platform.sites import do_jobs, upload

from tokumei.platform.accounts.models import User
from tokumei.platform.contests import drawing
from tokumei.platform.contests.models import Contest, Kind, Phase, State, Submission
from tokumei.platform.contests.services import contests, joining, phase_work, submitting
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db

PUBLIC = ("", "/rules", "/data", "/scoreboard")
OF_MEMBERS = ("/submit", "/attack", "/submissions")
OF_ORGANIZERS = ("/organize",)
PHASES = (Phase.UPCOMING, Phase.ANONYMIZE, Phase.ATTACK, Phase.CLOSED)


@pytest.mark.slow
def test_every_page_in_every_phase_is_for_those_it_is_for(
    contest: Contest, people: dict[str, User | None], log_in: LogIn
) -> None:
    who = clients(people, log_in)
    members, organizers = {"captain", "member", "opponent"}, {"organizer", "admin"}
    for phase in PHASES:
        contest = move_to(contest, phase)
        do_jobs("workbench")
        for role, client in who.items():
            refused = 302 if role == "visitor" else 404
            for page in PUBLIC:
                answer = client.get(f"/contests/cup{page}")
                assert answer.status_code == 200, (phase, role, page)
                assert "<b>cup" not in answer.content.decode()
            for page in OF_MEMBERS:
                wanted = 200 if role in members else refused
                assert status_of(client, f"/contests/cup{page}") == wanted, (phase, role, page)
            for page in OF_ORGANIZERS:
                wanted = 200 if role in organizers else refused
                assert status_of(client, f"/contests/cup{page}") == wanted, (phase, role, page)
            is_target = phase in (Phase.ATTACK, Phase.CLOSED) and role in {"captain", "member"}
            wanted = 200 if is_target else refused
            assert status_of(client, "/contests/cup/attack/blue-team") == wanted, (phase, role)
            if role not in {"visitor", "captain", "organizer"}:
                continue
            wanted = 200 if phase == Phase.CLOSED else 403
            assert status_of(client, "/contests/cup/export") == wanted, (phase, role)
            wanted = 404 if phase == Phase.UPCOMING and role not in organizers else 200
            assert status_of(client, "/contests/cup/kit") == wanted, (phase, role)
            assert status_of(client, "/contests/cup/files/data/D.csv") == wanted, (phase, role)
            wanted = 200 if phase in (Phase.ATTACK, Phase.CLOSED) else 404
            assert status_of(client, "/contests/cup/files/knowledge/K50.csv") == wanted, (phase, role)
            assert status_of(client, "/contests/cup/files/release/red-team/P.csv") == wanted, (phase, role)
            assert status_of(client, "/contests/cup/files/truth/F.csv") == 404


def test_submission_of_another_team_looks_like_none(
    contest: Contest, people: dict[str, User | None], log_in: LogIn, team: Team
) -> None:
    made = Submission.objects.get(team=team)
    nothing = "0" * len(made.key)
    pages = ("", "/state", "/report", "/files/R.csv")
    for role, client in clients(people, log_in).items():
        for page in pages:
            there = client.get(f"/contests/submissions/{made.key}{page}")
            none = client.get(f"/contests/submissions/{nothing}{page}")
            read(there)
            if role in {"captain", "member", "organizer", "admin"}:
                assert there.status_code == 200, (role, page)
            else:
                assert there.status_code == none.status_code == (302 if role == "visitor" else 404), (role, page)
                assert _bare(there, made.key) == _bare(none, nothing), (role, page)


def _bare(answer: Any, key: str) -> str:
    text = answer.content.decode().replace(key, "KEY")
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", text)


def test_scores_are_rounded_until_the_end_and_exact_for_the_organizer(
    contest: Contest, log_in: LogIn, alice: User, mallory: User, organizer: User, team: Team, other_team: Team
) -> None:
    contest = move_to(contest, Phase.ATTACK)
    guess(contest, team, alice, other_team, "0 0 0 0 0 0")
    exact = "0.001667"
    own = f"/contests/submissions/{Submission.objects.get(team=team, kind=Kind.RELEASE).key}"
    board = "/contests/cup/scoreboard"
    assert exact not in text_of(log_in(alice).get(own))
    assert "0.002" in text_of(log_in(alice).get(own))
    assert exact in text_of(log_in(organizer).get(own))
    for client in (Client(), log_in(alice), log_in(mallory)):
        assert "0.002" in text_of(client.get(board))
        assert exact not in text_of(client.get(board))
        svg = client.get("/contests/cup/figures/standings.svg")
        assert "0.0016" not in svg.content.decode()
    assert exact in text_of(log_in(organizer).get(board))
    contest = move_to(contest, Phase.CLOSED)
    assert exact in text_of(Client().get(board))


def test_guess_scores_stay_hidden_where_the_organizer_says_so(
    contest: Contest, log_in: LogIn, alice: User, team: Team, other_team: Team, organizer: User
) -> None:
    contests.change_board(contest, board="live", digits_shown=3, shows_guess_scores=False)
    contest = move_to(contest, Phase.ATTACK)
    made = guess(contest, team, alice, other_team, "0 0 0 0 0 0")
    page = f"/contests/submissions/{made.key}"
    assert "0.167" not in text_of(log_in(alice).get(page))
    assert "when the contest is over" in text_of(log_in(alice).get(page))
    assert "shown at the end" in text_of(log_in(alice).get("/contests/cup/submissions"))
    assert Client().get("/contests/cup/figures/attacks.svg").status_code == 404
    assert "0.166667" in text_of(log_in(organizer).get(page))
    move_to(contest, Phase.CLOSED)
    assert "0.166667" in text_of(log_in(alice).get(page))


def test_hidden_and_frozen_boards_show_what_they_may(contest: Contest, log_in: LogIn, organizer: User) -> None:
    contests.change_board(contest, board="hidden", digits_shown=3, shows_guess_scores=True)
    hidden = Client().get("/contests/cup/scoreboard")
    assert "hidden until the contest is over" in text_of(hidden)
    assert "<table" not in hidden.content.decode()
    for name in ("standings", "attacks", "history"):
        assert Client().get(f"/contests/cup/figures/{name}.svg").status_code == 404
    assert "Only you see this" in text_of(log_in(organizer).get("/contests/cup/scoreboard"))
    contests.change_board(contest, board="frozen", digits_shown=3, shows_guess_scores=True)
    assert "frozen as it was" in text_of(Client().get("/contests/cup/scoreboard"))


def test_private_contest_is_not_there_for_strangers(
    organizer: User, team: Team, alice: User, mallory: User, log_in: LogIn
) -> None:
    make_contest(organizer, (team, alice), slug="secret", is_public=False)
    pages = (*PUBLIC, *OF_MEMBERS, *OF_ORGANIZERS, "/kit", "/export", "/files/data/D.csv")
    for client in (Client(), log_in(mallory)):
        assert "secret" not in client.get("/contests/").content.decode()
        assert "secret" not in client.get("/").content.decode()
        for page in pages:
            there, none = client.get(f"/contests/secret{page}"), client.get(f"/contests/absent{page}")
            assert there.status_code == none.status_code in (302, 404), page
            assert _bare(there, "secret") == _bare(none, "absent"), page
    assert "/contests/secret" in log_in(alice).get("/contests/").content.decode()
    assert log_in(alice).get("/contests/secret").status_code == 200


def test_captain_joins_by_an_invitation_and_withdraws(
    organizer: User, team: Team, alice: User, bob: User, log_in: LogIn
) -> None:
    contest = make_contest(organizer, is_public=False)
    answer = log_in(organizer).post("/contests/cup/organize/invite", {"note": "red"})
    link = re.search(r'value="http://testserver(/contests/join/[^"]+)"', answer.content.decode())
    assert link is not None
    assert "Red Team" in text_of(log_in(alice).get(link[1]))
    assert log_in(bob).post(link[1], {"team": "red-team"}).status_code == 403
    answer = log_in(alice).post(link[1], {"team": "red-team"}, follow=True)
    assert "Your team takes part now." in text_of(answer)
    # The link worked once.
    assert log_in(alice).get(link[1]).status_code == 404
    assert "Withdraw the team" not in text_of(log_in(bob).get("/contests/cup"))
    assert log_in(bob).post("/contests/cup/withdraw").status_code == 404
    assert "Withdraw the team" in text_of(log_in(alice).get("/contests/cup"))
    log_in(alice).post("/contests/cup/withdraw")
    assert not joining.participants(contest).exists()


def test_captain_enters_a_team_in_a_public_contest(
    organizer: User, team: Team, alice: User, mallory: User, log_in: LogIn
) -> None:
    make_contest(organizer)
    assert "Red Team" in text_of(log_in(alice).get("/contests/cup"))
    assert log_in(mallory).post("/contests/cup/join", {"team": "red-team"}).status_code == 404
    answer = log_in(alice).post("/contests/cup/join", {"team": "red-team"}, follow=True)
    assert "Your team takes part now." in text_of(answer)


def test_organizer_is_told_why_the_contest_cannot_be_played(organizer: User, log_in: LogIn) -> None:
    make_contest(organizer)
    assert "cannot play in it" in text_of(log_in(organizer).get("/contests/cup"))


def test_refused_release_shows_each_fault_with_the_rule_in_the_readers_language(
    contest: Contest, log_in: LogIn, alice: User, team: Team
) -> None:
    made = release(contest, team, alice, "11 x 30 40 50 =60")
    assert made.state == State.REFUSED
    page = f"/contests/submissions/{made.key}"
    said = text_of(log_in(alice).get(page))
    assert " ".join(said.split()).count("R.csv 2 – x a whole number A row is a whole number. number") == 1
    said = text_of(log_in(alice).get(page, headers={"accept-language": "ja"}))
    assert "各行は整数。" in said
    assert "不受理" in said or "ルール" in said


def test_faults_with_markup_are_inert(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    made = release(contest, team, alice, "<script>alert(1)</script> 20 30 40 50 60")
    for page in ("", "/report"):
        answer = log_in(alice).get(f"/contests/submissions/{made.key}{page}").content.decode()
        assert "<script>alert" not in answer
        assert "&lt;script&gt;alert" in answer


def test_report_is_one_file_that_needs_nothing_else(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    key = Submission.objects.get(team=team).key
    answer = log_in(alice).get(f"/contests/submissions/{key}/report")
    assert answer["Content-Disposition"] == f'attachment; filename="cup-{key}.html"'
    written = answer.content.decode()
    assert "0.002" in written
    assert not re.search(r"(?:src|href)=", written)


def test_failed_and_waiting_submissions_are_told_in_words(
    contest: Contest, log_in: LogIn, alice: User, team: Team
) -> None:
    made = submitting.submit_release(participation(contest, team), alice, upload("R", "11 20 30 40 50 60"))
    client, page = log_in(alice), f"/contests/submissions/{made.key}"
    assert "data-poll" in client.get(page).content.decode()
    state = client.get(f"{page}/state").json()
    assert state == {"state": "waiting", "says": "Waiting", "is_final": False, "progress": {"step": ""}}
    Job.objects.filter(submission=made).update(progress={"step": "check", "done": 0, "total": None})
    assert client.get(f"{page}/state").json()["progress"]["step"] == "checking the file"
    Submission.objects.filter(pk=made.pk).update(state=State.FAILED, reason=phase_work.DIED)
    said = client.get(page)
    assert "broke off three times" in text_of(said)
    assert "data-poll" not in said.content.decode()


def test_upload_by_a_script_or_a_plain_form_leads_to_its_page(contest: Contest, log_in: LogIn, alice: User) -> None:
    client = log_in(alice)
    answer = client.post("/contests/cup/submit", upload("R", "11 20 30 40 50 60"), headers={"x-upload": "yes"})
    newest = Submission.objects.first()
    assert newest is not None
    assert answer.json() == {"location": f"/contests/submissions/{newest.key}"}
    answer = client.post("/contests/cup/submit", upload("R", "11 20 30 40 50 60"))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/contests/submissions/")
    answer = client.post("/contests/cup/submit", {}, headers={"x-upload": "yes"})
    assert answer.status_code == 400
    assert answer.json()["message"]
    answer = client.post("/contests/cup/submit", {}, follow=True)
    assert "notice error" in answer.content.decode()
    Contest.objects.update(attacks_open_at=timezone.now())
    answer = client.post("/contests/cup/submit", upload("R", "1 2 3 4 5 6"), headers={"x-upload": "yes"})
    assert answer.status_code == 403


def test_guess_needs_a_level_and_another_teams_release(
    contest: Contest, log_in: LogIn, alice: User, team: Team, other_team: Team
) -> None:
    move_to(contest, Phase.ATTACK)
    client, page = log_in(alice), "/contests/cup/attack/blue-team"
    said = client.get(page).content.decode()
    assert said.count('type="radio"') == 2
    script: dict[str, Any] = {"headers": {"x-upload": "yes"}}
    assert client.post(page, upload("G", "0 1 2 3 4 5") | {"knowledge": "none"}, **script).status_code == 400
    answer = client.post(page, upload("G", "0 1 2 3 4 5") | {"knowledge": "half"}, **script)
    assert "location" in answer.json()
    for own in ("red-team", "nobody"):
        assert client.get(f"/contests/cup/attack/{own}").status_code == 404
        assert client.post(f"/contests/cup/attack/{own}", upload("G", "0") | {"knowledge": "half"}).status_code == 404


def test_kit_is_made_by_a_job_and_keeps_nobody_waiting(contest: Contest, settings: Any) -> None:
    """Its sample round ran in the web process, and two dozen requests for it stopped the pages."""
    (job,) = Job.objects.filter(kind="kit")
    assert (job.queue, job.is_done) == ("workbench", False)
    for _ in range(2):
        answer = Client().get("/contests/cup/kit")
        assert answer.status_code == 503
        assert "being packed" in answer.content.decode()
    assert Job.objects.filter(kind="kit").count() == 1
    folder = Path(settings.MEDIA_ROOT) / "kits" / contest.folder_key
    # What an attempt that was killed left goes.
    (folder / ".ab12.data.zip").mkdir(parents=True)
    # In the limited process, as on a server.
    assert run(job.pk)
    assert status_of(Client(), "/contests/cup/kit") == 200
    assert sorted(path.name for path in folder.iterdir()) == ["data.zip"]
    # What is lost is made again.
    (folder / "data.zip").unlink()
    assert status_of(Client(), "/contests/cup/kit") == 503
    do_jobs("workbench")
    assert status_of(Client(), "/contests/cup/kit") == 200


def test_kit_has_what_is_public_and_no_secret(contest: Contest, team: Team) -> None:
    def names() -> set[str]:
        answer = Client().get("/contests/cup/kit")
        assert answer["Content-Disposition"] == 'attachment; filename="cup-kit.zip"'
        packed = zipfile.ZipFile(io.BytesIO(read(answer)))
        return set(packed.namelist())

    do_jobs("workbench")
    before = names()
    assert {"RULES.md", "RULES.ja.md", "data/D.csv", "contest.toml"} <= before
    assert not any(name.startswith(("knowledge", "releases", "secret", "truth")) for name in before)
    move_to(contest, Phase.ATTACK)
    # That of before tells nothing of now.
    assert Client().get("/contests/cup/kit").status_code == 503
    do_jobs("workbench")
    after = names()
    assert {"knowledge/K50.csv", "releases/red-team/P.csv"} <= after
    assert not any(name.startswith(("secret", "truth")) for name in after)


def test_export_is_for_nobody_before_closing_and_then_holds_all_that_a_replay_needs(contest: Contest) -> None:
    assert Client().get("/contests/cup/export").status_code == 403
    move_to(contest, Phase.CLOSED)
    names = zipfile.ZipFile(io.BytesIO(read(Client().get("/contests/cup/export")))).namelist()
    assert "cup/ranking.json" in names
    # What was sealed is opened to everybody at once: a log that only its organizer can replay proves nothing.
    assert any(name.startswith("cup/secret/") for name in names)


def test_texts_and_names_are_in_the_language_of_the_reader(contest: Contest, log_in: LogIn, alice: User) -> None:
    in_japanese: dict[str, Any] = {"headers": {"accept-language": "ja"}}
    wanted = {
        "": ("概要", "日程", "終了まで", "匿名化"),
        "/rules": ("加工データ", "各行は整数。", "自分のチームへの攻撃はできません。"),
        "/data": ("スターターキット", "名前と数"),
        "/scoreboard": ("順位表", "有用性の損失", "これまでの得点"),
        "/submit": ("残り回数", "ここにファイルをドロップ"),
        "/submissions": ("提出一覧", "評価済み"),
        "/attack": ("他チームの加工データは",),
    }
    client = log_in(alice)
    for page, texts in wanted.items():
        answer = client.get(f"/contests/cup{page}", **in_japanese)
        assert '<html lang="ja">' in answer.content.decode()
        for text in texts:
            assert text in text_of(answer), (page, text)


def test_figures_are_drawn_once_and_described(contest: Contest, settings: Any) -> None:
    page = Client().get("/contests/cup/scoreboard").content.decode()
    assert 'alt="Use and safety lost, by team. Red Team: use lost 0.002, safety lost 0.000; Blue Team:' in page
    assert "attacks.svg" not in page
    drawn = Client().get("/contests/cup/figures/standings.svg")
    assert drawn["Content-Type"] == "image/svg+xml"
    assert "private" in drawn["Cache-Control"]
    kept = Path(settings.MEDIA_ROOT) / "figures" / contest.folder_key
    (first,) = kept.glob("*.svg")
    marked = first.read_text().replace("<svg", "<svg data-kept='yes'", 1)
    first.write_text(marked)
    assert Client().get("/contests/cup/figures/standings.svg").content.decode() == marked
    assert Client().get("/contests/cup/figures/nothing.svg").status_code == 404


def test_figure_that_cannot_be_drawn_is_a_fault_of_the_server(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(drawing, "MOST_SECONDS", 0.0)
    answer = Client(raise_request_exception=False).get(f"/contests/{contest.slug}/figures/standings.svg")
    assert answer.status_code == 500
    assert "DrawingFailed" in caplog.text


def test_list_of_submissions_is_filtered_and_paged(
    contest: Contest, log_in: LogIn, alice: User, team: Team, other_team: Team
) -> None:
    for number in range(35):
        Submission.objects.create(
            contest=contest, team=team, by=alice, kind=Kind.GUESS, target=other_team, knowledge="half", key=f"k{number}"
        )
    client = log_in(alice)

    def keys(query: str) -> list[str]:
        page = client.get(f"/contests/cup/submissions{query}").content.decode()
        return re.findall(r'href="/contests/submissions/(\w+)"', page)

    assert len(keys("")) == 30
    assert len(keys("?page=2")) == 6
    assert len(keys("?kind=release")) == 1
    assert len(keys("?kind=guess&page=2")) == 5
    assert len(keys("?kind=nonsense")) == 30
