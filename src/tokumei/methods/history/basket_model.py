"""A model of how customers buy over time, from which baskets of nobody are drawn.

A customer has a number of baskets; each falls on a day by the season, has a number of items, and is filled item by
item: with one that the customer had bought before, or any, and with those that it brings along. Items have their prices
and quantities. Methods differ in how they count, not in how they draw.
"""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.engines.item_sets import Floats, Ints, Matrix

# Numbers of baskets, items and pieces are counted in bins that grow by √2: 1, 2, 3, 4–5, 6–7, 8–10, 11–15, …
EDGES: Ints = np.unique(np.round(2 ** (np.arange(0, 48) / 2))).astype(np.int64)
WEEKDAYS, HOURS = 7, 24
# So many cells tell at once which customer has which item: customers are drawn in blocks of so many.
BLOCK_CELLS = 16_000_000
# A basket that cannot be filled in so many more turns than it has items is left smaller.
MORE_TURNS = 30
# Days that were drawn twice for a customer are drawn again so often, and then are one basket.
DAY_TURNS = 3
# Deviations above what chance explains, from which on two items go together; how surely at most; and how many others
# an item brings along at most.
DEVIATIONS, MOST_TOGETHER, MOST_BROUGHT = 3, 0.99, 2.5
# Of the baskets that have an item, the share where it comes by itself is at least this.
LEAST_ALONE = 0.1
# Baskets that are drawn to see how often things come, and how often that is done.
MOST_TRIALS, ROUNDS = 10_000, 6


def bins_of(values: npt.ArrayLike) -> Ints:
    """Return the bin of each number from 1 on: 0 for 1, 3 for 4 and 5."""
    found: Ints = np.searchsorted(EDGES, np.asarray(values), side="right") - 1
    return np.minimum(found, len(EDGES) - 2)


def drawn_of_bins(bins: Ints, random: np.random.Generator) -> Ints:
    """Draw a number of each bin, with a chance that falls as 1 / number does.

    A number below x of the bin from a to b has the chance log(x / a) / log(b / a) for real numbers; they are rounded
    down.
    """
    low, high = EDGES[bins].astype(np.float64), EDGES[bins + 1].astype(np.float64)
    return np.floor(low * (high / low) ** random.random(len(bins))).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ItemValues:
    """What each item's rows may have in a column: values or ranges, each with its weight.

    Cells are in the order of their items; those of item i are first[i] to first[i + 1].
    """

    first: Ints
    low: Floats
    high: Floats
    weight: Floats

    @classmethod
    def of(cls, cells: pl.DataFrame, n_items: int) -> ItemValues:
        """Make it of rows of code, low, high and weight; an item without any has a cell of each that others have."""
        cells = cells.filter(pl.col("weight") > 0)
        lacking = pl.Series("code", np.setdiff1d(np.arange(n_items), cells["code"].unique().to_numpy()))
        if len(lacking):
            anybody = cells.group_by("low", "high").agg(pl.col("weight").sum())
            cells = pl.concat([cells, lacking.to_frame().join(anybody, how="cross").select(cells.columns)])
        cells = cells.sort("code", "low", "high")
        first = np.searchsorted(cells["code"].to_numpy(), np.arange(n_items + 1))
        return cls(first, *(cells[name].cast(pl.Float64).to_numpy() for name in ("low", "high", "weight")))

    @cached_property
    def _sums(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.weight)])

    def draw(self, items: Ints, decimals: int, random: np.random.Generator) -> Floats:
        """Draw a value for each row of an item; in a range with a chance that falls as 1 / value does."""
        start, end = self._sums[self.first[items]], self._sums[self.first[items + 1]]
        at = np.searchsorted(self._sums, start + random.random(len(items)) * (end - start), side="right") - 1
        at = np.clip(at, self.first[items], self.first[items + 1] - 1)
        low, high = self.low[at], self.high[at]
        value, is_range = low.copy(), high > low
        low, high = low[is_range], high[is_range]
        drawn = low * (high / low) ** random.random(len(low))
        value[is_range] = np.round(np.floor(drawn * 10**decimals + 1e-9) / 10**decimals, decimals)
        return value


@dataclass(frozen=True, eq=False)
class BasketModel:
    """Weights of everything that is drawn; only their proportions count.

    baskets, sizes: by the bins of `EDGES`. months: by month from `first_month` on, counted as in `History.period`.
    returns: by the bin of how many baskets a customer had before, the chance that an item is one of those. items: how
    likely each is to be put into a basket by itself. brings: how many of each other item an item brings along on
    average. season: how much likelier an item is in each month, items × months, if known.
    """

    names: pl.Series
    baskets: Floats
    sizes: Floats
    first_month: int
    months: Floats
    weekdays: Floats
    hours: Floats | None
    returns: Floats
    items: Floats
    brings: Matrix
    season: Floats | None
    prices: ItemValues | None
    quantities: ItemValues | None
    decimals: int = 2

    def draw(self, n_customers: int, random: np.random.Generator, columns: Sequence[str]) -> pl.DataFrame:
        """Draw the purchases of so many customers in order of time; `columns` are those that the history has."""
        n_baskets = drawn_of_bins(_drawn(self.baskets, n_customers, random), random)
        at_once = max(1, BLOCK_CELLS // max(1, len(self.names)))
        blocks = [
            self._block(first, n_baskets[first : first + at_once], random, columns)
            for first in range(0, n_customers, at_once)
        ]
        return pl.concat(blocks).sort("date", *(["time"] if "time" in columns else []), "basket", maintain_order=True)

    def calibrated(self, counts: Floats, pairs: Matrix, seed: int) -> BasketModel:
        """Return a model whose items and pairs come as often as they were counted, by drawing baskets and comparing.

        counts, pairs: of the baskets with each item, and with both of two. In each round what came too seldom, beside
        all items, is made likelier: by the root of its factor, from a half to two.
        """
        from scipy import sparse

        model, both = self, _places(self.brings)
        wanted = _cells(pairs, *both)
        n = max(100, min(MOST_TRIALS, BLOCK_CELLS // len(counts)))
        for turn in range(ROUNDS):
            random = generator(seed, "calibrating", turn)
            size = drawn_of_bins(_drawn(self.sizes, n, random), random)
            month = _drawn(self.months, n, random)
            basket, item = Filling(model, n, random).fill(np.arange(n), np.zeros(n, np.int64), month, size)
            cells = sparse.csc_array((np.ones(len(item)), (basket, item)), shape=(n, len(counts)))
            came: Floats = np.asarray(cells.sum(axis=0)).ravel()
            scale = came.sum() / max(counts.sum(), 1e-300)
            items = model.items * _factor(counts * scale, came)
            met = _cells(sparse.csr_array(cells.T @ cells), *both)
            rates = model.brings.copy()
            rates.data = rates.data * _factor(wanted * scale, met)
            model = replace(model, items=items, brings=rates)
        return model

    def _block(self, first: int, n_baskets: Ints, random: np.random.Generator, columns: Sequence[str]) -> pl.DataFrame:
        """Draw some customers: their days, then items basket after basket, then what items bring along."""
        customer = np.repeat(np.arange(len(n_baskets)), n_baskets)
        day = self._days(customer, random)
        order = np.lexsort((day, customer))
        day = day[order]
        month = _month_of(day) - self.first_month
        nth = np.arange(len(customer)) - np.repeat(np.cumsum(n_baskets) - n_baskets, n_baskets)
        size = drawn_of_bins(_drawn(self.sizes, len(customer), random), random)
        basket, item = Filling(self, len(n_baskets), random).fill(customer, nth, month, size)
        frame = {
            "customer": pl.Series(first + customer[basket]),
            "basket": pl.Series((np.int64(first) << 32) + basket),
            "date": pl.Series(day[basket].astype(np.int32)).cast(pl.Date),
        }
        if "time" in columns:
            hours = np.ones(HOURS) if self.hours is None else self.hours
            seconds = _drawn(hours, len(customer), random) * 3600 + random.integers(60, size=len(customer)) * 60
            frame["time"] = pl.Series(seconds[basket] * 1_000_000_000).cast(pl.Time)
        if "item" in columns:
            frame["item"] = self.names.gather(item)
        if self.prices is not None:
            frame["price"] = pl.Series(self.prices.draw(item, self.decimals, random))
        if self.quantities is not None:
            frame["quantity"] = pl.Series(self.quantities.draw(item, 0, random).astype(np.int64))
        return pl.DataFrame(frame)

    def _days(self, customer: Ints, random: np.random.Generator) -> Ints:
        """Draw a day for each basket, days since 1970, few of them twice for a customer."""
        days, weights = self._calendar
        found = days[_drawn(weights, len(customer), random)]
        for _ in range(DAY_TURNS):
            key = customer * np.int64(2**32) + found
            order = np.argsort(key, kind="stable")
            again = order[1:][key[order][1:] == key[order][:-1]]
            found[again] = days[_drawn(weights, len(again), random)]
        return found

    @cached_property
    def _calendar(self) -> tuple[Ints, Floats]:
        """All days of the months, each with the weight of its month and weekday."""
        days, weights = [], []
        for at, share in enumerate(self.months):
            year, month = divmod(self.first_month + at, 12)
            start = dt.date(year, month + 1, 1)
            numbers = (start - dt.date(1970, 1, 1)).days + np.arange(calendar.monthrange(year, month + 1)[1])
            # The first of January 1970 was a Thursday.
            of_day = self.weekdays[(numbers + 3) % WEEKDAYS]
            days.append(numbers)
            weights.append(share * of_day / max(of_day.sum(), 1e-300))
        return np.concatenate(days).astype(np.int64), np.concatenate(weights)


class Filling:
    """The baskets of some customers while they are filled."""

    def __init__(self, model: BasketModel, n_customers: int, random: np.random.Generator) -> None:
        self.model, self.random = model, random
        # In which basket a customer last had an item, counted from 1.
        self.last = np.zeros((n_customers, len(model.names)), np.int32)
        self.n_brought: Floats = np.asarray(model.brings.sum(axis=1)).ravel()
        self.sums = np.concatenate([[0.0], np.cumsum(model.brings.data)])

    def fill(self, customer: Ints, nth: Ints, month: Ints, size: Ints) -> tuple[Ints, Ints]:
        """Fill baskets, which are in the order of their customers; return the basket and the item of each row."""
        had = [np.zeros(0, np.int64)] * len(self.last)
        rows: list[tuple[Ints, Ints]] = []
        for number in range(int(nth.max(initial=-1)) + 1):
            baskets = np.flatnonzero(nth == number)
            at, item = self._fill_some(customer[baskets], number, month[baskets], size[baskets], had)
            rows.append((baskets[at], item))
            ends = np.searchsorted(at, np.arange(len(baskets) + 1))
            for place, who in enumerate(customer[baskets]):
                had[who] = np.union1d(had[who], item[ends[place] : ends[place + 1]])
        basket, item = (np.concatenate(part) for part in zip(*rows, strict=True))
        order = np.argsort(basket, kind="stable")
        return basket[order], item[order]

    def _fill_some(self, customer: Ints, number: int, month: Ints, size: Ints, had: list[Ints]) -> tuple[Ints, Ints]:
        """Fill one basket of each of some customers: in each turn every open one gets an item, and what that brings."""
        room = np.minimum(size, len(self.model.names))
        n_had = np.array([len(had[who]) for who in customer], np.int64)
        earlier = np.concatenate([had[who] for who in customer])
        first_had = np.cumsum(n_had) - n_had
        returns = self.model.returns[bins_of(max(1, number))] if number else 0.0
        rows: list[tuple[Ints, Ints]] = []
        for _ in range(int(room.max(initial=0)) + MORE_TURNS):
            at = np.flatnonzero(room > 0)
            if not len(at):
                break
            item = self._any(month[at])
            back = np.flatnonzero((self.random.random(len(at)) < returns) & (n_had[at] > 0))
            which = (self.random.random(len(back)) * n_had[at[back]]).astype(np.int64)
            item[back] = earlier[first_had[at[back]] + which]
            while len(at):
                at, item = self._take(at, item, customer, number + 1, room)
                rows.append((at, item))
                at, item = self._brought(at, item)
        at, item = (np.concatenate(part) for part in zip(*rows, strict=True))
        order = np.argsort(at, kind="stable")
        return at[order], item[order]

    def _take(self, at: Ints, item: Ints, customer: Ints, number: int, room: Ints) -> tuple[Ints, Ints]:
        """Put items into baskets that have room and lack them; return those that were put."""
        is_new = self.last[customer[at], item] != number
        cells = np.unique(at[is_new] * np.int64(len(self.model.names)) + item[is_new])
        cells = cells[self.random.permutation(len(cells))]
        at, item = np.divmod(cells, len(self.model.names))
        order = np.argsort(at, kind="stable")
        at, item = at[order], item[order]
        place = np.arange(len(at)) - np.searchsorted(at, at)
        fits = place < room[at]
        at, item = at[fits], item[fits]
        self.last[customer[at], item] = number
        np.subtract.at(room, at, 1)
        return at, item

    def _any(self, month: Ints) -> Ints:
        """Draw an item for each basket, as likely as items are in its month."""
        item = np.empty(len(month), np.int64)
        for one in np.unique(month):
            here = month == one
            season = 1.0 if self.model.season is None else self.model.season[:, one]
            item[here] = _drawn(self.model.items * season, int(here.sum()), self.random)
        return item

    def _brought(self, at: Ints, item: Ints) -> tuple[Ints, Ints]:
        """Draw what items bring along: of each pair a number with the mean of its rate (Poisson)."""
        n = self.random.poisson(self.n_brought[item])
        at, item = np.repeat(at, n), np.repeat(item, n)
        first, end = self.model.brings.indptr[item], self.model.brings.indptr[item + 1]
        aim = self.sums[first] + self.random.random(len(item)) * (self.sums[end] - self.sums[first])
        place = np.clip(np.searchsorted(self.sums, aim, side="right") - 1, first, end - 1)
        return at, self.model.brings.indices[place].astype(np.int64)


def brought_along(counts: Floats, pairs: Matrix, n_pairs: float) -> tuple[Floats, Matrix]:
    """Return how often each item comes by itself, and how many of each other item it brings along.

    counts: of the baskets with each item. pairs: with both of two, symmetric. n_pairs: of all pairs, both ways. Of
    items that are independent, in baskets of the sizes that there are, κ·c_i·c_j have both, where κ·Σ c_i·c_j over all
    pairs is n_pairs. What is more than 3 standard deviations above that is the excess e. If each of two comes in b
    baskets by itself and brings the other with chance r, then c = b + b·r baskets have it, and e = 2·b·r have both: r =
    q / (2 − q) with q = e / c. With rate −log(1 − r) on average, one or more come with chance r. Items bring the surest
    first, at most 2.5 in all, since else one of them would bring everything.

    Example: i and j are in 100 baskets each, 80 have both, and by chance 0: q = .8, r = .667, and b = 60.
    """
    from scipy import sparse

    total = counts.sum() ** 2 - (counts**2).sum()
    first, second = _places(pairs)
    expected = (n_pairs / total if total > 0 else 0.0) * counts[first] * counts[second]
    excess = _cells(pairs, first, second) - expected
    q = np.clip(excess / np.maximum(counts[first], 1e-300), 0, MOST_TOGETHER)
    rates = np.where(excess > DEVIATIONS * np.sqrt(expected), -np.log1p(-q / (2 - q)), 0)
    # The surest first; both ways or not at all.
    order = np.lexsort((second, -rates, first))
    sums = np.concatenate([[0.0], np.cumsum(rates[order])])
    is_over = sums[1:] - sums[np.searchsorted(first[order], first[order])] > MOST_BROUGHT
    rates[order[is_over]] = 0
    brings = sparse.csr_array((rates, (first, second)), shape=pairs.shape)
    brings = sparse.csr_array(brings.multiply(brings.T > 0))
    brings.eliminate_zeros()
    brings.sort_indices()
    is_brought = _cells(brings, first, second) > 0
    alone = counts - np.bincount(second[is_brought], excess[is_brought] / 2, len(counts))
    return np.maximum(alone, counts * LEAST_ALONE), brings


def _places(matrix: Matrix) -> tuple[Ints, Ints]:
    """Return where a matrix has numbers."""
    first, second = matrix.tocoo().coords
    return first.astype(np.int64), second.astype(np.int64)


def _cells(matrix: Matrix, first: Ints, second: Ints) -> Floats:
    """Return some cells of a matrix."""
    # Of no cells a sparse matrix gives a matrix.
    return np.asarray(matrix[first, second]).ravel() if len(first) else np.zeros(0)


def _drawn(weights: Floats, n: int, random: np.random.Generator) -> Ints:
    """Draw n places with chances proportional to weights; any where all are 0."""
    if not n:
        return np.zeros(0, np.int64)
    sums = np.cumsum(weights)
    if sums[-1] <= 0:
        anywhere: Ints = random.integers(len(weights), size=n)
        return anywhere
    found: Ints = np.searchsorted(sums, random.random(n) * sums[-1], side="right")
    return np.minimum(found, len(weights) - 1)


def _factor(wanted: Floats, came: Floats) -> Floats:
    """Return by what to make up for what came too seldom or too often: half of the way, since all moves together."""
    return np.sqrt(np.clip((wanted + 1) / (came + 1), 0.25, 4))


def _month_of(days: Ints) -> Ints:
    """Return the month of days since 1970, counted as in `History.period`."""
    months: Ints = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
    return months


def as_history(drawn: pl.DataFrame, original: History, prefix: str) -> pl.DataFrame:
    """Write drawn rows in the columns of a history: customers and invoices get names, absent columns are missing."""
    width = len(str(drawn["customer"].to_numpy().max(initial=0) + 1))
    customer = (drawn["customer"] + 1).cast(pl.String).str.zfill(width)
    made = {"customer": prefix + customer}
    if "invoice" not in original.absent:
        made["invoice"] = "B" + drawn["basket"].rank("dense").cast(pl.Int64).cast(pl.String)
    schema = original.frame.schema
    columns = [
        pl.Series(name, made[name])
        if name in made
        else drawn[name].cast(kind).alias(name)
        if name in drawn.columns
        else pl.Series(name, [None] * drawn.height, kind)
        for name, kind in schema.items()
    ]
    return pl.DataFrame(columns)
