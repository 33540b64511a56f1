"""Who bought what, as a matrix: a row a customer, a column an item, 1 where the one bought the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from tokumei.data.history import History

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix = sparse.csr_array[np.float64]


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
        rarity = np.log(self.bought.shape[0] / np.maximum(self.n_buyers, 1)) + 1
        shares = 1 / np.maximum(self.n_items, 1)
        return sparse.csr_array(self.bought.multiply(rarity).multiply(shares[:, None]))


def directions(matrix: Matrix) -> Matrix:
    """Scale each row to length 1, so that the product of two rows is their cosine."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)))
    return sparse.csr_array(matrix.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))


def positions(values: pl.Series) -> Ints:
    """Return for each value its index among the distinct values in order, from 0."""
    return (values.rank("dense").cast(pl.Int64) - 1).to_numpy()
