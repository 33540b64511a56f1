"""PWSCUP 2026: every rule by a submission that breaks it, the scores by hand, data of one's own, and a kit."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contest.conftest import made

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2026.attacks import (
    anonymity_lost,
    attribute_score,
    beyond_controls,
    chance_floor,
    membership_score,
    true_positives,
)
from tokumei.contest.editions.pwscup2026.edition import Pwscup2026
from tokumei.contest.editions.pwscup2026.files import (
    GUESS_RULES,
    RELEASE_RULES,
    Reference,
    assigned_cohorts,
    check_release,
    read_cohort,
    read_membership,
    read_times,
)
from tokumei.contest.editions.pwscup2026.utility import TAILS, ks_similarity, share_similarity
from tokumei.contest.folder import open_contest
from tokumei.contest.kit import kit_of_contest, open_kit
from tokumei.contest.phases import check_release as check_in_contest
from tokumei.contest.phases import prepare, submit
from tokumei.contest.replay import played_release
from tokumei.core.errors import InputError

EDITION = Pwscup2026(n_rows=60, n_rare=6, n_people=200, n_background=100, n_challenge=30)
HEAD = "age,sex,prefecture,BMI,SBP,TG,HDL,ALT,smoking,FPG,time,onset,death\n"
ROWS = ["50,1,東京都,22.5,120,90,50,20,0,95,9.998631,0,0\n", "61,0,大阪府,24.1,131.5,80,61,15,1,101,2.5,1,0\n"]
GOOD = HEAD + "".join(ROWS)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("data")
    EDITION.make_data(folder, seed=1)
    found = files_in(folder, (*EDITION.terms.data_files, *EDITION.terms.hidden_files))
    EDITION.draw_own(found, folder, seed=2)
    return found | files_in(folder, EDITION.terms.own_files)


def write(folder: Path, text: str, name: str = "C.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


BROKEN: list[tuple[str, str]] = [
    ("file-form", GOOD + "1,2\n"),
    ("columns", GOOD.replace("FPG", "glucose", 1)),
    ("columns", GOOD.replace("death\n", "death,more\n").replace(",0\n", ",0,1\n")),
    ("same-number", HEAD + ROWS[0]),
    ("ranges", GOOD.replace("22.5", "9.9")),
    ("ranges", GOOD.replace("22.5", "")),
    ("ranges", GOOD.replace("50,1,", "50.5,1,", 1)),
    ("ranges", GOOD.replace("2.5,1,0", "0,1,0")),
    ("ranges", GOOD.replace("120", "nan")),
    ("zero-or-one", GOOD.replace("20,0,95", "20,2,95")),
    ("prefecture", GOOD.replace("東京都", "")),
    ("one-outcome", GOOD.replace("2.5,1,0", "2.5,1,1")),
]


@pytest.mark.parametrize(("rule", "text"), BROKEN)
def test_release_that_breaks_one_rule_is_told_its_name(rule: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check_release(2, write(tmp_path, text))
    assert {fault.rule for fault in caught.value.faults} == {rule}


def test_every_rule_of_releases_and_guesses_is_broken_by_a_test() -> None:
    assert {rule for rule, _ in BROKEN} == {rule.name for rule in RELEASE_RULES}
    assert {rule for rule, _, _ in BROKEN_GUESSES} == {rule.name for rule in GUESS_RULES}


def test_release_may_have_its_columns_in_any_order(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    frame = pl.read_csv(path, infer_schema=False)
    frame.select(sorted(frame.columns)).write_csv(path)
    check_release(2, path)
    assert read_cohort(path).of("time").tolist() == [9.998631, 2.5]


def _mia(text: str) -> Callable[[Path], object]:
    return lambda path: read_membership(write(path, text), "1", pl.Series([0, 1]))


def _aia(text: str) -> Callable[[Path], object]:
    return lambda path: read_times(write(path, text), "1", pl.Series([0, 1]))


BROKEN_GUESSES: list[tuple[str, Callable[[Path], object], str]] = [
    ("file-form", _mia("record_id,1\n0\n"), ""),
    ("own-records", _mia("record_id,1\n0,.5\n"), "1"),
    ("own-records", _mia("record_id,1\n0,.5\n1,.5\n7,.5\n"), "7"),
    ("own-records", _mia("record_id,1\n0,.5\n1,.5\n1,.5\n"), "1"),
    ("confidence", _mia("record_id,1\n0,.5\n1,1.5\n"), "1.5"),
    ("challenge-rows", _aia("target_k,challenge_row_id,time_hat\n1,0,2\n"), "1"),
    ("challenge-rows", _aia("target_k,challenge_row_id,time_hat\n1,0,2\n1,1,2\n1,5,2\n"), "5"),
    ("time-hat", _aia("target_k,challenge_row_id,time_hat\n1,0,2\n1,1,-2\n"), "-2"),
]


@pytest.mark.parametrize(("rule", "read", "value"), BROKEN_GUESSES)
def test_guess_that_breaks_one_rule_is_told_its_name_and_value(
    rule: str, read: Callable[[Path], object], value: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert {fault.rule for fault in caught.value.faults} == {rule}
    assert not value or value in {fault.value for fault in caught.value.faults}


def test_guess_at_several_targets_is_read_for_the_one_that_is_judged(tmp_path: Path) -> None:
    found = read_membership(write(tmp_path, "record_id,1,2\n1,.25,.9\n0,.5,.9\n"), "1", pl.Series([0, 1]))
    assert found["confidence"].to_list() == [0.5, 0.25]
    text = "target_k,challenge_row_id,time_hat\n2,0,9\n1,1,3\n1,0,4\n"
    assert read_times(write(tmp_path, text), "1", pl.Series([0, 1]))["time_hat"].to_list() == [4, 3]


def test_true_positives_lie_between_the_thresholds_there_are() -> None:
    told = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    is_member = np.array([1, 1, 0, 1, 0]) == 1
    assert true_positives(told, is_member) == pytest.approx(2 / 3)
    # At a quarter of false alarms: half the way from 2/3 at none to 2/3 at half, and all at half.
    assert true_positives(told, is_member, 0.5) == pytest.approx(1.0)
    assert true_positives(np.full(10, 0.5), np.arange(10) < 3) == pytest.approx(0.01)
    assert true_positives(told, np.ones(5, bool)) == 0


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=12), st.floats(0, 1))
def test_true_positives_are_those_of_a_plain_walk_along_the_curve(
    people: list[tuple[int, bool]], alarms: float
) -> None:
    told, is_member = np.array([one for one, _ in people], float), np.array([two for _, two in people])
    if is_member.all() or not is_member.any():
        assert true_positives(told, is_member, alarms) == 0
        return
    points = [(0.0, 0.0)]
    for level in sorted(set(told.tolist()), reverse=True):
        taken = told >= level
        points.append(
            (float((taken & ~is_member).sum() / (~is_member).sum()), float((taken & is_member).sum() / is_member.sum()))
        )
    here = max(place for place, (rate, _) in enumerate(points) if rate <= alarms)
    (rate, found), (next_rate, next_found) = points[here], points[min(here + 1, len(points) - 1)]
    part = (alarms - rate) / (next_rate - rate) if next_rate > rate else 0.0
    assert true_positives(told, is_member, alarms) == pytest.approx(found + part * (next_found - found), abs=1e-9)


def test_membership_counts_the_rare_alone_where_that_finds_more() -> None:
    told, is_member = np.array([0.9, 0.8, 0.7, 0.1]), np.array([0, 0, 1, 0]) == 1
    assert true_positives(told, is_member) == pytest.approx(0.0)
    # Of the two rare people the member comes first.
    assert membership_score(told, is_member, np.array([0, 0, 1, 1]) == 1) == 1.0


def test_small_numbers_of_attribute_inference_are_those_of_the_rules() -> None:
    assert beyond_controls(9, 13, 5, 13, 1.64) == pytest.approx(0.004334169641869036, abs=1e-12)
    assert beyond_controls(12, 13, 3, 13, 1.64) == pytest.approx(0.6052208127584833, abs=1e-12)
    assert beyond_controls(85, 100, 80, 100) == pytest.approx(0.25, abs=1e-12)
    assert beyond_controls(50, 100, 50, 100) == 0
    assert beyond_controls(100, 100, 50, 100) == 1
    assert [anonymity_lost(one) for one in (0.01, 0.0601, 0.065, 0.12)] == pytest.approx(
        [0, 0.45545454545454545, 0.5, 1]
    )


def test_times_within_half_a_year_are_right() -> None:
    guess, truth = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.5, 2.6, 3.6, 4.6])
    # One of two members, no control: half of what could be found beyond them.
    assert attribute_score(guess, truth, np.array([1, 1, 0, 0]) == 1, np.zeros(4, bool)) == pytest.approx(0.5)


def test_chance_floor_of_a_perfect_order_is_that_of_drawn_members() -> None:
    # One member of a hundred: it comes before all others in 1 % of the draws.
    told, is_member = np.arange(100.0), np.arange(100) == 99
    assert chance_floor(told, is_member, np.zeros(100, bool)) == 0.0
    # Ten of a hundred: one of them comes first in a tenth of the draws, so that a tenth is reached by luck.
    assert chance_floor(told, np.arange(100) >= 90, np.zeros(100, bool)) == pytest.approx(0.1)


def test_similarities_of_distributions_by_hand() -> None:
    assert ks_similarity(np.array([1.0, 2.0]), np.array([1.0, 2.0])) == 1
    assert ks_similarity(np.array([1.0, 2.0]), np.array([2.0, 3.0])) == 0.5
    assert share_similarity(np.array(["a", "a"]), np.array(["a", "b"])) == 0.5
    assert sum(ratio <= 1.4 for _, ratio in TAILS.values()) == 36


def test_cohorts_that_collide_go_to_the_next_free_one() -> None:
    alone = assigned_cohorts(["a", "b", "c"], "", 1000)
    assert sorted(assigned_cohorts(["a", "b", "c"], "", 3)) == [0, 1, 2]
    assert alone == [assigned_cohorts([team], "", 1000)[0] for team in ("a", "b", "c")]
    with pytest.raises(InputError, match="at most 2 teams"):
        assigned_cohorts(["a", "b", "c"], "", 2)


def test_reference_is_read_as_it_is_written_and_others_are_refused(data: Files, tmp_path: Path) -> None:
    reference = Reference.read(data["utility_ref"])
    reference.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == data["utility_ref"].read_bytes()
    with pytest.raises(InputError, match="km_signal_D"):
        Reference.read(write(tmp_path, "{}", "bad.json"))


def test_own_data_depend_on_the_seed_and_share_people_of_the_hidden(data: Files, tmp_path: Path) -> None:
    for seed in (2, 3):
        EDITION.draw_own(data, made(tmp_path / str(seed)), seed=seed)
    assert (tmp_path / "2" / "B.csv").read_bytes() == data["B"].read_bytes()
    people = read_cohort(data["P"], ["is_rare"]).frame
    cohorts = [read_cohort(tmp_path / str(seed) / "B.csv", ["is_rare"]).frame for seed in (2, 3)]
    for cohort in cohorts:
        assert cohort.height == 60
        assert cohort["is_rare"].sum() == 6
        assert cohort.join(people, on=people.columns, how="anti").is_empty()
    assert 0 < cohorts[0].join(cohorts[1], on=people.columns, how="semi").height < 60
    assert read_cohort(data["A_bg"]).frame.join(people, on=list(people.columns[:-1]), how="semi").is_empty()


@pytest.mark.parametrize("name", EDITION.anonymizers())
def test_what_a_built_in_anonymizer_makes_passes_the_check(name: str, data: Files, tmp_path: Path) -> None:
    EDITION.anonymize(name, data, tmp_path, seed=1)
    EDITION.check(data, files_in(tmp_path, EDITION.terms.release_files))
    EDITION.anonymize(name, data, made(tmp_path / "again"), seed=1)
    assert (tmp_path / "again" / "C.csv").read_bytes() == (tmp_path / "C.csv").read_bytes()


def entry(team: str, use: float, *found: tuple[str, float, float]) -> TeamEntry:
    attempts = tuple(
        Attempt(attacker, "", GuessScore(0.0, {"anonymity lost": lost, "attribute": attribute}))
        for attacker, lost, attribute in found
    )
    return TeamEntry(team, ReleaseScore({}, 1 - use), attempts)


def test_teams_rank_by_the_lesser_of_use_and_anonymity() -> None:
    entries = [
        entry("safe", 0.4, ("x", 0.0, 0.1)),
        # Membership is averaged over attackers, of whom each has its best guess; the own guess counts for nothing.
        entry("useful", 0.9, ("x", 0.2, 0.0), ("x", 0.4, 0.0), ("y", 0.8, 0.1), ("useful", 1.0, 1.0)),
        entry("alone", 0.3),
    ]
    standings = {one.team: one for one in EDITION.rank(entries)}
    assert {team: one.value for team, one in standings.items()} == pytest.approx(
        {"safe": 0.6, "useful": 0.6, "alone": 0.7}
    )
    assert standings["useful"].safety == pytest.approx(0.6)
    assert [standings[team].place for team in ("safe", "useful", "alone")] == [1, 1, 3]


def test_contest_keeps_the_own_data_of_a_team_for_its_kit_alone(tmp_path: Path) -> None:
    contest = prepare(EDITION, tmp_path / "cup", seed=1)
    assert sorted(path.name for path in (contest.folder / "public").rglob("*.csv")) == ["A_bg.csv"]
    with played_release(contest, "crossover", "alpha") as release:
        with pytest.raises(InputError, match="the team, which has data of its own"):
            check_in_contest(contest, release)
        check_in_contest(contest, release, "alpha")
        assert submit(contest, "alpha", release).number == 1
    own = contest.own_files(contest.season(), "alpha")
    again = open_contest(contest.folder)
    assert again.own_files(again.season(), "alpha")["B"].read_bytes() == own["B"].read_bytes()
    assert again.own_files(again.season(), "beta")["B"].read_bytes() != own["B"].read_bytes()
    kit_of_contest(contest, tmp_path / "kit.zip")
    kit_of_contest(contest, tmp_path / "alpha.zip", team="alpha")
    names = {}
    for name in ("kit", "alpha"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip") as packed:
            names[name] = set(packed.namelist())
            packed.extractall(tmp_path / name)
    assert names["alpha"] - names["kit"] == {"own/B.csv", "own/utility_ref.json"}
    assert not any("P.csv" in name for name in names["kit"])
    _, given, _ = open_kit(tmp_path / "alpha")
    assert given["B"].read_bytes() == own["B"].read_bytes()
    edition, practice, _ = open_kit(tmp_path / "kit")
    edition.check(practice, files_in(tmp_path / "kit" / "sample" / "release", edition.terms.release_files))
    _, attacking, _ = open_kit(tmp_path / "kit", is_guess=True)
    sample = tmp_path / "kit" / "sample"
    terms = edition.terms
    parts = [
        files_in(sample / name, roles)
        for name, roles in (
            ("published", terms.published_files),
            ("truth", terms.truth_files),
            ("guess", terms.guess_files),
        )
    ]
    assert edition.check_and_judge(attacking, *parts).details["members"] < 60


def test_options_that_no_contest_can_have_are_refused() -> None:
    for option, value in (("n_rows", 5), ("n_rare", 900), ("n_background", 3), ("n_challenge", 1)):
        with pytest.raises(InputError) as caught:
            Pwscup2026(**{option: value})
        assert caught.value.faults[0].option == option
