"""PWSCUP 2024 on a few people with answers worked out by hand, and its published results."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.contest.edition import Attempt, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2024 import players
from tokumei.contest.editions.pwscup2024.edition import Pwscup2024, drawn_targets, total_points
from tokumei.contest.editions.pwscup2024.files import FILMS, RELEASED, SUBSETS, make_people, subset, worst_pair
from tokumei.contest.tables import read_numbers, write_table
from tokumei.core.errors import InputError

PEOPLE = make_people(60, 1)
EDITION = Pwscup2024(n_rows=60, n_targets=10)


@pytest.fixture
def data(tmp_path: Path) -> Files:
    write_table(PEOPLE, tmp_path / "B.csv", has_header=True)
    return {"B": tmp_path / "B.csv"}


@pytest.fixture
def release(tmp_path: Path) -> dict[str, Path]:
    for number, name in enumerate(RELEASED):
        write_table(subset(PEOPLE, number), tmp_path / f"{name}.csv", has_header=True)
    return {name: tmp_path / f"{name}.csv" for name in RELEASED}


def test_worst_two_columns_misplace_half_of_what_counts_differ_by() -> None:
    before = pl.DataFrame({"Gender": ["M", "M", "F", "F"], "2087": [0, 5, 5, 3], "247": [1, 1, 1, 1]})
    assert worst_pair(before, before) == (0.0, "")
    assert worst_pair(before, before[::-1]) == (0.0, "")
    # M-0, M-5, F-5, F-3 become M-5, M-5, F-0, F-3: two of four are misplaced; by 247 and 2087 none is.
    after = before.with_columns(pl.Series("2087", [5, 5, 0, 3]))
    assert worst_pair(before, after) == (0.5, "2087,Gender")
    # A value that the original has not: all four are elsewhere.
    assert worst_pair(before, before.with_columns(pl.lit(2).alias("247"))) == (1.0, "247,Gender")


def test_attributes_beside_each_other_do_not_count() -> None:
    before = pl.DataFrame({"Gender": ["M", "F"], "Age": [1, 18], "2": [3, 3]})
    assert worst_pair(before, before.with_columns(pl.Series("Age", [18, 1]))) == (0.0, "")


def test_release_as_it_is_keeps_all_use_and_gives_everybody_away(data: Files, release: Files) -> None:
    found = EDITION.check_and_score(data, {}, release)
    assert found.details["utility"] == dict.fromkeys(RELEASED, 100.0)
    assert (found.details["sample anonymity"], found.details["total"], found.utility) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("file", "change", "rule"),
    [
        ("C_0", lambda text: text.replace("260,653", "653,260"), "file-form"),
        ("C_2", lambda text: text.rstrip("\n").rsplit("\n", 1)[0] + "\n", "same-number"),
        ("C_8", lambda text: text.rstrip("\n")[:-1] + "6\n", "cells"),
        ("C_8", lambda text: text.rstrip("\n")[:-1] + "1.5\n", "cells"),
        ("C_8", lambda text: text.replace("\nM,", "\nX,", 1), "cells"),
        ("C_8", lambda text: text.replace("\nM,", "\nM,4", 1), "cells"),
    ],
)
def test_release_that_breaks_a_rule_is_told_its_name(
    file: str, change: object, rule: str, data: Files, release: Files
) -> None:
    assert callable(change)
    release[file].write_text(change(release[file].read_text()))
    with pytest.raises(InputError) as caught:
        EDITION.check(data, release)
    assert {fault.rule for fault in caught.value.faults} == {rule}


def test_place_that_nobody_has_is_told_with_line_and_column(data: Files, release: Files) -> None:
    lines = release["C_5"].read_text().split("\n")
    cells = lines[3].split(",")
    cells[3] = next(str(code) for code in range(999) if code not in PEOPLE["ZIP-code"].to_list())
    lines[3] = ",".join(cells)
    release["C_5"].write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        EDITION.check(data, release)
    assert [(one.line, one.column, one.rule) for one in caught.value.faults] == [(4, "ZIP-code", "known-values")]


def test_ratings_with_a_point_are_taken(data: Files, release: Files) -> None:
    release["C_8"].write_text(release["C_8"].read_text().rstrip("\n") + ".0\n")
    assert EDITION.check_and_score(data, {}, release).utility == 0.0


def test_targets_are_drawn_as_the_contest_drew_them() -> None:
    people = make_people(10_000, 2)
    assert drawn_targets(people, 50, 1)[2][:3, 0].tolist() == [41, 43, 5]
    asked, ratings, truth = drawn_targets(people, 50, 7)
    assert truth[:2, 0].tolist() == [45, 13]
    whole = people.join(asked, on="Name", how="semi")
    assert (asked.columns, whole.height) == (["Name", "Gender", "Age", "Occupation", "ZIP-code"], 50)
    for row in range(50):
        name = asked["Name"][int(truth[row, 0])]
        own = whole.filter(pl.col("Name") == name).select(FILMS).row(0)
        (hidden,) = np.flatnonzero(ratings[row] == players.HIDDEN)
        assert own[hidden] == truth[row, 1]
        assert [one for place, one in enumerate(own) if place != hidden] == np.delete(ratings[row], hidden).tolist()


def test_sample_takes_the_first_row_that_is_nearest() -> None:
    assert sorted(name for names in players.TAKEN for name in names) == sorted((*PEOPLE.columns[1:],))
    assert all(set(names) <= {*PEOPLE.columns[1:5], *SUBSETS[number]} for number, names in enumerate(players.TAKEN))
    asked, ratings, truth = drawn_targets(PEOPLE, 10, 3)
    released = [subset(PEOPLE, number) for number in range(10)]
    assert np.column_stack(players.joined_rows(asked, ratings, released)).tolist() == truth.tolist()
    # In another order in one file its columns fit no more, and all others still do.
    mixed = [frame[::-1] if number == 2 else frame for number, frame in enumerate(released)]
    assert (players.joined_rows(asked, ratings, mixed)[0] == truth[:, 0]).all()


def test_ours_needs_no_order() -> None:
    people = make_people(400, 3)
    asked, ratings, truth = drawn_targets(people, 20, 3)
    rng = np.random.default_rng(1)
    mixed = [subset(people, number)[rng.permutation(400)] for number in range(10)]
    assert np.column_stack(players.likely_pairs(asked, ratings, mixed)).tolist() == truth.tolist()
    assert (players.joined_rows(asked, ratings, mixed)[0] == truth[:, 0]).mean() < 0.5


@pytest.mark.parametrize("name", players.ANONYMIZERS)
def test_built_in_anonymizers_keep_columns_and_their_groups(name: str) -> None:
    before = subset(make_people(300, 4), 5)
    after = players.ANONYMIZERS[name](before, 1)
    for column in before.columns:
        assert after[column].sort().equals(before[column].sort()), column
    assert not after.equals(before)
    if name == "shuffle-places":
        pairs = [frame.select("ZIP-code", "885").sort(pl.all()) for frame in (before, after)]
        assert pairs[0].equals(pairs[1])


@pytest.mark.parametrize(
    ("anonymity", "use", "total"),
    [(85, 97.99, 182.99), (9, 86.46, 13.46), (11, 57.7, 0), (88, 4.56, 1.68), (6, 65.73, 0), (11, 70.27, 3.27)],
)
def test_points_below_fifty_cost_two_more(anonymity: float, use: float, total: float) -> None:
    assert total_points(anonymity, use) == pytest.approx(total)


@pytest.mark.parametrize(("file", "n_teams"), [("results_main_and_overall.csv", 22), ("results_ipws.csv", 10)])
def test_published_results_follow_from_the_attacks(shared_data: Path, file: str, n_teams: int) -> None:
    with (shared_data / "pwscup2024" / file).open() as handle:
        rows = list(csv.reader(handle))
    names, teams = rows[1], rows[2 : 2 + n_teams]
    place = {name: names.index(name) for name in ("utility", "total", "total rank")}
    hits = [[int(cell) for cell in row[2 : 2 + n_teams]] for row in teams]
    entries = [
        TeamEntry(
            row[1],
            ReleaseScore({}, 1 - float(row[place["utility"]]) / 100),
            [Attempt(f"{one + 1:02}", "", GuessScore(found / 100, {})) for one, found in enumerate(hits[number])],
        )
        for number, row in enumerate(teams)
        # Who withdrew has no release.
        if float(row[place["utility"]]) > 0
    ]
    lines = {line.team: line for line in Pwscup2024().rank(entries)}
    for row in teams:
        if row[1] in lines:
            line = lines[row[1]]
            assert line.numbers["points"] == pytest.approx(float(row[place["total"]]), abs=1e-9)
            assert line.place == int(row[place["total rank"]])


def test_season_with_built_in_teams(data: Files, tmp_path: Path) -> None:
    for name in EDITION.anonymizers():
        folder = tmp_path / name
        for one in (folder, folder / "shown", folder / "truth"):
            one.mkdir()
        EDITION.anonymize(name, data, folder, seed=2)
        given = files_in(folder, EDITION.terms.release_files)
        EDITION.check_and_score(data, {}, given)
        EDITION.publish(data, given, folder / "shown", folder / "truth", seed=3)
        shown, truth = (
            files_in(folder / one, roles)
            for one, roles in (("shown", EDITION.terms.published_files), ("truth", EDITION.terms.truth_files))
        )
        assert shown["b"].read_text().count("*") == 10
        for attack in EDITION.attacks():
            EDITION.attack(attack, {}, {}, shown, folder, seed=4)
            guess = {"E": folder / "E.csv"}
            found = EDITION.check_and_judge({}, shown, truth, guess)
            right = (read_numbers(truth["x"], 2) == read_numbers(guess["E"], 2)).mean(axis=0)
            assert (found.details["index"], found.details["rating"]) == tuple(right)
            assert found.success == right.mean()


@pytest.mark.parametrize("options", [{"n_rows": 19}, {"n_rows": 30, "n_targets": 31}, {"n_targets": 1}])
def test_options_that_no_contest_can_have_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Pwscup2024(**options)
