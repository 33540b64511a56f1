"""PWSCUP 2025: every rule by a submission that breaks it, the scores by hand, the model, and how teams rank."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2025.edition import ROWS, Pwscup2025, held_back, unpacked
from tokumei.contest.editions.pwscup2025.files import (
    COLUMNS,
    GUESS_RULES,
    RELEASE_RULES,
    Patients,
    check_release,
    read_marks,
    read_model,
    read_patients,
    write_marks,
)
from tokumei.contest.editions.pwscup2025.players import best_rows, make_patients, train_model
from tokumei.contest.editions.pwscup2025.trees import Model, model_faults
from tokumei.contest.editions.pwscup2025.utility import (
    Moved,
    _kruskal,
    age_tests,
    compare,
    right_answers,
    statistics,
    total_points,
)
from tokumei.core.errors import InputError

EDITION = Pwscup2025(n_rows=100, n_people=400)
HEAD = ",".join(COLUMNS) + "\n"
ROWS_OF_B = [
    "F,76,white,nonhispanic,45,147,31,14,0,17,0,1,1,0,107.64,88.55,28,71.8\n",
    "M,9,asian,hispanic,12,3,0,30,1,0,1,0,0,0,99,60,18.5,30\n",
]
GOOD = HEAD + "".join(ROWS_OF_B)


def model(**changes: Any) -> dict[str, Any]:
    """Two leaves: 1 where AGE is below 50, else −1, from a chance of a half."""
    tree: dict[str, Any] = {"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0]}
    tree |= {"split_conditions": [50.0, 1.0, -1.0], "split_type": [0, 0, 0]}
    learner = {
        "attributes": {"feature_names": '["AGE"]', "target": "stroke_flag", "xgboost_version": "3.0.5"},
        "feature_names": ["AGE"],
        "gradient_booster": {"name": "gbtree", "model": {"trees": [tree]}},
        "learner_model_param": {"base_score": "5E-1", "num_feature": "1"},
        "objective": {"name": "binary:logistic"},
    }
    return {"learner": learner | changes, "version": [3, 0, 5]}


def write(folder: Path, text: str, name: str = "C.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


BROKEN: list[tuple[str, str, str]] = [
    ("file-form", GOOD + "F,1\n", json.dumps(model())),
    ("columns", GOOD.replace("GENDER", "SEX", 1), json.dumps(model())),
    ("columns", GOOD.replace("GENDER,AGE", "AGE,GENDER", 1), json.dumps(model())),
    ("same-number", HEAD + ROWS_OF_B[0], json.dumps(model())),
    ("ranges", GOOD.replace("F,76", "F,111"), json.dumps(model())),
    ("ranges", GOOD.replace("white", "green"), json.dumps(model())),
    ("model", GOOD, "{"),
    ("model", GOOD, "{}"),
]


@pytest.mark.parametrize(("rule", "table", "d"), BROKEN)
def test_release_that_breaks_one_rule_is_told_its_name(rule: str, table: str, d: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check_release(2, write(tmp_path, table), write(tmp_path, d, "D.json"))
    assert {fault.rule for fault in caught.value.faults} == {rule}


BROKEN_GUESSES = [
    ("file-form", "1\n0,1\n"),
    ("row-of-a", "1\n0\n"),
    ("row-of-a", "1\n2\n1\n"),
    ("as-many-ones", "1\n0\n0\n"),
]


@pytest.mark.parametrize(("rule", "text"), BROKEN_GUESSES)
def test_guess_that_breaks_one_rule_is_told_its_name(rule: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_marks(write(tmp_path, text, "F.csv"), 3, 2)
    assert rule in {fault.rule for fault in caught.value.faults}


def test_every_rule_is_broken_by_a_test() -> None:
    assert {rule for rule, _, _ in BROKEN} == {rule.name for rule in RELEASE_RULES}
    assert {rule for rule, _ in BROKEN_GUESSES} == {rule.name for rule in GUESS_RULES}


def test_table_with_byte_order_mark_blanks_and_gaps_is_read(tmp_path: Path) -> None:
    path = tmp_path / "C.csv"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("F,76,", " F , ,", 1).encode())
    found = read_patients(path)
    assert found.frame["GENDER"].to_list() == ["F", "M"]
    assert found.frame["AGE"].to_list() == [None, 9]
    # The gap is filled by the median of what there is; a code has a column but for the first.
    assert "AGE" not in found.features
    assert list(found.features)[:3] == ["ETHNICITY_nonhispanic", "GENDER_M", "RACE_white"]


def patients(n: int = 60, seed: int = 1) -> Patients:
    return Patients(make_patients(n, seed))


def test_nothing_moves_in_an_untouched_table_and_it_has_all_points() -> None:
    b = patients(200)
    assert total_points(compare(b, b), 0.75) == {"statistics": 40, "regression": 20, "tests": 20, "model": 15}
    assert Moved(1.5, "").points(20) == 0


def test_statistics_are_scaled_across_columns_and_count_codes_and_pairs() -> None:
    found = statistics(patients())
    assert len([key for key in found if key[0] == "correlation"]) == 15 * 14 // 2
    assert len([key for key in found if key[0] in ("mean", "std", "q25", "q50", "q75")]) == 75
    means = [value for key, value in found.items() if key[0] == "mean"]
    assert (min(means), max(means)) == (0, 1)
    assert found["share", "GENDER", "F"] + found["share", "GENDER", "M"] == pytest.approx(1)


def test_gaps_change_correlations_only_by_the_rows_that_lack_a_number() -> None:
    b = patients()
    whole = statistics(b)
    gap = statistics(
        Patients(pl.concat([b.frame, b.frame.head(1).with_columns(pl.lit(None, pl.Float64).alias("AGE"))]))
    )
    again = statistics(Patients(pl.concat([b.frame, b.frame.head(1)])))
    assert gap["correlation", "num_devices", "mean_bmi"] == pytest.approx(
        again["correlation", "num_devices", "mean_bmi"]
    )
    assert gap["correlation", "AGE", "mean_bmi"] == pytest.approx(whole["correlation", "AGE", "mean_bmi"])


def test_tests_of_groups_one_after_the_other_have_the_largest_effects() -> None:
    found = _kruskal([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    # Of all pairs the later group has the higher value: the earlier is superior in none.
    assert (found["H"], found["A"], found["A symmetric"]) == pytest.approx((1.0, 0.0, 1.0))
    # Ranks 1 to 4 about 2.5 have squares that sum to 5, the groups' means 1.5 and 3.5 to 4.
    assert found["rank eta2"] == pytest.approx(0.8)
    assert found["eta2"] == pytest.approx((12 / 20 * 4 - 1) / 3)
    assert set(_kruskal([np.array([1.0, 2.0])]).values()) == {0.0}
    assert set(_kruskal([np.array([1.0, 1.0]), np.array([1.0, 1.0])]).values()) == {0.0}


def test_table_without_older_people_has_no_tests() -> None:
    young = Patients(patients(200).frame.with_columns(pl.lit(5.0).alias("AGE")))
    assert set(age_tests(young).values()) == {0.0}


def test_model_walks_its_trees_and_fills_what_rows_lack() -> None:
    found = Model.of(model())
    chances = found.chances({"AGE": np.array([49.0, 50.0])})
    assert chances == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])
    assert found.chances({"other": np.zeros(1)}) == pytest.approx([1 / (1 + np.exp(-1))])


FAULTY: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda d: d["learner"]["attributes"].pop("target"), "the attribute target"),
    (lambda d: d["learner"]["attributes"].update(feature_names='["a", "a"]'), "distinct names"),
    (lambda d: d["learner"].update(feature_names=["BMI"]), "in the learner, too"),
    (lambda d: d.update(version=[3, 1, 0]), "3.0.5 or older"),
    (lambda d: d["learner"]["objective"].update(name="reg:squarederror"), "binary:logistic"),
    (lambda d: d["learner"]["learner_model_param"].update(num_feature="2"), "as many features"),
    (lambda d: d["learner"]["learner_model_param"].update(base_score="2"), "base_score"),
    (lambda d: d["learner"]["gradient_booster"].update(name="dart"), "gbtree"),
    (lambda d: d["learner"]["gradient_booster"]["model"].update(trees=[]), "from 1 to"),
    (
        lambda d: d["learner"]["gradient_booster"]["model"]["trees"][0].update(left_children=[0, -1, -1]),
        "end in leaves",
    ),
    (
        lambda d: d["learner"]["gradient_booster"]["model"]["trees"][0].update(right_children=[9, -1, -1]),
        "end in leaves",
    ),
    (lambda d: d["learner"]["gradient_booster"]["model"]["trees"][0].update(split_indices=[7, 0, 0]), "that there are"),
    (lambda d: d["learner"]["gradient_booster"]["model"]["trees"][0].update(split_conditions=[1.0]), "one length"),
    (lambda d: d["learner"]["gradient_booster"]["model"]["trees"][0].update(split_type=[1, 0, 0]), "by numbers"),
    (lambda d: d["learner"].pop("gradient_booster"), "the fields of a model"),
]


@pytest.mark.parametrize(("change", "expected"), FAULTY)
def test_model_that_breaks_a_rule_is_told_what_it_lacks(
    change: Callable[[dict[str, Any]], object], expected: str
) -> None:
    found = model()
    assert model_faults(found) is None
    change(found)
    assert expected in str(model_faults(found))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_chances_are_those_of_xgboost_itself(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    xgboost = pytest.importorskip("xgboost")
    path = tmp_path_factory.mktemp("model") / "D.json"
    b = patients(150, seed)
    train_model(b, path)
    ours, theirs = read_model(path), xgboost.Booster(model_file=str(path))
    features = {name: one for name, one in b.features.items() if name in ours.names}
    matrix = np.column_stack([features[name] for name in ours.names]).astype(np.float32)
    n_trees = len(ours.trees)
    right = theirs.inplace_predict(matrix, iteration_range=(0, n_trees))
    assert ours.chances(features) == pytest.approx(right, abs=1e-6)
    assert right_answers(ours, b) == pytest.approx(float(((right >= 0.5) == (b.of("stroke_flag") == 1)).mean()))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("data")
    EDITION.make_data(folder, seed=1)
    found = files_in(folder, EDITION.terms.hidden_files)
    EDITION.draw_own(found, folder, seed=2)
    EDITION.draw_knowledge(found, folder, seed=3)
    return found | {name: folder / f"{name}.csv" for name in ("A", "B")}


def test_rows_held_back_are_half_of_the_teams_and_as_many_others(data: Files) -> None:
    own, everybody = read_patients(data["B"]), read_patients(data["A"])
    held = held_back(own, everybody)
    assert len(held) == 100
    assert held.frame.join(own.frame, on=COLUMNS, how="semi", nulls_equal=True).height == 50
    shuffled = Patients(own.frame.sample(fraction=1, shuffle=True, seed=5))
    assert held_back(shuffled, everybody).frame.equals(held.frame)


def test_release_without_a_is_scored_by_eighty_points(data: Files, tmp_path: Path) -> None:
    EDITION.anonymize("noise", data, tmp_path, seed=1)
    release = files_in(tmp_path, EDITION.terms.release_files)
    EDITION.check(data, release)
    before = EDITION.score(data, {}, release)
    after = EDITION.score(data, {"A": data["A"]}, release)
    assert before.details["total"] is None
    points = after.details["utility"]
    assert {name: one for name, one in points.items() if name != "model"} == before.details["utility"]
    assert after.utility == pytest.approx(1 - sum(points.values()) / 100)
    assert before.utility == pytest.approx(1 - before.details["points"] / 80)


def test_guess_is_held_against_the_truth(data: Files, tmp_path: Path) -> None:
    truth, marks = np.arange(400) < 100, np.arange(400) < 60
    write_marks(truth, tmp_path / "Z.csv")
    write_marks(marks, tmp_path / "F.csv")
    found = EDITION.judge(data, {}, {"Z": tmp_path / "Z.csv"}, {"F": tmp_path / "F.csv"})
    assert found.success == 0.6
    assert found.details["baseline"] == 0.25
    assert unpacked(found.details[ROWS], 100).sum() == 60


def test_best_rows_are_the_first_of_equals() -> None:
    assert best_rows(np.array([1.0, 3.0, 3.0, 3.0]), 2).tolist() == [False, True, True, False]


def attempt(data: Files, folder: Path, attacker: str, marks: np.ndarray) -> Attempt:
    truth = np.arange(400) < 100
    write_marks(truth, folder / "Z.csv")
    write_marks(marks, folder / "F.csv")
    found = EDITION.judge(data, {}, {"Z": folder / "Z.csv"}, {"F": folder / "F.csv"})
    return Attempt(attacker, "", GuessScore.of(found.as_dict()))


def test_teams_rank_by_points_and_lose_one_for_each_further_finder_of_a_row(data: Files, tmp_path: Path) -> None:
    rows = np.arange(400)
    attempts = (
        attempt(data, tmp_path, "x", rows < 10),
        attempt(data, tmp_path, "y", (rows >= 5) & (rows < 11)),
        attempt(data, tmp_path, "z", rows < 2),
        # Its own guess counts for nothing.
        attempt(data, tmp_path, "found", rows < 100),
    )
    entries = [TeamEntry("found", ReleaseScore({}, 0.2), attempts), TeamEntry("hidden", ReleaseScore({}, 0.35))]
    first, second = EDITION.rank(entries)
    # 80 points of use; ten of a hundred found at most, and rows that two attackers found: 100 − 10 − 1.
    assert (first.team, first.numbers["anonymity"], first.numbers["penalty"]) == ("found", 89.0, 1.0)
    assert first.value == pytest.approx(1 - (80 + 89) / 200)
    assert (second.team, second.numbers["anonymity"]) == ("hidden", 100.0)
    assert second.value == pytest.approx(1 - (65 + 100) / 200)


def test_options_that_no_contest_can_have_are_refused() -> None:
    for option, value in (("n_rows", 5), ("n_people", 100)):
        with pytest.raises(InputError) as caught:
            Pwscup2025(**{option: value})
        assert caught.value.faults[0].option == option
