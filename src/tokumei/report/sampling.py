"""Some customers of a large history, so that attacking it takes minutes."""

from __future__ import annotations

from tokumei.core.seeds import generator
from tokumei.data.history import History

# Attacks compare customers with pseudonyms: their cost grows with the square of how many there are.
MOST_CUSTOMERS = 2_000


def sampled_pair(
    original: History, released: History | None, n_customers: int, *, seed: int
) -> tuple[tuple[History, History], str | None]:
    """Give the rows of some customers, in the original and in a release that keeps its rows, and what to say of it."""
    customers = original.customers
    if len(customers) <= n_customers or (released is not None and released.n_rows != original.n_rows):
        return (original, original if released is None else released), None
    drawn = generator(seed, "sample of customers").choice(len(customers), n_customers, replace=False)
    is_drawn = original.frame["customer"].is_in([customers[index] for index in sorted(drawn)])
    some = [
        History(one.frame.filter(is_drawn), one.name) for one in (original, original if released is None else released)
    ]
    said = (
        f"Attacks were tried on {n_customers:,} of {len(customers):,} customers, drawn at random (--sample): "
        "among fewer people each is easier to find, so that the share found is rather too high than too low."
    )
    return (some[0], some[1]), said
