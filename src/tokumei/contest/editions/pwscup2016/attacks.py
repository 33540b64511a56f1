"""The attackers of PWSCUP 2016, who know M and T and say of each row of M′ which customer it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.item_sets import count_items, nearest_by_jaccard

Votes = npt.NDArray[np.float64]

EXACT = ("date", "item", "price", "quantity")
# What rows may share, and still tell who bought them.
TELLING: Sequence[Sequence[str]] = (
    ("date", "item"),
    ("item", "price", "quantity"),
    ("date", "time"),
    ("item",),
)
# A value that more rows have tells nothing, and joining on it would make all pairs there are.
MOST_ROWS = 50


@dataclass(frozen=True)
class AttackerView:
    """What an attacker has: the original's customers and rows, and the released ones."""

    master: pl.DataFrame
    history: pl.DataFrame
    released_master: pl.DataFrame
    released_history: pl.DataFrame


Attack = Callable[[AttackerView], pl.Series]
"""Gives for each row of M′ the row of M it is believed to be, counted from 0; missing where the attack has no idea."""


def same_fields(seen: AttackerView) -> pl.Series:
    """Name the customer who shares the most rows that agree on date, item, price and quantity."""
    votes = _votes(seen, [EXACT], limit=None)
    return _best(votes)


def jaccard(seen: AttackerView) -> pl.Series:
    """Name the customer with the most similar item set (Algorithm 1 of the Jaccard paper): one may be named twice."""
    counts = count_items(seen.history, seen.released_history)
    best, _ = nearest_by_jaccard(counts.released, counts.known)
    whose = {
        name: None if place < 0 else counts.known_customers[place]
        for name, place in zip(counts.released_customers, best.tolist(), strict=True)
    }
    rows = {customer: row for row, customer in enumerate(seen.master["customer"])}
    named = [whose.get(name) for name in seen.released_master["customer"]]
    return pl.Series("row", [None if one is None else rows[one] for one in named], dtype=pl.Int64)


def master(seen: AttackerView) -> pl.Series:
    """Name a customer of the same sex, birth date and country; of several the one with as many rows, each once."""
    ours, theirs = (
        people.join(rows.group_by("customer").agg(n=pl.len()), on="customer", how="left", maintain_order="left")
        for people, rows in (
            (seen.master, seen.history),
            (seen.released_master, seen.released_history),
        )
    )
    n_unlike = np.zeros((theirs.height, ours.height))
    for column in ("sex", "birth", "country"):
        n_unlike += theirs[column].to_numpy()[:, None] != ours[column].to_numpy()[None, :]
    sizes = [np.log1p(side["n"].fill_null(0).to_numpy()) for side in (theirs, ours)]
    gaps = np.abs(sizes[0][:, None] - sizes[1][None, :])
    # The attributes count first: a gap of rows never outweighs one of them.
    return _each_once(-(n_unlike + gaps / (1 + gaps.max())))


def linkage(seen: AttackerView) -> pl.Series:
    """Match pseudonyms to customers by the votes of all rows, weighted by rarity, each customer once.

    Rows that share date and item, item, price and quantity, date and time, or the item alone vote; the customers are
    given out so that the votes are the most in all.
    """
    return _each_once(_votes(seen, TELLING, limit=MOST_ROWS))


def _votes(seen: AttackerView, rounds: Sequence[Sequence[str]], *, limit: int | None) -> Votes:
    """Return for each row of M′ (down) and M (across) the sum of 1 / how many rows of T have what both share."""
    names = pl.DataFrame({"pseudonym": seen.released_master["customer"]}).with_row_index("line")
    customers = pl.DataFrame({"customer": seen.master["customer"]}).with_row_index("column")
    matrix = np.zeros((names.height, customers.height))
    for fields in rounds:
        on = list(fields)
        ours = seen.history.group_by(*on, "customer").len().with_columns(n=pl.col("len").sum().over(on))
        if limit is not None:
            ours = ours.filter(pl.col("n") <= limit)
        theirs = seen.released_history.select(*on, pseudonym="customer").unique()
        pairs = theirs.join(ours, on=on, how="inner")
        votes = pairs.group_by("pseudonym", "customer").agg(votes=(1 / pl.col("n")).sum())
        placed = votes.join(names, on="pseudonym").join(customers, on="customer")
        np.add.at(matrix, (placed["line"].to_numpy(), placed["column"].to_numpy()), placed["votes"].to_numpy())
    # Rounded, as the order in which votes are added up may change the last digits.
    return np.round(matrix, 6)


def _best(votes: Votes) -> pl.Series:
    """Name for each line the customer with the most votes, the first of equals; nobody without any."""
    rows = pl.Series("row", votes.argmax(axis=1).astype(np.int64))
    return rows.set(pl.Series(votes.max(axis=1) <= 0), None)


def _each_once(votes: Votes) -> pl.Series:
    """Assign the customers to pseudonyms, each once, so that the votes are the most in all."""
    # Here, since it takes longer to import than all the rest.
    from scipy.optimize import linear_sum_assignment

    lines, columns = linear_sum_assignment(votes, maximize=True)
    rows = np.zeros(votes.shape[0], np.int64)
    rows[lines] = columns
    return pl.Series("row", rows)


ATTACKS: Mapping[str, Attack] = {
    "same-fields": same_fields,
    "master": master,
    "jaccard": jaccard,
    "linkage": linkage,
}
