"""The scores of PWSCUP 2025 against the known answers, on the contest's sample tables in the shared data."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_json

from tokumei.contest.editions.pwscup2025.files import (
    COLUMNS,
    TYPES,
    Patients,
    read_model,
    read_patients,
    write_patients,
)
from tokumei.contest.editions.pwscup2025.players import (
    Seen,
    best_rows,
    model_marks,
    mutual,
    nearest_marks,
    noisy,
    train_model,
)
from tokumei.contest.editions.pwscup2025.trees import Model
from tokumei.contest.editions.pwscup2025.utility import (
    age_tests,
    compare,
    regression,
    right_answers,
    statistics,
    total_points,
)
from tokumei.core.errors import InputError

Read = Callable[[str], Patients]
# B, C, and what moved most in statistics, regression and tests; the points of these three.
RELEASES = [
    ("HI_10K", "MA_10K", 0.5518, 0.8862336002175659, 0.033761053244578954, 39.528106930757104),
    ("MA_10K", "HI_10K", 0.5518, 0.8862336002175659, 0.033761053244578954, 39.528106930757104),
    ("HI_10K", "HI_10K", 0.0, 0.0, 0.0, 80.0),
    ("HI_10K", "HI_ano_v1_s42", 0.21781061362934534, 0.8442499154784951, 0.16070944021284828, 51.18838834099931),
    ("HI_10K", "HI_ano_v1_s1", 0.22182582234460674, 0.8203754137454903, 0.15834414625085122, 51.552575906288894),
    ("MA_10K", "MA_ano_v1_s42", 0.19571985859120128, 0.6364544838567918, 0.14703503846147517, 56.50141520998661),
    ("MA_10K", "MA_ano_v1_s1", 0.20082009094648406, 0.8379667472877478, 0.14784319129493342, 52.250997590487),
]
SLICES = [
    ("HI_10K", 5000, 0.03687311890662899, 0.9558562167102321, 0.030052911543759164, 58.80689267865502),
    ("MA_10K", 1000, 0.10548255288192852, 0.9999999996582898, 0.053921053908861705, 54.702276813379825),
]
# The names of the numbers of a test and of a regression in the tables of known answers.
KW = {
    "H": "H_norm",
    "-log10 p": "minus_log10_p_norm",
    "epsilon2": "epsilon2",
    "eta2": "eta2_kw",
    "rank eta2": "rank_eta2",
    "A": "A_pair_avg",
    "A symmetric": "A_pair_sym",
}
LR = {
    "coef": "coef",
    "p": "p_value",
    "OR": "OR_norm",
    "low": "CI_low_norm",
    "high": "CI_high_norm",
    "VIF": "VIF_norm",
}


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2025"


@pytest.fixture(scope="module")
def plain(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Unpack a file of the folder once."""
    unpacked = tmp_path_factory.mktemp("pwscup2025")

    def unpack(name: str) -> Path:
        path = unpacked / name
        if not path.exists():
            path.write_bytes(lzma.decompress((folder / f"{name}.xz").read_bytes()))
        return path

    return unpack


@pytest.fixture(scope="module")
def read(plain: Callable[[str], Path]) -> Read:
    kept: dict[str, Patients] = {}

    def read_once(name: str) -> Patients:
        if name not in kept:
            kept[name] = read_patients(plain(f"{name}.csv"))
        return kept[name]

    return read_once


def rows(patients: Patients, first: int, n: int) -> Patients:
    return Patients(patients.frame[first : first + n])


def held(before: Patients, after: Patients, right: tuple[float, ...]) -> None:
    moved = compare(before, after)
    assert [one.value for one in moved.values()] == pytest.approx(right[:3], abs=1e-9)
    assert sum(total_points(moved, None).values()) == pytest.approx(right[3], abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(("before", "after", "first", "second", "third", "points"), RELEASES)
def test_points_of_a_release_are_the_known_ones(
    before: str,
    after: str,
    first: float,
    second: float,
    third: float,
    points: float,
    read: Read,
) -> None:
    held(read(before), read(after), (first, second, third, points))


@pytest.mark.parametrize(("name", "n", "first", "second", "third", "points"), SLICES)
def test_points_of_two_parts_of_a_table_are_the_known_ones(
    name: str,
    n: int,
    first: float,
    second: float,
    third: float,
    points: float,
    read: Read,
) -> None:
    held(rows(read(name), 0, n), rows(read(name), n, n), (first, second, third, points))


@pytest.mark.parametrize("name", ["HI", "MA"])
def test_every_number_of_regression_and_tests_is_the_known_one(name: str, folder: Path, read: Read) -> None:
    for found, names, file, key in (
        (age_tests(read(f"{name}_10K")), KW, "KW", "metric"),
        (regression(read(f"{name}_10K")), LR, "LR", "term"),
    ):
        with (folder / "known" / f"{name}_{file}.csv").open(encoding="utf-8") as handle:
            right = {row[key]: row for row in csv.DictReader(handle)}
        assert {term for term, _ in found} == set(right)
        for (term, number), value in found.items():
            assert value == pytest.approx(float(right[term][names[number]]), abs=1e-9), (term, number)


@pytest.mark.parametrize("name", ["HI", "MA"])
def test_every_statistic_is_the_known_one(name: str, folder: Path, read: Read) -> None:
    with (folder / "known" / f"{name}_stats_terms.csv").open(encoding="utf-8") as handle:
        right = sorted(float(row["value"]) for row in csv.DictReader(handle))
    found = statistics(read(f"{name}_10K"))
    assert len(found) == 190
    assert sorted(found.values()) == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "threshold", "right"),
    [
        ("HI_10K", 0.5, 0.9298),
        ("HI_10K", 0.4, 0.9241),
        ("HI_10K", 0.1, 0.8392),
        ("MA_10K", 0.5, 0.8846),
        ("MA_10K", 0.4, 0.8792),
        ("MA_10K", 0.1, 0.8108),
    ],
)
def test_sample_model_is_right_as_often_as_known(
    name: str, threshold: float, right: float, plain: Callable[[str], Path], read: Read
) -> None:
    model = read_model(plain("sample_HI_10K_ML.json"))
    assert right_answers(model, read(name), threshold) == pytest.approx(right, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "on_hi", "on_ma"), [("HI_10K", 0.9292, 0.8849), ("MA_10K", 0.8851, 0.9467)])
def test_reference_trainer_makes_a_model_as_right_as_known(
    name: str, on_hi: float, on_ma: float, tmp_path: Path, read: Read
) -> None:
    train_model(read(name), tmp_path / "D.json")
    model = read_model(tmp_path / "D.json")
    assert len(model.names) == 21
    assert [right_answers(model, read(one)) for one in ("HI_10K", "MA_10K")] == pytest.approx([on_hi, on_ma], abs=1e-12)


@pytest.mark.parametrize("name", ["HI", "MA"])
@pytest.mark.parametrize("seed", [1, 42])
def test_sample_anonymizer_makes_the_published_tables(name: str, seed: int, read: Read) -> None:
    # Its first version, which these are of, had other ends of ages.
    found, right = noisy(read(f"{name}_10K"), seed, (0, 120)), read(f"{name}_ano_v1_s{seed}").frame
    assert [column for column in COLUMNS if not (found[column] == right[column]).all()] == []


def test_sample_attacks_mark_as_many_rows_as_known(plain: Callable[[str], Path], read: Read) -> None:
    people, released = read("MA_10K"), rows(read("MA_ano_v1_s42"), 0, 1000)
    marks = nearest_marks(people, released)
    assert (marks.sum(), marks[:1000].sum()) == (862, 320)
    model = read_model(plain("sample_HI_10K_ML.json"))
    assert [int(model_marks(read(name), model).sum()) for name in ("HI_10K", "MA_10K")] == [9298, 8846]
    assert [int(model_marks(read(name), model, 0.1).sum()) for name in ("HI_10K", "MA_10K")] == [6634, 6311]


@pytest.mark.parametrize(("name", "n_sample", "n_ours"), [("MA", 320, 440), ("HI", 367, 500)])
def test_our_attack_finds_more_than_the_sample_attack(name: str, n_sample: int, n_ours: int, read: Read) -> None:
    people, released = read(f"{name}_10K"), rows(read(f"{name}_ano_v1_s42"), 0, 1000)
    assert nearest_marks(people, released)[:1000].sum() == n_sample
    seen = Seen(people, released, Model((), "", 0.5, ()))
    # A tenth of the people are in: as many marks at random would find a hundred.
    assert best_rows(mutual(seen), 1000)[:1000].sum() == n_ours


@pytest.mark.parametrize(("name", "n"), [("HI_10K", 8), ("MA_10K", 10)])
def test_sample_tables_fail_the_check_by_ages_of_111(name: str, n: int, plain: Callable[[str], Path]) -> None:
    with pytest.raises(InputError) as caught:
        read_patients(plain(f"{name}.csv"), TYPES)
    ages = [fault for fault in caught.value.faults if fault.column == "AGE"]
    assert len(ages) == n
    assert {(fault.value, fault.rule) for fault in ages} == {("111", "ranges")}


@pytest.mark.parametrize("year_round", ["pre", "main"])
def test_published_anonymity_follows_from_matches_and_penalties(year_round: str, folder: Path) -> None:
    with (folder / f"results_{year_round}.csv").open(encoding="utf-8") as handle:
        lines = list(csv.DictReader(handle))
    n_held = 0
    for line in lines:
        matches = [int(value) for name, value in line.items() if name.startswith("attacker") and value]
        anonymity = max(0.0, (10_000 - max(matches)) / 100 - int(line["penalty"]))
        # A team had too few rows in the preliminary round, and its anonymity was set to 0.
        n_held += float(line["anonymity"]) == pytest.approx(anonymity, abs=0.006)
        assert float(line["anonymity"]) in (pytest.approx(anonymity, abs=0.006), 0.0)
    assert n_held >= len(lines) - 1


@pytest.mark.thorough
def test_score_of_the_command_line_is_the_one_of_the_library(
    plain: Callable[[str], Path], read: Read, tmp_path: Path
) -> None:
    released = Patients(read("MA_ano_v1_s42").frame.with_columns(pl.col("AGE").clip(2, 110)))
    write_patients(released.frame, tmp_path / "C.csv")
    given = ["--edition", "pwscup2025", "--data", f"B={plain('MA_10K.csv')}"]
    found = tokumei_json("score", *given, tmp_path / "C.csv", plain("sample_HI_10K_ML.json"))
    right = total_points(compare(read("MA_10K"), released), None)
    assert found["utility"] == pytest.approx(right, abs=1e-12)
    assert found["total"] is None
