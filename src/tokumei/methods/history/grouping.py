"""Which customers are written alike: groups that cost little to align.

Aligning two customers takes milliseconds, and half a million pairs too long. So groups are searched by an estimate: 4
for each deleted row, and for each written row the distance of the members' distributions of date, price and quantity
(what the ranges cost if rows are aligned in order) and the items that they do not have in common. On the 2018 set its
correlation with the true cost of a pair is mostly above 0.95.

All pairs are compared, so many customers are put into blocks first, of about as many rows each: unequal numbers of rows
cost most, and customers of different blocks would rarely meet in a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.core.progress import step
from tokumei.methods.history.alignment import N_COLUMNS, Floats, Indices, Purchases

N_QUANTILES = 20
# An item in common saves 1 where the aligned rows agree in all else; some of it is lost in longer ranges.
SAVED_BY_ITEM = 0.7
N_NEAR = 30
# Customers that are compared with each other: some matrices of so many by so many fit any memory.
MOST_COMPARED = 3_000
BYTES_OF_PAIR = 60
# Exchanges tried for each customer; in few groups few can be tried at once, and fewer are enough.
N_MOVES, N_BATCHES = 1_000, 20
# The heat of the search, in rows of a mean customer: so much dearer exchanges are made now and then.
HOTTEST, COLDEST = 1.0, 0.01


@dataclass(frozen=True)
class Estimate:
    """What groups of customers cost, without aligning them."""

    n_rows: Indices
    distance: Floats
    saved: Floats

    @classmethod
    def of(cls, purchases: Purchases) -> Estimate:
        """Compare all customers with each other."""
        # Here for the same reason as in `alignment`.
        from scipy import sparse
        from scipy.spatial.distance import cdist

        n_rows = purchases.n_rows
        at = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
        quantiles = np.stack([np.quantile(purchases.values[:, rows], at, axis=1).ravel() for rows in purchases.rows])
        owner = np.repeat(np.arange(len(n_rows)), n_rows)
        items = purchases.items[np.concatenate(purchases.rows)]
        bought = sparse.csr_array((np.ones(len(items)), (owner, items)))
        bought.data[:] = bought.data.clip(max=1.0)
        return cls(
            n_rows=n_rows,
            distance=np.minimum(cdist(quantiles, quantiles, "cityblock") / N_QUANTILES, N_COLUMNS - 1),
            saved=SAVED_BY_ITEM * (bought @ bought.T).toarray(),
        )

    def costs(self, groups: Indices) -> Floats:
        """Estimate the cost of each group, one per line."""
        size = groups.shape[1]
        n_rows = self.n_rows[groups]
        kept = n_rows.min(axis=1)
        one, other = np.triu_indices(size, 1)
        pairs = (groups[:, one], groups[:, other])
        # A hull of k values costs its members together 2/k times the sum of their distances, for even spreads.
        in_ranges = kept * self.distance[pairs].sum(axis=1) - self.saved[pairs].sum(axis=1)
        deleted = N_COLUMNS * (n_rows.sum(axis=1) - size * kept)
        costs: Floats = deleted + (size - 1) * kept + 2 / size * in_ranges
        return costs

    def pair_costs(self) -> Floats:
        """Estimate the cost a row for each pair of customers; a customer is no neighbor of itself."""
        n_rows = self.n_rows
        kept, both = np.minimum(n_rows[:, None], n_rows), n_rows[:, None] + n_rows
        costs: Floats = (N_COLUMNS * (both - 2 * kept) + kept * (1 + self.distance) - self.saved) / both
        np.fill_diagonal(costs, np.inf)
        return costs


def group_customers(
    purchases: Purchases, size: int, random: np.random.Generator, *, n_alone: int = 0
) -> list[list[int]]:
    """Put the customers into groups of `size`; those left over join the group where it costs least.

    The `n_alone` customers with the most rows come first, each as a group of its own.
    """
    alone, by_size = np.split(np.argsort(-purchases.n_rows, kind="stable"), [n_alone])
    found = [[customer] for customer in alone.tolist()]
    blocks = customer_blocks(len(by_size), size)
    with step("comparing customers", total=len(blocks)) as bar:
        for first, end in blocks:
            # In the order of the customers, so that one block is what all of them together were.
            block = np.sort(by_size[first:end])
            groups = _group_block(purchases.of_customers(block), size, random)
            found += [block[group].tolist() for group in groups]
            bar.advance()
    return found


def customer_blocks(n_customers: int, size: int) -> list[tuple[int, int]]:
    """Divide customers into as few blocks as may be, nearly equal, each of whole groups; the last takes the rest."""
    n_groups = n_customers // size
    n_blocks = max(1, -(-n_customers // MOST_COMPARED))
    ends = [size * (number * n_groups // n_blocks) for number in range(n_blocks)]
    return list(zip(ends, [*ends[1:], n_customers], strict=True))


def _group_block(purchases: Purchases, size: int, random: np.random.Generator) -> list[list[int]]:
    """Group customers, the one with most rows first, that are all compared with each other."""
    estimate = Estimate.of(purchases)
    pair_costs = estimate.pair_costs()
    by_size = np.argsort(-estimate.n_rows, kind="stable")
    n_left = len(by_size) % size
    # The smallest customers are left over: they cost least wherever they go.
    grouped, left = by_size[: len(by_size) - n_left], by_size[len(by_size) - n_left :]
    groups = _improve(estimate, pair_costs, _first_groups(pair_costs, grouped, size), random)
    found: list[list[int]] = groups.tolist()
    for customer in left.tolist():
        before = np.concatenate([estimate.costs(np.array([group])) for group in found])
        after = np.concatenate([estimate.costs(np.array([[*group, customer]])) for group in found])
        found[int((after - before).argmin())].append(customer)
    return found


def _first_groups(pair_costs: Floats, grouped: Indices, size: int) -> Indices:
    """Take the largest customer left and those nearest to it, until all are taken."""
    is_free = np.zeros(len(pair_costs), dtype=bool)
    is_free[grouped] = True
    groups = []
    for first in grouped.tolist():
        if not is_free[first]:
            continue
        group = [first]
        is_free[first] = False
        while len(group) < size:
            nearness = np.where(is_free, pair_costs[group].sum(axis=0), np.inf)
            group.append(int(nearness.argmin()))
            is_free[group[-1]] = False
        groups.append(group)
    return np.array(groups, dtype=np.int64).reshape(-1, size)


def _improve(estimate: Estimate, pair_costs: Floats, groups: Indices, random: np.random.Generator) -> Indices:
    """Exchange customers between groups by simulated annealing: a customer moves to one that is near to it.

    Many exchanges are tried at once, no two of them in the same group.
    """
    n_groups, size = groups.shape
    if n_groups < 2:
        return groups
    customers = np.sort(groups.ravel())
    n_near = min(N_NEAR, len(customers) - 1)
    near = customers[np.argsort(pair_costs[np.ix_(customers, customers)], axis=1, kind="stable")[:, :n_near]]
    index = np.empty(len(pair_costs), dtype=np.int64)
    index[groups.ravel()] = np.arange(groups.size)
    costs, best = estimate.costs(groups), groups.copy()
    least = float(costs.sum())
    n_tried = max(1, n_groups // 4)
    n_batches = min(N_MOVES * len(customers) // n_tried, N_BATCHES * len(customers))
    mean = float(estimate.n_rows.mean())
    flat = groups.ravel()
    with step("grouping customers", total=n_batches) as bar:
        for batch in range(n_batches):
            heat = mean * HOTTEST * (COLDEST / HOTTEST) ** (batch / n_batches)
            moves = _draw_moves(near, customers, index, size, n_tried, random)
            _exchange(estimate, flat, costs, index, moves, size, heat, random)
            if batch % 100 == 99 or batch == n_batches - 1:
                bar.advance(100)
                if costs.sum() < least:
                    least, best = float(costs.sum()), groups.copy()
    return best


def _draw_moves(
    near: Indices, customers: Indices, index: Indices, size: int, n_tried: int, random: np.random.Generator
) -> tuple[Indices, Indices]:
    """Draw pairs of places to exchange, each group in one pair at most."""
    mover = random.integers(0, len(customers), n_tried)
    # Nearer ones are drawn more often.
    goal = near[mover, (near.shape[1] * random.random(n_tried) ** 2).astype(np.int64)]
    one, to = index[customers[mover]], index[goal]
    # Any member of the goal's group makes room, but the goal itself.
    other = to - to % size + (to % size + random.integers(1, size, n_tried)) % size
    last_use = np.full(len(index), -1)
    moves = np.arange(n_tried)
    last_use[one // size] = moves
    last_use[other // size] = moves
    is_alone = (last_use[one // size] == moves) & (last_use[other // size] == moves) & (one // size != other // size)
    return one[is_alone], other[is_alone]


def _exchange(
    estimate: Estimate,
    flat: Indices,
    costs: Floats,
    index: Indices,
    moves: tuple[Indices, Indices],
    size: int,
    heat: float,
    random: np.random.Generator,
) -> None:
    """Make those exchanges that cost less, and some of the others while it is hot."""
    one, other = moves
    groups = flat.reshape(-1, size)
    n_moves, line = len(one), np.arange(len(one))
    changed = np.concatenate([groups[one // size], groups[other // size]])
    changed[line, one % size] = flat[other]
    changed[line + n_moves, other % size] = flat[one]
    new = estimate.costs(changed)
    more = new[:n_moves] + new[n_moves:] - costs[one // size] - costs[other // size]
    is_made = random.random(n_moves) < np.exp(np.minimum(-more / heat, 0))
    one, other, line = one[is_made], other[is_made], line[is_made]
    flat[one], flat[other] = flat[other], flat[one]
    index[flat[one]], index[flat[other]] = one, other
    costs[one // size], costs[other // size] = new[line], new[line + n_moves]
