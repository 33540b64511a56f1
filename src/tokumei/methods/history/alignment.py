"""The purchases of customers as numbers, which rows of a group are written as one, and what that costs.

The cost of a cell is the Err of the 2018 contest: 0 for the value itself, 1 − 1/n for a set of n items, for a range the
mean distance of its grid from the truth in standard deviations, and 1 for a suppressed cell, which is also what each
column of a deleted row costs.

Every row is compared with every line, which grows with the square of how many a customer has. Long customers are
therefore aligned in blocks, each of rows that follow each other in time: that costs a little more, and takes minutes
where it would take hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.data.files.released_histories import LARGEST_SET
from tokumei.data.history import History

# The columns written as ranges, with the width of the grid on which a range is drawn: a day, a cent, a piece.
GRID = {"date": 1.0, "price": 0.01, "quantity": 1.0}
N_COLUMNS = len(GRID) + 1

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Indices = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Purchases:
    """Rows in units of each column's standard deviation, and which rows belong to which customer.

    `values` has a line for each column of GRID, `width` is the grid in the same units, `items` numbers the items.
    `rows` holds for each customer the numbers of its rows, in the order of `customers`. `parts` numbers the public
    parts that the items are in, where sets consist of these.
    """

    values: Floats
    width: Floats
    items: Indices
    customers: list[str]
    rows: list[Indices]
    parts: Indices | None = None

    @classmethod
    def of(cls, history: History) -> Purchases:
        """Take the purchases of a history; deleted rows belong to nobody."""
        frame = history.frame.with_row_index("row")
        raw = numbers_of(frame)
        kept = history.frame["customer"].is_not_null().to_numpy()
        by_customer = frame.filter(pl.col("customer").is_not_null()).group_by("customer").agg("row").sort("customer")
        return cls.of_numbers(
            np.where(kept, raw, 0.0),
            kept,
            items=frame["item"].rank("dense").fill_null(0).cast(pl.Int64).to_numpy(),
            customers=by_customer["customer"].to_list(),
            rows=[np.asarray(rows, dtype=np.int64) for rows in by_customer["row"].to_list()],
        )

    @classmethod
    def of_numbers(
        cls,
        raw: Floats,
        kept: npt.NDArray[np.bool_],
        *,
        items: Indices,
        customers: list[str],
        rows: list[Indices],
    ) -> Purchases:
        """Scale the columns of GRID, 0 in rows that are not kept."""
        # Where nobody has a row there is nothing to scale.
        present = raw[:, kept] if kept.any() else np.zeros((len(GRID), 1))
        deviation = present.std(axis=1, keepdims=True)
        # A column with one value costs nothing, whatever it is divided by.
        deviation[deviation == 0] = 1.0
        mean = present.mean(axis=1, keepdims=True)
        width = np.array(list(GRID.values())) / deviation[:, 0]
        return cls((raw - mean) / deviation, width, items, customers, rows)

    def of_customers(self, which: Indices) -> Purchases:
        """Return the purchases of some customers, in the order given; rows keep their numbers."""
        numbers = which.tolist()
        return replace(
            self, customers=[self.customers[one] for one in numbers], rows=[self.rows[one] for one in numbers]
        )

    @property
    def n_rows(self) -> Indices:
        """Number of rows of each customer."""
        return np.array([len(rows) for rows in self.rows], dtype=np.int64)


def numbers_of(frame: pl.DataFrame) -> Floats:
    """Return the columns of GRID as numbers, one line each; 0 in every row of one that the history lacks."""
    columns = [frame[column].to_physical().cast(pl.Float64) for column in GRID]
    # What is the same in all rows costs nothing.
    return np.stack([(one.fill_null(0.0) if one.null_count() == len(one) else one).to_numpy() for one in columns])


# Items that follow each other in alphabetical order are a public part: of two of them both would have to occur.
ITEMS_A_PART = 3


@dataclass(frozen=True)
class Alignment:
    """Rows of a group that are written alike: one line per written row, one column per member; the rest is deleted."""

    rows: Indices
    cost: float


def align(purchases: Purchases, members: Sequence[int], *, n_rounds: int = 0, block: int | None = None) -> Alignment:
    """Align the rows of a group, starting from the member with the fewest, which keeps all of them.

    The others join one by one, each at least cost to those before it. In each further round every member is taken
    out and joined again, unless that costs more, as it may in blocks.

    block: lines that are aligned at once; all of them if not given.
    """
    mine = [purchases.rows[member] for member in members]
    order = sorted(range(len(members)), key=lambda index: (len(mine[index]), index))
    aligned = np.empty((len(mine[order[0]]), len(members)), dtype=np.int64)
    aligned[:, order[0]] = mine[order[0]]
    cost = 0.0
    for n_joined, index in enumerate(order[1:], start=1):
        aligned[:, index], cost = _join(purchases, aligned[:, order[:n_joined]], mine[index], block)
    for _ in range(n_rounds if len(members) > 2 else 0):
        before = cost
        for index in order:
            others = [other for other in order if other != index]
            joined, new = _join(purchases, aligned[:, others], mine[index], block)
            if new <= cost:
                aligned[:, index], cost = joined, new
        if cost > before - 1e-9:
            break
    n_deleted = sum(len(rows) - len(aligned) for rows in mine)
    return Alignment(aligned, cost + N_COLUMNS * n_deleted)


def _join(purchases: Purchases, aligned: Indices, rows: Indices, block: int | None) -> tuple[Indices, float]:
    """Return the row that joins each aligned line, and the cost of all lines then."""
    if block is None or len(aligned) <= block:
        # Here, as every process of a server imports this module, for which it would take a quarter longer to start.
        from scipy.optimize import linear_sum_assignment

        costs = joining_costs(purchases, aligned, rows)
        lines, chosen = linear_sum_assignment(costs)
        return rows[chosen], float(costs[lines, chosen].sum())
    dates = purchases.values[0]
    lines, later = np.argsort(dates[aligned].mean(axis=1), kind="stable"), np.argsort(dates[rows], kind="stable")
    n_blocks, n_more = -(-len(lines) // block), len(rows) - len(lines)
    joined, cost = np.empty(len(lines), np.int64), 0.0
    for number in range(n_blocks):
        first, end = (at * len(lines) // n_blocks for at in (number, number + 1))
        # The rows beyond the lines are spread evenly, so that no block has fewer rows than lines.
        low, high = (at * len(lines) // n_blocks + at * n_more // n_blocks for at in (number, number + 1))
        joined[lines[first:end]], more = _join(purchases, aligned[lines[first:end]], rows[later[low:high]], None)
        cost += more
    return joined, cost


def seconds_of(lines: Floats, rows: Floats, block: int | None) -> Floats:
    """Estimate how long it takes to join so many rows to so many lines, as measured for 100 to 1,600 of each."""
    n_blocks = np.ones(len(lines)) if block is None else np.maximum(1, np.ceil(lines / block))
    cells = lines * rows / n_blocks**2
    seconds: Floats = n_blocks * (2e-7 * cells + 7.5e-9 * cells**1.25 + 1e-4)
    return seconds


def joining_costs(purchases: Purchases, aligned: Indices, rows: Indices) -> Floats:
    """Return what each aligned line costs in all its cells when a row joins it: lines × rows."""
    n_members = aligned.shape[1] + 1
    items, parts = purchases.items, purchases.parts
    if parts is None:
        costs = _item_costs(items[aligned], items[rows])
    else:
        is_same = (items[aligned] == items[aligned[:, :1]]).all(axis=1)[:, None] & (
            items[aligned[:, :1]] == items[rows]
        )
        costs = np.where(is_same, 0.0, _item_costs(parts[aligned], parts[rows], ITEMS_A_PART))
    for values, width in zip(purchases.values, purchases.width, strict=True):
        new, old = values[rows], values[aligned]
        if n_members == 2:
            # For two values the formula comes down to their distance.
            ranges = np.abs(old - new)
        else:
            low = np.minimum(old.min(axis=1)[:, None], new)
            high = np.maximum(old.max(axis=1)[:, None], new)
            sums = old.sum(axis=1)[:, None] + new
            squares = (old**2).sum(axis=1)[:, None] + new**2
            ranges = _range_costs(low, high, sums, squares, n_members, width)
        costs += np.minimum(ranges, n_members)
    return costs


def _item_costs(old: Indices, new: Indices, size: int = 1) -> Floats:
    """Return the cost of sets of items, or of parts of so many items each: lines × rows."""
    n_members = old.shape[1] + 1
    ordered = np.sort(old, axis=1)
    n_items = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    is_known = np.zeros((len(old), len(new)), dtype=bool)
    for column in old.T:
        is_known |= column[:, None] == new
    sizes = n_items[:, None] + ~is_known
    costs: Floats = n_members * (1 - 1 / (size * np.arange(1, n_members + 1)))
    costs[LARGEST_SET // size :] = n_members
    found: Floats = costs[sizes - 1]
    return found


def line_costs(values: Floats, width: float) -> Floats:
    """Return what each line of aligned values of one column costs its members together as the least range."""
    return range_costs(values.min(axis=1), values.max(axis=1), values, width)


def range_costs(low: Floats, high: Floats, values: Floats, width: float) -> Floats:
    """Return what each line of aligned values costs its members together in the range from `low` to `high`."""
    return _range_costs(low, high, values.sum(axis=1), (values**2).sum(axis=1), values.shape[1], width)


def _range_costs(low: Floats, high: Floats, sums: Floats, squares: Floats, n: int, width: float) -> Floats:
    """Return the Err of n values in a range together, from their sum and the sum of their squares."""
    # Σ (low−x)² + (high−x)², multiplied out.
    ends = n * (low**2 + high**2) - 2 * (low + high) * sums + 2 * squares
    length = high - low
    return (ends + n * width * length) / (2 * (length + width))
