"""Item–item similarity: what a shop that recommends goods by what else their buyers bought would learn.

Users × items counts V are sparse; the similarity w of two items is the cosine of their columns. V holds whole numbers
and so do its products, which are therefore exact: neither the order of rows nor that of users can change a digit of the
result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from typing import Literal

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.score import NORMAL_95, Score
from tokumei.core.seeds import generator
from tokumei.engines.history_rows import Cells, Floats, HistoryRows, Ints, Matrix
from tokumei.measures.registry import EngineUtility
from tokumei.measures.utility.purchases import top_items

# What a user's total quantity of an item counts as.
Weigh = Callable[[Ints], Ints]

DOZEN = 12
# How many items the evaluation of PWSCUP 2018 took for the top.
TOP = 100
# Rows of the item–item matrix held at once: a block of both matrices stays within a few dozen megabytes.
BLOCK_ITEMS = 256
# Products of items that are held at once where users come in parts.
MOST_PRODUCTS = 8_000_000
SAMPLE_HELP = "Items drawn at random whose similarities estimate the distance, with its interval; 0 compares all."


def in_dozens(total: Ints) -> Ints:
    """Count whole dozens; none of what was given back in the end."""
    return np.maximum(total, 0) // DOZEN


def below_a_dozen(total: Ints) -> Ints:
    """Count pieces where there are fewer than twelve; none of what was given back in the end."""
    return np.where(total < DOZEN, np.maximum(total, 0), 0)


def is_bought(total: Ints) -> Ints:
    """Count 1, however many were bought."""
    return np.ones_like(total)


def as_it_is(total: Ints) -> Ints:
    """Count all, however many; none of what was given back in the end."""
    return np.maximum(total, 0)


@dataclass(frozen=True)
class ItemCf(EngineUtility):
    """Distance of the item–item similarities, nothing cut off: 0 if the same, 1 if lost (ut-ItemCF of PWSCUP 2017).

    The measure as the paper defines it (section 3.6.1), of which the contest took three variants. What a user bought of
    an item counts as often as it was bought, however many pieces at a time; two items are as similar as the cosine of
    their users' counts. The distance is Σ|w − w′| / Σw over the cells of the matrix with w > 0, and at most 1. In a
    release a user is a pseudonym. The paper's cells include those of an item and itself, where w is 1, and w′ is 1
    unless the item is gone; the organizers' variants leave these out.

    Example: A bought x twice and y once, B bought y once; w of x and y is (2·1) / (2·√2) = .7071. The release has all
    but B's row, so that w′ = 1. Of the four cells two moved by .2929: 2·.2929 / (2 + 2·.7071) = .1716.
    """

    count: Literal["purchases", "pieces"] = field(
        default="purchases", metadata={"help": "What is counted: purchases (rows) or pieces (their quantities)."}
    )
    diagonal: bool = field(default=True, metadata={"help": "Whether the cell of an item and itself counts."})

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the similarities of both."""
        return score_item_cf(
            "item-cf",
            original,
            released,
            as_it_is,
            counts_rows=self.count == "purchases",
            diagonal=self.diagonal,
        )

    def check_options(self) -> None:
        """Refuse what cannot be counted."""
        if self.count not in ("purchases", "pieces"):
            raise InputError.of("purchases or pieces", option="count", value=self.count)


@dataclass(frozen=True)
class ItemCfSupply(EngineUtility):
    """Distance of the item–item similarities of a wholesaler: 0 if the same, 1 if lost (E1 of PWSCUP 2017).

    What a user bought of an item counts in whole dozens, at most `most_dozens`; two items are as similar as the cosine
    of their users' counts. The distance is Σ|w − w′| / Σw over the pairs with w > 0, and at most 1. In a release a
    user is a pseudonym.
    """

    most_dozens: int = field(default=6, metadata={"help": "More dozens than these count as these."})
    sample: int = field(default=0, metadata={"help": SAMPLE_HELP})

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the similarities of both."""
        return score_item_cf(
            "item-cf-supply",
            original,
            released,
            lambda total: np.minimum(in_dozens(total), self.most_dozens),
            sample=self.sample,
        )

    def check_options(self) -> None:
        """Refuse a number that counts nothing."""
        check_sample(self.sample)
        if self.most_dozens < 1:
            raise InputError.of("at least one dozen", option="most_dozens", value=self.most_dozens)


@dataclass(frozen=True)
class ItemCfRetail(EngineUtility):
    """Distance of the item–item similarities of a retailer: 0 if the same, 1 if lost (E2 of PWSCUP 2017).

    As for the wholesaler, but what a user bought of an item counts in pieces, and not at all from a dozen on.
    """

    sample: int = field(default=0, metadata={"help": SAMPLE_HELP})

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the similarities of both."""
        return score_item_cf("item-cf-retail", original, released, below_a_dozen, sample=self.sample)

    def check_options(self) -> None:
        """Refuse a sample that has no spread."""
        check_sample(self.sample)


@dataclass(frozen=True)
class ItemCfTop(EngineUtility):
    """Distance of the similarities of the most bought items: 0 if the same, 1 if lost (PWSCUP 2017, E3's second value).

    As for the wholesaler, but an item counts 1 for each user who bought it, and only the k items with the most buyers
    in the original are looked at.
    """

    k: int = field(default=100, metadata={"help": "How many items count as the top."})

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the similarities of both."""
        items = top_items(original, self.k)
        return score_item_cf("item-cf-top", original, released, is_bought, items, counts_rows=True)

    def check_options(self) -> None:
        """Refuse a number of items that has no pairs."""
        if self.k < 2:
            raise InputError.of("at least two items", option="k", value=self.k)


@dataclass(frozen=True)
class ItemItem(EngineUtility):
    """Distance of the item–item similarities in a use case of PWSCUP 2018: 0 if the same, 1 if lost.

    `wholesale` counts whole dozens without the upper bound of 2017, `retail` pieces below a dozen, `top` who bought
    which of the 100 items with the most buyers in the original. The paper points to 2017 for all it leaves out, so
    the distance is the same: Σ|w − w′| / Σw over the pairs with w > 0, and at most 1.
    """

    kind: Literal["wholesale", "retail", "top"] = field(
        default="wholesale", metadata={"help": "Whose matrix: wholesale, retail or top."}
    )

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the similarities of both."""
        name = f"item-item {self.kind}"
        if self.kind == "top":
            return score_item_cf(name, original, released, is_bought, top_items(original, TOP), counts_rows=True)
        return score_item_cf(name, original, released, {"wholesale": in_dozens, "retail": below_a_dozen}[self.kind])


def score_item_cf(
    name: str,
    original: HistoryRows,
    released: HistoryRows,
    weigh: Weigh,
    items: list[str] | None = None,
    *,
    counts_rows: bool = False,
    diagonal: bool = False,
    sample: int = 0,
) -> Score:
    """Compare the similarities of both: Σ|w − w′| / Σw over the pairs similar in the original, at most 1.

    `items` are all of the original where not given; items that only the release has are left out. Where no two items
    are similar in the original nothing can be lost, and the score is 0. With `counts_rows` a row counts 1, whatever
    its quantity; with `diagonal` an item and itself are a pair, too. With `sample` the distance is estimated by so
    many items and all that each is similar to, where there are more.
    """
    listed = original.items if items is None else pl.Series(items, dtype=pl.String)
    cells = [one.cells(["customer"], listed, counts_rows=counts_rows) for one in (original, released)]
    sides = [_UserItems(one.n_parts, partial(_weighed, one, weigh)) for one in cells]
    squares = [one.squares() for one in sides]
    # An item that counts for nobody is similar to none in the original, so its pairs are never compared.
    used = np.flatnonzero(squares[0])
    before, after = (one.of_items(used) for one in sides)
    scales = [inverse_norms(one[used]) for one in squares]
    if 0 < sample < len(used):
        value, interval = sampled_distance(before, after, scales[0], scales[1], sample)
        return Score(name, value, best=0, worst=1, interval=interval, inputs={"items": len(used), "drawn": sample})
    return Score(name, distance(before.products, after.products, *scales, diagonal=diagonal), best=0, worst=1)


def _weighed(cells: Cells, weigh: Weigh, part: int) -> Matrix:
    """Return what each user of a part counts for each item."""
    totals = cells.part(part)
    counts = sparse.csr_array(
        (weigh(totals.data).astype(np.float64), totals.indices, totals.indptr), shape=totals.shape
    )
    counts.eliminate_zeros()
    return counts


class _UserItems:
    """What users count for items, part by part of the users; the products of all are the sum of those of the parts."""

    def __init__(self, n_parts: int, part: Callable[[int], Matrix]) -> None:
        self.n_parts, self.part = n_parts, part if n_parts > 1 else cache(part)
        # The products of some items with all from the first of them on.
        self.panel, self.start, self.n_ready = sparse.csr_array((0, 0)), 0, 0

    def of_items(self, used: Ints) -> _UserItems:
        """Return the same for some of the items."""
        return _UserItems(self.n_parts, lambda part: self.part(part)[:, used])

    def squares(self) -> Floats:
        """Sum the squares of each item's column."""
        parts = map(self.part, range(self.n_parts))
        of_parts = (np.bincount(one.indices, one.data * one.data, minlength=one.shape[1]) for one in parts)
        squares: Floats = reduce(operator.add, of_parts).astype(np.float64)
        return squares

    def sums(self, of_items: Floats) -> Floats:
        """Multiply each item's column with the sum of all columns, each times a number."""
        parts = map(self.part, range(self.n_parts))
        sums: Floats = reduce(operator.add, (one.T @ (one @ of_items) for one in parts))
        return sums

    def products_of(self, some: Ints) -> Matrix:
        """Multiply the columns of some items (rows of the result) with all (its columns)."""
        parts = map(self.part, range(self.n_parts))
        return reduce(operator.add, (one[:, some].T.tocsr() @ one for one in parts))

    def products(self, start: int) -> Matrix:
        """Multiply the columns of the block from `start` (rows of the result) with all from there on (its columns)."""
        if not self.start <= start < self.start + self.n_ready:
            later = (self.part(part)[:, start:] for part in range(self.n_parts))
            # Of parts, which are read anew each time, several blocks at once.
            blocks = 1 if self.n_parts == 1 else max(1, MOST_PRODUCTS // (self.part(0).shape[1] - start) // BLOCK_ITEMS)
            self.start, self.n_ready = start, blocks * BLOCK_ITEMS
            self.panel = reduce(operator.add, (counts[:, : self.n_ready].T.tocsr() @ counts for counts in later))
        top = start - self.start
        return self.panel[top : top + BLOCK_ITEMS, top:] if self.n_ready > BLOCK_ITEMS else self.panel


def distance(
    products: Callable[[int], Matrix],
    products_after: Callable[[int], Matrix],
    scale: Floats,
    scale_after: Floats,
    *,
    diagonal: bool,
) -> float:
    """Compare similarities: Σ|w − w′| / Σw, of products of columns that come in blocks of items.

    Every item counts for somebody in the original; with `diagonal` an item and itself are a pair, too.
    """
    n_items = len(scale)
    moved = total = 0.0
    for start in range(0, n_items, BLOCK_ITEMS):
        was: Floats = products(start).toarray()
        n_rows = len(was)
        was *= scale[start : start + n_rows, None]
        was *= scale[start:]
        # Both matrices are symmetric, so a pair counts once: where it stands right of the diagonal.
        was[:, :n_rows] = np.triu(was[:, :n_rows], 1)
        total += float(was.sum())

        now = products_after(start)
        row = np.repeat(np.arange(n_rows), np.diff(now.indptr))
        cosines = now.data * scale_after[start + row] * scale_after[start + now.indices]
        cells, at = was.ravel(), row * was.shape[1] + now.indices
        # Cells that the release does not fill differ by all they were, and stay as they are.
        cells[at] = np.where(cells[at] > 0, np.abs(cells[at] - cosines), 0)
        moved += float(was.sum())
    if diagonal:
        # All other pairs stand in two cells of the matrix. An item is like itself unless it is gone.
        total, moved = 2 * total + n_items, 2 * moved + int((scale_after == 0).sum())
    return min(1.0, moved / total) if total else 0.0


def sampled_distance(
    before: _UserItems, after: _UserItems, scale: Floats, scale_after: Floats, n: int
) -> tuple[float, tuple[float, float]]:
    """Estimate Σ|w − w′| / Σw over all pairs of two items, with its interval of 95 %.

    n items are drawn, an item as often as its share of Σw says, and again the same ones of every release. Of each
    Σ|w − w′| / Σw over its own pairs is computed, whose mean is right on average.
    """
    weights = np.maximum(0.0, scale * before.sums(scale) - 1)
    if not weights.sum() > 0:
        return 0.0, (0.0, 0.0)
    drawn = generator(1, "item-cf", "sample").choice(len(scale), n, p=weights / weights.sum())
    some, n_times = np.unique(drawn, return_counts=True)
    was, now = (
        _cosines(side.products_of(some), some, factor) for side, factor in ((before, scale), (after, scale_after))
    )
    moved = (was - now.multiply(was.sign())).tocsr()
    shares = _row_sums(moved) / _row_sums(was)
    each = np.repeat(shares, n_times)
    mean, half = float(each.mean()), NORMAL_95 * float(each.std(ddof=1)) / math.sqrt(n)
    # An item may lose more than all, where it is more like others than it was.
    low, value, high = (min(1.0, max(0.0, one)) for one in (mean - half, mean, mean + half))
    return value, (low, high)


def _cosines(products: Matrix, some: Ints, scale: Floats) -> Matrix:
    """Scale the products of some items with all; of an item with itself nothing is left."""
    row = np.repeat(np.arange(len(some)), np.diff(products.indptr))
    data = products.data * scale[some[row]] * scale[products.indices]
    data[products.indices == some[row]] = 0
    cosines: Matrix = sparse.csr_array((data, products.indices, products.indptr), products.shape)
    return cosines


def _row_sums(matrix: Matrix) -> Floats:
    """Add up the sizes of the cells of each row."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    sums: Floats = np.bincount(row, np.abs(matrix.data), minlength=matrix.shape[0]).astype(np.float64)
    return sums


def check_sample(sample: int) -> None:
    """Refuse a sample that has no spread."""
    if sample < 0 or sample == 1:
        raise InputError.of("two items or more, or 0 for all", option="sample", value=sample)


def inverse_norms(squares: Floats) -> Floats:
    """Return 1 / the length of each item's column, and 0 for an empty one."""
    norms = np.sqrt(squares)
    return np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
