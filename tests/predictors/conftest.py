"""The thesis's lattice, and how its tables are counted."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from tokumei.data.made_services import OLDEST, PREFECTURES, SEXES
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
from tokumei.hierarchies.lattice import Lattice

AGES = JapanAge(bands=(9, 5, 3)).build("age", pl.Series(range(OLDEST + 1)))


@pytest.fixture(scope="session")
def thesis_lattice() -> Lattice:
    """Sex 2, age 9, 5 and 3, region 47, 9 and 2, each also absent: 31 nodes and the whole table."""
    sex = Sex().build("sex", pl.Series(SEXES))
    prefecture = JapanPrefecture().build("prefecture", pl.Series(PREFECTURES))
    return Lattice.of([sex, AGES.from_level(1), prefecture])


@pytest.fixture(scope="session")
def count_people() -> Callable[[pl.DataFrame], ClassCounts]:
    """Counts a frame of sex, age in years and prefecture at the finest node of that lattice."""

    def count(people: pl.DataFrame) -> ClassCounts:
        return count_classes(people, ["sex", "age", "prefecture"], recodings=[AGES.recoding(1)])

    return count
