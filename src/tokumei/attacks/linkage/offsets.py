"""Dates that moved by as many days for all purchases of a customer: how many is read off the release.

A customer's known purchases and a pseudonym's rows with the same item (as much of it as is known), price and quantity
vote for the days between them. If half of the rows are where a move puts them, one that is there with λ like it
expected by accident is (1 + 1/λ) / 2 times as likely, and one that is not there half as likely. So a move that a few
rows agree with by accident, of many that could, explains nothing. Three stories are held against each other over all
customers: that each row moved for itself, that each day did, and that all that a customer bought moved together. A
story pays for each move by how common such moves are in it, learned from the release. Only where the last is the best,
and most customers moved at all, what is known is moved, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.linkage.fields import MOST_NAMES
from tokumei.data.history import History, period_of

# Rows of each customer that are compared, the rarest first, and the rows like one of them beyond which it is not.
MOST_COMPARED, MOST_ALIKE = 40, 200
# Customers who tell whether dates moved, and how often it is learned how common moves are.
ASKED, ROUNDS = 300, 3
# Of the rows of what moved so many are there, as its story has it before anything is learned.
KEPT = 0.5
KEYS = ["item", "price", "quantity"]


@dataclass(frozen=True)
class Offsets:
    """By how many days the purchases of each customer moved; customers who are not listed kept their dates."""

    days: pl.DataFrame  # customer, days.

    @classmethod
    def of(cls, knowledge: History, published: History) -> Offsets:
        """Find them; none where another story explains the release better."""
        most = knowledge.frame["item"].str.len_chars().max()
        known_characters = most if isinstance(most, int) else None
        ours, theirs = (_rows(side, known_characters) for side in (knowledge, published))
        customers = ours["customer"].unique().sort()
        if theirs["customer"].n_unique() > MOST_NAMES * len(customers):
            # Of who has many pseudonyms each has too few rows to tell: the whole release is looked through.
            theirs = theirs.with_columns(customer=pl.lit(""))
        asked = customers.gather_every(max(1, -(-len(customers) // ASKED)))
        votes = _votes(_of(ours, asked), theirs)
        alone = max(_story(votes, unit)[1] for unit in (["date", *KEYS], ["date"]))
        moved, together = _story(votes, [])
        if together <= alone or 2 * moved.filter(pl.col("days") != 0).height <= moved.height:
            return cls(pl.DataFrame(schema={"customer": pl.String, "days": pl.Int64}))
        # Where most moved, nobody is more likely to have stayed than to have moved by any other number of days.
        found = []
        for some in customers.to_frame().iter_slices(ASKED):
            votes = _votes(_of(ours, some["customer"]), theirs)
            added = _moves(votes, [])
            found.append(_best(added, ["customer"]).filter(pl.col("days") != 0).select("customer", "days"))
        return cls(pl.concat(found))

    def move(self, knowledge: History) -> History:
        """Put known purchases where the release has them."""
        days = pl.duration(days=pl.col("days").fill_null(0))
        frame = knowledge.frame.join(self.days, on="customer", how="left", maintain_order="left")
        return History(frame.with_columns(pl.col("date") + days).drop("days"), knowledge.name)

    def move_back(self, guesses: pl.DataFrame, published: History) -> pl.DataFrame:
        """Name months as the original has them: those from which a pseudonym's rows came."""
        rows = published.kept.select(pseudonym="customer", period=period_of(pl.col("date")), date="date")
        moved = guesses.join(rows, on=["pseudonym", "period"]).join(self.days, on="customer", how="left")
        before = period_of(pl.col("date") - pl.duration(days=pl.col("days").fill_null(0)))
        counted = moved.group_by("customer", "pseudonym", period=before).agg(n=pl.len())
        # Who had two pseudonyms in what was one month is named by the one with more rows.
        first = counted.sort("customer", "period", "n", "pseudonym", descending=[False, False, True, False])
        return first.unique(["customer", "period"], keep="first", maintain_order=True).select(guesses.columns)


def _rows(side: History, known_characters: int | None) -> pl.DataFrame:
    item = pl.col("item").str.slice(0, known_characters)
    rows = side.frame.select("customer", "date", "time", "price", "quantity", item=item)
    return rows.filter(pl.col("customer").is_not_null())


def _of(rows: pl.DataFrame, customers: pl.Series) -> pl.DataFrame:
    return rows.filter(pl.col("customer").is_in(customers.implode()))


def _votes(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Return what each known row says for each pseudonym and number of days."""
    votes = [_votes_by(keys, ours, theirs) for keys in (KEYS, [*KEYS, "time"])]
    return pl.concat(votes).group_by("customer", "pseudonym", "days", "date", *KEYS).agg(pl.col("worth").max())


def _votes_by(keys: Sequence[str], ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Return what rows that are equal in the keys say."""
    alike = theirs.group_by(keys).agg(n_alike=pl.len()).filter(pl.col("n_alike") <= MOST_ALIKE)
    known = ours.unique().join(alike, on=keys, nulls_equal=True).sort("customer", "n_alike", "date", *keys)
    known = known.group_by("customer", maintain_order=True).head(MOST_COMPARED)
    sizes = theirs.group_by(pseudonym="customer").agg(n_rows=pl.len())
    there = theirs.select(*keys, pseudonym="customer", released="date").unique().join(sizes, on="pseudonym")
    chance = pl.col("n_rows") * pl.col("n_alike") / (theirs.height * theirs["date"].n_unique())
    days = (pl.col("released") - pl.col("date")).dt.total_days()
    both = known.join(there, on=keys, nulls_equal=True)
    return both.select("customer", "pseudonym", "date", *KEYS, days=days, worth=(1 + 1 / chance).log())


def _story(votes: pl.DataFrame, unit: list[str]) -> tuple[pl.DataFrame, float]:
    """Return how each unit of the likeliest pseudonym of each customer moved, and what that explains in all."""
    moves = _moves(votes, unit)
    n_moves = max(2, moves["days"].n_unique())
    price = moves.select("days").unique().with_columns(price=pl.lit(float(np.log(n_moves))))
    chosen, total = moves.clear(), 0.0
    for _ in range(ROUNDS):
        paid = moves.join(price, on="days").with_columns(pl.col("worth") - pl.col("price"))
        of_unit = _best(paid.filter(pl.col("worth") > 0), ["customer", "pseudonym", *unit])
        added = of_unit.group_by("customer", "pseudonym").agg(total=pl.col("worth").sum().round(6))
        best = _best(added.rename({"total": "worth"}).with_columns(days=0), ["customer"])
        total = float(best["worth"].sum())
        chosen = of_unit.join(best, on=["customer", "pseudonym"], how="semi")
        counted = price.select("days").join(chosen.group_by("days").agg(n=pl.len()), on="days", how="left")
        share = (pl.col("n").fill_null(0) + 1 / n_moves) / (chosen.height + 1)
        price = counted.select("days", price=-share.log())
    return chosen, total


def _moves(votes: pl.DataFrame, unit: list[str]) -> pl.DataFrame:
    """Return what each number of days says for a unit of a customer's purchases and a pseudonym."""
    compared = votes.select("customer", "date", *KEYS).unique().group_by("customer", *unit).agg(n_compared=pl.len())
    moves = votes.group_by("customer", "pseudonym", "days", *unit).agg(pl.col("worth").sum())
    both = moves.join(compared, on=["customer", *unit], nulls_equal=True)
    return both.with_columns(pl.col("worth") + pl.col("n_compared") * float(np.log1p(-KEPT))).drop("n_compared")


def _best(moves: pl.DataFrame, of: list[str]) -> pl.DataFrame:
    """Return the pseudonym and number of days that most speaks for."""
    ordered = moves.sort("worth", "days", "pseudonym", descending=True)
    return ordered.unique(of, keep="first", maintain_order=True)
