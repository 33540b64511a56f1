"""How many known purchases single a customer out: the share of customers whom p points of their own fit alone.

After de Montjoye et al. (2013, 2015): p points are drawn from what a customer bought, and the customer is singled out
if nobody else has them all. A point is a purchase as far as it is known, such as its day and its item. Points of one
draw follow each other, so that who is singled out by p of them is by p + 1. Who has fewer points is known by all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.core.seeds import generator
from tokumei.data.history import History

# A kind of item, as in the contests.
KIND_CHARACTERS = 2
DAY, WEEK, MONTH = pl.col("date"), pl.col("date").dt.truncate("1w"), pl.col("date").dt.truncate("1mo")
ITEM, KIND = pl.col("item"), pl.col("item").str.slice(0, KIND_CHARACTERS)
PRICE = pl.col("price")
# Prices within about a fifth of each other are one: powers of 1.2 (none as low as −1000), on either side of 0.
_POWER = PRICE.abs().clip(lower_bound=0.01).log(1.2).floor() + 1000
ABOUT = (PRICE.sign() * _POWER).cast(pl.Int64).alias("about")
# By how exactly a purchase is known, the most exact first, with the columns that it needs.
EXACTNESS: Mapping[str, tuple[tuple[pl.Expr, ...], tuple[str, ...]]] = {
    "day, item and price": ((DAY, ITEM, PRICE), ("item", "price")),
    "day and item": ((DAY, ITEM), ("item",)),
    "day, kind of item and price to a fifth": ((DAY, KIND, ABOUT), ("item", "price")),
    "day and kind of item": ((DAY, KIND), ("item",)),
    "week and item": ((WEEK, ITEM), ("item",)),
    "month and item": ((MONTH, ITEM), ("item",)),
    "item": ((ITEM,), ("item",)),
    "day": ((DAY,), ()),
    "month": ((MONTH,), ()),
}


@dataclass(frozen=True)
class Curve:
    """The share of customers singled out by 1, 2, … points, with 95 % intervals; customers are the trials."""

    knows: str
    shares: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]


def points_of(history: History, knows: str) -> pl.DataFrame:
    """Return the points of each customer, each once: columns customer and point, a number."""
    fields, _ = EXACTNESS[knows]
    rows = history.kept.select("customer", pl.struct(fields).rank("dense").alias("point"))
    return rows.unique().sort("customer", "point")


def draw_points(points: pl.DataFrame, n_points: int, *, seed: int) -> pl.DataFrame:
    """Draw up to so many points of each customer, numbered from 1: customer, number, point."""
    luck = pl.Series("luck", generator(seed, "unicity").random(points.height))
    drawn = points.with_columns(luck).sort("customer", "luck")
    return drawn.select("customer", pl.int_range(1, pl.len() + 1).over("customer").alias("number"), "point").filter(
        pl.col("number") <= n_points
    )


def singled_out_from(points: pl.DataFrame, drawn: pl.DataFrame, n_points: int) -> pl.Series:
    """Return for each customer, in order, by how many of the drawn points they are singled out; more than all if never.

    Whoever else has the first point is a candidate, and stays one for as long as they have the next one too.
    """
    customers = points["customer"].unique().sort()
    number = pl.DataFrame({"customer": customers, "who": np.arange(len(customers), dtype=np.int64)})
    owners = points.join(number, on="customer").select("point", other="who")
    looked_for = drawn.join(number, on="customer").select("who", "number", "point")
    n_drawn = looked_for.group_by("who").len().sort("who")["len"].to_numpy()
    since = np.full(len(customers), n_points + 1, np.int64)
    left = looked_for.filter(pl.col("number") == 1).join(owners, on="point").filter(pl.col("who") != pl.col("other"))
    left = left.select("who", "other")
    for p in range(1, n_points + 1):
        if p > 1:
            # Who has no further point keeps their candidates.
            has_more = n_drawn[left["who"].to_numpy()] >= p
            more = left.filter(pl.Series(has_more)).join(looked_for.filter(pl.col("number") == p), on="who")
            kept = more.join(owners, on=["point", "other"], how="semi").select("who", "other")
            left = pl.concat([left.filter(pl.Series(~has_more)), kept])
        is_alone = np.ones(len(customers), bool)
        is_alone[left["who"].unique().to_numpy()] = False
        since[is_alone & (since > p)] = p
    return pl.Series("since", since)


def unicity_curve(history: History, knows: str, *, n_points: int, draws: int, seed: int) -> Curve:
    """Draw points of every customer several times, and give the mean share singled out by each number of points."""
    points = points_of(history, knows)
    n = max(1, points["customer"].n_unique())
    counts = np.zeros(n_points)
    for number in range(draws):
        since = singled_out_from(points, draw_points(points, n_points, seed=seed + number), n_points).to_numpy()
        counts += np.array([(since <= p).sum() for p in range(1, n_points + 1)])
    means = counts / draws
    return Curve(knows, tuple((means / n).tolist()), tuple(wilson_interval(round(one), n) for one in means))
