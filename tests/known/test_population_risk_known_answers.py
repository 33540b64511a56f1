"""Adult as a sample: who is alone in its population, as ARX 3.9.2 prints it, and special uniques in seconds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.data.files.formats import read_frame
from tokumei.measures.safety.population_uniques import population_uniques
from tokumei.measures.safety.special_uniques import special_uniques

THREE = ["sex", "age", "race"]
FIVE = [*THREE, "education", "occupation"]
NINE = [*FIVE, "marital-status", "native-country", "workclass", "salary-class"]


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> pl.DataFrame:
    return read_frame(shared_data / "adult" / "adult.csv.gz")


@pytest.mark.parametrize(
    ("columns", "population", "pitman", "zayatz"),
    [
        (THREE, 3_016_200, 0.0000310307, 0.0000212317),
        (THREE, 301_620, 0.0003072051, 0.0001273768),
        (FIVE, 3_016_200, 0.0122836085, 0.0333872480),
        (FIVE, 301_620, 0.0469613705, 0.0566826709),
        (NINE, 3_016_200, 0.1446083531, 0.2717127199),
        (NINE, 301_620, 0.2768499388, 0.3207402393),
    ],
)
def test_shares_alone_are_those_of_arx(
    adult: pl.DataFrame, columns: list[str], population: int, pitman: float, zayatz: float
) -> None:
    found = population_uniques(adult.group_by(columns).len()["len"], population)
    shares = {name: None if alone is None else alone / population for name, alone in found.estimates.items()}
    assert shares["pitman"] == pytest.approx(pitman, abs=1e-9)
    assert shares["zayatz"] == pytest.approx(zayatz, abs=1e-9)
    # The rule of Dankar et al. chose Pitman in each.
    assert (found.chosen, found.as_dict()["share"]) == ("pitman", pytest.approx(pitman, abs=1e-9))


def test_rule_is_near_the_truth_on_samples_of_adult(adult: pl.DataFrame) -> None:
    alone = int((adult.group_by(FIVE).len()["len"] == 1).sum())
    for fraction in (0.1, 0.2, 0.4):
        drawn = adult.sample(fraction=fraction, seed=1)
        found = population_uniques(drawn.group_by(FIVE).len()["len"], adult.height)
        assert found.alone == pytest.approx(alone, rel=0.1)


def test_special_uniques_of_adult_are_found_in_sets_of_three(adult: pl.DataFrame) -> None:
    found = special_uniques(adult, NINE, largest=3)
    assert found.n_minimal == {1: 2, 2: 1204, 3: 14890}
    assert (found.n_special, found.n_alone) == (6240, 15512)
