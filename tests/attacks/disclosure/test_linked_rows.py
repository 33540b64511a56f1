"""Rows of one person that a released column links: found by a few of them, as plain sets find them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tokumei as tk

VISITS = pl.DataFrame(
    {
        "who": ["ann", "ann", "bea", "bea", "cal", "cal"],
        "town": ["Nara", "Kobe", "Nara", "Kobe", "Nara", "Nara"],
        "day": ["1", "2", "3", "4", "5", "6"],
    }
)


def test_example_worked_by_hand() -> None:
    """By town Ann and Bea share their two towns, and Cal's is everybody's: (1/2 + 1/2 + 1/3) / 3."""
    table = tk.Table(VISITS, ["town"])
    scores = tk.attack(table, VISITS, "linked-rows", in_order=True, column="who").scores["linked-rows"]
    assert scores["success"].inputs["expected"] == pytest.approx(4 / 9)
    assert scores["certain"].value == 0
    by_day = tk.attack(table, VISITS, "linked-rows", in_order=True, known=["town", "day"], column="who")
    assert by_day.scores["linked-rows"]["certain"].value == 1


@pytest.mark.parametrize("seed", range(3))
def test_values_that_fit_are_those_of_plain_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, age, town = rng.integers(0, 40, 200), rng.integers(20, 60, 200), rng.integers(0, 4, 200)
    frame = pl.DataFrame({"who": [f"p{n}" for n in who], "age": age, "town": [f"t{n}" for n in town]})
    made = tk.anonymize(frame, ["age", "town"], k=5, keep=["who"], keep_anyway=["who"], seed=seed)
    assert made.rows is not None
    scores = tk.attack(made, attack="linked-rows", column="who", points=500).scores["linked-rows"]
    # Every row is known, and labels of one level have no value in common: sets of labels tell all.
    sets: dict[str, set[tuple[str, str]]] = {}
    for row in made.table.select("who", "age", "town").iter_rows():
        sets.setdefault(row[0], set()).add(row[1:])
    n_fitting = [sum(one <= other for other in sets.values()) for one in sets.values()]
    assert scores["certain"].value == pytest.approx(sum(n == 1 for n in n_fitting) / len(sets))
    expected = sum(1 / n for n in n_fitting) / len(sets)
    assert scores["success"].inputs["expected"] == pytest.approx(expected)


def test_linking_column_is_found_and_named_where_none_is(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "customer_id": [f"c{n % 60}" for n in range(600)],
            "age": [20 + n % 60 % 40 for n in range(600)],
            "item": [f"i{(n * 7) % 97}" for n in range(600)],
        }
    )
    made = tk.anonymize(frame, ["age"], k=5, keep=["customer_id", "item"], keep_anyway=["customer_id"])
    tried = tk.attack(made)
    assert tried.scores["linked-rows"]["success"].inputs["column"] == "customer_id"
    without = tk.attack(tk.anonymize(frame, ["age"], k=5, keep=["item"]))
    assert "links the rows" in without.left_out["linked-rows"]
    # Sixty of sixty customers are found by three purchases, and the first page says so.
    frame.write_csv(tmp_path / "shop.csv")
    text = '[input]\nfile = "shop.csv"\n[roles]\nage = "quasi-identifier"\ncustomer_id = "other"\nitem = "other"\n'
    text += '[requirements]\nk = 5\n[output]\nkeep = ["customer_id", "item"]\nkeep_anyway = ["customer_id"]\n'
    tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    page = (tmp_path / "out" / "report.md").read_text().partition("## What was done")[0]
    assert "linked-rows" in page
    assert "customer_id has 60 different values" in page
