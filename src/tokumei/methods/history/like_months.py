"""Groups of customers with like months: few rows must be cut to make their numbers of rows equal.

Two groups at a time are merged, so that the groups under one bound are made of those under a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tokumei.core.errors import CannotAnonymize
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.engines.item_sets import Floats, Ints

# Costs are kept for all pairs of a block, so that memory grows with the customers and not with their square.
BLOCK = 1_500
# Tried where few purchases may be given to their buyers. By 0 the merge that cuts the fewest rows comes first, by 1
# that which cuts the fewest for each row whose buyer is hidden.
WEIGHTS = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8)


@dataclass(frozen=True)
class Limits:
    """What groups must keep.

    most_found: most open customers and groups together; most_open: most open customers.
    smallest: fewest customers of a group; those of a smaller one are open.
    most_attributed: largest share that rows of open customers and blocks of groups have of the rows that are left.
    """

    most_found: int
    smallest: int
    most_open: int
    most_attributed: float = 1.0


def group_like_months(n_rows: Ints, limits: Limits) -> Ints:
    """Return the group of each customer, −1 if the customer is left open; `n_rows` as in `groups_under`."""
    [found] = groups_under(n_rows, [limits])
    if isinstance(found, CannotAnonymize):
        raise found
    return found


def groups_under(n_rows: Ints, limits: Sequence[Limits]) -> list[Ints | CannotAnonymize]:
    """Return the group of each customer under each limit, −1 if the customer is left open, or why there is none.

    `n_rows` has the rows of each customer (down) in each month (across). The limits differ in `most_found`, the largest
    first. Two groups at a time are merged, those that lose the fewest rows when every month is cut to its smallest
    customer, until the limits hold. Where `most_attributed` does not hold by then, merges are weighed by the rows whose
    buyers they hide, too: of the groups found by several weights those count that leave the most rows with their
    buyers, since a row is of most use there. Groups without a common month are never merged: who is deleted whole is no
    better hidden than who is open.
    """
    found: dict[int, Ints] = {}
    most: dict[int, int] = {}
    faults: dict[int, CannotAnonymize] = {}
    merging = Merging(n_rows)
    for at, one in enumerate(limits):
        merging.go_on_until(replace(one, most_attributed=1.0))
        if merging.holds(one):
            found[at] = merging.labels(one.smallest)
        elif not merging.holds(replace(one, most_attributed=1.0)):
            faults[at] = merging.fault(one)
    # Too many purchases alone would be given to their buyers.
    left = [at for at in range(len(limits)) if at not in found and at not in faults]
    for weight in WEIGHTS if left else ():
        merging = Merging(n_rows, weight)
        for at in left:
            merging.go_on_until(limits[at])
            attributed = merging.attributed(limits[at].smallest)
            if merging.holds(limits[at]) and attributed > most.get(at, -1):
                found[at], most[at] = merging.labels(limits[at].smallest), attributed
    for at in set(left) - set(found):
        faults[at] = CannotAnonymize(
            Text(
                "No grouping of customers by common months was found that gives at most {share:.0%} of the "
                "purchases to their buyers.",
                share=limits[at].most_attributed,
            )
        )
    return [found[at] if at in found else faults[at] for at in range(len(limits))]


class Merging:
    """Groups of customers that are merged, two at a time, until limits hold.

    weight: how much the rows whose buyers are hidden count beside those that are cut.
    """

    def __init__(self, n_rows: Ints, weight: float = 0.0) -> None:
        # Whoever has the same rows in every month is merged at no cost.
        profiles, kind = np.unique(n_rows, axis=0, return_inverse=True)
        self._kind = kind.reshape(-1)
        # Of each group the customers and the rows that are left of each of them; rows are those of all before any cut.
        self._sizes, self._least = np.bincount(self._kind, minlength=len(profiles)), profiles.sum(axis=1)
        self._rows = self._sizes * self._least
        # Neighbors in this order buy in the same months, and about as much.
        order = np.lexsort((profiles.sum(axis=1), *(profiles > 0).T))
        self._blocks = [
            _Block(profiles, self._sizes, order[at : at + BLOCK], weight) for at in range(0, len(order), BLOCK)
        ]
        self._into = np.arange(len(profiles))

    def go_on_until(self, limits: Limits) -> None:
        """Merge until the limits hold, or no two groups of a block can be merged."""
        with step("grouping", int((self._sizes > 0).sum())) as bar:
            while self._blocks and not self.holds(limits):
                block = min(self._blocks, key=lambda one: one.next_cost)
                if block.next_cost == np.inf:
                    break
                one, two, left = block.merge()
                self._least[one], self._least[two] = left, 0
                for counts in (self._sizes, self._rows):
                    counts[one], counts[two] = counts[one] + counts[two], 0
                self._into[two] = one
                bar.advance()

    def holds(self, limits: Limits) -> bool:
        """Whether the groups keep the limits."""
        n_open, n_groups = self._counts(limits.smallest)
        if n_open + n_groups > limits.most_found or n_open > limits.most_open:
            return False
        if limits.most_attributed >= 1:
            return True
        is_open = self._sizes < limits.smallest
        left = int(np.where(is_open, self._rows, self._least * self._sizes).sum())
        return self.attributed(limits.smallest) <= limits.most_attributed * left * (1 + 1e-9)

    def attributed(self, smallest: int) -> int:
        """Count the rows of open customers and the blocks of groups."""
        return int(np.where(self._sizes < smallest, self._rows, self._least).sum())

    def labels(self, smallest: int) -> Ints:
        """Return the group of each customer, −1 if the customer is left open."""
        into = self._into
        while not np.array_equal(into, into[into]):
            into = into[into]
        at = into[self._kind]
        is_grouped = self._sizes[at] >= smallest
        found = np.unique(at[is_grouped])
        return np.where(is_grouped, np.searchsorted(found, at), -1).astype(np.int64)

    def fault(self, limits: Limits) -> CannotAnonymize:
        """Return the error that says how far the groups are from the limits."""
        n_open, n_groups = self._counts(limits.smallest)
        return CannotAnonymize(
            Text(
                "No grouping of customers by common months was found under the bound: {n:,} of {m:,} customers "
                "left open and {g:,} groups remain, where {a:,} in all and {b:,} open are allowed.",
                n=n_open,
                m=len(self._kind),
                g=n_groups,
                a=limits.most_found,
                b=limits.most_open,
            )
        )

    def _counts(self, smallest: int) -> tuple[int, int]:
        """Count the open customers and the groups."""
        is_open = self._sizes < smallest
        return int(self._sizes[is_open].sum()), int((~is_open).sum())


class _Block:
    """Some groups and what merging any two of them would cost."""

    def __init__(self, profiles: Ints, sizes: Ints, members: Ints, weight: float) -> None:
        self._members = members
        self._least = profiles[members].astype(np.int64)
        self._sizes = sizes[members].astype(np.int64)
        self._is_left = np.ones(len(members), bool)
        self._weight = weight
        self._costs = np.stack([self._costs_of(at) for at in range(len(members))])
        self._nearest = self._costs.argmin(axis=1)
        self._cheapest = self._costs.min(axis=1)

    @property
    def next_cost(self) -> float:
        """The least that a merge costs."""
        return float(self._cheapest.min())

    def merge(self) -> tuple[int, int, int]:
        """Merge the two groups that cost least; both, the one that goes on first, and the rows left of each."""
        one = int(self._cheapest.argmin())
        two = int(self._nearest[one])
        self._least[one] = np.minimum(self._least[one], self._least[two])
        self._sizes[one] += self._sizes[two]
        self._is_left[two] = False
        self._costs[two, :] = self._costs[:, two] = np.inf
        fresh = self._costs_of(one)
        self._costs[one, :] = self._costs[:, one] = fresh
        is_nearer = fresh < self._cheapest
        self._cheapest[is_nearer], self._nearest[is_nearer] = fresh[is_nearer], one
        # Whoever was nearest to a group that changed may be nearer to another now.
        stale = np.flatnonzero(np.isin(self._nearest, (one, two)) & ~is_nearer)
        stale = np.union1d(stale, [one, two])
        self._nearest[stale] = self._costs[stale].argmin(axis=1)
        self._cheapest[stale] = self._costs[stale].min(axis=1)
        return int(self._members[one]), int(self._members[two]), int(self._least[one].sum())

    def _costs_of(self, at: int) -> Floats:
        """Return what merging one group with each other costs: infinitely much where no month would be left.

        The rows cut, by a power of the rows that are certain of their buyers no more.
        """
        common = np.minimum(self._least[at], self._least).sum(axis=1)
        left = self._least.sum(axis=1)
        now = self._sizes * left
        cut = now[at] + now - (self._sizes[at] + self._sizes) * common
        hidden = left[at] + left - common
        costs: Floats = np.where(
            self._is_left & (common > 0), (cut + 1) / np.maximum(1, hidden) ** self._weight, np.inf
        )
        costs[at] = np.inf
        return costs
