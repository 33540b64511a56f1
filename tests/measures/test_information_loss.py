from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.data.table import Table
from tokumei.measures.table.pair import TablePair
from tokumei.measures.table.row_by_row import InformationLoss

# The standard deviations of s and t are 1 and 10.
ORIGINAL = pl.DataFrame(
    {"q": ["a", "a", "b", "b"], "r": ["x", "y", "x", "y"], "s": [0.0, 0, 2, 2], "t": [10.0, 30, 10, 30]}
)
PEOPLE = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(-3, 3)), min_size=1, max_size=12)


def table(frame: pl.DataFrame) -> Table:
    return Table.with_quasi_identifiers(frame, ["q", "r"], sensitive=[name for name in "st" if name in frame.columns])


def test_information_loss_is_the_mean_over_all_cells() -> None:
    # One code differs, one amount moves by half a standard deviation, one by far more than one.
    released = ORIGINAL.with_columns(
        q=pl.Series(["b", "a", "b", "b"]), s=pl.Series([0.0, 0.5, 2, 2]), t=pl.Series([10.0, 30, 1000, 30])
    )
    score = InformationLoss().measure(table(ORIGINAL), table(released), pl.Series([0, 1, 2, 3]))
    assert score.value == (1 + 0.5 + 1) / 16


def test_information_loss_follows_the_row_numbers() -> None:
    released = table(ORIGINAL[[3, 0]])
    assert InformationLoss().measure(table(ORIGINAL), released, pl.Series([3, 0])).value == 0
    # Rows 0 and 3 have nothing in common.
    assert InformationLoss().measure(table(ORIGINAL), released, pl.Series([0, 3])).value == 1


def test_information_loss_by_chance_is_its_baseline() -> None:
    # Any other code is as likely as the same, and any other amount is two standard deviations off.
    score = InformationLoss().measure(table(ORIGINAL), table(ORIGINAL), pl.Series([0, 1, 2, 3]))
    assert score.baseline == 0.5


@given(PEOPLE, PEOPLE, st.data())
def test_baseline_is_the_mean_over_all_pairs_of_a_released_and_a_declared_row(
    people: list[object], released: list[object], data: st.DataObject
) -> None:
    rows = [data.draw(st.integers(0, len(people) - 1)) for _ in released]
    schema = {"q": pl.String, "r": pl.String, "s": pl.Float64}
    ours, theirs = (table(pl.DataFrame(rows, schema, orient="row")) for rows in (people, released))
    score = InformationLoss().measure(ours, theirs, pl.Series(rows))
    pair = TablePair.of(ours, theirs)
    every = [pair.distances(np.full(len(released), row)).sum() for row in rows]
    assert score.baseline == pytest.approx(math.fsum(every) / len(released) ** 2)
