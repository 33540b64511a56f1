"""How right an attacker was: guesses held against the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.wording import counted
from tokumei.data.history import History, period_of

KEYS = ["customer", "period"]
HALF = 0.5
# How sure intervals are.
SURE = 0.95


@dataclass(frozen=True)
class Verdict:
    """The measures of a guess, all from 0 (nobody found, best for the people in the data) to 1.

    Each has as its baseline what blind guessing is expected to score; `found` and `row` have a 95 % interval, customers
    being the trials. `found` is what safety is judged by. `transaction` is there where the published rows were given.
    """

    found: Score
    row: Score
    cell: Score
    pseudonym: Score
    transaction: Score | None = None


def judge(
    guesses: pl.DataFrame,
    truth: pl.DataFrame,
    customers: Sequence[str],
    periods: Sequence[int],
    published: History | None = None,
) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form.

    A customer and month missing from the truth has no pseudonym there, and is right where the guess says so too.
    `found` is the share of a customer's months that are right, averaged over all customers: where pseudonyms live as
    long as the release it is the share of customers found, and where they change it sees who is found in most months.
    `row` is the share of customers who are right in every month, as the contests counted; `cell` is the share of the
    months of customers that are right (its inputs have the share of all cells, which the paper prints); `pseudonym` is
    the share of pseudonyms whose customer is named in every month they live, as the papers on 2016 count;
    `transaction` is the share of published rows whose customer has been found in that month. Where several pseudonyms
    of a month are given to one customer, the own one must be among them; each may then be given to one customer only.
    """
    check_is_function(guesses)
    cells = _cells(guesses, truth, customers, periods)
    shares = _shares_found(cells)["share"]
    lives = cells.drop_nulls("pseudonym").group_by("customer", "pseudonym").agg(pl.col("is_found").all())
    return verdict_of(
        Tally(
            n_customers=len(customers),
            n_cells=cells.height,
            n_right=int(cells.group_by("customer").agg(pl.col("is_right").all())["is_right"].sum()),
            n_found=int(cells["is_found"].sum()),
            n_present=int(cells["pseudonym"].is_not_null().sum()),
            # Summed exactly, as the order of the groups is not fixed.
            sum_of_shares=math.fsum(shares),
            n_with_months=len(shares),
            n_lives=lives.height,
            n_lives_found=int(lives["is_found"].sum()),
            blind=blind_row_success(cells),
            published=None if published is None else _count_transactions(cells, published),
        )
    )


@dataclass(frozen=True)
class Tally:
    """What is counted of guesses, wherever that is done."""

    n_customers: int
    # Of customers and months.
    n_cells: int
    # Customers who are right in every month.
    n_right: int
    # Months of customers that are found, and that there are.
    n_found: int
    n_present: int
    # The shares of their months that are right, summed over the customers who have any.
    sum_of_shares: float
    n_with_months: int
    # Pseudonyms, those handed on once for each owner, and those that are named in all their months.
    n_lives: int
    n_lives_found: int
    # The row success that blind guessing is expected to have.
    blind: float
    # Published rows, and those whose customer was found in that month.
    published: tuple[int, int] | None


def verdict_of(tally: Tally) -> Verdict:
    """Give the measures of what was counted."""
    n_customers = max(1, tally.n_customers)
    # A share of a customer's months spreads less than a customer found or not does: the interval is rather too wide.
    ends = enumerate((math.floor, math.ceil))
    low, high = (wilson_interval(end(tally.sum_of_shares), n_customers)[at] for at, end in ends)
    return Verdict(
        found=Score(
            "customers found",
            tally.sum_of_shares / n_customers,
            best=0,
            worst=1,
            interval=(low, high),
            baseline=tally.n_with_months / n_customers**2,
        ),
        row=Score(
            "row success",
            tally.n_right / n_customers,
            best=0,
            worst=1,
            interval=wilson_interval(tally.n_right, tally.n_customers),
            baseline=tally.blind,
        ),
        # Of the months that customers have: of all months, one who finds everybody would seem to have failed.
        cell=Score(
            "cell success",
            tally.n_found / max(1, tally.n_present),
            best=0,
            worst=1,
            baseline=min(1, tally.n_present) / n_customers,
            inputs={
                "found": tally.n_found,
                "months": tally.n_present,
                "of all cells": tally.n_found / max(1, tally.n_cells),
            },
        ),
        pseudonym=Score(
            "pseudonym success",
            tally.n_lives_found / max(1, tally.n_lives),
            best=0,
            worst=1,
            interval=wilson_interval(tally.n_lives_found, tally.n_lives),
            baseline=min(1, tally.n_lives) / n_customers,
        ),
        transaction=None if tally.published is None else _transaction_success(*tally.published, n_customers),
    )


def _cells(
    guesses: pl.DataFrame, truth: pl.DataFrame, customers: Sequence[str], periods: Sequence[int]
) -> pl.DataFrame:
    """Give every customer and period with the true pseudonym, whether the guess is right, and found somebody."""
    cells = pl.DataFrame({"customer": customers}, schema={"customer": pl.String}).join(
        pl.DataFrame({"period": periods}, schema={"period": pl.Int32}), how="cross"
    )
    given = guesses.group_by(KEYS).agg(given=pl.col("pseudonym"))
    both = cells.join(truth.select(*KEYS, "pseudonym"), on=KEYS, how="left").join(given, on=KEYS, how="left")
    is_found = pl.col("given").list.contains(pl.col("pseudonym")).fill_null(False) & pl.col("pseudonym").is_not_null()
    is_left_alone = pl.col("given").is_null() & pl.col("pseudonym").is_null()
    return both.with_columns(is_right=is_found | is_left_alone, is_found=is_found)


def found_customers(
    guesses: pl.DataFrame, truth: pl.DataFrame, customers: Sequence[str], periods: Sequence[int]
) -> list[str]:
    """Name the customers who are right in half of their months or more; those with no month at all are not found."""
    shares = _shares_found(_cells(guesses, truth, customers, periods))
    return shares.filter(pl.col("share") >= HALF)["customer"].sort().to_list()


def _shares_found(cells: pl.DataFrame) -> pl.DataFrame:
    """Give the share of the months of each customer who has any that are right."""
    return cells.drop_nulls("pseudonym").group_by("customer").agg(share=pl.col("is_found").mean())


def check_is_function(guesses: pl.DataFrame) -> None:
    """Refuse guesses that give several pseudonyms to a customer and month, and one of these to several customers."""
    several = guesses.filter(pl.struct(KEYS).is_duplicated())
    if several.is_empty():
        return
    shared = several.select("period", "pseudonym").unique().join(guesses, on=["period", "pseudonym"], how="inner")
    for pseudonym in shared.filter(pl.struct("period", "pseudonym").is_duplicated())["pseudonym"].sort()[:1]:
        raise InputError.of("one customer for a pseudonym and month, or one pseudonym for a customer", value=pseudonym)


def judge_transactions(guess: pl.Series, truth: pl.DataFrame, published: History, n_customers: int) -> Score:
    """Judge a guess of the customer of each published row, in their order; one without a guess is wrong.

    It is the safety of transactions of PWSCUP 2017: |{i : R(i) = the customer of row i}| / |S|.
    """
    rows = published.kept.select(pseudonym="customer", period=period_of(pl.col("date")))
    if len(guess) != rows.height:
        raise InputError.of(
            f"a customer for each of the {rows.height:,} published rows", value=counted(len(guess), "line")
        )
    owners = truth.select("pseudonym", "period", "customer").unique(["pseudonym", "period"], keep="none")
    whose = rows.join(owners, on=["pseudonym", "period"], how="left", maintain_order="left")["customer"]
    n_right = int((whose == guess).fill_null(False).sum())
    return Score(
        "transaction success",
        n_right / max(1, rows.height),
        best=0,
        worst=1,
        interval=wilson_interval(n_right, rows.height),
        baseline=min(1, rows.height) / max(1, n_customers),
    )


def _count_transactions(cells: pl.DataFrame, published: History) -> tuple[int, int]:
    found = cells.filter("is_found").select("period", customer="pseudonym").unique()
    rows = published.kept.with_columns(period=period_of(pl.col("date")))
    return rows.height, rows.join(found, on=KEYS, how="semi").height


def _transaction_success(n_rows: int, n_found: int, n_customers: int) -> Score:
    baseline = min(1, n_rows) / n_customers
    return Score("transaction success", n_found / max(1, n_rows), best=0, worst=1, baseline=baseline)


def blind_row_success(cells: pl.DataFrame) -> float:
    """Expect the row success of giving the pseudonyms of each period to customers at random, one to one.

    Of n customers in a month of m pseudonyms, one who is there is found with chance 1/n, and one who is not is left
    alone with chance 1 − m/n. Months are drawn on their own, so a customer's chances multiply.
    """
    n_customers = max(1, cells["customer"].n_unique())
    is_present = pl.col("pseudonym").is_not_null()
    left_alone = 1 - is_present.sum().over("period") / n_customers
    chance = pl.when(is_present).then(1 / n_customers).otherwise(left_alone)
    by_customer = cells.select("customer", chance.alias("chance")).group_by("customer").agg(pl.col("chance").product())
    # Summed exactly, as the order of the groups is not fixed.
    return math.fsum(by_customer["chance"]) / n_customers


def wilson_interval(n_successes: int, n_trials: int) -> tuple[float, float]:
    """Give the 95 % interval of a share."""
    # Not of scipy.stats, which takes longer to import than most attacks take; in its steps, for the same digits.
    from scipy.special import ndtri

    if not n_trials:
        return 0.0, 1.0
    # Wilson, since the normal interval fails near 0 and 1.
    share, z = n_successes / n_trials, float(ndtri(0.5 + 0.5 * SURE))
    doubled = 2 * (n_trials + z**2)
    center = (2 * n_trials * share + z**2) / doubled
    reach = z / doubled * math.sqrt(4 * n_trials * share * (1 - share) + z**2)
    return center - reach if n_successes else 0.0, center + reach if n_successes < n_trials else 1.0
