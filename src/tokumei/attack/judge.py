"""How right an attacker was: guesses held against the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History, period_of

KEYS = ["customer", "period"]
HALF = 0.5


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
    _check_is_function(guesses)
    cells = _cells(guesses, truth, customers, periods)
    n_cells, n_customers = max(1, cells.height), max(1, len(customers))
    n_right = int(cells.group_by("customer").agg(pl.col("is_right").all())["is_right"].sum())
    n_found = int(cells["is_found"].sum())
    n_present = int(cells["pseudonym"].is_not_null().sum())
    return Verdict(
        found=_found(cells, n_customers),
        row=Score(
            "row success",
            n_right / n_customers,
            best=0,
            worst=1,
            interval=wilson_interval(n_right, len(customers)),
            baseline=blind_row_success(cells),
        ),
        # Of the months that customers have: of all months, one who finds everybody would seem to have failed.
        cell=Score(
            "cell success",
            n_found / max(1, n_present),
            best=0,
            worst=1,
            baseline=min(1, n_present) / n_customers,
            inputs={"found": n_found, "months": n_present, "of all cells": n_found / n_cells},
        ),
        pseudonym=_pseudonym_success(cells, n_customers),
        transaction=None if published is None else _transaction_success(cells, published, n_customers),
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


def _check_is_function(guesses: pl.DataFrame) -> None:
    """Refuse guesses that give several pseudonyms to a customer and month, and one of these to several customers."""
    several = guesses.filter(pl.struct(KEYS).is_duplicated())
    if several.is_empty():
        return
    shared = several.select("period", "pseudonym").unique().join(guesses, on=["period", "pseudonym"], how="inner")
    for pseudonym in shared.filter(pl.struct("period", "pseudonym").is_duplicated())["pseudonym"].sort()[:1]:
        raise InputError.of("one customer for a pseudonym and month, or one pseudonym for a customer", value=pseudonym)


def _found(cells: pl.DataFrame, n_customers: int) -> Score:
    """Average over customers the share of their months that are right; one who has no month is not found."""
    present = _shares_found(cells)
    # Summed exactly, as the order of the groups is not fixed.
    found = math.fsum(present["share"])
    # A share of a customer's months spreads less than a customer found or not does: the interval is rather too wide.
    low, high = (wilson_interval(ends(found), n_customers)[at] for at, ends in enumerate((math.floor, math.ceil)))
    value, baseline = found / n_customers, present.height / n_customers**2
    return Score("customers found", value, best=0, worst=1, interval=(low, high), baseline=baseline)


def _pseudonym_success(cells: pl.DataFrame, n_customers: int) -> Score:
    """Count the pseudonyms that are named in all their months; one that was handed on counts for each owner."""
    lives = cells.drop_nulls("pseudonym").group_by("customer", "pseudonym").agg(pl.col("is_found").all())
    n_lives = lives.height
    found, baseline = int(lives["is_found"].sum()) / max(1, n_lives), min(1, n_lives) / n_customers
    interval = wilson_interval(int(lives["is_found"].sum()), n_lives)
    return Score("pseudonym success", found, best=0, worst=1, interval=interval, baseline=baseline)


def judge_transactions(guess: pl.Series, truth: pl.DataFrame, published: History, n_customers: int) -> Score:
    """Judge a guess of the customer of each published row, in their order; one without a guess is wrong.

    It is the safety of transactions of PWSCUP 2017: |{i : R(i) = the customer of row i}| / |S|.
    """
    rows = published.kept.select(pseudonym="customer", period=period_of(pl.col("date")))
    if len(guess) != rows.height:
        raise InputError.of(f"a customer for each of the {rows.height:,} published rows", value=f"{len(guess):,} lines")
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


def _transaction_success(cells: pl.DataFrame, published: History, n_customers: int) -> Score:
    found = cells.filter("is_found").select("period", customer="pseudonym").unique()
    rows = published.kept.with_columns(period=period_of(pl.col("date")))
    n_rows = max(1, rows.height)
    n_found = rows.join(found, on=KEYS, how="semi").height
    baseline = min(1, rows.height) / n_customers
    return Score("transaction success", n_found / n_rows, best=0, worst=1, baseline=baseline)


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
    from scipy.stats import binomtest

    if not n_trials:
        return 0.0, 1.0
    # Wilson, since the normal interval fails near 0 and 1.
    found = binomtest(n_successes, n_trials).proportion_ci(method="wilson")
    return float(found.low), float(found.high)
