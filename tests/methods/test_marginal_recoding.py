from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.measures.requirement import SAFETY
from tokumei.methods.local.marginal_recoding import MarginalRecoding
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowRelease, release_rows

FOUR = [(21, 10), (24, 40), (25, 60), (33, 180)]
TABLE = "age/income,0-50,51-200\n20-24,2,0\n25-34,,\n"


def made(tmp_path: Path, people: list[Any], table: str = TABLE, **options: Any) -> RowRelease:
    file = tmp_path / "table.csv"
    file.write_text(table, encoding="utf-8")
    frame = pl.DataFrame(people, schema=["age", "income"], orient="row")
    numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    goal = Goal([SAFETY.make("k-anonymity", k=2)], method=MarginalRecoding(str(file)), numeric=numeric, **options)
    return release_rows(frame, ["age", "income"], {}, goal)


def test_table_says_what_values_become(tmp_path: Path) -> None:
    found = made(tmp_path, FOUR)
    assert found.release.frame.rows() == [("20-24", "0-50")] * 2 + [("25-34", "51-200")] * 2
    assert found.loss is not None
    # Ages cover 3 and 8 of 12 years, incomes 30 and 120 of 170.
    assert found.loss.value == pytest.approx((3 / 12 + 8 / 12 + 30 / 170 + 120 / 170) / 4)


def test_cell_that_fails_is_named_or_left_out(tmp_path: Path) -> None:
    five = [*FOUR, (22, 70)]
    with pytest.raises(CannotAnonymize, match=r"\(20-24, 51-200\) with 1"):
        made(tmp_path, five)
    found = made(tmp_path, five, suppression=0.2)
    assert (found.n_suppressed, found.release.frame.height) == (1, 4)


def test_words_are_listed_in_their_ranges(tmp_path: Path) -> None:
    people = [("京都", "a"), ("大阪", "b"), ("東京", "a"), ("東京", "b")]
    found = made(tmp_path, people, "町,a;b\n京都;大阪,\n東京,\n")
    assert found.release.frame.rows() == [("京都;大阪", "a;b")] * 2 + [("東京", "a;b")] * 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("x,0-50\n20-40,\n", "in one of the ranges"),
        ("x,0-50,51-200\n20-24,\n", "in one of the ranges"),
        ("x,0-60,51-200\n20-40,\n", "one range for each value"),
        ("x,0-200\n20s,\n", "a number, or two"),
        ("x\n20-40\n", "ranges along the first line"),
        ("x,0-200,0-200\n20-40\n", "ranges along the first line"),
        ("", "ranges along the first line"),
    ],
)
def test_table_that_does_not_fit_is_refused(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(tmp_path, FOUR, table)


def test_missing_value_has_no_range(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in one of the ranges"):
        made(tmp_path, [*FOUR, (None, 70)])


def test_no_table_and_more_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a CSV file"):
        goal = Goal([SAFETY.make("k-anonymity", k=2)], method=MarginalRecoding(), numeric=["age", "income"])
        release_rows(pl.DataFrame(FOUR, schema=["age", "income"], orient="row"), ["age", "income"], {}, goal)
    with pytest.raises(InputError, match="two quasi-identifiers"):
        goal = Goal([SAFETY.make("k-anonymity", k=2)], method=MarginalRecoding(str(tmp_path / "none.csv")))
        release_rows(pl.DataFrame({"age": ["1", "1"]}), ["age"], {}, goal)
