"""Item–item similarity: what a shop that recommends goods by what else their buyers bought would learn.

Users × items counts V are sparse; the similarity w of two items is the cosine of their columns. V holds whole numbers
and so do its products, which are therefore exact: neither the order of rows nor that of users can change a digit of the
result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.engines.history_rows import rows_of
from tokumei.measures.utility.purchases import top_items

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Matrix = sparse.csr_array[Any, tuple[int, int]]

# What a user's total quantity of an item counts as.
Weigh = Callable[[Ints], Ints]

DOZEN = 12
# How many items the evaluation of PWSCUP 2018 took for the top.
TOP = 100
# Rows of the item–item matrix held at once: a block of both matrices stays within a few dozen megabytes.
BLOCK_ITEMS = 256


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
class ItemCf:
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

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        self.check_options()
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
class ItemCfSupply:
    """Distance of the item–item similarities of a wholesaler: 0 if the same, 1 if lost (E1 of PWSCUP 2017).

    What a user bought of an item counts in whole dozens, at most `most_dozens`; two items are as similar as the cosine
    of their users' counts. The distance is Σ|w − w′| / Σw over the pairs with w > 0, and at most 1. In a release a
    user is a pseudonym.
    """

    most_dozens: int = field(default=6, metadata={"help": "More dozens than these count as these."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        self.check_options()
        return score_item_cf(
            "item-cf-supply", original, released, lambda total: np.minimum(in_dozens(total), self.most_dozens)
        )

    def check_options(self) -> None:
        """Refuse a number that counts nothing."""
        if self.most_dozens < 1:
            raise InputError.of("at least one dozen", option="most_dozens", value=self.most_dozens)


@dataclass(frozen=True)
class ItemCfRetail:
    """Distance of the item–item similarities of a retailer: 0 if the same, 1 if lost (E2 of PWSCUP 2017).

    As for the wholesaler, but what a user bought of an item counts in pieces, and not at all from a dozen on.
    """

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        return score_item_cf("item-cf-retail", original, released, below_a_dozen)


@dataclass(frozen=True)
class ItemCfTop:
    """Distance of the similarities of the most bought items: 0 if the same, 1 if lost (PWSCUP 2017, E3's second value).

    As for the wholesaler, but an item counts 1 for each user who bought it, and only the k items with the most buyers
    in the original are looked at.
    """

    k: int = field(default=100, metadata={"help": "How many items count as the top."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        self.check_options()
        return score_item_cf("item-cf-top", original, released, is_bought, top_items(rows_of(original), self.k))

    def check_options(self) -> None:
        """Refuse a number of items that has no pairs."""
        if self.k < 2:
            raise InputError.of("at least two items", option="k", value=self.k)


@dataclass(frozen=True)
class ItemItem:
    """Distance of the item–item similarities in a use case of PWSCUP 2018: 0 if the same, 1 if lost.

    `wholesale` counts whole dozens without the upper bound of 2017, `retail` pieces below a dozen, `top` who bought
    which of the 100 items with the most buyers in the original. The paper points to 2017 for all it leaves out, so
    the distance is the same: Σ|w − w′| / Σw over the pairs with w > 0, and at most 1.
    """

    kind: Literal["wholesale", "retail", "top"] = field(
        default="wholesale", metadata={"help": "Whose matrix: wholesale, retail or top."}
    )

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        items = top_items(rows_of(original), TOP) if self.kind == "top" else None
        return score_item_cf(f"item-item {self.kind}", original, released, self.weigh, items)

    @property
    def weigh(self) -> Weigh:
        """What a user's total of an item counts as."""
        return {"wholesale": in_dozens, "retail": below_a_dozen, "top": is_bought}[self.kind]


def score_item_cf(
    name: str,
    original: History,
    released: History,
    weigh: Weigh,
    items: list[str] | None = None,
    *,
    counts_rows: bool = False,
    diagonal: bool = False,
) -> Score:
    """Compare the similarities of both: Σ|w − w′| / Σw over the pairs similar in the original, at most 1.

    `items` are all of the original where not given; items that only the release has are left out. Where no two items
    are similar in the original nothing can be lost, and the score is 0. With `counts_rows` a row counts 1, whatever
    its quantity; with `diagonal` an item and itself are a pair, too.
    """
    listed = original.kept["item"].unique().sort() if items is None else pl.Series(items, dtype=pl.String)
    before, after = (user_items(one, listed, weigh, counts_rows=counts_rows) for one in (original, released))
    # An item that counts for nobody is similar to none in the original, so its pairs are never compared.
    used = np.flatnonzero(_squares(before))
    return Score(name, _distance(before[:, used], after[:, used], diagonal=diagonal), best=0, worst=1)


def user_items(history: History, items: pl.Series, weigh: Weigh, *, counts_rows: bool = False) -> Matrix:
    """Sum up what each user bought of each of the items, in pieces or in rows, and weigh the sums."""
    kept = history.kept
    users = pl.Enum(kept["customer"].unique())
    rows = kept["customer"].cast(users).to_physical().to_numpy()
    columns = kept["item"].cast(pl.Enum(items), strict=False).to_physical()
    is_listed = columns.is_not_null().to_numpy()
    cells = rows[is_listed].astype(np.int32), columns.drop_nulls().to_numpy().astype(np.int32)
    shape = (len(users.categories), len(items))
    # Making rows of loose cells adds up those of one user and item, several times faster than a group-by.
    amounts = np.ones(len(is_listed), np.int64) if counts_rows else kept["quantity"].to_numpy()
    totals = sparse.coo_array((amounts[is_listed], cells), shape=shape).tocsr()
    weights = weigh(totals.data).astype(np.float64)
    counts = sparse.csr_array((weights, totals.indices, totals.indptr), shape=shape)
    counts.eliminate_zeros()
    return counts


def _distance(before: Matrix, after: Matrix, *, diagonal: bool) -> float:
    norms = inverse_norms(_squares(before)), inverse_norms(_squares(after))
    products = partial(_products, before), partial(_products, after)
    return distance(before.shape[1], *norms, *products, diagonal=diagonal)


def distance(
    n_items: int,
    scale: Floats,
    scale_after: Floats,
    products: Callable[[int], Matrix],
    products_after: Callable[[int], Matrix],
    *,
    diagonal: bool = False,
) -> float:
    """Compare similarities: Σ|w − w′| / Σw, of products of columns that come in blocks of items.

    Every item counts for somebody in the original; with `diagonal` an item and itself are a pair, too.
    """
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


def _products(counts: Matrix, start: int) -> Matrix:
    """Multiply the columns of the block from `start` (rows of the result) with all from `start` on (its columns)."""
    later = counts[:, start:]
    products: Matrix = later[:, :BLOCK_ITEMS].T.tocsr() @ later
    return products


def inverse_norms(squares: Floats) -> Floats:
    """Return 1 / the length of each item's column, and 0 for an empty one."""
    norms = np.sqrt(squares)
    return np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)


def _squares(counts: Matrix) -> Floats:
    """Sum the squares of each item's column."""
    squares: Floats = np.bincount(counts.indices, counts.data * counts.data, minlength=counts.shape[1]).astype(
        np.float64
    )
    return squares
