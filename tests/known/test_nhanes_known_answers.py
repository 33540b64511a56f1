"""PWSCUP 2021 and iPWS Cup 2023 against the known answers: use, sampling, judging and published results."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, TeamEntry
from tokumei.contest.editions import nhanes
from tokumei.contest.editions.ipws2023 import edition as ipws2023
from tokumei.contest.editions.pwscup2021 import players
from tokumei.contest.editions.pwscup2021.edition import Pwscup2021, drawn_targets, found_of
from tokumei.contest.season import rank_attackers
from tokumei.contest.tables import read_numbers, read_table
from tokumei.measures.table.logistic import fit_logistic

REL, ABS = 1e-9, 1e-12
# Of B beside C, the exchanged rows and D: the worst and the mean of each.
MOVED = {
    "C": {
        "cnt": (570, 125.6969696969697),
        "rate": (0.05679664723778485, 0.009267414882005345),
        "OR": (0.17008192922798293, 0.07132763474868889),
        "cor": (0.12512443373017806, 0.014036673879272148),
        "Coef": (0.46031700405276865, 0.0857772510682515),
        "pvalue": (0.32818237347461576, 0.11211913893542769),
    },
    "d-xrr2": {
        "cnt": (643, 125.84848484848484),
        "rate": (0.05679664723778485, 0.010522767990844282),
        "OR": (0.3476837710387617, 0.11384432735332774),
        "cor": (0.16706214887431625, 0.017610027933680442),
        "Coef": (0.37458202872172564, 0.11935759862162772),
        "pvalue": (0.6258124936102292, 0.16114793721064166),
    },
    "pre_anony_00_d": {
        "cnt": (643, 126.0909090909091),
        "rate": (0.059081988406573624, 0.010382556903607315),
        "OR": (0.3586238215288222, 0.11171450305746511),
        "cor": (0.1684880049123457, 0.017613639576663485),
        "Coef": (0.2818655292345319, 0.10839558960131344),
        "pvalue": (0.6092386794516471, 0.1689468696392689),
    },
}


def survey(folder: Path, name: str) -> pl.DataFrame:
    return read_table(folder / f"{name}.csv", nhanes.PEOPLE)


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2021"


@pytest.mark.parametrize("name", MOVED)
def test_numbers_of_use_are_those_of_the_contests_program(folder: Path, name: str) -> None:
    found = nhanes.shifts(survey(folder, "B"), survey(folder, name))
    for key, (worst, mean) in MOVED[name].items():
        assert found[key].worst == pytest.approx(worst, rel=REL, abs=ABS), key
        assert found[key].mean == pytest.approx(mean, rel=REL, abs=ABS), key


def test_table_beside_itself_has_not_moved(folder: Path) -> None:
    people = survey(folder, "B")
    assert {(one.worst, one.mean) for one in nhanes.shifts(people, people).values()} == {(0.0, 0.0)}


def test_cells_that_moved_and_unique_rows(folder: Path) -> None:
    kept = survey(folder, "C")
    exchanged, noised = (nhanes.cell_shifts(kept, survey(folder, name)) for name in ("d-xrr2", "pre_anony_00_d"))
    assert (exchanged["age"].max(), exchanged["bmi"].max(), exchanged["cat"].max()) == (0, 0, 4)
    assert exchanged["cat"].mean() == noised["cat"].mean() == pytest.approx(0.48090107737512244, rel=REL, abs=ABS)
    assert (noised["age"].max(), noised["age"].mean()) == (8, pytest.approx(1.0577864838393731, rel=REL, abs=ABS))
    assert (noised["bmi"].max(), noised["bmi"].mean()) == (3.5, pytest.approx(0.7158994449885734, rel=REL, abs=ABS))
    n_unique = {name: int(players.unique_rows(survey(folder, name)).sum()) for name in ("B", *MOVED)}
    assert n_unique == {"B": 2675, "C": 2071, "d-xrr2": 2334, "pre_anony_00_d": 2386}
    found = players.use_of(survey(folder, "B"), kept, survey(folder, "pre_anony_00_d"))
    assert found["uniqrt"] == pytest.approx(0.5196988707653701, rel=REL, abs=ABS)
    assert found["iloss"] == 8


def test_regression_is_that_of_the_contests_program(folder: Path) -> None:
    people = survey(folder, "B")
    columns = nhanes.explaining_columns(people)
    fit = fit_logistic(np.column_stack(list(columns.values())), people["dia"].to_numpy())
    place = {name: number for number, name in enumerate(columns)}
    for name, coefficient, p in (
        ("Intercept", -7.850214889561, 9.434912872976e-88),
        ("gen Male", 0.356486041228, 5.998923582033e-05),
        ("age", 0.060636204618, 1.508838140424e-67),
        ("bmi", 0.095293429188, 2.858909916535e-51),
        ("qm Q4", -0.510190568324, 8.823099161068e-05),
    ):
        assert fit.coefficients[place[name]] == pytest.approx(coefficient, abs=1e-11)
        assert fit.p_values[place[name]] == pytest.approx(p, rel=1e-9)
    assert fit.odds[place["gen Male"]] == pytest.approx(1.428301593043, abs=1e-11)


def test_people_who_are_asked_for_and_the_sample_guess(folder: Path) -> None:
    people, out = survey(folder, "B"), read_numbers(folder / "pre_anony_00_x.csv")[:, 0]
    asked, truth = drawn_targets(people.height, out, 100, 100)
    assert people[asked].equals(survey(folder, "pre_anony_00_c"))
    right = read_numbers(folder / "pre_anony_00_ea.csv", least=-1)[:, 0]
    assert (truth == right).all()
    assert ((right == -1).sum(), right.sum()) == (50, 74_001)
    guess = read_numbers(folder / "pre_attack_00_from_00.csv", 3, 100, least=-1, most=3984)
    assert found_of(right, guess) == (0.9, 0.9, 0.86)
    for name, expected in (("C", 1.0), ("d-xrr2", 0.98)):
        told = players.nearest_rows(people, people[asked], survey(folder, name))
        assert found_of(right, told) == (expected, expected, expected)
        assert (told[:, 0] == -1).sum() == 50
    told = players.nearest_rows(people, people[asked], survey(folder, "pre_anony_00_d"))
    assert found_of(right, told) == (0.9, 0.9, 0.86)


@pytest.mark.slow
def test_order_gives_every_row_away(folder: Path) -> None:
    people, out = survey(folder, "B"), read_numbers(folder / "pre_anony_00_x.csv")[:, 0]
    asked, right = drawn_targets(people.height, out, 100, 100)
    told = players.in_their_order(people, people[asked], survey(folder, "pre_anony_00_d"))
    assert found_of(right, told) == (1.0, 1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_our_release_keeps_within_the_limits_that_the_sample_breaks(folder: Path, seed: int) -> None:
    people = survey(folder, "B")
    out, changed = players.exchange_groups(people, seed)
    assert players.beyond(players.use_of(people, players.without(people, out), changed)) <= 1
    out, changed = players.delete_and_noise(people, seed)
    assert players.beyond(players.use_of(people, players.without(people, out), changed)) > 1


def test_published_risks_of_2021_rank_as_published() -> None:
    risks = [0.093, 0.970, 1, 0.067, 0.165, 0.067, 1, 0.283, 0.257, 0.067, 0.486, 0.192, 0.077, 0.119]
    entries = []
    for number, risk in enumerate(risks, 1):
        score = ReleaseScore({}, 1.0, 1.0) if number in (3, 7) else ReleaseScore({}, 0.5)
        entries.append(TeamEntry(f"{number:02}", score, [Attempt("x", "", GuessScore(min(risk, 0.99), {}))]))
    lines = Pwscup2021().rank(entries)
    assert [line.team for line in lines if line.place == 1] == ["04", "06", "10"]
    assert [(line.team, line.place, line.value) for line in lines[-2:]] == [("03", 13, 1.0), ("07", 13, 1.0)]


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_use_and_privacy_of_ipws_2023(shared_data: Path, number: int) -> None:
    folder = shared_data / "ipws2023"
    people = survey(folder, "B00")
    changed = people if number == 0 else survey(folder, f"C{number}")
    found = ipws2023.use_of(people, changed)
    with (folder / f"u_C{number}.csv").open() as handle:
        rows = {row[""]: row for row in csv.DictReader(handle)}
    for kind, row in rows.items():
        one = {name: getattr(shift, "worst" if kind == "max" else "mean") for name, shift in found.items()}
        for name, key in {"rate": "rate", "OR": "OR", "cor": "cor", "age": "1", "bmi": "5", "cat": "cat"}.items():
            assert one[name] == pytest.approx(float(row[key]), rel=REL, abs=ABS), (kind, name)
        assert ipws2023.mean_left(one) == pytest.approx(float(row["utility"]), rel=REL, abs=ABS)
    rows_of_x = read_numbers(folder / f"X_C{number}.csv")[:, 0]
    assert (ipws2023.drawn_rows(4190, 100, 528) == rows_of_x).all()
    published = survey(folder, f"D_C{number}")
    assert changed[rows_of_x].equals(published)
    edition = ipws2023.Ipws2023(n_published=100)
    truth, guess = folder / f"X_C{number}.csv", folder / f"E_C{number}.csv"
    assert edition.judge({}, {}, {"X": truth}, {"E": guess}).success == (1.0, 0.98, 0.97, 0.82)[number]
    # Of people equally near ours takes another than the sample in one row of C3.
    assert (ipws2023.nearest_person(people, published) == rows_of_x).mean() >= (1.0, 0.98, 0.97, 0.81)[number]
    assert (ipws2023.likely_people(people, published) == rows_of_x).mean() >= (1.0, 1.0, 0.99, 1.0)[number]


USES = (0.6484, 0.8877, 0.7393, 0.8307, 0.8144, 0.8754, 0.6617, 0.8671, 0.7488, 0.9008)
OVERALL = (0.7804, 0, 0.5671, 0.8864, 0.8770, 0.8590, 0.7364, 0.8784, 0.5299, 0.8225)
ATTACKS = (0.2822, 0.1378, 0.2285, 0.2911, 0.1341, 0.2711, 0.2500, 0.3044, 0.2233, 0.2426)
PRIVACY = """
- .0467 .52 .9567 .9567 .9133 .9333 .95 .4267 .7567
.9967 - .46 1 .9733 .9833 .83 1 .7067 .81
.9867 .04 - .9733 .96 .9067 .86 .94 .4833 .7933
.98 .0267 .4667 - .9533 .8433 .8833 .89 .5533 .7833
.9867 .27 .95 .97 - .8967 .9933 .9333 .97 .8233
.9867 .0167 .46 .9633 .9533 - .8533 .9467 .57 .81
.9933 .0433 .5067 .9933 .9667 .98 - 1 .4567 .81
.98 0 .46 .95 .95 .8667 .8833 - .41 .76
.9933 .04 .5 .9567 .9567 .9267 .9033 .9433 - .77
.9867 .0467 .5533 .99 .9767 .9367 .9033 .9533 .47 -
"""


def test_published_results_of_ipws_2023_follow_from_the_matrix() -> None:
    rows = [line.split() for line in PRIVACY.split("\n") if line]
    entries = [
        TeamEntry(
            f"{target + 1:02}",
            ReleaseScore({}, 1 - USES[target]),
            [
                Attempt(f"{attacker + 1:02}", "", GuessScore(1 - float(row[target]), {}))
                for attacker, row in enumerate(rows)
                if row[target] != "-"
            ],
        )
        for target in range(10)
    ]
    lines = ipws2023.Ipws2023().rank(entries)
    assert [line.team for line in lines[:3]] == ["04", "08", "05"]
    for line in lines:
        assert line.value is not None
        assert 1 - line.value == pytest.approx(OVERALL[int(line.team) - 1], abs=1.1e-4)
    found = {one.team: one.found for one in rank_attackers(entries)}
    for number, expected in enumerate(ATTACKS, 1):
        assert found[f"{number:02}"] == pytest.approx(expected, abs=1.1e-4)


def test_geometric_mean_of_the_published_sample() -> None:
    lost = dict(enumerate((0.04558473, 0.12078671, 0.05519111, 0.5, 0.225, 0.5)))
    assert ipws2023.mean_left({str(name): value for name, value in lost.items()}) == pytest.approx(0.73181766, abs=1e-8)
