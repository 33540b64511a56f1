"""Which customers fit the generalized rows of a pseudonym at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from tokumei.core.progress import step
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History

# With more customers than this in question a guess is worth nothing, and is not checked to the end.
MOST_MATCHED = 60
RANGES = ("date", "price", "quantity")

Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Indices = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Known:
    """The original as the attacker searches it: rows in the order of their items, and again of their dates."""

    customers: list[str]
    owner: Indices
    values: Floats
    item: Indices
    item_numbers: dict[str, int]

    @classmethod
    def of(cls, original: History) -> Known:
        """Take the rows of a history, by item."""
        frame = original.kept.sort("item", maintain_order=True)
        items = frame["item"].unique(maintain_order=True)
        return cls(
            customers=original.customers,
            owner=pl.Series(frame["customer"].rank("dense") - 1).cast(pl.Int64).to_numpy(),
            values=np.stack([frame[column].to_physical().cast(pl.Float64).to_numpy() for column in RANGES]),
            item=pl.Series(frame["item"].rank("dense") - 1).cast(pl.Int64).to_numpy(),
            item_numbers={item: number for number, item in enumerate(items.sort().to_list())},
        )

    @cached_property
    def n_rows(self) -> Indices:
        """Number of rows of each customer."""
        return np.bincount(self.owner, minlength=len(self.customers))

    @cached_property
    def item_starts(self) -> Indices:
        """Where the rows of each item start, and where the last ends."""
        return np.searchsorted(self.item, np.arange(len(self.item_numbers) + 1))

    @cached_property
    def by_date(self) -> Indices:
        """The rows in the order of their dates."""
        return np.argsort(self.values[0], kind="stable")


@dataclass(frozen=True)
class PseudonymRows:
    """The rows of one pseudonym: bounds of date, price and quantity, and item numbers (None where any item fits)."""

    low: Floats
    high: Floats
    items: list[list[int] | None]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for pseudonyms whose rows are alike, whatever their order."""
        lines = zip(*self.low.tolist(), *self.high.tolist(), (str(items) for items in self.items), strict=True)
        return tuple(sorted(lines))


def cells_by_pseudonym(published: GeneralizedHistory, known: Known) -> dict[str, PseudonymRows]:
    """Take the kept rows of each pseudonym, in alphabetical order."""
    kept = published.filter(~published.is_deleted)
    bounds = {"low": -np.inf, "high": np.inf}
    low, high = (
        np.stack(
            [
                getattr(getattr(kept, column), bound).to_physical().cast(pl.Float64).fill_null(missing).to_numpy()
                for column in RANGES
            ]
        )
        for bound, missing in bounds.items()
    )
    numbers = known.item_numbers
    items = [
        None if members is None else sorted(numbers[item] for item in members if item in numbers)
        for members in kept.item.members.to_list()
    ]
    rows = pl.DataFrame({"pseudonym": kept.customer}).with_row_index("row").group_by("pseudonym").agg("row")
    return {
        pseudonym: PseudonymRows(low[:, mine], high[:, mine], [items[row] for row in mine])
        for pseudonym, mine in sorted(rows.rows())
    }


def find_fitting(known: Known, cells: dict[str, PseudonymRows]) -> Floats:
    """Weigh who fits, in logarithms: pseudonyms × customers, minus infinity for those who do not.

    A customer fits a pseudonym if each of the pseudonym's rows can stand for another row of the customer. One whose
    rows fit in more ways is likelier; the ways are bounded by the product of the rows that fit each row alone.
    """
    found: dict[tuple[object, ...], tuple[Indices, Floats]] = {}
    weights = np.full((len(cells), len(known.customers)), -np.inf)
    with step("who fits", total=len(cells)) as bar:
        for line, mine in enumerate(cells.values()):
            if mine.key not in found:
                found[mine.key] = _fitting(known, mine)
            customers, ways = found[mine.key]
            weights[line, customers] = ways
            bar.advance()
    return weights


def _fitting(known: Known, cells: PseudonymRows) -> tuple[Indices, Floats]:
    """Return the customers that fit the rows of one pseudonym, and the logarithm of the ways in which they do."""
    may_fit = known.n_rows >= len(cells)
    ways = np.zeros(len(may_fit))
    pairs = []
    # Rows that few purchases fit come first: they leave few customers for the others.
    searches = [(line, _rows_in_reach(known, cells, line)) for line in range(len(cells))]
    for line, reach in sorted(searches, key=lambda search: len(search[1])):
        reached = reach[may_fit[known.owner[reach]]]
        values = known.values[:, reached]
        is_inside = ((cells.low[:, line, None] <= values) & (values <= cells.high[:, line, None])).all(axis=0)
        rows = reached[is_inside]
        counts = np.bincount(known.owner[rows], minlength=len(may_fit))
        may_fit &= counts > 0
        ways += np.log(np.maximum(counts, 1))
        pairs.append((line, rows))
    customers: Indices = np.flatnonzero(may_fit)
    if len(customers) <= MOST_MATCHED:
        customers = _matched(known, cells, pairs, customers)
    return customers, ways[customers]


def _rows_in_reach(known: Known, cells: PseudonymRows, line: int) -> Indices:
    """Return the known rows to look at for one row: those of its items or, where any item fits, of its dates."""
    items, starts = cells.items[line], known.item_starts
    if items is not None:
        return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in items] or [np.arange(0)])
    dates = known.values[0][known.by_date]
    first, last = np.searchsorted(dates, cells.low[0, line]), np.searchsorted(dates, cells.high[0, line], "right")
    return known.by_date[first:last]


def _matched(known: Known, cells: PseudonymRows, pairs: list[tuple[int, Indices]], customers: Indices) -> Indices:
    """Keep the customers who have a row of their own for each row of the pseudonym."""
    if not len(customers):
        return customers
    lines = np.repeat([line for line, _ in pairs], [len(rows) for _, rows in pairs])
    rows = np.concatenate([rows for _, rows in pairs])
    owner = known.owner[rows]
    fitting = []
    for customer in customers.tolist():
        mine = owner == customer
        used, column = np.unique(rows[mine], return_inverse=True)
        shape = (len(cells), len(used))
        graph = sparse.csr_matrix((np.ones(mine.sum(), dtype=np.int8), (lines[mine], column)), shape=shape)
        if (maximum_bipartite_matching(graph, perm_type="column") >= 0).all():
            fitting.append(customer)
    return np.array(fitting, dtype=np.int64)
