"""PWSCUP 2021 and iPWS Cup 2023 on tables of a few rows, and how whose row is whose is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions import nhanes
from tokumei.contest.editions.ipws2023.edition import Ipws2023, mean_left
from tokumei.contest.editions.pwscup2021.edition import Pwscup2021, drawn_targets, found_of
from tokumei.contest.editions.pwscup2021.players import LIMITS, beyond, exchange_groups, in_their_order, unique_rows
from tokumei.contest.record_matching import in_order, likely, nearest, one_each
from tokumei.contest.tables import read_numbers, read_table, write_numbers, write_table
from tokumei.core.errors import InputError

N = 40
PEOPLE = nhanes.make_people(N, 1)


@pytest.fixture
def data(tmp_path: Path) -> Files:
    write_table(PEOPLE, tmp_path / "B.csv")
    return {"B": tmp_path / "B.csv"}


def release_2021(folder: Path, changed: pl.DataFrame, out: list[int]) -> Files:
    write_table(changed, folder / "D.csv")
    write_numbers(np.array(out, np.int64), folder / "X.csv")
    return {"D": folder / "D.csv", "X": folder / "X.csv"}


def test_made_up_people_keep_the_rules_and_are_written_and_read_alike(data: Files) -> None:
    assert read_table(data["B"], nhanes.column_types((13, 85), (13, 75))).equals(PEOPLE)


def test_rows_left_out_and_unchanged_score_by_what_is_gone(data: Files, tmp_path: Path) -> None:
    edition = Pwscup2021(n_rows=N, n_targets=4)
    nobody = edition.check_and_score(data, {}, release_2021(tmp_path, PEOPLE, []))
    assert nobody.details["utility"] == {
        "uniqrt": int(unique_rows(PEOPLE).sum()) / N, "rate": 0, "OR": 0, "cor": 0, "iloss": 0,
    }  # fmt: skip
    given = release_2021(tmp_path, PEOPLE[4:].with_columns(pl.col("age") + 3), [0, 1, 2, 3])
    found = edition.check_and_score(data, {}, given).details
    assert found["utility"]["iloss"] == 3
    assert found["use"] == max(found["utility"][name] / limit for name, limit in LIMITS.items())
    assert beyond({"uniqrt": 0.25, "rate": 0.05, "OR": 0.0, "cor": 0.15, "iloss": 4.0}) == 0.15 / 0.1


@pytest.mark.parametrize(
    ("rule", "changed", "out"),
    [
        ("left-out", PEOPLE[4:], [0, 1, 2]),
        ("left-out", PEOPLE[2:], [1, 1]),
        ("left-out", PEOPLE[20:], list(range(20))),
        ("row-numbers", PEOPLE[1:], [N]),
        ("row-numbers", PEOPLE[1:], [-1]),
        ("cells", PEOPLE.with_columns(age=pl.lit(86.0)), []),
        ("cells", PEOPLE.with_columns(mar=pl.lit("Partner")), []),
    ],
)
def test_release_of_2021_that_breaks_a_rule_is_told_its_name(
    rule: str, changed: pl.DataFrame, out: list[int], data: Files, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        Pwscup2021(n_rows=N, n_targets=4).check(data, release_2021(tmp_path, changed, out))
    assert {fault.rule for fault in caught.value.faults} == {rule}


def test_faults_name_the_line(data: Files, tmp_path: Path) -> None:
    lines = data["B"].read_text().split("\n")
    cells = lines[2].split(",")
    lines[2] = ",".join([*cells[:9], "zero", *cells[10:]])
    lines[4] = lines[4].rsplit(",", 1)[0] + ",2"
    (tmp_path / "C.csv").write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        Ipws2023(n_rows=N, n_published=4).check(data, {"C": tmp_path / "C.csv"})
    assert [(fault.line, fault.column) for fault in caught.value.faults] == [(3, "mets"), (5, "dia")]
    (tmp_path / "C.csv").write_text("\n".join(data["B"].read_text().split("\n")[1:]))
    with pytest.raises(InputError, match="40 rows, as many as B"):
        Ipws2023(n_rows=N, n_published=4).check(data, {"C": tmp_path / "C.csv"})


def test_recall_precision_and_three_guesses_are_counted() -> None:
    right = np.array([5, -1, 7, -1, 9])
    guessed = np.array([[1, 5, 2], [3, 3, 3], [-1, 7, -1], [-1, -1, -1], [9, 9, 9]])
    # In are the first, third and last; told in the first, second and last; found all but none: the third by its second.
    assert found_of(right, guessed) == (2 / 3, 2 / 3, 1.0)
    assert found_of(np.array([-1]), np.array([[0, 0, 0]])) == (0.0, 0.0, 0.0)


def test_people_asked_for_are_of_both_kinds_in_their_order() -> None:
    asked, truth = drawn_targets(10, np.array([2, 5, 6]), 4, seed=1)
    assert sorted(asked) == list(asked)
    kept = [0, 1, 3, 4, 7, 8, 9]
    assert [kept.index(one) if one in kept else -1 for one in asked.tolist()] == truth.tolist()
    assert (truth == -1).sum() == 2


def test_release_beyond_a_limit_has_risk_one_and_a_reason() -> None:
    attempts = [Attempt("x", "", GuessScore(0.25, {}))]
    entries = [
        TeamEntry("a", ReleaseScore({}, 0.5), attempts),
        TeamEntry("b", ReleaseScore({}, 1.0, 1.0), attempts),
    ]
    lines = Pwscup2021().rank(entries)
    assert [(one.team, one.value, one.reason) for one in lines] == [
        ("a", 0.25, ""), ("b", 1.0, "its use is beyond a limit"),
    ]  # fmt: skip


def test_rows_are_ranked_by_the_harmonic_mean() -> None:
    entries = [
        TeamEntry("a", ReleaseScore({}, 0.5), [Attempt("b", "", GuessScore(0.0, {}))]),
        TeamEntry("b", ReleaseScore({}, 0.0), [Attempt("a", "", GuessScore(1.0, {}))]),
    ]
    # 2 / (1 / .5 + 1) = 2/3; who is found altogether has 0.
    assert [(one.team, one.value) for one in Ipws2023().rank(entries)] == [("a", pytest.approx(1 / 3)), ("b", 1.0)]
    assert mean_left({"a": 0.75, "b": 0.0}) == 0.5
    assert mean_left({"a": 1.5, "b": 0.0}) == 0


def test_exchange_keeps_every_column_and_moves_numbers_less_than_a_width() -> None:
    people = nhanes.make_people(500, 2)
    found = nhanes.exchanged_in_groups(people, {"age": 4, "bmi": 4}, 2, 1)
    for name in people.columns:
        assert found[name].sort().equals(people[name].sort()), name
    cells = nhanes.cell_shifts(people, found)
    assert (cells["age"].max() < 4, cells["bmi"].max() < 4, cells["cat"].max() <= 2) == (True, True, True)
    assert found["dia"].equals(people["dia"])
    assert (cells["cat"] > 0).mean() > 0


def test_nearest_person_and_likeliest_ways_through_both() -> None:
    people = pl.DataFrame({"n": [1.0, 2.0, 9.0], "word": ["a", "b", "b"]})
    distance, place = nearest(people, pl.DataFrame({"n": [8.0, 1.0], "word": ["b", "b"]}), 2)
    assert place.tolist() == [[2, 1], [1, 0]]
    # Another word is √2 away.
    assert distance.tolist() == [[1.0, 6.0], [1.0, pytest.approx(2**0.5)]]
    told = np.array([[5, 4, 0], [6, 0, 1]], np.float32)
    assert told.argmax(axis=1).tolist() == [0, 0]
    assert one_each(told).tolist() == [1, 0]
    # In their order the second row cannot be the first person's: 5 + 1 is more than 4 + 1 or 5 + 0.
    assert in_order(told).tolist() == [0, 2]


@pytest.mark.parametrize("seed", range(20))
def test_likeliest_order_is_that_of_trying_all(seed: int) -> None:
    from itertools import combinations

    told = np.random.default_rng(seed).normal(size=(3, 6)).astype(np.float32)
    best = max(combinations(range(6), 3), key=lambda people: sum(told[row, one] for row, one in enumerate(people)))
    assert in_order(told).tolist() == list(best)


def test_likeness_learns_that_a_column_was_moved() -> None:
    people = nhanes.make_people(300, 3)
    # Everybody is five years older: nearness misleads, and what was learned does not.
    released = people.with_columns((pl.col("age") + 5).clip(upper_bound=85))[::3]
    rows = np.arange(0, 300, 3)
    assert (
        (likely(people, released).argmax(axis=1) == rows).mean()
        > 0.97
        > (nearest(people, released)[1][:, 0] == rows).mean()
    )


def test_order_gives_away_whose_row_is_whose(tmp_path: Path) -> None:
    people = nhanes.make_people(120, 4)
    out, changed = exchange_groups(people, 1)
    asked, right = drawn_targets(120, np.arange(10), 20, 1)
    told = in_their_order(people, people[asked], people[10:])
    assert found_of(right, told) == (1.0, 1.0, 1.0)
    assert changed.height + len(out) == 120


@pytest.mark.parametrize(("edition", "n_files"), [(Pwscup2021(200, 20), 2), (Ipws2023(200, 20), 1)])
def test_built_in_teams_keep_the_rules(edition: Pwscup2021 | Ipws2023, n_files: int, tmp_path: Path) -> None:
    edition.make_data(tmp_path, seed=1)
    data = {"B": tmp_path / "B.csv"}
    for name in edition.anonymizers():
        folder = tmp_path / name
        for one in (folder, folder / "shown", folder / "truth"):
            one.mkdir()
        edition.anonymize(name, data, folder, seed=2)
        given = files_in(folder, edition.terms.release_files)
        assert len(given) == n_files
        edition.check_and_score(data, {}, given)
        edition.publish(data, given, folder / "shown", folder / "truth", seed=3)
        shown = files_in(folder / "shown", edition.terms.published_files)
        truth = files_in(folder / "truth", edition.terms.truth_files)
        for attack in edition.attacks():
            edition.attack(attack, data, {}, shown, folder, seed=4)
            guess = files_in(folder, edition.terms.guess_files)
            found = edition.check_and_judge(data, shown, truth, guess)
            assert found.details["baseline"] < found.success <= 1


def test_guess_beyond_the_rows_there_are_is_refused(tmp_path: Path) -> None:
    write_numbers(np.array([0, 40]), tmp_path / "E.csv")
    edition = Ipws2023(n_rows=40, n_published=2)
    with pytest.raises(InputError, match="0 to 39"):
        edition.check_guess({}, {}, {"E": tmp_path / "E.csv"})
    write_numbers(np.array([0]), tmp_path / "E.csv")
    with pytest.raises(InputError, match="2 lines"):
        edition.check_guess({}, {}, {"E": tmp_path / "E.csv"})
    assert read_numbers(tmp_path / "E.csv").tolist() == [[0]]


@pytest.mark.parametrize(
    ("kind", "options"),
    [(Pwscup2021, {"n_rows": 19}), (Pwscup2021, {"n_targets": 1}), (Ipws2023, {"n_rows": 20, "n_published": 21})],
)
def test_options_that_no_contest_can_have_are_refused(kind: type, options: dict[str, int]) -> None:
    with pytest.raises(InputError):
        kind(**options)
