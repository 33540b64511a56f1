from __future__ import annotations

import itertools
from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.attacks.judge import judge, judge_transactions
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


def _cells(*rows: tuple[str, int, str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=TRUTH.schema, orient="row")


def test_guess_row_by_row_is_judged_by_hand() -> None:
    # P is a in January and R is a in February: two of four rows are named rightly.
    score = judge_transactions(pl.Series(["a", "b", None, "a"]), TRUTH, PUBLISHED, 2)
    assert score.value == 0.5
    assert score.baseline == 0.5
    with pytest.raises(InputError, match="each of the 4 published rows"):
        judge_transactions(pl.Series(["a"]), TRUTH, PUBLISHED, 2)


def test_pseudonym_that_two_customers_claim_is_shared_between_them() -> None:
    # One customer is named for a row: P, with two of four rows, is a's, and b claims it as well.
    guesses = pl.concat([TRUTH.filter(pl.col("pseudonym") != "Q"), _cells(("b", JANUARY, "P"))])
    found = judge(guesses, TRUTH, ["a", "b"], [JANUARY, JANUARY + 1], PUBLISHED).transaction
    assert found is not None
    # Half of the two rows of P, and the row of R.
    assert found.value == (2 / 2 + 1) / 4
    everybody = pl.concat([guesses, _cells(("c", JANUARY, "P"), ("d", JANUARY, "P"))])
    of_four = judge(everybody, TRUTH, list("abcd"), [JANUARY, JANUARY + 1], PUBLISHED).transaction
    assert of_four is not None
    assert of_four.value == (2 / 4 + 1) / 4


def test_row_of_a_pseudonym_that_two_customers_have_is_any_of_theirs() -> None:
    truth = pl.concat([TRUTH, _cells(("b", JANUARY + 1, "R"))])
    assert judge_transactions(pl.Series(["a", "b", None, "a"]), truth, PUBLISHED, 2).value == (1 + 1 / 2) / 4
    found = judge(TRUTH, truth, ["a", "b"], [JANUARY, JANUARY + 1], PUBLISHED).transaction
    assert found is not None
    assert found.value == (3 + 1 / 2) / 4


CLAIMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([JANUARY, JANUARY + 1]), st.sampled_from("PQRS")),
    max_size=6,
    unique_by=lambda row: row[:2],
)


@given(CLAIMS, CLAIMS, st.lists(st.tuples(st.integers(0, 1), st.sampled_from("PQRS")), min_size=1, max_size=8))
def test_share_of_rows_named_is_the_mean_over_all_ways_to_name_one_claimant(
    truth: list[tuple[str, int, str]], guesses: list[tuple[str, int, str]], rows: list[tuple[int, str]]
) -> None:
    published = History(
        {"customer": [name for _, name in rows], "date": [date(2011, 1 + month, 5) for month, _ in rows]}
    )
    names = [(month, name) for month in (JANUARY, JANUARY + 1) for name in "PQRS"]
    claimants: list[list[str | None]] = [
        [who for who, *named in guesses if tuple(named) == one] or [None] for one in names
    ]
    values = []
    for chosen in itertools.product(*claimants):
        named = dict(zip(names, chosen, strict=True))
        guess = pl.Series([named[JANUARY + month, name] for month, name in rows], dtype=pl.String)
        values.append(judge_transactions(guess, _cells(*truth), published, 3).value)
    found = judge(_cells(*guesses), _cells(*truth), list("abc"), [JANUARY, JANUARY + 1], published).transaction
    assert found is not None
    assert found.value == pytest.approx(sum(values) / len(values))


def test_cell_success_counts_all_months_and_month_success_those_that_customers_have() -> None:
    # b bought nothing in February: three cells of four hold a pseudonym, and all three are found.
    verdict = judge(TRUTH, TRUTH, ["a", "b"], [JANUARY, JANUARY + 1], PUBLISHED)
    assert verdict.month.value == 1
    assert verdict.cell.value == 0.75
    assert verdict.transaction is not None
    assert verdict.transaction.value == 1
