"""What is ranked and what attackers found, by hand for three teams."""

from __future__ import annotations

import pytest

from tokumei.contest.edition import AttackRule, Attempt, GuessScore, ReleaseScore, Standing
from tokumei.contest.season import attacks_found, best_guesses, safety_lost, standings_of, team_entries

RULE = AttackRule(("25", "50"))


def attempt(attacker: str, knowledge: str, success: float) -> Attempt:
    return Attempt(attacker, knowledge, GuessScore(success, {}))


RELEASES = {team: ReleaseScore({}, loss) for team, loss in {"red": 0.1, "blue": 0.2, "green": 0.3}.items()}
ATTACKS = {
    "red": [attempt("blue", "25", 0.2), attempt("blue", "25", 0.4), attempt("green", "50", 0.6)],
    "blue": [attempt("green", "25", 1.0)],
}


def test_entries_leave_out_releases_and_attacks_of_teams_that_count_no_more() -> None:
    entries = team_entries(RELEASES, ATTACKS, without={"green"})
    assert [(one.team, [(made.attacker, made.score.success) for made in one.attempts]) for one in entries] == [
        ("red", [("blue", 0.2), ("blue", 0.4)]),
        ("blue", []),
    ]


def test_what_attackers_found_follows_the_rule_of_the_contest() -> None:
    entries = team_entries(RELEASES, ATTACKS)
    # Two levels: the best at each, averaged, and 0 where nobody guessed.
    found = attacks_found(entries, RULE)
    assert found == {("blue", "red"): 0.2, ("green", "red"): 0.3, ("green", "blue"): 0.5}
    assert attacks_found(entries, AttackRule()) == {
        ("blue", "red"): 0.4,
        ("green", "red"): 0.6,
        ("green", "blue"): 1.0,
    }
    assert best_guesses(entries) == {
        ("red", "blue", "25"): 0.4,
        ("red", "green", "50"): 0.6,
        ("blue", "green", "25"): 1.0,
    }


@pytest.mark.parametrize(("safety", "lost"), [(None, 0.3), (0.7, 0.7), (0.0, 0.0)])
def test_safety_lost_is_the_editions_number_or_the_best_attack(safety: float | None, lost: float) -> None:
    found = attacks_found(team_entries(RELEASES, ATTACKS), RULE)
    assert safety_lost(Standing(1, "red", 0.1, 0.1, safety), found) == lost


def test_nobody_is_ranked_where_nothing_counts() -> None:
    def rank(_entries: object) -> list[Standing]:
        raise AssertionError

    assert standings_of(team_entries(RELEASES, ATTACKS, without=set(RELEASES)), rank) == []
