"""What purchases give away: whom a few of them single out, what range ends tell, and the rest of a basket.

**A few purchases.** After de Montjoye et al. (2013, 2015): p points are drawn from what a customer bought, and the
customer is singled out if nobody else has them all. A point is a purchase as far as it is known, such as its day and
its item. Points of one draw follow each other, so that who is singled out by p of them is by p + 1. Customers who
have fewer than p points are either known by all that they have, or left out.

**Ranges and sets** of a generalized history give away by where they end and what they list. **A basket** tells somebody
who knows some of its rows what the others are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.history.attribution import attribute
from tokumei.attacks.judge import HALF, wilson_interval
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.cells import Kind
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.methods.history.alignment import GRID, Floats, Indices, numbers_of

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
    """The share of customers singled out by 1, 2, … points, with 95 % intervals; customers are the trials.

    shares: of all customers; who has fewer points is known by all of them.
    shares_of_enough: of the customers who have so many points, `n_enough` of them; None where nobody has.
    """

    knows: str
    shares: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    n_enough: tuple[int, ...]
    shares_of_enough: tuple[float | None, ...]


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
    """Draw points of every customer several times; return the mean share singled out by each number of points."""
    points = points_of(history, knows)
    n_of_each = points.group_by("customer").len().sort("customer")["len"].to_numpy()
    n, numbers = max(1, len(n_of_each)), range(1, n_points + 1)
    is_enough = [n_of_each >= p for p in numbers]
    counts, of_enough = np.zeros(n_points), np.zeros(n_points)
    for number in range(draws):
        since = singled_out_from(points, draw_points(points, n_points, seed=seed + number), n_points).to_numpy()
        counts += np.array([(since <= p).sum() for p in numbers])
        of_enough += np.array([(since[enough] <= p).sum() for p, enough in zip(numbers, is_enough, strict=True)])
    means, n_enough = counts / draws, tuple(int(one.sum()) for one in is_enough)
    return Curve(
        knows,
        tuple((means / n).tolist()),
        tuple(wilson_interval(round(one), n) for one in means),
        n_enough,
        tuple(found / draws / who if who else None for found, who in zip(of_enough.tolist(), n_enough, strict=True)),
    )


# Comparing a line with all purchases takes a millisecond for 100,000 of them.
MOST_LINES, MOST_COMPARED = 1_000, 100_000_000
# Ends are compared by thousandths of a step, so that no rounding of a decimal keeps them apart.
NEAR = 1e-3


@dataclass(frozen=True)
class SingledOut:
    """Shares of predicates "this column is this value, the others are within their cells" that fit one purchase.

    `end`: at the ends of ranges; `anywhere`: at the values of the same ranges, each alike. `item`: for the items of
    sets; `occurs`: the share of these items that fit any purchase within the other cells. None without such cells.
    """

    end: float | None
    anywhere: float | None
    item: float | None
    occurs: float | None
    n_ends: int
    n_items: int

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the shares for JSON."""
        return dict(vars(self))


def singled_out(original: History, published: GeneralizedHistory, *, seed: int = 1) -> SingledOut:
    """Count how often the end of a range, or an item of a set, fits exactly one purchase of the original.

    Rows that are written alike count once; of many, some are drawn.
    """
    kept = original.kept
    if not kept.height:
        return SingledOut(None, None, None, None, 0, 0)
    values, names = numbers_of(kept), kept["item"].unique().sort()
    items = kept["item"].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    ends: list[tuple[float, float]] = []
    listed: list[tuple[int, int, int]] = []
    for low, high, members in _lines(published, names, min(MOST_LINES, MOST_COMPARED // kept.height + 1), seed):
        within = [
            (x >= a - NEAR * w) & (x <= b + NEAR * w) if a <= b else np.ones(len(x), bool)
            for x, a, b, w in zip(values, low, high, GRID.values(), strict=True)
        ]
        within.append(np.ones(len(items), bool) if members is None else np.isin(items, members))
        for column, width in enumerate(GRID.values()):
            if low[column] < high[column]:
                others = np.logical_and.reduce([one for number, one in enumerate(within) if number != column])
                ends.append(_ends_alone(values[column][others], low[column], high[column], width))
        if members is not None and len(members) > 1:
            found = items[np.logical_and.reduce(within)]
            n_each = np.unique(found, return_counts=True)[1]
            listed.append((len(members), int((n_each == 1).sum()), len(n_each)))
    n_items = sum(n for n, _, _ in listed)
    return SingledOut(
        end=sum(alone for alone, _ in ends) / len(ends) if ends else None,
        anywhere=sum(share for _, share in ends) / len(ends) if ends else None,
        item=sum(alone for _, alone, _ in listed) / n_items if listed else None,
        occurs=sum(n for _, _, n in listed) / n_items if listed else None,
        n_ends=2 * len(ends),
        n_items=n_items,
    )


def _ends_alone(values: Floats, low: float, high: float, width: float) -> tuple[float, float]:
    """Return which share of both ends, and of all values of a range, exactly one of some purchases has."""
    steps = np.rint((values - low) / width)
    last = round((high - low) / width)
    found, n_each = np.unique(steps[(steps >= 0) & (steps <= last)], return_counts=True)
    alone = found[n_each == 1]
    return float(np.isin([0, last], alone).mean()), len(alone) / (last + 1)


def _lines(
    published: GeneralizedHistory, names: pl.Series, n_most: int, seed: int
) -> Iterator[tuple[list[float], list[float], Indices | None]]:
    """Yield the ends and items of rows that differ; where a cell is suppressed, ends upside down and no items."""
    cells = [getattr(published, column) for column in GRID]
    frame = pl.DataFrame({"deleted": published.is_deleted, "item": published.item.members}).with_columns(
        *(one.low.to_physical().cast(pl.Float64).alias(f"low{number}") for number, one in enumerate(cells)),
        *(one.high.to_physical().cast(pl.Float64).alias(f"high{number}") for number, one in enumerate(cells)),
        is_coarse=pl.any_horizontal(published.item.kind == Kind.SET, *(one.kind == Kind.RANGE for one in cells)),
    )
    lines = frame.filter(~pl.col("deleted") & pl.col("is_coarse")).drop("deleted", "is_coarse")
    lines = lines.unique(maintain_order=True)
    if lines.height > n_most:
        drawn = generator(seed, "singled-out").choice(lines.height, n_most, replace=False)
        lines = lines[np.sort(drawn)]
    number_of = dict(zip(names.to_list(), range(len(names)), strict=True))
    for row in lines.iter_rows(named=True):
        low = [np.inf if row[f"low{at}"] is None else row[f"low{at}"] for at in range(len(GRID))]
        high = [-np.inf if row[f"high{at}"] is None else row[f"high{at}"] for at in range(len(GRID))]
        mine = row["item"]
        yield low, high, None if mine is None else np.array([number_of.get(name, -1) for name in mine])


COMPARED = ("date", "item", "price", "quantity")


def learn_baskets(knowledge: History, published: History) -> pl.DataFrame:
    """Claim for each customer the rest of the baskets that are known in part: columns customer and `COMPARED`.

    Knowledge: some rows of the original, items whole or cut to their first characters. Aim: what else was in the
    basket, whoever's pseudonym it stands under. A row is claimed that `attribute` gives, with a chance of more than
    half, to a customer of whom a purchase of that day is known.
    """
    known = knowledge.kept
    said = attribute(knowledge, published)
    rows = published.kept.select(*COMPARED).with_row_index("row")
    is_claim = ~said["is_found"] & (said["chance"] > HALF)
    claims = rows.with_columns(said["customer"]).filter(is_claim)
    claims = claims.join(known.select("customer", "date"), on=["customer", "date"], how="semi", maintain_order="left")
    return claims.sort("customer", "row").select("customer", *COMPARED)


def judge_baskets(claims: pl.DataFrame, original: History, knowledge: History) -> Score:
    """Return the share of the unknown rows in partly known baskets that were claimed rightly; 0 if none.

    The inputs have how many claims there were and the share of them that is right (precision). The baseline is what
    as many claims score that are drawn from all rows of their days.
    """
    is_known = knowledge.frame["customer"].is_not_null()
    rows = original.frame.select("customer", *COMPARED).with_columns(is_known=is_known).drop_nulls("customer")
    in_met = rows.filter(pl.col("is_known").any().over("customer", "date"))
    asked = in_met.filter(~pl.col("is_known")).select("customer", *COMPARED)
    # Equal rows are counted one by one, so that a claim is right no more often than the row was bought.
    right = _numbered(claims).join(_numbered(asked), on=["customer", *COMPARED, "copy"], how="semi", nulls_equal=True)
    n_asked, n_right = max(1, asked.height), right.height
    by_day = rows.filter(~pl.col("is_known")).group_by("date").agg(n_day=pl.len())
    own = asked.group_by("customer", "date").agg(n_own=pl.len())
    chances = claims.join(by_day, on="date").join(own, on=["customer", "date"])
    expected = float(chances.select((pl.col("n_own") / pl.col("n_day")).sum()).item())
    return Score(
        "basket inference",
        n_right / n_asked,
        best=0,
        worst=1,
        interval=wilson_interval(n_right, n_asked),
        baseline=min(1.0, expected / n_asked),
        inputs={"claims": claims.height, "right": n_right, "precision": n_right / max(1, claims.height)},
    )


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(copy=pl.int_range(pl.len()).over("customer", *COMPARED))
