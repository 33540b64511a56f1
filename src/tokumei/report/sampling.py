"""Some customers of a large history, so that attacking it takes minutes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.core.seeds import generator
from tokumei.data.history import History

# Attacks compare customers with pseudonyms, row by row: their cost grows with the square of the customers and with the
# rows. A report attacks one release with four kinds of knowledge, a sweep thirty releases with one.
MOST_CUSTOMERS = 2_000
REPORT_ROWS, SWEEP_ROWS = 200_000, 50_000
# Among fewer people the share found would say little about the whole.
LEAST_CUSTOMERS = 50


@dataclass(frozen=True)
class Sampled:
    """The rows of some customers, in the original and in the release, and what to say of it; None if all are there."""

    original: History
    released: History
    said: str | None


def sample_customers(
    original: History, released: History | None, n_customers: int | None, *, most_rows: int, seed: int
) -> Sampled:
    """Draw so many customers or, if no number is given, as many as can be attacked in minutes.

    A release that does not keep the rows of its original is taken whole, since nobody can say whose its rows are.
    """
    after = original if released is None else released
    customers = original.customers
    order = generator(seed, "sample of customers").permutation(len(customers))
    if n_customers is None:
        by_customer = original.kept.group_by("customer").len().sort("customer")
        n_rows = np.cumsum(by_customer["len"].to_numpy()[order])
        fitting = int(np.searchsorted(n_rows, most_rows, side="right"))
        n_customers = min(max(fitting, LEAST_CUSTOMERS), MOST_CUSTOMERS)
    if len(customers) <= n_customers or after.n_rows != original.n_rows:
        return Sampled(original, after, None)
    is_drawn = original.frame["customer"].is_in([customers[index] for index in order[:n_customers]])
    some = [History(one.frame.filter(is_drawn), one.name) for one in (original, after)]
    said = (
        f"Attacks were tried on {n_customers:,} of {len(customers):,} customers with {int(is_drawn.sum()):,} of "
        f"{original.n_rows:,} rows, drawn at random (--sample): among fewer people each is easier to find, so that the "
        "share found is rather too high than too low."
    )
    return Sampled(some[0], some[1], said)
