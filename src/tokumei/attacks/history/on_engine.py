"""Attacks on histories where the rows are, and the judge, to the digits of those in memory.

Rows that agree exactly take two group-bys and two joins; of the published rows only counts are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from tokumei.attacks.history.plain_attacks import ExactMatch, Named, SameMonthAndItem
from tokumei.attacks.judge import Verdict, judge_counting
from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.engines.draws import whole_number
from tokumei.engines.engine_history import EngineHistory


def guess_on_engine(attack: Any, knowledge: EngineHistory, published: EngineHistory) -> Any:
    """Return the pseudonym of each customer and month for which a row agrees: customer, period, pseudonym."""
    if isinstance(attack, ExactMatch):
        attack.check_options()
        fields = attack.fields
    elif isinstance(attack, Named):
        fields = attack.FIELDS
    else:
        expected = f"the local engine, which {part_name(attack)} needs; others have s1 to s6, same-… and exact-match"
        raise InputError.of(expected, option="engine")
    known, seen = (
        _cells(side, fields, by_month=isinstance(attack, SameMonthAndItem)) for side in (knowledge, published)
    )
    if "item" in fields:
        longest = knowledge.fetch(known.aggregate(n=known.item.length().max()))["n"][0]
        seen = seen.mutate(item=seen.item.substr(0, int(longest or 0)))
    # Where several published rows agree the last one counts, and of several known rows of a month the last.
    last = seen.group_by(list(fields)).aggregate(last_row=lambda some: some.row.max())
    last = last.rename({f"found_{name}": name for name in fields})
    matched = known.inner_join(last, [known[name] == last[f"found_{name}"] for name in fields])
    # Both numbers in one, of which the greatest has the last known row: engines need not keep names along for that.
    n_shown = whole_number(max(1, published.staged.n_rows))
    rows = matched.select("customer", "period", both=matched.row * n_shown + matched.last_row)
    found = rows.group_by("customer", "period").aggregate(both=lambda some: some.both.max())
    found = found.mutate(shown_row=found.both % n_shown)
    shown = published.kept.select("row", pseudonym=published.kept.customer)
    return found.inner_join(shown, found.shown_row == shown.row).select("customer", "period", "pseudonym")


def _cells(side: EngineHistory, fields: tuple[str, ...], *, by_month: bool) -> Any:
    """Return what is compared; numbers as floats, since one side may have fractions where the other has none."""
    rows = side.kept
    cells = {name: rows[name] for name in fields}
    if by_month:
        cells["date"] = rows["first"]
    if "quantity" in cells:
        cells["quantity"] = rows.quantity.cast("float64")
    return rows.select("row", "customer", "period", **cells)


def judge_on_engine(
    guesses: pl.DataFrame,
    truth: pl.DataFrame,
    customers: Sequence[str],
    periods: Sequence[int],
    published: EngineHistory,
) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form, as `judge` does."""
    return judge_counting(guesses, truth, customers, periods, partial(_count_transactions, published))


def _count_transactions(published: EngineHistory, named: pl.DataFrame) -> tuple[int, pl.DataFrame]:
    """Count the published rows, and those of the pseudonyms named, by how many pairs of customers are right."""
    pairs = published.given("named", named.with_columns(pl.col("period").cast(pl.Int64)))
    rows = published.kept.select("period", pseudonym=published.kept.customer)
    right = rows.inner_join(pairs, ["period", "pseudonym"])
    counted = right.group_by("n_found", "n_pairs").aggregate(n_rows=lambda some: some.count())
    return published.staged.n_kept, published.fetch(counted)
