"""Which release of a team counts: board, history, exports and replay follow the rule and the team's choice."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - a fixture among them.
    guess,
    make_contest,
    move_to,
    odd_edition,
    read,
    release,
    text_of,
)
from tests.platform.programs import Program, token_for

from tokumei.contest.replay import replay
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Phase, Submission
from tokumei.platform.contests.services.rulebook import counting_releases
from tokumei.platform.contests.services.scoreboard import standings
from tokumei.platform.contests.services.teamwork import history
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db
# The second of three moves least, the first most.
ROWS = ("61 20 30 40 50 60", "11 20 30 40 50 60", "31 20 30 40 50 60")


def played(organizer: User, team: Team, alice: User, counts: str, *others: Any) -> tuple[Contest, list[Submission]]:
    contest = make_contest(organizer, (team, alice), *others, counts=counts)
    return contest, [release(contest, team, alice, rows) for rows in ROWS]


@pytest.mark.parametrize(("counts", "place"), [("latest", 2), ("best", 1), ("chosen", 0)])
def test_board_history_download_and_replay_follow_the_rule(
    organizer: User,
    team: Team,
    alice: User,
    other_team: Team,
    mallory: User,
    log_in: LogIn,
    tmp_path: Path,
    counts: str,
    place: int,
) -> None:
    contest, made = played(organizer, team, alice, counts, (other_team, mallory))
    release(contest, other_team, mallory, "60 60 60 60 60 60")
    client = log_in(alice)
    if counts == "chosen":
        page = text_of(client.get(f"/contests/submissions/{made[0].key}"))
        assert "Let this release count" in page
        assert "This release counts now." in text_of(
            client.post(f"/contests/submissions/{made[0].key}/choose", follow=True)
        )
        assert "chose the release that counts" in text_of(log_in(organizer).get("/contests/cup/organize/log"))
    else:
        assert client.post(f"/contests/submissions/{made[0].key}/choose").status_code == 403
    expected = made[place]
    assert counting_releases(contest)[team.pk] == expected
    score = expected.score or {}
    assert {line.team: line.utility for line in standings(contest, organizer).lines}["red-team"] == score["utility"]
    last = [point for point in history(contest, organizer) if point.team == "red-team"][-1]
    assert last.value == standings(contest, organizer).lines[0].value
    assert f"{expected.key},release,,,scored,yes" in client.get("/contests/cup/submissions.csv").content.decode()
    contest = move_to(contest, Phase.ATTACK)
    shown = (contest.folder / "public" / "releases" / "red-team" / "P.csv").read_text().split()
    assert sorted(shown) == sorted(ROWS[place].split())
    assert client.post(f"/contests/submissions/{made[1].key}/choose").status_code == 403
    guess(contest, other_team, mallory, team)
    contest = move_to(contest, Phase.CLOSED)
    with zipfile.ZipFile(io.BytesIO(read(client.get("/contests/cup/export")))) as packed:
        packed.extractall(tmp_path)
    replayed = replay(tmp_path / "cup")
    assert (replayed.phase, replayed.head) == ("closed", contest.heads["close"])


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ("latest", "The last one that was scored counts."),
        ("best", "The best one that was scored counts"),
        ("chosen", "The one that the team chooses counts"),
    ],
)
def test_rules_say_what_counts(organizer: User, team: Team, alice: User, log_in: LogIn, counts: str, says: str) -> None:
    make_contest(organizer, (team, alice), counts=counts)
    assert says in text_of(log_in(alice).get("/contests/cup/rules"))


def test_only_the_team_chooses_and_only_a_scored_release(
    organizer: User, team: Team, alice: User, bob: User, mallory: User, other_team: Team, log_in: LogIn
) -> None:
    contest, made = played(organizer, team, alice, "chosen", (other_team, mallory))
    address = f"/contests/submissions/{made[1].key}/choose"
    for user in (mallory, organizer):
        assert log_in(user).post(address).status_code == 404
    assert log_in(bob).post(address).status_code == 302
    assert counting_releases(contest)[team.pk] == made[1]
    refused = release(contest, team, alice, "1 2")
    assert log_in(alice).post(f"/contests/submissions/{refused.key}/choose").status_code == 403
    # A later release does not take the place of the one that was chosen.
    release(contest, team, alice, ROWS[0])
    assert counting_releases(contest)[team.pk] == made[1]


def test_programs_choose_too(organizer: User, team: Team, alice: User, mallory: User, other_team: Team) -> None:
    contest, made = played(organizer, team, alice, "chosen", (other_team, mallory))
    program = Program(token_for(alice, "submit"))
    assert program.get("/contests/cup").json()["limits"]["counts"] == "chosen"
    answer = program.call("POST", f"/submissions/{made[0].key}/choose")
    assert (answer.status_code, answer.json()["key"]) == (200, made[0].key)
    assert counting_releases(contest)[team.pk] == made[0]
    for user in (mallory, organizer):
        assert Program(token_for(user, "submit")).call("POST", f"/submissions/{made[0].key}/choose").status_code == 404
    assert Program(token_for(alice, "read")).call("POST", f"/submissions/{made[0].key}/choose").status_code == 403


def test_text_of_ones_own_says_what_counts(organizer: User) -> None:
    from tokumei.contest.custom.template import template

    text = 'counts = "best"\n' + template("table")
    made = make_contest(organizer, edition="", own_toml=text, source=None)
    assert (made.counts, made.trouble) == ("best", "")
