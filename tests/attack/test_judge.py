from __future__ import annotations

import polars as pl

from tokumei.attack.judge import judge

SCHEMA = {"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String}


def cells(*rows: tuple[str, int, str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


TRUTH = cells(("a", 1, "P"), ("a", 2, "Q"), ("b", 1, "R"))


def test_judge_of_half_right_guesses_counts_rows_and_cells() -> None:
    # Customer a: both months, one wrong. Customer b: right in month 1, rightly nobody in month 2.
    verdict = judge(cells(("a", 1, "P"), ("a", 2, "X"), ("b", 1, "R")), TRUTH, ["a", "b"], [1, 2])
    assert verdict.row.value == 1 / 2
    assert verdict.cell.value == 2 / 4


def test_judge_counts_a_guess_where_there_is_nobody_as_wrong() -> None:
    verdict = judge(cells(("b", 1, "R"), ("b", 2, "R")), TRUTH, ["a", "b"], [1, 2])
    assert (verdict.row.value, verdict.cell.value) == (0, 1 / 4)


def test_judge_of_no_guess_finds_only_customers_without_rows() -> None:
    verdict = judge(cells(), TRUTH, ["a", "b", "c"], [1, 2])
    assert (verdict.row.value, verdict.cell.value) == (1 / 3, 0)
