from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from tokumei.attack.judge import judge, judge_transactions
from tokumei.core.errors import InputError
from tokumei.data.history import History

JANUARY = 2011 * 12
TRUTH = pl.DataFrame(
    {"customer": ["a", "b", "a"], "period": [JANUARY, JANUARY, JANUARY + 1], "pseudonym": ["P", "Q", "R"]},
    schema_overrides={"period": pl.Int32},
)
PUBLISHED = History(
    {
        "customer": ["P", "P", "Q", "R"],
        "date": [date(2011, 1, 1), date(2011, 1, 2), date(2011, 1, 3), date(2011, 2, 1)],
    }
)


def test_guess_row_by_row_is_judged_by_hand() -> None:
    # P is a in January and R is a in February: two of four rows are named rightly.
    score = judge_transactions(pl.Series(["a", "b", None, "a"]), TRUTH, PUBLISHED, 2)
    assert score.value == 0.5
    assert score.baseline == 0.5
    with pytest.raises(InputError, match="each of the 4 published rows"):
        judge_transactions(pl.Series(["a"]), TRUTH, PUBLISHED, 2)


def test_cell_success_counts_the_months_that_customers_have() -> None:
    # b bought nothing in February: three cells of four hold a pseudonym, and all three are found.
    verdict = judge(TRUTH, TRUTH, ["a", "b"], [JANUARY, JANUARY + 1], PUBLISHED)
    assert verdict.cell.value == 1
    assert verdict.cell.inputs["of all cells"] == 0.75
    assert verdict.transaction is not None
    assert verdict.transaction.value == 1
