"""PWSCUP 2019 on two users and one day, with answers worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tokumei.contest.edition import EDITIONS, Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2019 import attacks, players
from tokumei.contest.editions.pwscup2019.edition import GUESS_RULES, RELEASE_RULES, Pwscup2019
from tokumei.contest.editions.pwscup2019.files import (
    Released,
    Traces,
    identity_safety,
    losses,
    read_released,
    read_traces,
    trace_safety,
    utility,
    write_traces,
)
from tokumei.contest.editions.pwscup2019.players import Stream
from tokumei.core.errors import InputError

# Cells of two users counted from 0: the first stays in the corner, the second in its eastern neighbor.
CELLS = np.repeat([[0], [1]], 20, axis=1)
EAST_KM, NORTH_KM = 0.12 / 32 * 91, 0.1 / 32 * 111


def released(*rows: str) -> Released:
    cells = [[] if row == "*" else [int(one) - 1 for one in row.split()] for row in rows]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in cells])])
    return Released(np.array([one for row in cells for one in row], np.int64), starts, len(rows))


def test_losses_are_half_the_kilometers_up_to_two() -> None:
    assert losses()[0, 0] == 0
    assert losses()[0, 1] == pytest.approx(EAST_KM / 2, abs=1e-9)
    assert losses()[0, 32] == pytest.approx(NORTH_KM / 2, abs=1e-9)
    assert losses()[0, 33] == pytest.approx(math.hypot(EAST_KM, NORTH_KM) / 2, abs=1e-9)
    # Five columns are 1.706 km, six 2.048.
    assert losses()[0, 5] == pytest.approx(5 * EAST_KM / 2, abs=1e-9)
    assert losses()[0, 6] == 1


def test_use_takes_lists_by_parts_and_stars_as_lost() -> None:
    original = Traces(np.zeros((1, 4), np.int64))
    told = released("1", "1 2", "*", "2 2 7 1")
    expected = 1 - (0 + EAST_KM / 4 + 1 + (2 * EAST_KM / 2 + 1 + 0) / 4) / 4
    assert utility(original, told) == pytest.approx(expected, abs=1e-12)


def test_identity_and_weighted_places() -> None:
    assert identity_safety(np.array([0, 1, 2, 3]), np.array([0, 1, 3, 3])) == 0.25
    # Cell 2 is a hospital: ten times as heavy; its guess is one column off.
    original = Traces(np.array([[1, 0]]))
    assert trace_safety(original, np.array([[0, 0]])) == pytest.approx(1 - (10 * (1 - EAST_KM / 2) + 1) / 11, abs=1e-12)


def test_users_are_put_in_order_with_their_lists() -> None:
    told = Released(np.array([0, 1, 2, 3]), np.array([0, 2, 2, 3, 4]), 2)
    assert told.words == ["1 2", "*", "3", "4"]
    assert told.by_user(np.array([1, 0])).words == ["3", "4", "1 2", "*"]


def test_blocks_stand_for_their_cells() -> None:
    told = players.merge_and_delete(Traces(np.array([[0, 33, 2]])), Stream(1))
    assert told.words == ["1 2 33 34", "1 2 33 34", "3 4 35 36"]
    assert set(players.merge_and_delete(Traces(CELLS), Stream(1), deleted=1.0).words) == {"*"}


def test_exchange_moves_whole_traces_of_the_first_users() -> None:
    cells = np.arange(10)[:, None] * np.ones((1, 20), np.int64)
    found = players.exchange(Traces(cells), Stream(1), share=0.5).cells.reshape(10, 20)
    assert sorted(found[:5, 0]) == [0, 1, 2, 3, 4]
    assert found[5:, 0].tolist() == [5, 6, 7, 8, 9]
    assert (found == found[:, :1]).all()


def test_randomized_response_keeps_by_its_odds() -> None:
    cells = np.full((100, 1000), 500)
    share = (players.randomize(Traces(cells), Stream(1)).cells == 500).mean()
    odds = math.exp(8) / (1023 + math.exp(8))
    # Six deviations of 100,000 draws.
    assert abs(share - odds) < 6 * math.sqrt(odds * (1 - odds) / 1e5)


def test_likeliest_users_may_repeat_and_pairs_may_not() -> None:
    scores = np.array([[3.0, 2.0, 0.0], [5.0, 4.9, 1.0], [4.0, 1.0, 0.5]])
    assert attacks.likeliest(scores).tolist() == [0, 0, 0]
    assert attacks.likeliest_once(scores).tolist() == [0, 1, 2]
    # 2 + 1 + 4 is less than 0 + 4.9 + 4.
    assert attacks.best_pairs(scores).tolist() == [2, 1, 0]


@pytest.fixture
def edition() -> Pwscup2019:
    return Pwscup2019(n_users=2, n_slots=20)


@pytest.fixture
def data(tmp_path: Path) -> Files:
    for name in ("IDP", "TRP"):
        write_traces(tmp_path / f"org_{name}.csv", Traces(CELLS, 21))
        write_traces(tmp_path / f"ref_{name}.csv", Traces(CELLS, 1))
    return {f"{half}_{name}": tmp_path / f"{half}_{name}.csv" for half in ("org", "ref") for name in ("IDP", "TRP")}


GOOD = "reg_id\n" + "1\n" * 20 + "2\n" * 20


def handed_in(folder: Path, changed: str, name: str = "IDP") -> Files:
    for one in ("IDP", "TRP"):
        (folder / f"ano_{one}.csv").write_text(changed if one == name else GOOD)
    return {f"ano_{one}": folder / f"ano_{one}.csv" for one in ("IDP", "TRP")}


BROKEN = [
    ("file-form", GOOD.replace("reg_id", "cell")),
    ("file-form", ""),
    ("same-rows", GOOD + "1\n"),
    ("same-rows", GOOD.replace("1\n", "", 1)),
    ("cell", GOOD.replace("1\n", "0\n", 1)),
    ("cell", GOOD.replace("1\n", "1025\n", 1)),
    ("cell", GOOD.replace("1\n", "1  2\n", 1)),
    ("cell", GOOD.replace("1\n", "1 *\n", 1)),
    ("cell", GOOD.replace("1\n", "\n", 1)),
    ("cell", GOOD.replace("1\n", "01\n", 1)),
    ("useful", "reg_id\n" + "*\n" * 20 + "2\n" * 20),
]


@pytest.mark.parametrize(("rule", "text"), BROKEN)
@pytest.mark.parametrize("name", ["IDP", "TRP"])
def test_release_that_breaks_one_rule_is_told_its_name(
    rule: str, text: str, name: str, edition: Pwscup2019, data: Files, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        edition.check(data, handed_in(tmp_path, text, name))
    assert {fault.rule for fault in caught.value.faults} == {rule}
    assert caught.value.faults[0].file == str(tmp_path / f"ano_{name}.csv")


BROKEN_GUESSES = [
    ("file-form", "user_id\n1\nx\n", GOOD),
    ("file-form", "user\n1\n2\n", GOOD),
    ("same-rows", "user_id\n1\n", GOOD),
    ("known", "user_id\n1\n3\n", GOOD),
    ("known", "user_id\n1\n1\n", GOOD.replace("1\n", "1025\n", 1)),
    ("file-form", "user_id\n1\n1\n", GOOD.replace("1\n", "1 2\n", 1)),
]


@pytest.mark.parametrize(("rule", "users", "cells"), BROKEN_GUESSES)
def test_guess_that_breaks_one_rule_is_told_its_name(
    rule: str, users: str, cells: str, edition: Pwscup2019, tmp_path: Path
) -> None:
    (tmp_path / "etable.csv").write_text(users)
    (tmp_path / "etraces.csv").write_text(cells)
    with pytest.raises(InputError) as caught:
        edition.check_guess({}, {}, files_in(tmp_path, edition.terms.guess_files))
    assert {fault.rule for fault in caught.value.faults} == {rule}


def test_every_rule_is_broken_by_a_test() -> None:
    assert {rule for rule, _ in BROKEN} == {rule.name for rule in RELEASE_RULES}
    assert {rule for rule, _, _ in BROKEN_GUESSES} == {rule.name for rule in GUESS_RULES}


def test_release_is_published_by_pseudonyms_and_judged(edition: Pwscup2019, data: Files, tmp_path: Path) -> None:
    given = handed_in(tmp_path, GOOD)
    assert edition.check_and_score(data, {}, given).details == {"utility": {"IDP": 1.0, "TRP": 1.0}}
    for one in ("shown", "truth", "guess"):
        (tmp_path / one).mkdir()
    edition.publish(data, given, tmp_path / "shown", tmp_path / "truth", seed=5)
    shown = files_in(tmp_path / "shown", edition.terms.published_files)
    truth = files_in(tmp_path / "truth", edition.terms.truth_files)
    lines = shown["pub_IDP"].read_text().split()
    assert lines[0] == "pse_id,time_id,reg_id"
    assert [line.split(",")[:2] for line in lines[1:3]] == [["3", "21"], ["3", "22"]]
    # Whoever stays in cell 2 is user 2.
    first = lines[1].split(",")[2]
    assert truth["ptable"].read_text().split()[1] == f"3,{first}"
    edition.attack("habits", data, {}, shown, tmp_path / "guess", seed=1)
    found = edition.check_and_judge(data, shown, truth, files_in(tmp_path / "guess", edition.terms.guess_files))
    assert (found.success, found.details["identity"], found.details["trace"]) == (1.0, 1.0, 1.0)


def test_teams_rank_by_the_best_finders_of_users_and_of_places(edition: Pwscup2019) -> None:
    def entry(team: str, *found: tuple[str, float, float]) -> TeamEntry:
        scores = [Attempt(by, "", GuessScore((i + t) / 2, {"identity": i, "trace": t})) for by, i, t in found]
        return TeamEntry(team, ReleaseScore({}, 0.25), scores)

    lines = edition.rank(
        [entry("a", ("b", 0.5, 0.0), ("c", 0.0, 0.25), ("a", 1.0, 1.0)), entry("b", ("a", 0.25, 0.25)), entry("c")]
    )
    assert [(line.place, line.team, line.value) for line in lines] == [(1, "c", 0.0), (2, "b", 0.25), (3, "a", 0.375)]
    assert lines[2].numbers == {"identity": 0.5, "trace": 0.25}


def test_made_up_traces_are_halves_of_the_same_people_and_follow_their_seed(
    edition: Pwscup2019, tmp_path: Path
) -> None:
    edition = Pwscup2019(n_users=200, n_slots=40)
    edition.draw_own({}, tmp_path, seed=1)
    reference, original = (read_traces(tmp_path / f"{half}_IDP.csv", 200, 40) for half in ("ref", "org"))
    assert (reference.first_time, original.first_time) == (1, 41)
    named = attacks.best_pairs(attacks.by_habits(Released.single(original), reference))
    # Two hundred names by luck would be right once.
    assert (named == np.arange(200)).mean() > 0.2
    first = (tmp_path / "org_TRP.csv").read_bytes()
    assert first != (tmp_path / "org_IDP.csv").read_bytes()
    edition.draw_own({}, tmp_path, seed=1)
    assert (tmp_path / "org_TRP.csv").read_bytes() == first


def test_built_in_releases_are_useful_enough(tmp_path: Path) -> None:
    edition = Pwscup2019(n_users=100)
    edition.draw_own({}, tmp_path, seed=1)
    data = files_in(tmp_path, edition.terms.own_files)
    for name in edition.anonymizers():
        edition.anonymize(name, data, tmp_path, seed=2)
        edition.check(data, files_in(tmp_path, edition.terms.release_files))


def test_data_that_are_no_traces_are_refused(tmp_path: Path) -> None:
    write_traces(tmp_path / "org.csv", Traces(CELLS, 21))
    (tmp_path / "org.csv").write_text((tmp_path / "org.csv").read_text().replace("\n2,21,", "\n1,21,"))
    with pytest.raises(InputError, match="users from 1 to 2"):
        read_traces(tmp_path / "org.csv", 2, 20)


@pytest.mark.parametrize(("option", "value"), [("n_users", 1), ("n_slots", 30), ("n_slots", 0), ("least_use", 1.5)])
def test_options_that_no_contest_can_have_are_refused(option: str, value: float) -> None:
    with pytest.raises(InputError, match=option):
        EDITIONS.make("pwscup2019", **{option: value})


def test_gzipped_release_is_read(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "ano.csv.gz").write_bytes(gzip.compress(GOOD.encode()))
    assert read_released(tmp_path / "ano.csv.gz", 2, 20).cells.tolist() == [0] * 20 + [1] * 20
