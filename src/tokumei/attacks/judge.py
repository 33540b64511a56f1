"""How right an attacker was: guesses held against the truth.

The truth is known of a release that keeps the rows of its original.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import counted
from tokumei.data.history import History, period_of
from tokumei.engines.history_rows import HistoryRows, rows_of

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def truth_of(original: History, released: History) -> pl.DataFrame:
    """Table of the pseudonym of each customer in each month of the release: customer, period, pseudonym."""
    if original.n_rows != released.n_rows:
        expected = f"a release with the {original.n_rows:,} rows of the original, in their order"
        raise InputError.of(expected, file=released.name, value=counted(released.n_rows, "row"))
    columns = {"customer": original.frame["customer"], "period": original.period}
    rows = pl.DataFrame({**columns, "pseudonym": released.frame["customer"]}).drop_nulls().unique()
    clash = rows.filter(pl.struct("customer", "period").is_duplicated())
    for customer, _, pseudonym in clash.sort("customer", "period").head(1).iter_rows():
        expected = (
            "the rows of the original in their order, as --out has them and --published has not, with one pseudonym "
            "for a customer and month"
        )
        raise InputError.of(expected, file=released.name, column="customer", value=f"{pseudonym} beside {customer}")
    return rows.sort("customer", "period")


def published(released: History, *, seed: int) -> History:
    """Return what is published of a release: the rows that are left, in an order that reveals nothing."""
    rows = released.kept
    order = np.asarray(generator(seed, "publish").permutation(rows.height))
    shown = History(rows[order], f"{released.name}, published")
    if released.carried is None:
        return shown
    return shown.with_more(released.carried.filter(released.frame["customer"].is_not_null())[order])


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
    month: Score
    pseudonym: Score
    transaction: Score | None = None


def judge(
    guesses: pl.DataFrame,
    truth: pl.DataFrame,
    customers: Sequence[str],
    periods: Sequence[int],
    published: History | HistoryRows | None = None,
) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form.

    A customer and month missing from the truth has no pseudonym there, and is right where the guess says so too.
    `found` is the share of a customer's months that are right, averaged over all customers: where pseudonyms live as
    long as the release it is the share of customers found, and where they change it sees who is found in most months.
    `row` is the share of customers who are right in every month, as the contests counted; `cell` is the share of all
    customers × months whose pseudonym is named, reid_c of PWSCUP 2017 (section 3.5.1), where a month without a
    pseudonym counts as one that was not found; `month` is the same share of those months alone in which customers have
    a pseudonym; `pseudonym` is the share of pseudonyms whose customer is named in every month they live, as the papers
    on 2016 count.

    `transaction` is the share of published rows whose customer is named (PWSCUP 2017, section 3.5.2). An attack names
    one customer for each row, and a guess may give one pseudonym to several: it then counts what naming one of them at
    random is expected to get right, the own customer one of two claimants as half a row. Likewise a row of a pseudonym
    that several customers share in truth is any of theirs with the same chance.

    Where several pseudonyms of a month are given to one customer, the own one must be among them; each may then be
    given to one customer only.
    """
    check_is_function(guesses)
    right, given = _judged(truth, guesses, customers, periods)
    cells = _with_found(right, given)
    shares = _shares_found(cells)["share"]
    lives = cells.group_by("customer", "pseudonym").agg(pl.col("is_found").all())
    # A month is wrong where it is not found, and where somebody is given a pseudonym who has none.
    too_many = given.join(right, on=KEYS, how="anti")
    wrong = pl.concat([cells.filter(~pl.col("is_found"))["customer"], too_many["customer"]]).n_unique()
    n_without = len(customers) * len(periods) - cells.select(KEYS).n_unique()
    return verdict_of(
        Tally(
            n_customers=len(customers),
            n_cells=n_without + cells.height,
            n_right=len(customers) - wrong if periods else 0,
            n_found=int(cells["is_found"].sum()),
            n_present=cells.height,
            # Summed exactly, as the order of the groups is not fixed.
            sum_of_shares=math.fsum(shares),
            n_with_months=len(shares),
            n_lives=lives.height,
            n_lives_found=int(lives["is_found"].sum()),
            blind=_blind_row_success(cells, customers, periods),
            published=None if published is None else _rows_named(rows_of(published), named_pseudonyms(cells, given)),
        )
    )


@dataclass(frozen=True)
class Tally:
    """What is counted of guesses, wherever that is done."""

    n_customers: int
    # All customers × months, whether a customer has a pseudonym there or not.
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
    # Published rows, and those whose customer is named, as expected where several customers claim a pseudonym.
    published: tuple[int, Fraction] | None


def verdict_of(tally: Tally) -> Verdict:
    """Return the measures of what was counted."""
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
        cell=Score(
            "cell success",
            tally.n_found / max(1, tally.n_cells),
            best=0,
            worst=1,
            baseline=tally.n_present / (max(1, tally.n_cells) * n_customers),
            inputs={"found": tally.n_found, "cells": tally.n_cells},
        ),
        month=Score(
            "month success",
            tally.n_found / max(1, tally.n_present),
            best=0,
            worst=1,
            baseline=min(1, tally.n_present) / n_customers,
            inputs={"found": tally.n_found, "months": tally.n_present},
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


def _judged(
    truth: pl.DataFrame, guesses: pl.DataFrame, customers: Sequence[str], periods: Sequence[int]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the truth and the guesses of the judged customers and months; of others nothing is wrong."""
    everyone = pl.DataFrame({"customer": customers}, schema={"customer": pl.String})
    months = pl.DataFrame({"period": periods}, schema={"period": pl.Int32})
    right, given = (
        named.select("customer", pl.col("period").cast(pl.Int32), "pseudonym")
        .join(everyone, on="customer", how="semi")
        .join(months, on="period", how="semi")
        for named in (truth, guesses)
    )
    # A month without a pseudonym may be listed as such.
    return right.drop_nulls("pseudonym"), given


def _with_found(right: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """Add for each month that a customer has whether its pseudonym is among the guesses."""
    found = given.unique().with_columns(is_found=True)
    return right.join(found, on=[*KEYS, "pseudonym"], how="left").with_columns(pl.col("is_found").fill_null(False))


def named_pseudonyms(cells: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """Return the months and pseudonyms of which a customer was found: period, pseudonym, n_found and n_pairs.

    A row of the pseudonym is named rightly in `n_found` of the `n_pairs` pairs of a customer who claims it in the
    guesses and one who has it in truth.
    """
    names = ["period", "pseudonym"]
    claims = given.unique().group_by(names).agg(n_claims=pl.len())
    found = cells.group_by(names).agg(n_found=pl.col("is_found").sum().cast(pl.Int64), n_owners=pl.len())
    return (
        found.filter(pl.col("n_found") > 0)
        .join(claims, on=names)
        .select(*names, "n_found", n_pairs=pl.col("n_claims").cast(pl.Int64) * pl.col("n_owners").cast(pl.Int64))
    )


def found_customers(
    guesses: pl.DataFrame, truth: pl.DataFrame, customers: Sequence[str], periods: Sequence[int]
) -> list[str]:
    """Name the customers who are right in half of their months or more; those with no month at all are not found."""
    cells = _with_found(*_judged(truth, guesses, customers, periods))
    return _shares_found(cells).filter(pl.col("share") >= HALF)["customer"].sort().to_list()


def _shares_found(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the share of the months of each customer who has any that are right."""
    return cells.group_by("customer").agg(share=pl.col("is_found").mean())


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
    owners = truth.select("pseudonym", "period", "customer").drop_nulls().unique()
    owners = owners.with_columns(n_owners=pl.len().over("pseudonym", "period"))
    named = rows.with_columns(customer=guess.cast(pl.String)).join(owners, on=["pseudonym", "period", "customer"])
    n_right = _expected(named.group_by(n_pairs="n_owners").agg(n_found=pl.lit(1), n_rows=pl.len()))
    score = _transaction_success(rows.height, n_right, max(1, n_customers))
    # Where several customers share a pseudonym, rows are named in part; a whole number is no surer than they are.
    ends = enumerate((math.floor, math.ceil))
    low, high = (wilson_interval(end(n_right), rows.height)[at] for at, end in ends)
    return replace(score, interval=(low, high))


def _rows_named(published: HistoryRows, named: pl.DataFrame) -> tuple[int, Fraction]:
    """Count the published rows, and those whose customer is named."""
    import narwhals as nw

    rows = published.rows.select("period", pseudonym=nw.col("customer"))
    found = rows.join(published.labels(named), on=["period", "pseudonym"], how="inner")
    counted = published.collect(found.group_by("n_found", "n_pairs").agg(n_rows=nw.len()))
    return published.n_kept, _expected(counted)


def _expected(named: pl.DataFrame) -> Fraction:
    """Add up rows of which a share is named; exactly, as the order of the groups is not fixed."""
    counts = named.select("n_rows", "n_found", "n_pairs").iter_rows()
    return sum((Fraction(n_rows * n_found, n_pairs) for n_rows, n_found, n_pairs in counts), Fraction(0))


def _transaction_success(n_rows: int, n_named: Fraction, n_customers: int) -> Score:
    baseline = min(1, n_rows) / n_customers
    return Score("transaction success", float(n_named / max(1, n_rows)), best=0, worst=1, baseline=baseline)


def _blind_row_success(cells: pl.DataFrame, customers: Sequence[str], periods: Sequence[int]) -> float:
    """Expect the row success of giving the pseudonyms of each period to customers at random, one to one.

    Of n customers in a month of m pseudonyms, one who is there is found with chance 1/n, and one who is not is left
    alone with chance 1 − m/n. Months are drawn on their own, so a customer's chances multiply.
    """
    n = max(1, len(customers))
    everyone = pl.DataFrame({"customer": customers}, schema={"customer": pl.String}).with_row_index("number")
    numbers = cells.select(*KEYS).join(everyone, on="customer").partition_by("period", as_dict=True)
    chances = np.ones(len(customers) if periods else 0)
    for period in periods:
        there = numbers.get((period,))
        present = np.bincount([] if there is None else there["number"].to_numpy(), minlength=len(customers))
        chances *= np.where(present > 0, (1 / n) ** present, 1 - present.sum() / n)
    # Summed exactly, as the order of customers is not fixed.
    return math.fsum(chances) / n


# Of the normal distribution, two sides of 95 %.
Z_SQUARED = 3.841458820694124


def wilson_interval(n_successes: float, n_trials: float) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
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


def risk_above(found: float, n_tried: float, found_else: float, n_else: float) -> tuple[float, tuple[float, float]]:
    """Return what is found above what is found of people outside, as a share of what could be, with its interval.

    Both rates p are the centers of their 95 % intervals with the errors e of these, and (p - p_else) / (1 - p_else) has
    the error of both together (Giomi et al. 2022). All are cut to 0 … 1.

    Example: of 100 people 80 are found, and of 100 outside 20. With z = 1.96 the centers are (80 + 1.92) / 103.84 =
    .789 and (20 + 1.92) / 103.84 = .211, the errors both 1.96 / 103.84 · √(16 + .96) = .0777, and the risk is
    (.789 − .211) / .789 = .732 with the error √((.0777 / .789)² + (.0777 · .211 / .789²)²) = .102.
    """
    sides = []
    for n_found, n in ((found, n_tried), (found_else, n_else)):
        low, high = wilson_interval(n_found, n)
        # Without a hit, or without a miss, the interval is cut at its end and so no more even about its center.
        center = (n_found + Z_SQUARED / 2) / (n + Z_SQUARED)
        sides.append((center, max(center - low, high - center)))
    (rate, error), (rate_else, error_else) = sides
    room = max(1e-9, 1 - rate_else)
    risk = (rate - rate_else) / room
    spread = math.hypot(error / room, error_else * (1 - rate) / room**2)
    low, value, high = (min(1.0, max(0.0, each)) for each in (risk - spread, risk, risk + spread))
    return value, (low, high)


def share_beyond(found: float, n_tried: float, found_else: float, n_else: float) -> tuple[float, tuple[float, float]]:
    """Return the difference of two shares with its 95 % interval, by the ends of theirs (Newcombe 1998, method 10).

    `risk_above` divides it by what is left to find, and with few people outside says much where nearly all are found.

    Example: of 100 people 80 are found and of 100 outside 20, with the intervals .711 to .867 and .133 to .289. The
    difference is .6, from .6 − √(.089² + .089²) = .475 to .6 + √(.067² + .067²) = .694. Where all of 180 and all of 20
    are found it is 0, from −√(.021² + 0²) = −.021 to √(0² + .161²) = .161.
    """
    share, other = found / n_tried, found_else / n_else
    (low, high), (low_else, high_else) = wilson_interval(found, n_tried), wilson_interval(found_else, n_else)
    beyond = share - other
    down, up = math.hypot(share - low, high_else - other), math.hypot(high - share, other - low_else)
    return beyond, (beyond - down, beyond + up)


# Shares of people outside who are taken for members, by the score at that threshold.
FALSE_ALARMS = {"success": 0.01, "at-0.1%": 0.001}


def judge_membership(told: Mapping[str, tuple[Floats, Floats]], halves: tuple[Bools, Bools]) -> dict[str, Score]:
    """Judge attackers who say of people how much speaks for their being in a release: shares told and the area.

    told: what each attacker says of people inside, and of people outside. halves: who of these chooses the attacker;
    the others judge. `success` is the share of people inside who lie above a threshold that one in a hundred of those
    outside lies above, `at-0.1%` that of one in a thousand, each left out where too few are outside; `auc` the area
    under the curve.
    """
    chosen = {name: (inside[halves[0]], out[halves[1]]) for name, (inside, out) in told.items()}
    judged = {name: (inside[~halves[0]], out[~halves[1]]) for name, (inside, out) in told.items()}
    each_auc = {name: auc_of(*both) for name, both in told.items()}
    scores: dict[str, Score] = {}
    for name, rate in FALSE_ALARMS.items():
        if len(halves[1]) / 2 * rate < 1:
            continue
        best = max(chosen, key=lambda one: (told_at(*chosen[one], rate).mean(), each_auc[one]))
        found = told_at(*judged[best], rate)
        n_told, n = int(found.sum()), len(found)
        each = {one: round(float(told_at(*both, rate).mean()), 4) for one, both in told.items()}
        interval, inputs = wilson_interval(n_told, n), {"people": n, "by": best, "each": each}
        scores[name] = Score(name, n_told / n, best=0, worst=1, interval=interval, baseline=rate, inputs=inputs)
    best = max(chosen, key=lambda one: auc_of(*chosen[one]))
    of_all = {"by": best, "each": {name: round(value, 4) for name, value in each_auc.items()}}
    auc, interval = auc_of(*judged[best]), auc_interval(*judged[best])
    scores["auc"] = Score("auc", auc, best=0, worst=1, interval=interval, baseline=0.5, inputs=of_all)
    return scores


def told_at(inside: Floats, outside: Floats, rate: float) -> Bools:
    """Whether each of those inside lies above a threshold that at most this share of those outside lie above."""
    order = np.sort(outside)
    threshold = order[len(order) - 1 - int(np.floor(rate * len(order) + 1e-9))]
    above: Bools = inside > threshold
    return above


def auc_of(inside: Floats, outside: Floats) -> float:
    """Return the chance that somebody inside comes before somebody outside; equal ones count half.

    Example: of 3 and 1 inside and 2 and 1 outside the first comes before both, the other before none and beside one:
    (2 + 1/2) / 4 = .625.
    """
    order = np.sort(outside)
    before = np.searchsorted(order, inside, side="left") + np.searchsorted(order, inside, side="right")
    return float(before.sum() / (2 * len(inside) * len(outside)))


def auc_interval(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the area under the curve (Hanley and McNeil 1982)."""
    auc, n, m = auc_of(inside, outside), len(inside), len(outside)
    spread = auc * (1 - auc) + (n - 1) * (auc / (2 - auc) - auc**2) + (m - 1) * (2 * auc**2 / (1 + auc) - auc**2)
    reach = 1.96 * float(np.sqrt(max(0.0, spread) / (n * m)))
    return max(0.0, auc - reach), min(1.0, auc + reach)
