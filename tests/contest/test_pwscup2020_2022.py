"""PWSCUP 2020 and 2022 on a few people with answers worked out by hand, and what is known of 2022."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.contest.edition import Attempt, Edition, Files, GuessScore, ReleaseScore, TeamEntry, files_in
from tokumei.contest.editions.pwscup2020 import edition as census
from tokumei.contest.editions.pwscup2020 import players as census_players
from tokumei.contest.editions.pwscup2020.edition import Pwscup2020
from tokumei.contest.editions.pwscup2022 import edition as cases
from tokumei.contest.editions.pwscup2022 import players as case_players
from tokumei.contest.editions.pwscup2022.edition import Pwscup2022
from tokumei.contest.record_matching import one_hot
from tokumei.contest.tables import write_numbers, write_table
from tokumei.core.errors import InputError

OTHERS, CASES = case_players.make_people(60, 1)
RECORDS = census_players.make_people(400, 1).unique(maintain_order=True)[:300]


@pytest.mark.parametrize(
    ("name", "counts", "correlations"),
    [
        ("orig", 1.0, 1.0),
        ("anon1", 0.9743589743589743, 0.9932354793081263),
        ("anon2", 0.8235897435897436, 0.9851328444525744),
    ],
)
def test_scores_of_2022_that_are_known(shared_data: Path, name: str, counts: float, correlations: float) -> None:
    people, released = (cases._read(shared_data / "pwscup2022" / f"{one}.csv") for one in ("orig", name))
    found = cases.use_of(people, released, OTHERS)
    assert found["A"] == pytest.approx(counts, rel=1e-12)
    assert found["B"] == pytest.approx(correlations, rel=1e-12)


def test_ages_count_by_tens() -> None:
    moved = CASES.with_columns((pl.col("AGE") // 10) * 10 + 3)
    assert cases.use_of(CASES, moved, OTHERS) == dict.fromkeys("ABCD", 1.0)
    # One of 13 columns has everybody elsewhere: each is missing on one side and too many on the other.
    found = cases.use_of(CASES, CASES.with_columns(pl.lit(99).alias("RACE")), OTHERS)
    assert found["A"] == pytest.approx(1 - 2 / 13)


def test_who_is_told_beyond_half_counts(tmp_path: Path) -> None:
    edition = Pwscup2022(n_rows=60, n_people=60, n_known=4)
    write_numbers(np.array([1, 1, 0, 0]), tmp_path / "x.csv")
    for guess, told in (([1, 1, 0, 0], 1.0), ([1, 0, 0, 0], 0.5), ([1, 0, 1, 0], 0.0), ([0, 0, 1, 1], 0.0)):
        write_numbers(np.array(guess), tmp_path / "E.csv")
        assert edition.check_and_judge({}, {}, {"x": tmp_path / "x.csv"}, {"E": tmp_path / "E.csv"}).success == told
    write_numbers(np.array([0, 2, 1, 0]), tmp_path / "E.csv")
    with pytest.raises(InputError) as caught:
        edition.check_guess({}, {}, {"E": tmp_path / "E.csv"})
    assert [(one.line, one.rule) for one in caught.value.faults] == [(2, "acquaintances")]


def test_more_rows_than_there_were_are_refused(tmp_path: Path) -> None:
    write_table(pl.concat([CASES, CASES[:1]]), tmp_path / "C.csv")
    with pytest.raises(InputError, match="from 2 to 60 rows"):
        Pwscup2022(n_rows=60, n_people=60).check({}, {"C": tmp_path / "C.csv"})


def test_attack_by_single_values_tells_what_the_nearest_row_does_not() -> None:
    released = pl.DataFrame({name: [1, 2, 1, 2] for name in case_players.COLUMNS})
    others = pl.DataFrame({name: [5, 5, 5, 1] for name in case_players.COLUMNS})
    asked = pl.DataFrame({name: [2, 5] for name in case_players.COLUMNS})
    told = case_players.like_a_case(asked, released, others)
    assert told[0] > told[1]
    # All ages are in the first decade: 13 cells agree with the second row, and one with any.
    assert case_players.nearest_case(asked, released, others).tolist() == [13.0, 1.0]


def test_counts_and_spreads_of_2020_by_hand() -> None:
    people, other = RECORDS[:100], RECORDS[:100].with_columns(pl.lit("Female").alias("sex"))
    found = census.use_of(people, other, RECORDS)
    n_male = int((people["sex"] == "Male").sum())
    assert found["histogram"] == pytest.approx(1 - 2 * n_male / (2 * 100 * 9))
    same = census.use_of(people, people[::-1], RECORDS)
    assert (same["histogram"], same["income"], same["relationship"]) == (1.0, 1.0, 1.0)
    assert same["covariance"] > 1e6


def test_difference_of_covariances_is_added_up_by_column() -> None:
    people = RECORDS[:100]
    older = people.with_columns(pl.col("age") * 2)
    matrices = [np.cov(matrix.T) for matrix in one_hot(people, older)]
    found = census.use_of(people, older, RECORDS)["covariance"]
    assert found == pytest.approx(1 / max(np.abs(matrices[0] - matrices[1]).sum(axis=1)))


def test_named_rows_are_held_against_those_drawn(tmp_path: Path) -> None:
    edition = Pwscup2020(n_rows=50, n_people=300, n_named=4)
    write_numbers(np.array([3, 5, 8]), tmp_path / "x.csv")
    write_numbers(np.array([5, 1, 3, 9]), tmp_path / "E.csv")
    found = edition.check_and_judge({}, {}, {"x": tmp_path / "x.csv"}, {"E": tmp_path / "E.csv"})
    assert (found.success, found.details["baseline"]) == (0.5, 50 / 300)
    write_numbers(np.array([5, 1, 5, 9]), tmp_path / "E.csv")
    with pytest.raises(InputError, match="different rows"):
        edition.check_guess({}, {}, {"E": tmp_path / "E.csv"})


def test_release_below_a_limit_counts_as_found() -> None:
    attempts = [Attempt("x", "", GuessScore(0.5, {}))]
    entries = [TeamEntry("a", ReleaseScore({}, 0.1), attempts), TeamEntry("b", ReleaseScore({}, 0.1, 1.0), attempts)]
    assert [(one.team, one.value) for one in Pwscup2020().rank(entries)] == [("a", 0.5), ("b", 1.0)]


def test_lone_records_come_first() -> None:
    everybody = RECORDS[:3].with_columns(
        pl.Series("age", [20.0, 21.0, 60.0]), *(pl.lit(RECORDS[name][0]).alias(name) for name in RECORDS.columns[1:])
    )
    rows = everybody[[0, 2]]
    named, worth = census_players.lone_record(everybody, rows)
    assert named.tolist() == [0, 2]
    # The next record is 1 away from the first row, and 39 from the second.
    assert worth.tolist() == pytest.approx([1.0, 39.0])


@pytest.mark.parametrize("edition", [Pwscup2020(100, 600, 20), Pwscup2022(60, 200, 20)])
def test_built_in_teams_keep_the_rules(edition: Edition, tmp_path: Path) -> None:
    terms = edition.terms
    edition.make_data(tmp_path, seed=1)
    data: Files = files_in(tmp_path, (*terms.data_files, *terms.hidden_files))
    edition.draw_own(data, tmp_path, seed=2)
    edition.draw_knowledge(data, tmp_path, seed=2)
    data = {**data, **files_in(tmp_path, terms.own_files)}
    known = files_in(tmp_path, terms.all_knowledge_files)
    for name in edition.anonymizers():
        folder = tmp_path / name
        for one in (folder, folder / "shown", folder / "truth"):
            one.mkdir()
        edition.anonymize(name, data, folder, seed=3)
        given = files_in(folder, terms.release_files)
        edition.check_and_score(data, known, given)
        edition.publish(data, given, folder / "shown", folder / "truth", seed=4)
        shown, truth = files_in(folder / "shown", terms.published_files), files_in(folder / "truth", terms.truth_files)
        for attack in edition.attacks():
            edition.attack(attack, data, known, shown, folder, seed=5)
            assert 0 <= edition.check_and_judge(data, shown, truth, files_in(folder, terms.guess_files)).success <= 1


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (Pwscup2020, {"n_rows": 49}),
        (Pwscup2020, {"n_rows": 60, "n_people": 59}),
        (Pwscup2020, {"n_rows": 60, "n_named": 61}),
        (Pwscup2022, {"n_rows": 19}),
        (Pwscup2022, {"n_known": 301}),
    ],
)
def test_options_that_no_contest_can_have_are_refused(kind: type, options: dict[str, int]) -> None:
    with pytest.raises(InputError):
        kind(**options)


@pytest.mark.slow
@pytest.mark.parametrize("name", census_players.ANONYMIZERS)
def test_releases_of_2020_at_full_size_keep_within_the_limits(name: str) -> None:
    everybody = census_players.make_people(200_000, 3).unique(maintain_order=True)[:100_000]
    people = everybody[:10_000]
    found = census.use_of(people, census_players.ANONYMIZERS[name](people, 1), everybody[:20_000])
    assert {key for key, limit in census.LIMITS.items() if found[key] < limit} == set()
