"""Statistics of counted values: the digits of those of all values, one after the other."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.measures.utility.purchases import Name, compute
from tokumei.measures.utility.purchases_on_engine import compute_counted

VALUES = st.lists(st.sampled_from([0.01, 0.1, 1.95, 2.5, 1e9, -3.0]) | st.floats(-1e6, 1e6), max_size=30)


@given(VALUES)
def test_counted_values_give_the_digits_of_all_values(values: list[float]) -> None:
    counted = sorted(Counter(values).items())
    for statistic in get_args(Name):
        found = compute_counted(statistic, [value for value, _ in counted], [n for _, n in counted])
        assert found == compute(statistic, np.array(values, np.float64)), statistic


def test_statistics_of_1_1_and_4_are_as_by_hand() -> None:
    found = {name: compute_counted(name, [1.0, 4.0], [2, 1]) for name in get_args(Name)}
    assert found == {
        "rows": 3,
        "sum": 6,
        "mean": 2,
        "variance": 2,
        "maximum": 4,
        "minimum": 1,
        "median": 1,
        "deviation": pytest.approx(2**0.5),
    }
