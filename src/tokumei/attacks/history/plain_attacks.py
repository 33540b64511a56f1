"""Attackers who look for rows that agree exactly on a few fields, or for customers who buy most alike.

Who buys what is a sparse matrix: customers are rows, items are columns. Likenesses are computed for a block of rows at
a time, so that memory is the block's and not that of all pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.history import History, period_of
from tokumei.engines.history_rows import HistoryRows, rows_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FIELDS = ("date", "item", "price", "quantity")


class EqualRows(ABC):
    """An attack that looks for rows that agree exactly, which every engine can do."""

    def guess(self, knowledge: History | HistoryRows, published: History | HistoryRows) -> pl.DataFrame:
        """Return the pseudonym of each customer and month for which a row agrees."""
        return match_exactly(rows_of(knowledge), rows_of(published), self.compared())

    @abstractmethod
    def compared(self) -> tuple[str, ...]:
        """Return the columns that must agree."""


@dataclass(frozen=True)
class ExactMatch(EqualRows):
    """Take the pseudonym of the row that agrees with a known purchase on the named fields.

    Knowledge: some rows of the original, items cut to their first characters. Aim: the customer's pseudonym
    in each month. Where several published rows agree, the last one counts; where several known rows of a
    customer and month find someone, the last of them counts. Several customers may be given one pseudonym. With date
    and quantity this is the contest's S1, with item and price S2, item and quantity S3, date and item S4, item, price
    and quantity S5, and item, date and quantity S6.
    """

    fields: tuple[str, ...] = field(
        default=("date", "quantity"), metadata={"help": "Fields that must agree: date, item, price, quantity."}
    )

    def compared(self) -> tuple[str, ...]:
        """Return the fields; those that nobody knows are refused."""
        for name in self.fields:
            if name not in FIELDS:
                raise InputError.of(f"a field: {', '.join(FIELDS)}", option="fields", value=name)
        return self.fields


def match_exactly(knowledge: HistoryRows, published: HistoryRows, columns: tuple[str, ...]) -> pl.DataFrame:
    """Return the pseudonym of each customer and month for which a row agrees on these columns."""
    import narwhals as nw

    known, seen = (side.rows.select("row", "customer", "period", *columns) for side in (knowledge, published))
    if "quantity" in columns:
        # Those of one side may all be whole where the other has halves.
        known, seen = (side.with_columns(nw.col("quantity").cast(nw.Float64)) for side in (known, seen))
    if "item" in columns:
        longest = knowledge.collect(known.select(nw.col("item").str.len_chars().max())).item()
        seen = seen.with_columns(nw.col("item").str.slice(0, int(longest or 0)))
    last = seen.group_by(*columns).agg(last_row=nw.col("row").max())
    matched = known.join(last, on=list(columns), how="inner")
    # Both numbers in one, of which the greatest has the last known row: engines need not keep names along for that.
    n_shown = max(1, published.n_rows)
    both = matched.with_columns(both=nw.col("row") * n_shown + nw.col("last_row"))
    found = both.group_by("customer", "period").agg(nw.col("both").max())
    shown = published.rows.select("row", pseudonym=nw.col("customer"))
    named = found.with_columns(shown=nw.col("both") % n_shown).join(shown, left_on="shown", right_on="row", how="inner")
    cells = knowledge.collect(named.select("customer", "period", "pseudonym"))
    return cells.cast({"period": pl.Int32}).sort("customer", "period")


@dataclass(frozen=True)
class Named(EqualRows):
    """An attacker with a name of its own: fixed columns, no options."""

    COLUMNS: ClassVar[tuple[str, ...]] = ()

    def compared(self) -> tuple[str, ...]:
        """Return the columns that must agree."""
        return self.COLUMNS


class S1(Named):
    """Take whoever bought the same quantity on the same day for the customer (S1 of PWSCUP 2017; see exact-match)."""

    COLUMNS = ("date", "quantity")


class S2(Named):
    """Take whoever bought the same kind of item at the same price (S2 of PWSCUP 2017; see exact-match)."""

    COLUMNS = ("item", "price")


class S3(Named):
    """Take whoever bought the same kind of item in the same quantity (S3 of PWSCUP 2017; see exact-match)."""

    COLUMNS = ("item", "quantity")


class S4(Named):
    """Take whoever bought the same kind of item on the same day (S4 of PWSCUP 2017; see exact-match)."""

    COLUMNS = ("date", "item")


class S5(Named):
    """Take whoever bought the same kind, price and quantity of an item (S5 of PWSCUP 2017; see exact-match)."""

    COLUMNS = ("item", "price", "quantity")


class S6(Named):
    """Take whoever bought the same kind and quantity on the same day (S6 of PWSCUP 2017; see exact-match)."""

    COLUMNS = ("item", "date", "quantity")


class SameDay(Named):
    """Take whoever bought on the same day for the customer (see exact-match)."""

    COLUMNS = ("date",)


class SameItem(Named):
    """Take whoever bought the same item, in whatever month, for the customer (see exact-match)."""

    COLUMNS = ("item",)


class SameMonthAndItem(Named):
    """Take whoever bought the same item in the same month for the customer (see exact-match)."""

    COLUMNS = ("first", "item")


Ratios = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

# Likenesses held at once: 4 bytes each, in a few arrays.
BLOCK_CELLS = 10_000_000
TINY = 1e-30
# Settles the sets whose nearest has a similarity above 0.6.
RARE_SHARE = 0.4
MOST_CANDIDATES = 200
EACH_ONCE = "Of a month's pseudonyms for one customer, guess the most similar alone, as a contest's table needs."


@dataclass(frozen=True)
class ItemCounts:
    """How often each customer (down, in alphabetical order) bought each item (across) on two sides."""

    known_customers: pl.Series
    known: csr_array
    released_customers: pl.Series
    released: csr_array


def count_items(known: pl.DataFrame, released: pl.DataFrame) -> ItemCounts:
    """Count the items of each customer; released items are cut to as many characters as the known ones have."""
    n_characters = known.select(pl.col("item").str.len_chars().max()).item()
    ours = known.group_by("customer", "item").len()
    theirs = released.group_by("customer", pl.col("item").str.slice(0, n_characters)).len()
    items = pl.concat([ours["item"], theirs["item"]]).unique().sort()
    return ItemCounts(*_matrix(ours, items), *_matrix(theirs, items))


def _matrix(counts: pl.DataFrame, items: pl.Series) -> tuple[pl.Series, csr_array]:
    from scipy.sparse import csr_array

    customers = counts["customer"].unique().sort()
    rows = counts["customer"].cast(pl.Enum(customers)).to_physical().to_numpy().astype(np.int32)
    columns = counts["item"].cast(pl.Enum(items)).to_physical().to_numpy().astype(np.int32)
    shape = (len(customers), len(items))
    return customers, csr_array((counts["len"].to_numpy().astype(np.float32), (rows, columns)), shape=shape)


def weigh_by_rarity(counts: csr_array, among: csr_array) -> csr_array:
    """Weigh each item by its share of the customer's rows times ln(n / buyers) + 1, buyers counted in `among`."""
    buyers = np.diff(among.tocsc().indptr)
    rarity = np.log(max(1, among.shape[0]) / np.maximum(buyers, 1)) + 1
    weighed = counts.tocsr(copy=True)
    totals = np.repeat(np.asarray(counts.sum(axis=1)).ravel(), np.diff(weighed.indptr))
    weighed.data = (weighed.data / totals * rarity[weighed.indices]).astype(np.float32)
    return weighed


def guess_all_months(
    counts: ItemCounts, best: Indices, how_like: npt.NDArray[np.float64], published: History, *, each_once: bool
) -> pl.DataFrame:
    """Guess the customer of each pseudonym for all its months; on demand of several for one only the most similar."""
    # Rounded, so that equals stay equal on every machine; then the first in alphabetical order counts.
    found = pl.DataFrame({"pseudonym": counts.released_customers, "best": best, "like": np.round(how_like, 6)})
    found = found.filter(pl.col("best") >= 0)
    found = found.with_columns(customer=counts.known_customers.gather(found["best"]))
    lives = published.kept.select(pseudonym="customer", period=period_of(pl.col("date"))).unique()
    guesses = lives.join(found, on="pseudonym", how="inner").sort("customer", "period", -pl.col("like"), "pseudonym")
    if each_once:
        guesses = guesses.unique(["customer", "period"], keep="first", maintain_order=True)
    return guesses.select("customer", "period", "pseudonym")


def nearest_by_jaccard(released: csr_array, known: csr_array) -> tuple[Indices, Ratios]:
    """For each released item set, the known one of the largest Jaccard similarity, and that similarity.

    Of equals the first is taken; −1 where no set shares an item. Who is very like shares some of the rarest items, so
    those are looked at first; only sets without a clear answer are compared in full.
    """
    by_rarity = np.argsort(np.diff(known.tocsc().indptr), kind="stable")
    ours, theirs = _as_sets(known[:, by_rarity]), _as_sets(released[:, by_rarity])
    best, how_like = _nearest_by_rare_items(theirs, ours)
    unclear = np.flatnonzero(best < 0)
    if len(unclear):
        our_sizes, their_sizes = _sizes(ours), _sizes(theirs)[unclear]

        def likeness(shared: Ratios, row: int, columns: Indices) -> Ratios:
            jaccard: Ratios = shared / (their_sizes[row] + our_sizes[columns] - shared)
            return jaccard

        best[unclear], how_like[unclear] = _nearest(theirs[unclear], ours, likeness)
    return best, how_like


def _nearest_by_rare_items(released: csr_array, known: csr_array) -> tuple[Indices, Ratios]:
    """Find those whose answer the rarest items settle, −1 for the rest; items are sorted from rare to common."""
    from scipy.sparse import csr_array

    sizes, our_sizes = _sizes(released), _sizes(known)
    n_rare = np.minimum(sizes, np.floor(RARE_SHARE * sizes) + 1)
    index = np.arange(released.nnz) - np.repeat(released.indptr[:-1], np.diff(released.indptr))
    is_rare = index < np.repeat(n_rare, np.diff(released.indptr))
    ends = np.append(0, np.cumsum(n_rare)).astype(released.indptr.dtype)
    rare = csr_array((released.data[is_rare], released.indices[is_rare], ends), shape=released.shape)
    best, how_like = np.full(released.shape[0], -1, np.int32), np.zeros(released.shape[0], np.float32)
    is_in = np.zeros(released.shape[1], bool)
    for row, columns, shared in _products(rare, known.T.tocsr()):
        n_common = sizes[row] - n_rare[row]
        most = shared + np.minimum(n_common, our_sizes[columns] - shared)
        bound = most / (sizes[row] + our_sizes[columns] - most)
        items = released.indices[released.indptr[row] : released.indptr[row + 1]]
        is_in[items] = True
        first = int(bound.argmax())
        least = _jaccard(is_in, len(items), known, columns[first])
        candidates = np.sort(columns[bound >= least])
        # Who shares no rare item shares at most all the common ones.
        if least > n_common / sizes[row] and len(candidates) <= MOST_CANDIDATES:
            exact = [_jaccard(is_in, len(items), known, column) for column in candidates]
            best[row], how_like[row] = candidates[int(np.argmax(exact))], max(exact)
        is_in[items] = False
    return best, how_like


def _jaccard(is_in: npt.NDArray[np.bool_], size: int, known: csr_array, row: int) -> np.float32:
    """Compare one set, given by marks, with one known set."""
    items = known.indices[known.indptr[row] : known.indptr[row + 1]]
    shared = np.count_nonzero(is_in[items])
    return np.float32(shared) / np.float32(size + len(items) - shared)


def nearest_by_cosine(released: csr_array, known: csr_array) -> tuple[Indices, Ratios]:
    """For each released vector, the known one at the smallest angle, and the cosine of that angle.

    Of equals the first is taken; −1 where no vector shares an item.
    """
    return _nearest(_to_length_one(released), _to_length_one(known), lambda cosine, _row, _columns: cosine)


def _nearest(
    released: csr_array, known: csr_array, likeness: Callable[[Ratios, int, Indices], Ratios]
) -> tuple[Indices, Ratios]:
    """Find the best of each row; `likeness` turns the products of a row with some columns into what is compared."""
    best, how_like = np.full(released.shape[0], -1, np.int32), np.zeros(released.shape[0], np.float32)
    for row, columns, product in _products(released, known.T.tocsr()):
        likenesses = likeness(product, row, columns)
        how_like[row] = likenesses.max()
        best[row] = columns[likenesses == how_like[row]].min()
    return best, how_like


def _products(released: csr_array, by_item: csr_array) -> Iterator[tuple[int, Indices, Ratios]]:
    """Yield each row with the columns it shares an item with and the products."""
    n_block = max(1, BLOCK_CELLS // max(1, by_item.shape[1]))
    with step("comparing item sets", total=released.shape[0]) as bar:
        for start in range(0, released.shape[0], n_block):
            products = released[start : start + n_block] @ by_item
            ends = products.indptr
            for row in np.flatnonzero(np.diff(ends)):
                inside = slice(ends[row], ends[row + 1])
                yield start + int(row), products.indices[inside], products.data[inside]
            bar.advance(products.shape[0])


def _sizes(sets: csr_array) -> Ratios:
    return np.diff(sets.indptr).astype(np.float32)


def _as_sets(counts: csr_array) -> csr_array:
    sets = counts.tocsr(copy=True)
    sets.sort_indices()
    sets.data = np.ones_like(sets.data, dtype=np.float32)
    return sets


def _to_length_one(vectors: csr_array) -> csr_array:
    lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    scaled = vectors.tocsr(copy=True)
    scaled.data = scaled.data / np.repeat(np.maximum(lengths, TINY), np.diff(scaled.indptr))
    return scaled


@dataclass(frozen=True)
class Jaccard:
    """Guess for each pseudonym the customer whose item set is most like its own (Jaccard similarity).

    Knowledge: some rows of the original, items whole or cut to their first characters. Aim: the customer behind each
    pseudonym. Success: the pseudonym is the customer's own in that month. A pseudonym that lives several months is
    compared as one. Several pseudonyms may go to one customer, as in algorithm 1 of Ito, Kikuchi et al. (2016).
    """

    each_once: bool = field(default=False, metadata={"help": EACH_ONCE})

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the most similar customer of each pseudonym, in each month it lives."""
        counts = count_items(knowledge.kept, published.kept)
        best, how_like = nearest_by_jaccard(counts.released, counts.known)
        return guess_all_months(counts, best, how_like.astype(np.float64), published, each_once=self.each_once)


@dataclass(frozen=True)
class Tfidf:
    """Guess for each pseudonym the customer whose purchases point the same way (cosine of tf-idf vectors).

    Knowledge: some rows of the original, items whole or cut to their first characters. Aim: the customer behind each
    pseudonym. Success: the pseudonym is the customer's own in that month. An item weighs its share of the rows times
    ln(n / buyers) + 1. Several pseudonyms may go to one customer.
    """

    each_once: bool = field(default=False, metadata={"help": EACH_ONCE})

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the most similar customer of each pseudonym, in each month it lives."""
        counts = count_items(knowledge.kept, published.kept)
        known, released = (weigh_by_rarity(side, counts.known) for side in (counts.known, counts.released))
        best, how_like = nearest_by_cosine(released, known)
        return guess_all_months(counts, best, how_like.astype(np.float64), published, each_once=self.each_once)
