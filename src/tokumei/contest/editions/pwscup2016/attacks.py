"""The attackers of PWSCUP 2016, who know M and T and say of each released row which row of T it is.

All find rows in rounds: in each, the rows left on both sides that agree on some fields are paired, equals in order of
time. The first rounds ask for much and the last for little, so that a changed cell does not hide a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import linear_sum_assignment

from tokumei.attack.item_sets import count_items, nearest_by_jaccard

Rounds = Sequence[Sequence[str]]
Ints = npt.NDArray[np.int64]

ORDER = ("date", "time", "item", "price", "quantity")
EXACT: Rounds = (("date", "item", "price", "quantity"),)
ROUNDS: Rounds = (
    ("date", "time", "item", "price", "quantity"),
    ("date", "item", "price", "quantity"),
    ("item", "price", "quantity"),
    ("date", "item"),
    ("date", "price", "quantity"),
    ("item",),
    ("date", "quantity"),
    ("date",),
    # Whoever is left is paired in order of time.
    (),
)


@dataclass(frozen=True)
class Seen:
    """What an attacker has: the original's customers and rows, and the released ones."""

    master: pl.DataFrame
    history: pl.DataFrame
    released_master: pl.DataFrame
    released_history: pl.DataFrame


Attack = Callable[[Seen], pl.Series]


def pair_rows(original: pl.DataFrame, released: pl.DataFrame, rounds: Rounds, by: Sequence[str] = ()) -> pl.Series:
    """Give for each released row the row of the original it is paired with, counted from 0; missing where none is.

    `by` names columns in which rows must agree in every round.
    """
    # The published order tells nothing, so both sides are put in one that does.
    ours = original.with_row_index("row").sort(*ORDER, maintain_order=True)
    theirs = released.with_row_index("at").sort(*ORDER, maintain_order=True)
    found = []
    for fields in rounds:
        on = [*by, *fields]
        turn = pl.int_range(pl.len()).over(on) if on else pl.int_range(pl.len())
        keys = [*on, "turn"]
        pairs = theirs.with_columns(turn=turn).join(ours.with_columns(turn=turn), on=keys, how="inner")
        found.append(pairs.select("at", "row"))
        ours = ours.join(pairs, on="row", how="anti", maintain_order="left")
        theirs = theirs.join(pairs, on="at", how="anti", maintain_order="left")
    rows = np.full(released.height, -1, np.int64)
    for pairs in found:
        rows[pairs["at"].to_numpy()] = pairs["row"].to_numpy()
    series = pl.Series("row", rows)
    return series.set(series < 0, None)


def same_fields(seen: Seen) -> pl.Series:
    """Pair the rows that agree on date, item, price and quantity; the rest stays unknown."""
    return pair_rows(seen.history, seen.released_history, EXACT)


def jaccard(seen: Seen) -> pl.Series:
    """Give each pseudonym to the customer with the most similar item set, then pair the rows of the two."""
    counts = count_items(seen.history, seen.released_history)
    best, _ = nearest_by_jaccard(counts.released, counts.known)
    whose = {
        name: None if place < 0 else counts.known_customers[place]
        for name, place in zip(counts.released_customers, best.tolist(), strict=True)
    }
    return _pair_within(seen, whose)


def master(seen: Seen) -> pl.Series:
    """Give the pseudonyms to the customers of the same sex, birth date and country, then pair their rows.

    Where several agree, the one with as many rows is taken, each customer once if possible.
    """
    sides = (
        (seen.master, seen.history),
        (seen.released_master, seen.released_history),
    )
    ours, theirs = (
        people.join(rows.group_by("customer").agg(n=pl.len()), on="customer", how="left").fill_null(0)
        for people, rows in sides
    )
    n_unlike = np.zeros((theirs.height, ours.height))
    for column in ("sex", "birth", "country"):
        n_unlike += theirs[column].to_numpy()[:, None] != ours[column].to_numpy()[None, :]
    gaps = np.abs(np.log1p(theirs["n"].to_numpy())[:, None] - np.log1p(ours["n"].to_numpy())[None, :])
    # The attributes count first: a gap of rows never outweighs one of them.
    lines, columns = linear_sum_assignment(n_unlike + gaps / (1 + gaps.max()))
    names, customers = theirs["customer"].to_list(), ours["customer"].to_list()
    whose = {names[line]: customers[column] for line, column in zip(lines, columns, strict=True)}
    return _pair_within(seen, whose)


def linkage(seen: Seen) -> pl.Series:
    """Let all rows vote who each pseudonym is, by how rare what they share is; then pair the rows of the two.

    Rows that share date and item, or item, price and quantity, vote; the pseudonyms are given to customers one to one
    so that the votes are the most in all.
    """
    votes = [
        _votes(seen, fields)
        for fields in (("date", "item"), ("item", "price", "quantity"), ("date", "time"), ("item",))
    ]
    total = pl.concat(votes).group_by("pseudonym", "customer").agg(pl.col("votes").sum())
    names = seen.released_master["customer"].unique().sort()
    customers = seen.master["customer"].unique().sort()
    matrix = np.zeros((len(names), len(customers)))
    lines = total["pseudonym"].cast(pl.Enum(names)).to_physical().to_numpy()
    columns = total["customer"].cast(pl.Enum(customers)).to_physical().to_numpy()
    # Rounded, as the order in which votes are added up may change the last digits.
    matrix[lines, columns] = np.round(total["votes"].to_numpy(), 6)
    given = linear_sum_assignment(matrix, maximize=True)
    whose = {str(names[int(line)]): str(customers[int(column)]) for line, column in zip(*given, strict=True)}
    return _pair_within(seen, whose)


def _votes(seen: Seen, fields: Sequence[str]) -> pl.DataFrame:
    """Give each pseudonym and customer that share values the sum of 1 / how many rows of the original have them."""
    on = list(fields)
    ours = seen.history.group_by(*on, "customer").len().with_columns(n=pl.col("len").sum().over(on))
    # A value that everybody has tells nothing, and joining on it would make all pairs there are.
    ours = ours.filter(pl.col("n") <= 50)
    theirs = seen.released_history.select(*on, pseudonym="customer").unique()
    pairs = theirs.join(ours, on=on, how="inner")
    return pairs.group_by("pseudonym", "customer").agg(votes=(1 / pl.col("n")).sum())


def _pair_within(seen: Seen, whose: Mapping[str, str | None]) -> pl.Series:
    """Pair the rows of each pseudonym with those of the customer it is given to, then all others with whoever fits."""
    believed = pl.DataFrame(
        {"customer": list(whose), "owner": list(whose.values())}, schema={"customer": pl.String, "owner": pl.String}
    )
    released = seen.released_history.join(believed, on="customer", how="left", maintain_order="left")
    original = seen.history.with_columns(owner=pl.col("customer"))
    within = pair_rows(original, released, ROUNDS, by=["owner"])
    is_left = within.is_null()
    if not is_left.any():
        return within
    # Rows beyond what the customer has belong to somebody else.
    taken = within.drop_nulls()
    free = pl.Series(np.setdiff1d(np.arange(original.height), taken.to_numpy()))
    others = pair_rows(original[free], released.filter(is_left), ROUNDS)
    return within.scatter(is_left.arg_true(), free.gather(others))


ATTACKS: Mapping[str, Attack] = {
    "same-fields": same_fields,
    "master": master,
    "jaccard": jaccard,
    "linkage": linkage,
}
