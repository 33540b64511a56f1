"""Who bought what, as a matrix, and how many customers bought each combination of items.

A row is a customer, a column an item, and 1 stands where the one bought the other. Only combinations that somebody
bought are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.history import History

if TYPE_CHECKING:
    from scipy import sparse

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = "sparse.csr_array[np.float64]"


@dataclass(frozen=True)
class ItemSets:
    """The item sets of all customers; customers and items are in alphabetical order."""

    customers: pl.Series
    items: pl.Series
    bought: Matrix

    @classmethod
    def of(cls, history: History) -> ItemSets:
        """Read the item sets off a history."""
        return cls.of_pairs(history.kept.select("customer", "item").unique())

    @classmethod
    def of_pairs(cls, pairs: pl.DataFrame) -> ItemSets:
        """Read the item sets off customers and items, each pair once, in any order."""
        from scipy import sparse

        pairs = pairs.sort("customer", "item")
        customers, items = (pairs[column].unique().sort() for column in ("customer", "item"))
        customer, item = (positions(pairs[column]) for column in ("customer", "item"))
        shape = (len(customers), len(items))
        return cls(customers, items, sparse.csr_array((np.ones(len(customer)), (customer, item)), shape=shape))

    @property
    def n_buyers(self) -> Ints:
        """Number of customers who bought each item."""
        return np.asarray(self.bought.sum(axis=0)).astype(np.int64)

    @property
    def n_items(self) -> Ints:
        """Number of items each customer bought."""
        return np.asarray(self.bought.sum(axis=1)).astype(np.int64)

    def weights(self) -> Matrix:
        """Weigh each item of a customer by how few bought it: f/Σf · (ln(n/|D|) + 1), D being its buyers."""
        from scipy import sparse

        rarity = np.log(self.bought.shape[0] / np.maximum(self.n_buyers, 1)) + 1
        shares = 1 / np.maximum(self.n_items, 1)
        return sparse.csr_array(self.bought.multiply(rarity).multiply(shares[:, None]))


def directions(matrix: Matrix) -> Matrix:
    """Scale each row to length 1, so that the product of two rows is their cosine."""
    from scipy import sparse

    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)))
    return sparse.csr_array(matrix.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))


def positions(values: pl.Series) -> Ints:
    """Return for each value its index among the distinct values in order, from 0."""
    return (values.rank("dense").cast(pl.Int64) - 1).to_numpy()


LARGEST_SIZE = 3
# How often customers have a combination, all together: about a minute of counting.
MOST_OCCURRENCES = 500_000_000
# Counted at once, so that memory does not grow with the number of combinations.
BLOCK_OCCURRENCES = 10_000_000


@dataclass(frozen=True)
class Combinations:
    """Some combinations of one size: a row for each with the indices of its items, and who bought it.

    `n_alike` is the most of the buyers who share one secret, and `secret` is that one; both are 0 without secrets.
    """

    items: Ints
    n_buyers: Ints
    n_alike: Ints
    secret: Ints


def fewest_sharing(bought: Matrix, largest: int) -> int:
    """Count the customers who share the combination of up to `largest` items that the fewest share, 0 for no items."""
    fewest = 0
    for size in range(1, largest + 1):
        for found in count_combinations(bought, size):
            fewest = min(fewest or int(found.n_buyers[0]), int(found.n_buyers.min()))
            # Nobody shares less than alone, and larger combinations need not be counted.
            if fewest == 1:
                return 1
    return fewest


def count_combinations(bought: Matrix, size: int, secrets: Matrix | None = None) -> Iterator[Combinations]:
    """Count all combinations of a size, block by block, those with the least bought items first.

    secrets: a row for each customer, 1 where the customer has the secret of a column.
    """
    from scipy import sparse

    if not 1 <= size <= LARGEST_SIZE:
        raise InputError.of(f"combinations of 1 to {LARGEST_SIZE} items", value=size)
    theirs = sparse.csr_array((bought.shape[0], 0), dtype=np.float64) if secrets is None else secrets
    _check_countable(bought, size, theirs)
    order = np.argsort(np.asarray(bought.sum(axis=0)), kind="stable")
    label = "counting items" if size == 1 else f"counting combinations of {size} items"
    with step(label):
        for found in _counted(sparse.csr_array(bought[:, order]), size, theirs):
            yield Combinations(order[found.items], found.n_buyers, found.n_alike, found.secret)


def _check_countable(bought: Matrix, size: int, secrets: Matrix) -> None:
    from scipy.special import comb

    n_occurrences = float((comb(np.diff(bought.indptr), size) * (1 + np.diff(secrets.indptr))).sum())
    if n_occurrences > MOST_OCCURRENCES:
        raise InputError.of(
            f"customers who together have at most {MOST_OCCURRENCES:,} combinations of {size} items; "
            "ask for smaller combinations, or leave customers with very many items out",
            value=f"{n_occurrences:,.0f}",
        )


def _counted(bought: Matrix, size: int, secrets: Matrix) -> Iterator[Combinations]:
    from scipy import sparse

    if size == 1:
        yield from _single_items(bought, secrets)
    elif size == 2:
        yield from _pairs(bought, secrets)
    else:
        by_item = sparse.csc_array(bought)
        for first in range(bought.shape[1] - size + 1):
            buyers = by_item.indices[by_item.indptr[first] : by_item.indptr[first + 1]]
            rest = sparse.csr_array(sparse.csr_array(bought[buyers])[:, first + 1 :])
            for found in _counted(rest, size - 1, sparse.csr_array(secrets[buyers])):
                items = np.column_stack([np.full(len(found.items), first), found.items + first + 1])
                yield Combinations(items, found.n_buyers, found.n_alike, found.secret)


def _single_items(bought: Matrix, secrets: Matrix) -> Iterator[Combinations]:
    from scipy import sparse

    n_buyers = np.asarray(bought.sum(axis=0)).astype(np.int64)
    items = np.flatnonzero(n_buyers)
    if len(items):
        alike = sparse.coo_array(bought.T @ secrets)
        most = _most(alike.row.astype(np.int64), alike.col.astype(np.int64), alike.data, bought.shape[1])
        yield Combinations(items[:, None], n_buyers[items], most[0][items], most[1][items])


def _pairs(bought: Matrix, secrets: Matrix) -> Iterator[Combinations]:
    """Count pairs by the product of the matrix with itself, some first items at a time."""
    from scipy import sparse

    by_item, n_items = sparse.csr_array(bought.T), bought.shape[1]
    with_secrets = _beside(secrets, bought)
    for start, end in _spans(by_item, np.diff(bought.indptr) * (1.0 + np.diff(secrets.indptr))):
        left = sparse.csr_array(by_item[start:end])
        first, second, n_buyers = _product(left, bought, start, n_items)
        if not len(first):
            continue
        keys = first * n_items + second
        n_alike, secret = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        if with_secrets.nnz:
            first_of, column, counts = _product(left, with_secrets, start, n_items)
            secret_of, second_of = np.divmod(column, n_items)
            indices = np.searchsorted(keys, first_of * n_items + second_of)
            n_alike, secret = _most(indices, secret_of, counts, len(keys))
        yield Combinations(np.column_stack([first, second]), n_buyers.astype(np.int64), n_alike, secret)


def _spans(by_item: Matrix, n_of_customer: Floats) -> list[tuple[int, int]]:
    """Cut the items into spans of about as many occurrences as are counted at once."""
    n_occurrences: Floats = np.asarray(by_item @ n_of_customer)
    block_of = (np.cumsum(n_occurrences) // BLOCK_OCCURRENCES).astype(np.int64)
    starts = np.flatnonzero(np.diff(block_of, prepend=-1)).tolist()
    return list(zip(starts, [*starts[1:], by_item.shape[0]], strict=False))


def _product(left: Matrix, right: Matrix, start: int, n_items: int) -> tuple[Ints, Ints, Floats]:
    """Multiply, and give the cells whose second item comes after the first, in order."""
    from scipy import sparse

    product = sparse.csr_array(left @ right)
    product.sort_indices()
    cells = product.tocoo()
    first, column = cells.row.astype(np.int64) + start, cells.col.astype(np.int64)
    is_after = column % n_items > first
    return first[is_after], column[is_after], cells.data[is_after]


def _beside(secrets: Matrix, bought: Matrix) -> Matrix:
    """Return a matrix with a column for each pair of secret and item: 1 for customers who have both."""
    from scipy import sparse

    n_secrets, n_bought = np.diff(secrets.indptr), np.diff(bought.indptr)
    customer = np.repeat(np.arange(secrets.shape[0]), n_secrets)
    # Each secret of a customer stands beside all items of that customer.
    repeats = n_bought[customer]
    secret = np.repeat(secrets.indices.astype(np.int64), repeats)
    within = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    item = bought.indices[np.repeat(bought.indptr[customer], repeats) + within]
    shape = (bought.shape[0], max(1, secrets.shape[1] * bought.shape[1]))
    cells = (np.repeat(customer, repeats), secret * bought.shape[1] + item)
    return sparse.csr_array((np.ones(len(item)), cells), shape=shape)


def _most(indices: Ints, secret: Ints, counts: Floats, n_indices: int) -> tuple[Ints, Ints]:
    """Return for each index the largest of its counts and the secret it belongs to; 0 and 0 where there is none."""
    order = np.lexsort((-secret, counts, indices))
    last = order[np.flatnonzero(np.diff(indices[order], append=-1))]
    n_alike, which = np.zeros(n_indices, np.int64), np.zeros(n_indices, np.int64)
    n_alike[indices[last]], which[indices[last]] = counts[last].astype(np.int64), secret[last]
    return n_alike, which
