"""Which of a team's releases counts: the latest, the best or the chosen one, in the folder, its log and its replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contest.test_phases import release, written
from tests.contest.tiny_edition import Tiny

from tokumei.cli.main import main
from tokumei.contest.edition import CHOSEN, COUNTS, Edition, ReleaseScore
from tokumei.contest.folder import Contest, open_contest
from tokumei.contest.kit import kit_of_contest
from tokumei.contest.log import read_log
from tokumei.contest.pages import rules_text
from tokumei.contest.phases import attack, choose, close, judge, prepare, publish, ranking, submit
from tokumei.contest.replay import replay
from tokumei.contest.season import which_counts
from tokumei.contest.setting import counts_said, parse_setting, with_counts
from tokumei.core.errors import InputError, NotAllowed, NotFound, PromiseBroken

# The second of three releases moves least, and the first most.
ROWS = ("61 20 30 40 50 60", "11 20 30 40 50 60", "31 20 30 40 50 60")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 5))
def test_best_is_the_last_of_those_that_lost_least_use(losses: list[int], place: int) -> None:
    places, rank = range(len(losses)), Tiny().rank

    def score(place: int) -> ReleaseScore:
        return ReleaseScore({}, losses[place] / 10)

    best = max(place for place, loss in enumerate(losses) if loss == min(losses))
    assert which_counts("best", places, rank, score) == best
    assert which_counts("latest", places, rank, score) == len(losses) - 1
    assert which_counts("chosen", places, rank, score) == len(losses) - 1
    chosen = which_counts("chosen", places, rank, score, lambda one: one == place)
    assert chosen == min(place, len(losses) - 1)


def prepared(tiny: Edition, tmp_path: Path, counts: str, name: str = "cup") -> Contest:
    """Prepare a contest of n0,10 … n5,60."""
    source = written(tmp_path / "D.csv", " ".join(f"n{row},{10 * row + 10}" for row in range(6)))
    return prepare(tiny, tmp_path / name, seed=1, source=source, counts=counts)


@pytest.mark.parametrize(("counts", "number"), [("latest", 3), ("best", 2), ("chosen", 1)])
def test_rule_decides_what_is_published_ranked_and_replayed(
    tiny: Edition, tmp_path: Path, counts: str, number: int
) -> None:
    contest = prepared(tiny, tmp_path, counts)
    for rows in ROWS:
        submit(contest, "alpha", release(tmp_path, rows))
    submit(contest, "beta", release(tmp_path, ROWS[0]))
    if counts == CHOSEN:
        choose(contest, "alpha", 2)
        choose(contest, "alpha", 1)
        assert read_log(contest.folder)[-1].facts == {"team": "alpha", "number": 1}
    assert contest.season().counting_releases()["alpha"].number == number
    publish(contest)
    shown = sorted(contest.path("public", "releases", "alpha", "P.csv").read_text().split())
    assert shown == sorted(ROWS[number - 1].split())
    attack(contest, "beta", "alpha", written(tmp_path / "G.csv", "0 1 2 3 4 5"), knowledge="all")
    judge(contest)
    close(contest)
    assert {line.team: line.utility for line in ranking(contest)}["alpha"] == (
        contest.season().releases[number - 1].score.utility
    )
    assert replay(contest.folder).phase == "closed"
    assert open_contest(contest.folder).terms.counts == counts
    kit_of_contest(contest, tmp_path / "kit.zip")


def test_choice_that_the_log_was_made_to_tell_is_found_out(tiny: Edition, tmp_path: Path) -> None:
    contest = prepared(tiny, tmp_path, "chosen")
    for rows in ROWS[:2]:
        submit(contest, "alpha", release(tmp_path, rows))
    choose(contest, "alpha", 1)
    publish(contest)
    path = contest.path("log.jsonl")
    path.write_text(path.read_text().replace('"number":1,"team":"alpha"', '"number":2,"team":"alpha"'))
    with pytest.raises(PromiseBroken):
        replay(contest.folder)


def test_choice_is_refused_where_there_is_none(tiny: Edition, tmp_path: Path) -> None:
    contest = prepared(tiny, tmp_path, "best")
    submit(contest, "alpha", release(tmp_path))
    with pytest.raises(NotAllowed, match="the best counts"):
        choose(contest, "alpha", 1)
    free = prepared(tiny, tmp_path, "chosen", "free")
    submit(free, "alpha", release(tmp_path))
    for team, number in (("alpha", 2), ("beta", 1)):
        with pytest.raises(NotFound, match="no release number"):
            choose(free, team, number)
    publish(free)
    with pytest.raises(NotAllowed, match="belongs to the phase"):
        choose(free, "alpha", 1)


def test_file_of_a_contest_says_what_counts_once() -> None:
    text = 'edition = "pwscup2018"\n\n[options]\nn_customers = 5\n'
    assert counts_said(text) is None
    said = with_counts(text, "best")
    assert counts_said(said) == "best"
    assert with_counts(said, "best") == said
    assert parse_setting(said) == parse_setting(text)
    assert with_counts(text, None) == with_counts(text, "latest") == text
    with pytest.raises(InputError, match="what the file says, best"):
        with_counts(said, "chosen")
    with pytest.raises(InputError, match="latest, best, chosen"):
        with_counts(text, "worst")
    with pytest.raises(InputError, match="latest, best, chosen"):
        parse_setting('counts = "worst"\n' + text)


def test_rules_say_what_counts_in_both_languages() -> None:
    from dataclasses import replace

    terms = Tiny().terms
    texts = {rules_text(replace(terms, counts=counts), language) for counts in COUNTS for language in ("en", "ja")}
    assert len(texts) == 6


def test_commands_prepare_choose_and_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> dict[str, object]:
        with pytest.raises(SystemExit) as done:
            main(["contest", *words, "--json"])
        said = capsys.readouterr()
        assert not done.value.code, said
        return dict(json.loads(said.out))

    cup = str(tmp_path / "cup")
    asked = ("--edition", "pwscup2018", "--set", "n_customers=5", "--seed", "1", "--counts", "chosen")
    run("prepare", "--out", cup, *asked)
    for name in ("generalize-2", "months"):
        run("submit", cup, "--team", "alpha", "--with", name)
    assert run("choose", cup, "1", "--team", "alpha") == {"team": "alpha", "counts": 1}
    run("publish", cup)
    run("rank", cup, "--close")
    assert run("replay", cup)["phase"] == "closed"
