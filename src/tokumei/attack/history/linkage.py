"""The strong attacker: all fields, all months, one to one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.attack.linkage.comparison import PeriodRows
from tokumei.attack.linkage.joining import Slots, join_months
from tokumei.attack.linkage.learning import learn_agreement
from tokumei.attack.linkage.presence import Presence
from tokumei.core.errors import InputError
from tokumei.data.history import History, period_of

SCHEMA = {"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String}


@dataclass(frozen=True)
class Linkage:
    """Match customers to pseudonyms month by month, by everything that still agrees.

    Knowledge: some rows of the original, items whole or cut to their first characters, nothing on how the release was
    made. Aim: the customer's pseudonym in each month, and the months in which the customer has none. Success: all
    months right (row), or the single month (cell).

    Three things are weighed and summed as log odds: what the rows say (`linkage.evidence`, each field by how often it
    still agrees, learned from the release), how many rows there are (`linkage.counts`), and what the customer buys in
    the other months (`linkage.habits`). Then each month is matched one to one (`linkage.matching`).
    """

    rounds: int = field(default=2, metadata={"help": "How often months are joined by habits; 0 uses the rows alone."})

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Give the pseudonym of each customer and month in which absence is less likely."""
        if self.rounds < 0:
            raise InputError.of("0 or more", column="rounds", value=self.rounds)
        customers = pl.Series("customer", knowledge.customers, pl.String)
        if not len(customers) or not published.customers:
            return pl.DataFrame(schema=SCHEMA)
        numbers, periods = _compare(knowledge, published, customers)
        # What is not released of all the rows the attacker counts was deleted; unknown rows are counted where marked.
        missing = 1 - published.kept.height / knowledge.n_rows
        agreement = learn_agreement(periods, least_deleted=missing)
        presence = Presence.of(periods, agreement, len(customers))
        slots = Slots.of(periods)
        found = join_months(periods, slots, presence, n_rounds=self.rounds)
        rows, months = np.nonzero(found >= 0)
        guesses = {
            "customer": customers.gather(rows),
            "period": np.array(numbers, np.int32)[months],
            "pseudonym": slots.names.gather(slots.firsts[months] + found[rows, months]),
        }
        return pl.DataFrame(guesses, schema=SCHEMA).sort("customer", "period")


def _compare(knowledge: History, published: History, customers: pl.Series) -> tuple[list[int], list[PeriodRows]]:
    """Compare the rows of each period of the release."""
    number = pl.col("customer").replace_strict(customers, np.arange(len(customers)), return_dtype=pl.Int64)
    known = knowledge.kept.with_columns(of=number, period=period_of(pl.col("date")))
    # Sorted, so that the order of the rows, which may tell the truth by accident, does not matter.
    released = published.kept.with_columns(period=period_of(pl.col("date"))).sort(pl.all())
    numbers = sorted(set(released["period"]))
    n_characters = known.select(pl.col("item").str.len_chars().max()).item()
    in_period = [pl.col("period") == period for period in numbers]
    return numbers, [PeriodRows.of(known.filter(here), released.filter(here), n_characters) for here in in_period]
