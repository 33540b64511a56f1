from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tokumei.attacks.judge import judge, share_beyond, wilson_interval
from tokumei.core.errors import InputError
from tokumei.data.history import History

SCHEMA = {"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String}


def cells(*rows: tuple[str, int, str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


TRUTH = cells(("a", 1, "P"), ("a", 2, "Q"), ("b", 1, "R"))


def test_judge_of_half_right_guesses_counts_rows_and_cells() -> None:
    # Customer a: both months, one wrong. Customer b: right in month 1, rightly nobody in month 2.
    verdict = judge(cells(("a", 1, "P"), ("a", 2, "X"), ("b", 1, "R")), TRUTH, ["a", "b"], [1, 2])
    assert verdict.row.value == 1 / 2
    # There are two months of two customers, and customers have a pseudonym in three of them.
    assert (verdict.cell.value, verdict.month.value) == (2 / 4, 2 / 3)
    assert verdict.transaction is None


def test_judge_counts_a_guess_where_there_is_nobody_as_wrong() -> None:
    verdict = judge(cells(("b", 1, "R"), ("b", 2, "R")), TRUTH, ["a", "b"], [1, 2])
    assert (verdict.row.value, verdict.cell.value, verdict.month.value) == (0, 1 / 4, 1 / 3)


def test_customers_found_are_averaged_over_their_own_months() -> None:
    # a is named in one of two months, b in the only one; c, whose rows were all deleted, is not found but counts.
    guesses = cells(("a", 1, "P"), ("a", 2, "X"), ("b", 1, "R"))
    assert judge(guesses, TRUTH, ["a", "b"], [1, 2]).found.value == 3 / 4
    found = judge(guesses, TRUTH, ["a", "b", "c"], [1, 2]).found
    assert found.value == 1 / 2
    # Two of three customers are there, each met with chance 1/3 in each month.
    assert found.baseline == pytest.approx(2 / 9)
    # One customer and a half of three: no surer than one is at the lower end, or two are at the upper one.
    assert found.interval == (wilson_interval(1, 3)[0], wilson_interval(2, 3)[1])


def test_customers_named_in_most_months_are_found_though_none_is_in_every_one() -> None:
    months = range(1, 13)
    truth = cells(*((who, month, f"{who}{month}") for who in "abcd" for month in months))
    guesses = cells(*((who, month, f"{who}{month}") for who in "abcd" for month in months if month != 7))
    verdict = judge(guesses, truth, list("abcd"), list(months))
    assert verdict.row.value == 0
    assert verdict.found.value == pytest.approx(11 / 12)


def test_judge_of_no_guess_finds_only_customers_without_rows() -> None:
    verdict = judge(cells(), TRUTH, ["a", "b", "c"], [1, 2])
    assert (verdict.row.value, verdict.cell.value) == (1 / 3, 0)


def test_judge_of_several_pseudonyms_for_one_customer_counts_the_own_one() -> None:
    # R of month 1 goes to a as well, and is b's: a keeps P and Q, b is lost, two of three pseudonyms are named.
    verdict = judge(cells(("a", 1, "P"), ("a", 1, "R"), ("a", 2, "Q")), TRUTH, ["a", "b"], [1, 2])
    assert (verdict.row.value, verdict.cell.value, verdict.month.value) == (1 / 2, 2 / 4, 2 / 3)
    assert verdict.pseudonym.value == 2 / 3
    assert verdict.pseudonym.baseline == 1 / 2


def test_judge_refuses_guesses_that_are_no_function_either_way() -> None:
    with pytest.raises(InputError, match="one customer for a pseudonym and month"):
        judge(cells(("a", 1, "P"), ("a", 1, "R"), ("b", 1, "R")), TRUTH, ["a", "b"], [1, 2])
    # Two customers may be given one pseudonym, as the sample attackers do.
    assert judge(cells(("a", 1, "R"), ("b", 1, "R")), TRUTH, ["a", "b"], [1, 2]).row.value == 1 / 2


def test_judge_blind_baseline_is_worked_out() -> None:
    verdict = judge(cells(), TRUTH, ["a", "b"], [1, 2])
    # Month 1 has two pseudonyms for two customers, month 2 one. a: 1/2 · 1/2; b: 1/2 · (1 − 1/2).
    assert verdict.row.baseline == 1 / 4
    # Three cells hold a pseudonym, each is met with chance 1/2.
    assert verdict.month.baseline == 1 / 2
    assert verdict.cell.baseline == (3 / 4) * (1 / 2)


def test_judge_blind_baseline_is_the_mean_over_all_one_to_one_guesses() -> None:
    truth = cells(("a", 1, "P"), ("b", 1, "Q"))
    customers = ["a", "b", "c"]
    pairs = [(one, other) for one in customers for other in customers if one != other]
    values = [judge(cells((one, 1, "P"), (other, 1, "Q")), truth, customers, [1]) for one, other in pairs]
    assert values[0].row.baseline == pytest.approx(sum(value.row.value for value in values) / len(values))
    assert values[0].cell.baseline == pytest.approx(sum(value.cell.value for value in values) / len(values))
    assert values[0].month.baseline == pytest.approx(sum(value.month.value for value in values) / len(values))


def test_judge_of_transactions_counts_published_rows() -> None:
    rows = [("P", "0001-02-01")] * 3 + [("Q", "0001-03-01")]
    frame = pl.DataFrame(rows, schema=["customer", "date"], orient="row").with_columns(
        pl.col("date").str.to_date(), item=pl.lit("1"), price=pl.lit(1.0), quantity=pl.lit(1)
    )
    truth = cells(("a", 13, "P"), ("a", 14, "Q"))
    verdict = judge(cells(("a", 13, "P"), ("a", 14, "P")), truth, ["a"], [13, 14], History.of(frame))
    assert verdict.transaction is not None
    assert verdict.transaction.value == 3 / 4
    assert verdict.transaction.baseline == 1


@pytest.mark.parametrize(("n_successes", "n_trials"), [(0, 10), (5, 10), (10, 10), (450, 500), (1, 1)])
def test_wilson_interval_is_what_scipy_gives(n_successes: int, n_trials: int) -> None:
    expected = binomtest(n_successes, n_trials).proportion_ci(method="wilson")
    assert wilson_interval(n_successes, n_trials) == (expected.low, expected.high)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_of_any_share_is_what_scipy_gives(counted: tuple[int, int]) -> None:
    expected = binomtest(*counted).proportion_ci(method="wilson")
    assert wilson_interval(*counted) == (expected.low, expected.high)


def test_wilson_interval_without_trials_is_everything() -> None:
    assert wilson_interval(0, 0) == (0, 1)


def test_judge_row_interval_holds_the_value() -> None:
    verdict = judge(cells(("a", 1, "P"), ("a", 2, "Q"), ("b", 1, "R")), TRUTH, ["a", "b"], [1, 2])
    assert verdict.row.value == 1
    assert verdict.row.interval == pytest.approx((0.3424, 1), abs=1e-4)


def test_month_listed_without_a_pseudonym_is_as_one_that_is_not_listed() -> None:
    guesses = cells(("a", 1, "P"), ("b", 1, "R"))
    listed = pl.concat([TRUTH, pl.DataFrame([("b", 2, None)], schema=SCHEMA, orient="row")])
    assert judge(guesses, listed, ["a", "b"], [1, 2]) == judge(guesses, TRUTH, ["a", "b"], [1, 2])


NAMES = st.lists(
    st.tuples(st.sampled_from("abcx"), st.integers(1, 4), st.sampled_from("PQR")),
    max_size=12,
    unique_by=lambda row: row[:2],
)


@given(NAMES, NAMES)
def test_judge_equals_looking_at_every_customer_and_month(
    truth: list[tuple[str, int, str]], guesses: list[tuple[str, int, str]]
) -> None:
    # x, and the fourth month, are judged by nobody.
    customers, periods = ["a", "b", "c"], [1, 2, 3]
    right, given_ = ({row[:2]: row[2] for row in rows} for rows in (truth, guesses))
    found = judge(cells(*guesses), cells(*truth), customers, periods)
    every = [(who, month) for who in customers for month in periods]
    n_there = [sum((who, month) in right for who in customers) for month in periods]
    blind = 0.0
    for who in customers:
        chance = 1.0
        for month, n in zip(periods, n_there, strict=True):
            chance *= 1 / 3 if (who, month) in right else 1 - n / 3
        blind += chance / 3
    is_right = {at: right.get(at) == given_.get(at) for at in every}
    shares = []
    for who in customers:
        own = [month for month in periods if (who, month) in right]
        shares += [sum(is_right[who, month] for month in own) / len(own)] if own else []
    assert found.row.value == sum(all(is_right[who, month] for month in periods) for who in customers) / 3
    assert found.row.baseline == pytest.approx(blind)
    assert found.found.value == pytest.approx(sum(shares) / 3)
    n_found = sum(is_right[at] for at in every if at in right)
    n_present = sum(at in right for at in every)
    assert found.cell.value == n_found / 9
    assert found.month.value == n_found / max(1, n_present)
    lives = {(who, name) for (who, month), name in right.items() if who in customers and month in periods}
    named = [all(is_right[at] for at in every if at in right and (at[0], right[at]) == life) for life in lives]
    assert found.pseudonym.value == sum(named) / max(1, len(lives))


def test_difference_of_two_shares_by_hand_says_nothing_where_all_of_few_are_found() -> None:
    for counts, wanted in (((80, 100, 20, 100), (0.6, 0.475, 0.694)), ((180, 180, 20, 20), (0.0, -0.021, 0.161))):
        beyond, ends = share_beyond(*counts)
        assert (beyond, *ends) == pytest.approx(wanted, abs=1e-3)
