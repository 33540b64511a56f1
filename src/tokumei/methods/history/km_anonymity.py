"""Items deleted until nobody has a combination of them nearly alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.history import History
from tokumei.engines.combinations import fewest_sharing
from tokumei.engines.item_sets import Floats, Ints, ItemSets, Matrix
from tokumei.methods.steps import Changed, HistoryStep, without_rows

LARGEST_M = 2


@dataclass(frozen=True)
class KmAnonymity(HistoryStep):
    """Delete items of customers until each combination of up to m items is bought by at least k customers or none.

    | customer: items | released, k = 2, m = 2 |
    |-----------------|------------------------|
    | 1: a b c        | 1: a b                 |
    | 2: a b          | 2: a b                 |
    | 3: a c          | 3: a                   |

    An attacker who knows m items of a customer then finds k customers who fit. Each customer keeps items from the
    most bought downwards, as long as every combination with those kept is common enough; since a deletion makes
    other combinations rarer, this goes on until nothing changes. The promise is about pseudonyms: it is recounted
    on the release, and pseudonyms that change from month to month break it.
    """

    k: int = field(default=2, metadata={"help": "Fewest customers who share a combination of items."})
    m: int = field(default=2, metadata={"help": "Most items an attacker knows: 1 or 2."})

    def change(self, history: History, *, seed: int) -> Changed:  # noqa: ARG002 - Nothing is drawn.
        """Delete the rows of every item that a customer may not keep."""
        self._check_options()
        sets = ItemSets.of(history)
        kept = self._kept(sets.bought)
        if len(sets.customers) and not kept.nnz:
            raise CannotAnonymize(
                Text("No item is bought by at least {customers}.", customers=counted(self.k, "customer"))
            )
        customer, item = kept.nonzero()
        allowed = pl.DataFrame({"customer": sets.customers.gather(customer), "item": sets.items.gather(item)})
        marked = history.frame.select("customer", "item").join(
            allowed.with_columns(is_kept=pl.lit(True)), on=["customer", "item"], how="left", maintain_order="left"
        )
        changed = without_rows(history, marked["is_kept"].is_null().to_numpy())
        self.check_promise(changed.history)
        return changed

    def check_promise(self, released: History) -> None:
        """Recount how many share the rarest combination."""
        bought = ItemSets.of(released).bought
        if bought.nnz and (fewest := fewest_sharing(bought, self.m)) < self.k:
            raise PromiseBroken(
                f"A combination of up to {self.m} items belongs to {fewest} pseudonyms, fewer than k = {self.k}."
            )

    def _check_options(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        if not 1 <= self.m <= LARGEST_M:
            raise InputError.of(f"from 1 to {LARGEST_M}", option="m", value=self.m)

    def _kept(self, bought: Matrix) -> Matrix:
        """Take items away from customers until every combination is common enough."""
        while True:
            n_buyers: Floats = np.asarray(bought.sum(axis=0))
            smaller = sparse.csr_array(bought.multiply(n_buyers >= self.k))
            smaller.eliminate_zeros()
            if self.m > 1:
                smaller = _without_rare_pairs(smaller, self.k)
            if smaller.nnz == bought.nnz:
                return smaller
            bought = smaller


def _without_rare_pairs(bought: Matrix, k: int) -> Matrix:
    """Keep of each customer's items, most bought first, those that are common together with all kept before."""
    together = sparse.csr_array(bought.T @ bought)
    rare = sparse.csr_array((together.data < k, together.indices, together.indptr), shape=together.shape)
    rare.eliminate_zeros()
    # How many rare pairs each item makes with the others of its customer; all without any may stay.
    conflicts = sparse.csr_array((bought @ rare.astype(np.float64)).multiply(bought))
    conflicts.eliminate_zeros()
    is_rare = rare.toarray()
    rank = np.empty(bought.shape[1], np.int64)
    rank[np.argsort(-np.asarray(bought.sum(axis=0)), kind="stable")] = np.arange(bought.shape[1])
    taken: list[Ints] = []
    for customer in np.flatnonzero(np.diff(conflicts.indptr)):
        items = conflicts.indices[conflicts.indptr[customer] : conflicts.indptr[customer + 1]]
        items = items[np.argsort(rank[items])]
        among = is_rare[np.ix_(items, items)]
        may_stay = np.ones(len(items), bool)
        for index in range(len(items)):
            if may_stay[index]:
                may_stay[index + 1 :] &= ~among[index, index + 1 :]
        taken.append(customer * bought.shape[1] + items[~may_stay])
    row, column = np.divmod(np.concatenate([*taken, np.array([], np.int64)]), bought.shape[1])
    kept = sparse.csr_array(bought - sparse.csr_array((np.ones(len(row)), (row, column)), shape=bought.shape))
    kept.eliminate_zeros()
    return kept
