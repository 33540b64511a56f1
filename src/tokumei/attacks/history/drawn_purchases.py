"""What purchases of nobody tell of customers: what else one bought, and whom a pair of items singles out.

No pseudonym is a customer's, so that none can be found. Two questions are left beside membership, each of customers
whom the method knew and of others whom it did not: what it tells of both alike is known of the shop, not of them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.history import History, period_of
from tokumei.engines.item_sets import Matrix

# Customers who are asked about on each side, and pairs that are tried, drawn where there are more.
MOST_ASKED, MOST_PAIRS = 1_000, 2_000
# Customers are compared with all drawn ones, so many at a time.
AT_ONCE = 250


def hits_of_inference(customers: History, drawn: History, *, seed: int) -> tuple[int, int]:
    """Return of how many customers one more item is guessed rightly, and of how many it was tried.

    Of half of the items of somebody who has two or more, the attacker looks for the drawn customer most like them:
    the cosine of the item sets, each item weighed by log(drawn customers / those who have it). The guess is the rarest
    of its other items.

    Example: somebody bought a, b and c; a is known. Of two drawn customers with a and c, and b alone, the first is
    likest, and c is guessed: right.
    """
    from scipy import sparse

    pairs = customers.kept.select("customer", "item").drop_nulls().unique().sort("customer", "item")
    pairs = pairs.with_columns(luck=pl.Series(generator(seed, "known items").random(pairs.height)))
    pairs = pairs.filter(pl.len().over("customer") > 1)
    is_known = pl.col("luck").rank("ordinal").over("customer") <= (pl.len().over("customer") + 1) // 2
    pairs = pairs.with_columns(is_known=is_known)
    names = _some(pairs["customer"].unique().sort(), MOST_ASKED, seed)
    pairs = pairs.filter(pl.col("customer").is_in(names.implode()))
    theirs = drawn.kept.select("customer", "item").drop_nulls().unique().sort("customer", "item")
    if not pairs.height or not theirs.height:
        return 0, 0
    items = pl.concat([pairs["item"], theirs["item"]]).unique().sort()
    who = theirs["customer"].unique().sort()
    sets = _matrix(theirs, who, items)
    rarity = np.log(len(who) / np.maximum(np.asarray(sets.sum(axis=0)).ravel(), 1)) + 1e-9
    n_hits = 0
    weighed: Matrix = sparse.csr_array(sets.multiply(rarity))
    size = np.sqrt(np.maximum(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel(), 1e-300))
    known, whole = (_matrix(part, names, items) for part in (pairs.filter("is_known"), pairs))
    for start in range(0, len(names), AT_ONCE):
        part = known[start : start + AT_ONCE]
        likest = np.asarray((part @ weighed.T).toarray() / size).argmax(axis=1)
        others = sets[likest].toarray() * (part.toarray() == 0) * rarity
        guess = others.argmax(axis=1)
        hidden = (whole[start : start + AT_ONCE] - part).toarray()
        rows = np.arange(len(guess))
        n_hits += int(((others[rows, guess] > 0) & (hidden[rows, guess] > 0)).sum())
    return n_hits, len(names)


def hits_of_singling_out(sides: tuple[History, History], drawn: History, *, seed: int) -> tuple[int, int, int]:
    """Return how many pairs of items single one of some customers out, one of as many others, and how many were tried.

    A pair is the two items of a drawn basket that fewest drawn baskets have; it singles somebody out if one customer
    alone bought both on a day of the month in which it was drawn.

    Example: a and b are drawn in March. Of the customers of the one side one bought both on 3 March, of the other two
    did: the pair singles out one, and none.
    """
    counts = drawn.kept.group_by("item").agg(n=pl.len())
    rows = drawn.kept.select("customer", "date", "item", period=period_of(pl.col("date"))).unique()
    rows = rows.join(counts, on="item").sort("customer", "date", "n", "item")
    tried = rows.group_by("customer", "date", maintain_order=True).agg(
        pl.col("period").first(), pl.col("item").first(), other=pl.col("item").get(1, null_on_oob=True)
    )
    tried = tried.drop_nulls("other").select("period", "item", "other").unique(maintain_order=True)
    order = generator(seed, "pairs").permutation(tried.height)[:MOST_PAIRS]
    tried = tried[order].with_row_index("pair")
    n = min(len(one.customers) for one in sides)
    found = []
    for side in sides:
        names = _some(pl.Series(side.customers), n, seed)
        own = side.kept.filter(pl.col("customer").is_in(names.implode()))
        own = own.select("customer", "date", "item", period=period_of(pl.col("date"))).unique()
        first = tried.join(own, on=["period", "item"])
        both = first.join(own, left_on=["customer", "date", "other"], right_on=["customer", "date", "item"], how="semi")
        who = both.group_by("pair").agg(n=pl.col("customer").n_unique())
        found.append(int((who["n"] == 1).sum()))
    return found[0], found[1], tried.height


def _some(names: pl.Series, most: int, seed: int) -> pl.Series:
    """Draw so many names at most, in order."""
    return names[np.sort(generator(seed, "some customers").permutation(len(names))[:most])]


def _matrix(pairs: pl.DataFrame, names: pl.Series, items: pl.Series) -> Matrix:
    """Mark which items each of some customers has."""
    from scipy import sparse

    at = [
        pairs[column].replace_strict(order, pl.int_range(len(order), eager=True), return_dtype=pl.Int64).to_numpy()
        for column, order in (("customer", names), ("item", items))
    ]
    return sparse.csr_array((np.ones(pairs.height), (at[0], at[1])), shape=(len(names), len(items)))
