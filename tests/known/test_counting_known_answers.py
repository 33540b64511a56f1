"""Adult on every engine: the classes of its nine columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies

COLUMNS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


def check_adult(folder: Path, engine: str) -> None:
    file = folder / "adult" / "adult.csv.gz"
    counts = count_classes(file, COLUMNS, engine=engine)
    assert (counts.n_rows, counts.n_classes, counts.k, counts.n_unique) == (30162, 19502, 1, 15512)
    hierarchies = read_hierarchies(folder / "adult" / "hierarchies", COLUMNS)
    recodings = [hierarchies["age"].recoding(2), hierarchies["native-country"].recoding(1)]
    there = count_classes(file, COLUMNS, recodings=recodings, engine=engine)
    assert there.to_frame().equals(counts.roll_up(counts.maps(recodings)).to_frame())


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_adult_is_counted_as_known_on(shared_data: Path, engine: str) -> None:
    check_adult(shared_data, engine)


def test_adult_is_counted_as_known_on_postgres(shared_data: Path, postgres_engine: str) -> None:
    check_adult(shared_data, postgres_engine)


def test_adult_is_counted_as_known_on_spark(shared_data: Path, spark_engine: str) -> None:
    check_adult(shared_data, spark_engine)
