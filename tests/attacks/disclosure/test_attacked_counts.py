"""A file of counts is attacked as counts, not as if each of its rows were somebody's."""

from __future__ import annotations

import polars as pl

import tokumei as tk

COUNTS = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 40], "rows": [5, 1, 3, 2]})


def test_without_a_name_counts_are_taken_for_counts_with_and_without_the_original() -> None:
    """Eleven people as four counts: one woman of 40 is alone, and no attack takes four rows for four people."""
    people = COUNTS.select(pl.col("sex", "age").repeat_by("rows").list.explode())
    original = tk.Table(people, qi=["sex", "age"])
    found = tk.attack(original, COUNTS)
    assert list(found.scores) == ["reconstruction"]
    assert found.left_out["record-linkage"] == "records, one a row: this is a table of counts"
    alone = tk.attack(COUNTS, qi=["sex", "age"], attack="all")
    assert list(alone.scores) == ["reconstruction"]
    assert alone.left_out["refine"] == "records, one a row: this is a table of counts"


def test_column_of_people_called_rows_makes_no_counts() -> None:
    people = pl.DataFrame({"age": [20, 30, 40], "rows": [1, 2, 3]})
    found = tk.attack(tk.Table(people, qi=["age", "rows"]), people, in_order=True)
    assert "record-linkage" in found.scores
    assert "reconstruction" in found.left_out
