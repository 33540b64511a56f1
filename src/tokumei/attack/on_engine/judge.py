"""Guesses held against the truth on an engine: joins and counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attack.judge import Tally, Verdict, check_is_function, verdict_of
from tokumei.counting.draws import either, whole_number
from tokumei.counting.engine_history import EngineHistory

KEYS = ["customer", "period"]
# Months of a customer are bits of numbers.
BITS = 60


class Bench:
    """An engine with a folder, on which guesses are judged."""

    def __init__(self, engine: Any, folder: Path) -> None:
        self.engine, self.folder = engine, folder

    def table(self, frame: pl.DataFrame, name: str) -> Any:
        """Bring a table there."""
        path = self.folder / f"{name}.parquet"
        frame.write_parquet(path)
        return self.engine.table_of_parts([path])

    def keep(self, name: str, expression: Any) -> Any:
        """Compute a table once."""
        return self.engine.keep(expression, self.folder / name)

    def number(self, aggregate: Any) -> Any:
        """Fetch a single number; 0 where there is none."""
        return self.engine.fetch(aggregate).row(0)[0] or 0

    def count(self, table: Any) -> int:
        """Count rows."""
        return int(self.number(table.aggregate(n=table.count())))


def judge_on_engine(
    bench: Bench,
    guesses: pl.DataFrame,
    truth: pl.DataFrame,
    customers: Sequence[str],
    periods: Sequence[int],
    published: EngineHistory | None = None,
) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form, as `judge` does."""
    given = bench.table(_whole(guesses), "given")
    right = bench.table(_whole(truth), "right")
    several = given.group_by(KEYS).aggregate(n=lambda some: some.count())
    if bench.count(several.filter(several.n > 1)):
        check_is_function(guesses)
    everyone = bench.table(pl.DataFrame({"customer": customers}, schema={"customer": pl.String}), "everyone")
    months = bench.table(pl.DataFrame({"period": periods}, schema={"period": pl.Int64}), "months")
    # Of customers and months that are judged; a pseudonym for anybody else is neither right nor wrong.
    right, given = (one.semi_join(everyone, "customer").semi_join(months, "period") for one in (right, given))
    named = given.distinct().rename({"named_customer": "customer", "named_period": "period", "named": "pseudonym"})
    on = [right.customer == named.named_customer, right.period == named.named_period, right.pseudonym == named.named]
    joined = right.left_join(named, on)
    cells = bench.keep("judged", joined.select(*KEYS, "pseudonym", is_found=joined.named.notnull().ifelse(1, 0)))
    n_lives, n_lives_found = _lives(bench, cells)
    sum_of_shares, n_present_customers = _shares(bench, cells)
    wrong = cells.filter(cells.is_found == 0).select("customer")
    too_many = given.select(*KEYS).anti_join(right, KEYS).select("customer")
    n_customers = len(customers)
    return verdict_of(
        Tally(
            n_customers=n_customers,
            n_cells=n_customers * len(periods),
            n_right=n_customers - bench.count(wrong.union(too_many).distinct()) if periods else 0,
            n_found=int(bench.number(cells.aggregate(n=cells.is_found.sum()))),
            n_present=bench.count(cells),
            sum_of_shares=sum_of_shares,
            n_with_months=n_present_customers,
            n_lives=n_lives,
            n_lives_found=n_lives_found,
            blind=_blind(bench, cells, n_customers, sorted(set(periods))),
            published=None if published is None else _transactions(bench, cells, published),
        )
    )


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col("customer"), pl.col("period").cast(pl.Int64), pl.col("pseudonym"))


def _lives(bench: Bench, cells: Any) -> tuple[int, int]:
    lives = cells.group_by("customer", "pseudonym").aggregate(all_found=lambda some: some.is_found.min())
    n, found = bench.engine.fetch(lives.aggregate(n=lives.count(), found=lives.all_found.sum())).row(0)
    return int(n), int(found or 0)


def _shares(bench: Bench, cells: Any) -> tuple[float, int]:
    """Sum the share of months that are right over customers, exactly, of how many have which share."""
    by_customer = cells.group_by("customer").aggregate(
        found=lambda some: some.is_found.sum().cast("int64"), months=lambda some: some.count()
    )
    counted = bench.engine.fetch(by_customer.group_by("found", "months").aggregate(n=lambda some: some.count()))
    rows = counted.select("found", "months", "n").rows()
    total = sum((Fraction(found / months) * n for found, months, n in rows), Fraction(0))
    return float(total), sum(n for _, _, n in rows)


def _blind(bench: Bench, cells: Any, n_customers: int, periods: Sequence[int]) -> float:
    """Expect the row success of blind guessing, of how many customers are there in which months."""
    counted = bench.engine.fetch(cells.group_by("period").aggregate(n=lambda some: some.count()))
    present = dict(counted.select("period", "n").iter_rows())
    n = max(1, n_customers)
    runs = [periods[at : at + BITS] for at in range(0, len(periods), BITS)]
    words = {f"months_{at}": _word(cells, run) for at, run in enumerate(runs)}
    patterns: list[tuple[int, ...]] = []
    if words:
        marked = cells.select("customer", **words)
        by_customer = marked.group_by("customer").aggregate(
            **{name: marked[name].sum().cast("int64") for name in words}
        )
        found = by_customer.group_by(list(words)).aggregate(n=lambda some: some.count())
        patterns = bench.engine.fetch(found.select(*words, "n")).rows()
    # Customers without any month are listed nowhere.
    patterns.append((*(0 for _ in words), n_customers - sum(row[-1] for row in patterns)))
    total = Fraction(0)
    for *months, count in patterns:
        chance = 1.0
        for at, period in enumerate(periods):
            is_there = months[at // BITS] >> (at % BITS) & 1
            chance *= 1 / n if is_there else 1 - present.get(period, 0) / n
        total += Fraction(chance) * count
    return float(total) / n


def _word(cells: Any, run: Sequence[int]) -> Any:
    """Give the bit of a month among those of a run."""
    word = whole_number(0)
    for bit, period in enumerate(run):
        word = either(cells.period == whole_number(period), whole_number(1 << bit), word)
    return word


def _transactions(bench: Bench, cells: Any, published: EngineHistory) -> tuple[int, int]:
    """Count the published rows, and those whose customer was found in that month."""
    rows = published.kept.select("period", pseudonym=published.kept.customer)
    found = cells.filter(cells.is_found == 1).select("period", "pseudonym").distinct()
    return published.staged.n_kept, bench.count(rows.semi_join(found, ["period", "pseudonym"]))
