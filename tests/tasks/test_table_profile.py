"""Whom leaving out hits."""

from __future__ import annotations

import polars as pl

from tokumei.data.table import Table
from tokumei.tasks.measure_table import profile


def test_small_groups_come_by_how_many_more_they_lost_than_everybody() -> None:
    # Of 200 rows 5 are left out: 4 of the 8 from Nara, and the only one from Oslo.
    towns = ["Tokyo"] * 191 + ["Nara"] * 8 + ["Oslo"]
    table = Table(pl.DataFrame({"town": towns}), ["town"])
    rows = pl.Series([*range(191), 191, 192, 193, 194])
    found = profile(table, table.frame[rows.to_list()], rows)["left_out"]
    assert [(one["value"], one["rows"], one["left_out"]) for one in found] == [("Nara", 8, 4), ("Oslo", 1, 1)]


def test_smallest_groups_come_with_the_column_that_makes_them_small() -> None:
    # Without sex (f, A) would have three rows, without the town one; (m, B) three without the town.
    frame = pl.DataFrame({"sex": ["f", "m", "m", "m"], "town": ["A", "A", "A", "B"]})
    found = profile(Table(frame, ["sex", "town"]), frame, pl.Series(range(4)))["riskiest"]
    told = [(one["values"], one["class"], one["by"], one["without"]) for one in found]
    assert told == [
        ({"sex": "f", "town": "A"}, 1, "sex", 3),
        ({"sex": "m", "town": "B"}, 1, "town", 3),
        ({"sex": "m", "town": "A"}, 2, "sex", 3),
    ]
