"""A simulated season is a contest like any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contest.small_editions import SMALL

from tokumei.contest.edition import EDITIONS, Edition
from tokumei.contest.phases import ranking
from tokumei.contest.replay import replay, simulate, team_names
from tokumei.core.errors import InputError


def test_more_teams_than_anonymizers_play_again(tiny: Edition) -> None:
    assert team_names(tiny, 3) == {"as-is": "as-is", "tens": "tens", "as-is-2": "as-is"}


def test_season_plays_every_attack_at_every_level_on_every_team(tiny: Edition, tmp_path: Path) -> None:
    contest = simulate(tiny, tmp_path / "season", n_teams=3, seed=1)
    season = contest.season()
    assert season.phase == "closed"
    assert {(g.attacker, g.target, g.knowledge) for g in season.guesses.values()} == {
        (f"house-{attack}", team, level)
        for attack in ("in-order", "nearest")
        for team in ("as-is", "tens", "as-is-2")
        for level in ("half", "all")
    }
    # Numbers released as they are and known in full: the nearest is the right one.
    assert max(one.score.success for one in season.entries()[0].attempts) >= 5 / 6
    assert replay(contest.folder).n_lines == 1 + 3 + 1 + 12 + 12 + 1


def test_season_ends_in_a_page_with_its_figures(tiny: Edition, tmp_path: Path) -> None:
    contest = simulate(tiny, tmp_path / "season", n_teams=2, seed=1)
    page = (contest.folder / "results.html").read_text()
    assert page.count("<svg") == 2
    for word in ("as-is", "tens", "house-nearest"):
        assert word in page
    assert (contest.folder / "attacks.svg").read_text().startswith("<svg")
    assert (contest.folder / "standings.svg").read_text().startswith("<svg")


def test_season_without_teams_is_refused(tiny: Edition, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 1 team"):
        simulate(tiny, tmp_path / "season", n_teams=0, seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize("name", EDITIONS.names())
def test_small_season_of_every_edition_ends_in_a_ranking(name: str, tmp_path: Path) -> None:
    edition = EDITIONS.make_from_text(name, SMALL.get(name, {}))
    contest = simulate(edition, tmp_path / "season", n_teams=2, seed=1)
    assert {standing.team for standing in ranking(contest)} == set(edition.anonymizers()[:2])
    assert replay(contest.folder).phase == "closed"
