"""Rules, column texts, board, heat map, figures and submission pages follow from one statement of the score."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
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

from tokumei.contest.edition import AttackRule
from tokumei.contest.editions.pwscup2015.edition import Pwscup2015
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.figures import facts_of
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services import contests, scoreboard, submitting, teamwork
from tokumei.platform.contests.services.rulebook import edition_of, terms_of
from tokumei.platform.contests.words import score_tables
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db


def _play_2017(contest: Contest, folder: Path, *entered: tuple[Team, User]) -> Contest:
    """Release the sample of the kit for each team, open the attacks, and find everybody at one level of four."""
    edition = edition_of(contest)
    data = {role.name: contest.folder / "public" / "data" / role.file_name for role in edition.terms.data_files}
    for number, (team, user) in enumerate(entered):
        edition.anonymize("monthly-pseudonyms", data, folder, seed=number)
        given = {"AT": SimpleUploadedFile("AT.csv", (folder / "AT.csv").read_bytes())}
        finish(submitting.submit_release(participation(contest, team), user, given).job)
    contest = move_to(contest, Phase.ATTACK)
    (attacker, user), (target, _) = entered
    truth = (contest.folder / "secret" / "truth" / target.slug / "F.csv").read_bytes()
    given = {"Fh": SimpleUploadedFile("Fh.csv", truth)}
    finish(submitting.submit_guess(participation(contest, attacker), user, target, "25", given).job)
    return move_to(contest, Phase.CLOSED)


def test_all_pages_of_2017_tell_the_same_of_a_guess_that_found_everybody(
    organizer: User, team: Team, alice: User, other_team: Team, mallory: User, tmp_path: Path, log_in: LogIn
) -> None:
    entered = ((team, alice), (other_team, mallory))
    made = make_contest(organizer, *entered, edition="pwscup2017", options={"n_customers": 6}, source=None)
    contest = _play_2017(made, tmp_path, *entered)
    facts, terms = facts_of(contest, None), terms_of(contest)
    line = next(line for line in facts.board.lines if line.team == "blue-team")
    # One level of four, and everybody there: a quarter on the board and in the heat map, 1 at that level.
    assert line.numbers["submitted attacks"] == facts.attacks["red-team", "blue-team"] == 0.25
    assert line.safety == max(0.25, line.numbers["sample attacks"])
    assert line.value == pytest.approx(0.5 * line.utility + 0.5 * line.safety)
    assert [(one.level, one.success) for one in facts.attacks_on] == [("25", 1.0)]
    # The last points of the figure are the scores of the board.
    last = {point.team: point.value for point in facts.history}
    assert last == {one.team: one.value for one in facts.board.lines}
    made_guess = contest.submissions.get(kind="guess")
    for language in ("en", "ja"):
        headers = {"accept-language": language}
        rule = terms.attack_rule.says if language == "en" else terms.attack_rule.says_ja
        summary = terms.summary if language == "en" else terms.summary_ja
        board = text_of(Client().get("/contests/cup/scoreboard", headers=headers))
        rules = text_of(Client().get("/contests/cup/rules", headers=headers))
        page = text_of(log_in(alice).get(f"/contests/submissions/{made_guess.key}", headers=headers))
        assert rule in summary
        # The text of the column, the heat map's and that of the list of attacks.
        assert board.count(rule) == 3
        # The summary, the column's text and the limits.
        assert rules.count(rule) == 3
        title = "customers found in every month" if language == "en" else "全月で特定した顧客"
        assert re.search(rf"{title}\s+1\s", page)
        assert "by rows" not in page


def test_who_attacked_is_told_level_by_level_at_the_end_alone(
    contest: Contest, team: Team, alice: User, other_team: Team, organizer: User, log_in: LogIn
) -> None:
    contest = move_to(contest, Phase.ATTACK)
    guess(contest, team, alice, other_team, "0 0 0 0 0 0")
    address, title = "/contests/cup/scoreboard", "Who attacked which release"
    for client in (Client(), log_in(alice)):
        assert title not in text_of(client.get(address))
    assert title in text_of(log_in(organizer).get(address))
    contests.change_board(contest, board="live", digits_shown=3, shows_guess_scores=True)
    # One of six is right: below a quarter, and no more is told.
    (seen,) = scoreboard.attacks_on(contest, alice)
    assert (seen.target, seen.attacker, seen.level, seen.success) == ("blue-team", "red-team", "half", 0.0)
    move_to(contest, Phase.CLOSED)
    said = " ".join(text_of(Client().get(address)).split())
    assert "Blue Team found: 0.166667 Attacker Knowledge Found Red Team half of the rows 0.166667" in said


def test_history_is_the_board_after_each_submission(contest: Contest, team: Team, alice: User, organizer: User) -> None:
    release(contest, team, alice, "60 60 60 60 60 10")
    points = [point for point in teamwork.history(contest, organizer) if point.team == "red-team"]
    # The worse release counts, since it is the last, and moved the team down.
    assert [point.place for point in points] == [1, 2]
    board = {line.team: line for line in scoreboard.standings(contest, organizer).lines}
    assert points[-1].value == board["red-team"].value


def test_rule_of_attacks_averages_levels_and_takes_the_best_without() -> None:
    guesses = [("25", 0.4), ("25", 0.8), ("50", 0.4), ("99", 1.0)]
    # (0.8 + 0.4 + 0 + 0) / 4; a level that is not played counts for nothing.
    assert AttackRule(("25", "50", "75", "100")).found(guesses) == pytest.approx(0.3)
    assert AttackRule().found(guesses) == 1.0
    assert AttackRule(("25",)).found([]) == AttackRule().found([]) == 0.0


def test_class_sizes_of_2015_stand_under_no_heading_of_attacks() -> None:
    details = {"utility": {"U1": 0.1}, "safety": {"S1": 2, "S2": 3.5}, "reidentification": {"E1": 0.2}}
    titles = [table.title for table in score_tables(details, Pwscup2015().terms)]
    assert titles == ["Loss of use", "Class sizes", "Re-identification"]
