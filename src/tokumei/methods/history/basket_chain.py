"""Customers of nobody, drawn from counts of what at least some customers have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.data.history import History
from tokumei.engines.item_sets import Floats, Ints, Matrix
from tokumei.methods.history.basket_model import EDGES, HOURS, WEEKDAYS, BasketModel, ItemValues, bins_of, brought_along
from tokumei.methods.history.drawn_customers import Baskets, CustomerSynthesizer, shares_of

# Kept out unless somebody says how many: as many as membership is judged by, of few customers up to a half.
USUAL_SHARE, LARGEST_SHARE, ENOUGH_OUTSIDE = 0.1, 0.5, 200
# Of larger baskets as many items are drawn, whose pairs are counted.
LARGEST_BASKET = 200
# Pairs that are in memory at once while they are counted.
PAIRS_AT_ONCE = 4_000_000
CENTS = 2


@dataclass(frozen=True, kw_only=True)
class BasketChain(CustomerSynthesizer):
    """Draw customers of nobody, whose baskets have the season, the items and the pairs of items of the original.

    A customer gets a number of baskets. Each falls on a day, by the shares of months and weekdays, and has a number of
    items. An item is drawn by how many baskets of the month have it, or, with the chance that this has in the original,
    is one that the customer had before; then it brings others along, those that are in one basket with it more often
    than chance explains, and these bring others, until the basket is full. Prices and quantities are those of the item.

    | original: baskets with a and b      | drawn: a and b come                            |
    |-------------------------------------|------------------------------------------------|
    | 100 have a, 100 have b, 80 of these | by themselves in 60 baskets each, and each     |
    | have both, by chance none would     | brings the other with chance 2/3: 40 + 40 both |

    How likely items come, and bring others, is then set right by drawing baskets and counting these.

    Nothing is written that fewer than `least` customers have in common: items, pairs, items of a month, prices and
    quantities of an item, and the largest numbers of baskets, items and pieces, which end at the mean of so many
    customers. That is no promise. The release is attacked before it is written. In memory are the rows, the pairs that
    are counted, at most 4 million at a time, and one cell for each of some customers and each item, 16 million at most.
    """

    least: int = field(default=5, metadata={"help": "Fewest customers who have in common what is drawn."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least < 1:
            raise InputError.of("at least 1", option="least", value=self.least)

    def share_outside(self, n_customers: int) -> float:
        """Return the share that is asked for, else a tenth, and more of few customers."""
        usual = max(USUAL_SHARE, min(LARGEST_SHARE, ENOUGH_OUTSIDE / max(1, n_customers)))
        return usual if self.hold_out is None else self.hold_out

    def outside(self, history: History, *, seed: int) -> list[str]:
        """Return as many customers as are kept out, those with the smallest coins."""
        coins = self.coins(history, seed=seed)
        n_outside = math.ceil(self.share_outside(len(coins)) * len(coins) - 1e-9)
        return sorted(sorted(coins, key=lambda who: coins[who])[:n_outside])

    def fit(self, history: History, share: float, *, seed: int) -> tuple[BasketModel, int | None, Mapping[str, Any]]:  # noqa: ARG002
        """Count what customers have in common."""
        with step("counting baskets"):
            baskets = Baskets.of(history)
        fitted = Fitting(baskets, self.least)
        with step("fitting"):
            model = fitted.model(history.absent, seed)
        found = {"fitted": baskets.n_customers, "items": len(model.names), "pairs": model.brings.nnz // 2}
        found["items_left_out"] = baskets.rows["item"].n_unique() - len(model.names)
        return model, None, found


class Fitting:
    """The counts of a model, of what at least so many customers have in common."""

    def __init__(self, baskets: Baskets, least: int) -> None:
        buyers = baskets.items.group_by("item").agg(n=pl.col("customer").n_unique())
        self.names = buyers.filter(pl.col("n") >= least)["item"].sort()
        if not len(self.names):
            raise CannotAnonymize(Text("No item is bought by {n} customers or more, which 'least' asks for.", n=least))
        self.baskets, self.least = baskets, least
        codes = pl.DataFrame({"item": self.names, "code": np.arange(len(self.names))})
        self.items = baskets.items.join(codes, on="item", maintain_order="left")
        self.rows = baskets.rows.join(codes, on="item", maintain_order="left")

    def model(self, absent: Iterable[str], seed: int) -> BasketModel:
        """Count everything."""
        gone, each, n_items = set(absent), self.baskets.each, len(self.names)
        weights = np.bincount(self.items["code"].to_numpy(), minlength=n_items).astype(np.float64)
        pairs = self.pairs()
        alone, brings = brought_along(weights, pairs, self.n_pairs())
        first, last = int(each["month"].min()), int(each["month"].max())  # type: ignore[arg-type]
        months = self._shared(each.with_columns(pl.col("month") - first), "month", last - first + 1)
        made = BasketModel(
            names=self.names,
            baskets=self._tops(self.baskets.n_baskets, "n"),
            sizes=self._tops(self._sizes(), "size"),
            first_month=first,
            months=months,
            weekdays=self._shared(each, "weekday", WEEKDAYS),
            hours=None if "time" in gone else self._shared(each.drop_nulls("hour"), "hour", HOURS),
            returns=self._returns(),
            items=alone,
            brings=brings,
            season=self._season(weights, months, first),
            prices=None if "price" in gone else self._prices(),
            quantities=None if "quantity" in gone else self._quantities(),
        )
        return made.calibrated(weights, pairs, seed)

    def _sizes(self) -> pl.DataFrame:
        """How many items each basket has, rare ones included: others come in their place."""
        return self.baskets.each.select("customer", "size")

    def _shared(self, rows: pl.DataFrame, column: str, n: int) -> Floats:
        """Count baskets by a column, those of too few customers not."""
        counts = rows.group_by(column).agg(n=pl.len(), who=pl.col("customer").n_unique())
        counts = counts.filter(pl.col("who") >= self.least)
        made = np.zeros(n)
        made[counts[column].to_numpy()] = counts["n"].to_numpy()
        return made

    def _tops(self, rows: pl.DataFrame, column: str) -> Floats:
        """Count numbers by their bins; from the largest on, bins become one until enough customers are in it.

        Example: with 2 customers at least, those with 1, 1, 6 and 40 baskets count 2 in the bin of 1, and 2 in that of
        23, the mean of 6 and 40.
        """
        counted = rows.with_columns(bin=pl.Series(bins_of(rows[column].to_numpy())))
        made = np.zeros(len(EDGES) - 1)
        some: list[pl.DataFrame] = []
        for _, part in sorted(counted.partition_by("bin", as_dict=True).items(), reverse=True):
            some.append(part)
            together = pl.concat(some)
            if together["customer"].n_unique() >= self.least:
                made[bins_of([round(float(together[column].mean() or 1))])] += together.height  # type: ignore[arg-type]
                some = []
        return made

    def _returns(self) -> Floats:
        """Return the chance that an item was bought before, by the bin of how many baskets there were before."""
        later = self.baskets.items.join(self.baskets.each.select("basket", "number"), on="basket")
        later = later.filter(pl.col("number") > 0)
        later = later.with_columns(bin=pl.Series(bins_of(np.maximum(1, later["number"].to_numpy()))))
        found = later.group_by("bin").agg(share=pl.col("is_back").mean(), who=pl.col("customer").n_unique())
        known = {bin_: share for bin_, share, who in found.iter_rows() if who >= self.least}
        made, last = np.zeros(len(EDGES) - 1), 0.0
        for at in range(len(made)):
            made[at] = last = known.get(at, last)
        return made

    def _season(self, weights: Floats, months: Floats, first: int) -> Floats:
        """Return how much likelier each item is in each month: its share of the baskets there, by that of all months.

        Months in which too few customers bought it have what is left of it, by how many baskets they have.
        """
        cells = self.items.group_by("code", "month").agg(n=pl.len(), who=pl.col("customer").n_unique())
        cells = cells.filter(pl.col("who") >= self.least)
        kept = np.zeros((len(weights), len(months)))
        kept[cells["code"].to_numpy(), cells["month"].to_numpy() - first] = cells["n"].to_numpy()
        share = shares_of(months)
        open_share = np.where(kept > 0, 0, share)
        left = (weights - kept.sum(axis=1)) / np.maximum(open_share.sum(axis=1), 1e-300)
        likelier: Floats = (kept + left[:, None] * open_share) / (weights[:, None] * np.maximum(share, 1e-300))
        return likelier

    def pairs(self) -> Matrix:
        """Count the baskets that hold both of two items, of pairs that enough customers have."""
        from scipy import sparse

        n = len(self.names)
        baskets, who = (sparse.csr_array((n, n)) for _ in range(2))
        for customer, first, second in self._pair_blocks():
            each = pl.DataFrame({"customer": customer, "cell": first * np.int64(n) + second})
            counted = each.group_by("cell").agg(n=pl.len(), who=pl.col("customer").n_unique()).sort("cell")
            place = np.divmod(counted["cell"].to_numpy(), n)
            baskets, who = (
                sum_ + sparse.csr_array((counted[name].to_numpy().astype(np.float64), place), shape=(n, n))
                for sum_, name in ((baskets, "n"), (who, "who"))
            )
        kept = sparse.csr_array(baskets.multiply(who >= self.least))
        kept.eliminate_zeros()
        kept.sort_indices()
        return kept

    def n_pairs(self) -> float:
        """Count all pairs of items in baskets, both ways, those of too few customers, too."""
        size = np.bincount(self.items["basket"].to_numpy()).astype(np.float64)
        return float((size * (size - 1)).sum())

    def _pair_blocks(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Return the pairs of some customers after those of others: customer, and both items."""
        luck = pl.Series(np.random.default_rng(0).random(self.items.height))
        some = self.items.with_columns(luck=luck)
        some = some.filter(pl.col("luck").rank("ordinal").over("basket") <= LARGEST_BASKET).sort("basket", "code")
        basket, item, customer = (some[name].to_numpy().astype(np.int64) for name in ("basket", "code", "customer"))
        start = np.searchsorted(basket, basket)
        size = np.searchsorted(basket, basket, side="right") - start
        for part in _blocks(customer, size - 1):
            n = size[part]
            row = np.repeat(np.arange(part.start, part.stop), n)
            other = np.repeat(start[part], n) + np.arange(len(row)) - np.repeat(np.cumsum(n) - n, n)
            row, other = row[other != row], other[other != row]
            yield customer[row], item[row], item[other]

    def _prices(self) -> ItemValues:
        """Count the prices of each item; those of too few customers become the mean of all of the item's rows."""
        rows = self.rows.drop_nulls("price").select("code", "customer", value="price")
        exact, rest = self._exact(rows)
        means = rows.group_by("code").agg(low=pl.col("value").mean().round(CENTS))
        rest = rest.group_by("code").agg(weight=pl.len()).join(means, on="code")
        return self._values([exact, rest.with_columns(high="low")])

    def _quantities(self) -> ItemValues:
        """Count the quantities of each item; those of too few customers by the bins of the item, then of all items."""
        rows = self.rows.drop_nulls("quantity").select("code", "customer", value=pl.col("quantity").cast(pl.Float64))
        exact, rest = self._exact(rows)
        rest = rest.filter(pl.col("value") >= 1)
        rest = rest.with_columns(bin=pl.Series(bins_of(rest["value"].to_numpy())))
        who = pl.col("customer").n_unique().over("code", "bin")
        own = rest.filter(who >= self.least).group_by("code", "bin").agg(weight=pl.len())
        tops = self._tops(rows.filter(pl.col("value") >= 1), "value")
        anybody = pl.DataFrame({"bin": np.flatnonzero(tops), "share": shares_of(tops[tops > 0])})
        others = rest.filter(who < self.least).group_by("code").agg(n=pl.len()).join(anybody, how="cross")
        others = others.select("code", "bin", weight=pl.col("n") * pl.col("share"))
        ranges = [
            one.select(
                "code",
                low=pl.Series(EDGES.astype(np.float64)).gather(one["bin"]),
                high=pl.Series(EDGES.astype(np.float64)).gather(one["bin"] + 1),
                weight=pl.col("weight").cast(pl.Float64),
            )
            for one in (own, others)
        ]
        return self._values([exact, *ranges])

    def _exact(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the values of each item that enough customers have, and the rows with others."""
        is_common = pl.col("customer").n_unique().over("code", "value") >= self.least
        rows = rows.with_columns(is_common=is_common)
        exact = rows.filter("is_common").group_by("code", "value").agg(weight=pl.len())
        return exact.select("code", "weight", low="value", high="value"), rows.filter(~pl.col("is_common"))

    def _values(self, parts: Iterable[pl.DataFrame]) -> ItemValues:
        """Put the cells of all items together; an item without any has those of all together."""
        kinds = {"code": pl.Int64, "low": pl.Float64, "high": pl.Float64, "weight": pl.Float64}
        cells = pl.concat([one.select(pl.col(name).cast(kind) for name, kind in kinds.items()) for one in parts])
        return ItemValues.of(cells, len(self.names))


def _blocks(customer: Ints, n_pairs: Ints) -> Iterator[slice]:
    """Cut rows into the rows of some customers each, with at most so many pairs unless one customer has more."""
    starts = np.flatnonzero(np.append(True, customer[1:] != customer[:-1])) if len(customer) else np.zeros(0, int)
    sums = np.concatenate([[0], np.cumsum(n_pairs)])
    first = 0
    for start, end in zip(starts, [*starts[1:], len(customer)], strict=True):
        if sums[end] - sums[first] > PAIRS_AT_ONCE and start > first:
            yield slice(first, int(start))
            first = int(start)
    if first < len(customer):
        yield slice(first, len(customer))
