"""A team's own tools: notes, two submissions side by side, what counts, how places changed, logs, and first steps."""

from __future__ import annotations

import csv
import html
import io
import re
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    clients,
    everybody,
    guess,
    move_to,
    odd_edition,
    open_contest,
    read,
    release,
    text_of,
)
from tests.platform.sites import do_jobs

from tokumei.cli.main import main
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Phase, Submission
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db

IN_JAPANESE = {"accept-language": "ja"}


def test_note_is_the_teams_own(
    contest: Contest, people: dict[str, User | None], log_in: LogIn, alice: User, team: Team, organizer: User
) -> None:
    key = Submission.objects.get(team=team).key
    answer = log_in(alice).post(f"/contests/submissions/{key}/note", {"note": "一の位を <b>丸めた</b>"}, follow=True)
    assert "&lt;b&gt;丸めた&lt;/b&gt;" in answer.content.decode()
    assert "丸めた" in text_of(log_in(alice).get("/contests/cup/submissions"))
    assert "丸めた" not in log_in(organizer).get(f"/contests/submissions/{key}").content.decode()
    for role, client in clients(people, log_in).items():
        wanted = 302 if role in {"visitor", "captain", "member"} else 404
        assert client.post(f"/contests/submissions/{key}/note", {"note": "x"}).status_code == wanted, role
        wanted = 200 if role in {"captain", "member"} else 302 if role == "visitor" else 404
        assert client.get(f"/contests/submissions/{key}/log").status_code == wanted, role
    log_in(alice).post(f"/contests/submissions/{key}/note", {"note": "x" * 3000})
    assert Submission.objects.get(key=key).note == "x"


def test_two_releases_are_compared_number_by_number(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    later = release(contest, team, alice, "10 20 30 40 50 0")
    first = Submission.objects.filter(team=team).exclude(pk=later.pk).get()
    client = log_in(alice)
    page = client.get(f"/contests/cup/submissions/compare?one={later.key}&one={first.key}")
    said = " ".join(text_of(page).split())
    # 0.01 / 6 and 0.6 / 6, with three digits; the earlier stands first.
    assert "Loss of use 0.002 0.1 +0.098" in said
    page = client.get(f"/contests/cup/submissions/compare?one={later.key}&one={first.key}", headers=IN_JAPANESE)
    assert "2つの提出の比較" in text_of(page)
    for wrong in ("", f"?one={later.key}", f"?one={later.key}&one=nothing", f"?one={later.key}&one={later.key}"):
        answer = client.get(f"/contests/cup/submissions/compare{wrong}", follow=True)
        assert "Tick two releases, or two guesses." in text_of(answer)


def test_comparing_tells_no_hidden_score_nor_another_teams(
    contest: Contest, log_in: LogIn, alice: User, team: Team, other_team: Team
) -> None:
    contest = move_to(contest, Phase.ATTACK)
    made = [guess(contest, team, alice, other_team, rows) for rows in ("0 0 0 0 0 0", "1 1 1 1 1 1")]
    client = log_in(alice)
    address = "/contests/cup/submissions/compare?" + "&".join(f"one={one.key}" for one in made)
    said = text_of(client.get(address))
    assert "shown when the contest is over" in said
    assert "0.167" not in said
    log = read(client.get(f"/contests/submissions/{made[0].key}/log")).decode()
    assert '"score": null' in log
    assert "0.16" not in log
    theirs = Submission.objects.get(team=other_team).key
    own = Submission.objects.get(team=team, kind=Kind.RELEASE).key
    answer = client.get(f"/contests/cup/submissions/compare?one={own}&one={theirs}", follow=True)
    assert "Tick two" in text_of(answer)
    move_to(contest, Phase.CLOSED)
    assert "Found 0.166667 0.166667 0" in " ".join(text_of(client.get(address)).split())


def test_page_says_which_release_counts_and_how_the_place_changed(
    contest: Contest, log_in: LogIn, alice: User, team: Team
) -> None:
    worse = release(contest, team, alice, "60 60 60 60 60 10")
    client = log_in(alice)
    page = client.get("/contests/cup/submissions").content.decode()
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    (counting,) = [row for row in rows if ">counts<" in row]
    assert worse.key in counting
    said = " ".join(text_of(client.get("/contests/cup/submissions")).split())
    assert "How the place changed" in said
    # It was first and fell by one.
    assert "2 ▼ 1" in said
    assert "順位の推移" in text_of(client.get("/contests/cup/submissions", headers=IN_JAPANESE))


def test_table_of_submissions_is_inert_and_rounded(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    Submission.objects.filter(team=team).update(note="=1+1")
    answer = log_in(alice).get("/contests/cup/submissions.csv")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert (row["note"], row["use_lost"], row["counts"]) == ("'=1+1", "0.002", "yes")
    assert Client().get("/contests/cup/submissions.csv").status_code == 302


def test_data_page_tells_sizes_lines_columns_and_how_files_begin(contest: Contest) -> None:
    said = " ".join(text_of(Client().get("/contests/cup/data")).split())
    assert "D.csv a name and a number a row How it begins n0,10 n1,20 n2,30 n3,40 n4,50" in said
    assert "n5,60" not in said
    assert "36" in said or "35" in said
    assert " 6 2 " in said + " "
    assert "先頭の行" in text_of(Client().get("/contests/cup/data", headers=IN_JAPANESE))


def _commands(page: str) -> list[str]:
    found = re.search(r'<textarea id="commands"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1]).splitlines()


@pytest.mark.parametrize("phase", [Phase.ANONYMIZE, Phase.ATTACK])
def test_commands_of_the_data_page_work_with_the_kit(
    contest: Contest, phase: Phase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = move_to(contest, phase)
    do_jobs("workbench")
    page = Client().get("/contests/cup/data").content.decode()
    unzip, *commands = _commands(page)
    assert unzip == "unzip cup-kit.zip -d cup"
    monkeypatch.chdir(tmp_path)
    zipfile.ZipFile(io.BytesIO(read(Client().get("/contests/cup/kit")))).extractall("cup")
    for command in commands:
        program, *arguments = command.split()
        assert program == "tokumei"
        with pytest.raises(SystemExit) as done:
            main(arguments)
        assert not done.value.code, command
    assert Path("my-guess/G.csv").is_file()
    assert Path("my-release/R.csv").is_file() == (phase == Phase.ANONYMIZE)
