"""The scores of PWSCUP 2017 and 2018 against the known answers, by the library and by the command line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.journey.commands import tokumei_json

from tokumei.contest.edition import Files
from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.contest.editions.pwscup2017.edition import Pwscup2017
from tokumei.contest.editions.pwscup2018 import files as pwscup2018
from tokumei.contest.editions.pwscup2018.edition import Pwscup2018
from tokumei.core.errors import InputError
from tokumei.data.history import History

LEVELS = ("25", "50", "75", "100")
UTILITY = {"E1": 0.946782, "E2": 0.947189, "E3": [0.21, 0.657265], "E4": 0, "E5": 0, "E6": 0.5}
ROW_SUCCESS = {
    "S1": [0.166, 0.18, 0.178, 0.174],
    "S2": [0.006, 0.016, 0.014, 0.016],
    "S3": [0.01, 0.016, 0.012, 0.016],
    "S4": [0.134, 0.154, 0.136, 0.142],
}
UNCHANGED_BUT_IDS = [0.166, 0.174, 0.188, 0.192]


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2017"


@pytest.fixture(scope="module")
def data(folder: Path) -> Files:
    return {name: folder / f"{name}.csv.gz" for name in ("M", "T")}


@pytest.fixture(scope="module")
def knowledge(folder: Path) -> Files:
    return {f"T{level}": folder / f"T{level}.csv.gz" for level in LEVELS}


def rows_of(score: dict[str, Any], attack: str) -> list[float]:
    return [score["safety"][attack][level]["row"] for level in LEVELS]


def test_sample_release_of_2017_has_the_known_scores_on_the_command_line(
    folder: Path, data: Files, knowledge: Files
) -> None:
    given = ["--edition", "pwscup2017", "--master", data["M"], "--history", data["T"]]
    assert tokumei_json("check", *given, folder / "AT_sample.csv.gz")["is_valid"]
    levels = [word for level in LEVELS for word in ("--knowledge", f"{level}={knowledge[f'T{level}']}")]
    score = tokumei_json("score", *given, *levels, folder / "AT_sample.csv.gz")
    assert set(score) == {"utility", "safety", "total"}
    assert list(score["utility"]) == list(UTILITY)
    for name, value in UTILITY.items():
        assert score["utility"][name] == pytest.approx(value, abs=5e-7)
    assert list(score["safety"]) == ["S1", "S2", "S3", "S4", "S5", "S6"]
    for attack, known in ROW_SUCCESS.items():
        assert rows_of(score, attack) == pytest.approx(known)
    means = [sum(rows_of(score, attack)) / 4 for attack in score["safety"]]
    assert score["total"] == pytest.approx((0.947189 + max(means)) / 2, abs=5e-7)


def test_release_of_2017_with_nothing_but_ids_changed_has_the_known_scores(
    data: Files, knowledge: Files, tmp_path: Path
) -> None:
    original = pwscup2017.read_history(data["T"])
    renamed = History(original.frame.with_columns(customer="P" + pl.col("customer")))
    pwscup2017.write_release(renamed, tmp_path / "AT.csv")
    edition, release = Pwscup2017(), {"AT": tmp_path / "AT.csv"}
    edition.check(data, release)
    score = edition.score(data, knowledge, release)
    assert score.details["utility"] == {"E1": 0, "E2": 0, "E3": [0, 0], "E4": 0, "E5": 0, "E6": 0}
    assert rows_of(dict(score.details), "S1") == pytest.approx(UNCHANGED_BUT_IDS)


def test_truth_of_the_sample_release_is_the_organizers_own(folder: Path, data: Files, tmp_path: Path) -> None:
    release = {"AT": folder / "AT_sample.csv.gz"}
    Pwscup2017().publish(data, release, tmp_path, tmp_path, seed=1)
    with gzip.open(folder / "F_sample.csv.gz") as handle:
        theirs = [cell for line in handle.read().decode().splitlines() for cell in line.split(",")]
    ours = [cell for line in (tmp_path / "F.csv").read_text().splitlines() for cell in line.split(",")]
    different = [(one, two) for one, two in zip(ours, theirs, strict=True) if one != two]
    # Theirs names pseudonyms of 26 months of which no row was kept, and which S therefore does not have.
    assert {one for one, _ in different} == {"DEL"}
    assert len(different) == 26
    with pytest.raises(InputError) as caught:
        Pwscup2017().check_guess(data, {"S": tmp_path / "S.csv"}, {"Fh": folder / "F_sample.csv.gz"})
    assert caught.value.n_faults == 26


def test_published_sample_release_is_its_kept_rows_in_another_order(folder: Path, data: Files, tmp_path: Path) -> None:
    release = {"AT": folder / "AT_sample.csv.gz"}
    Pwscup2017().publish(data, release, tmp_path, tmp_path, seed=1)
    with gzip.open(release["AT"]) as handle:
        kept = [line for line in handle.read().splitlines() if line != b"DEL,,,,,,"]
    published = (tmp_path / "S.csv").read_bytes().splitlines()
    assert published != kept
    assert sorted(published) == sorted(kept)


def test_data_of_2017_is_sampled_from_online_retail_in_the_known_shape(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "online_retail" / "online_retail_full.parquet"
    Pwscup2017(n_customers=500).make_data(tmp_path, seed=1, source=source)
    sample = pwscup2017.read_history(tmp_path / "T.csv")
    assert len(sample.customers) == 500
    assert (sample.periods[0], sample.periods[-1]) == (24131, 24142)
    # The contest's 500 had 44,917 rows; another draw differs by some customers who buy much.
    assert 30_000 < sample.n_rows < 60_000


def test_release_of_2018_has_the_loss_of_its_cells(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "pwscup2018" / "T.csv.gz"
    given = ["--edition", "pwscup2018", "--history", source]
    # T is a valid release of itself: its ids have the form of pseudonyms, and every cell is true.
    assert tokumei_json("score", *given, source) == {"utility": 0.0}
    history = pwscup2018.read_history(source)
    assert history.n_rows == 81_776
    lines = [f"{customer},*,*,*,*\n" for customer in history.frame["customer"]]
    (tmp_path / "A.csv").write_text("".join(lines))
    Pwscup2018().check({"T": source}, {"A": tmp_path / "A.csv"})
    assert tokumei_json("score", *given, tmp_path / "A.csv") == {"utility": 1.0}
