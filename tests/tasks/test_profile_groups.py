"""The original in the groups of its release: bars before and after are of the same groups."""

from __future__ import annotations

import polars as pl
import pytest

import tokumei as tk
from tokumei.tasks.measure_table import profile

AGES = tk.Table({"age": [31, 34, 38, 52, 57], "sex": list("fmfmf")}, qi=["age", "sex"])


def profiled(ages: list[str], rows: list[int | None]) -> dict[str, dict[str, dict[str, float]]]:
    kept = [row for row in rows if row is not None]
    sexes = [AGES.frame["sex"][row] for row in kept]
    released = pl.DataFrame({"age": ages, "sex": sexes})
    columns: dict[str, dict[str, dict[str, float]]] = profile(AGES, released, pl.Series(rows))["columns"]
    return columns


def test_shares_before_are_of_the_groups_after() -> None:
    # 38 and 52 are left out: nobody released says in which group they are.
    columns = profiled(["30s", "30s", "50s"], [0, 1, 4])
    assert columns["age"]["grouped"] == pytest.approx({"30s": 2 / 5, "50s": 1 / 5})
    # What was not changed is shown as it is.
    assert "grouped" not in columns["sex"]


def test_value_under_two_labels_counts_to_each_by_how_often() -> None:
    table = tk.Table({"age": [31, 31, 31, 52]}, qi=["age"])
    released = pl.DataFrame({"age": ["30s", "30s", "*", "*"]})
    found = profile(table, released, pl.Series([0, 1, 2, 3]))["columns"]["age"]["grouped"]
    assert found == pytest.approx({"30s": 2 / 4, "*": 2 / 4})
    assert profile(table, released, pl.Series([0, 1, 2, 3]))["unchanged"] == 0


def test_rows_of_which_every_known_cell_reads_as_before_are_counted_as_unchanged() -> None:
    released = pl.DataFrame({"age": ["31", "30s", "57"], "sex": ["f", "m", "f"]})
    assert profile(AGES, released, pl.Series([0, 1, 4]))["unchanged"] == 2
