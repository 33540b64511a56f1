"""Rows drawn column by column from trees."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokumei as tk
from tokumei.methods.synthetic.sequential_trees import drawn_from_leaves


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40), st.integers(0, 99))
def test_value_drawn_is_that_of_a_row_in_the_same_leaf(rows: list[tuple[int, int]], seed: int) -> None:
    leaves, targets = (np.array(one) for one in zip(*rows, strict=True))
    new = np.repeat(leaves, 3)
    drawn = drawn_from_leaves(leaves, targets, new, np.random.default_rng(seed))
    plain = {leaf: {target for other, target in rows if other == leaf} for leaf in set(leaves.tolist())}
    assert all(value in plain[leaf] for leaf, value in zip(new.tolist(), drawn.tolist(), strict=True))


def test_what_a_column_decides_about_another_is_drawn_so() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 50, "illness": ["flu", "cold"] * 50, "age": [30, 60] * 50})
    table = tk.Table(frame, qi=["sex"], sensitive=["illness", "age"])
    made = tk.anonymize(table, method="sequential-trees", hold_out=0, anyway=True, seed=2, finds=False)
    assert set(made.frame.rows()) == {("f", "flu", 30), ("m", "cold", 60)}
    proper = tk.anonymize(
        table, method="sequential-trees", hold_out=0, anyway=True, seed=2, is_proper=True, sequence=["age"]
    )
    assert set(proper.frame.rows()) == {("f", "flu", 30), ("m", "cold", 60)}


def test_order_of_columns_names_released_ones() -> None:
    table = tk.Table({"sex": ["f", "m"] * 10}, qi=["sex"])
    with pytest.raises(tk.errors.InputError, match="a released column: sex"):
        tk.anonymize(table, method="sequential-trees", hold_out=0, anyway=True, sequence=["age"])
