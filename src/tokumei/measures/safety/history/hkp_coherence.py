"""(h,k,p)-coherence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.engines.item_sets import ItemSets
from tokumei.measures.requirement import ROUNDING
from tokumei.measures.safety.history._exposure import Exposure, check_n_known, expose, split_items


@dataclass(frozen=True)
class HkpCoherence:
    """Any p public items or fewer are in k transactions or none, of which at most a share h has one private item.

    Answers record linkage and attribute linkage by an attacker who knows up to p public items of a transaction and
    wants to learn a private one (Xu, Wang, Fu and Yu 2008). A transaction is all that a customer bought, or one
    invoice. Measures the largest share: 0 if no private item is released, 1 if some public items tell that a private
    one was bought; the fewest transactions that share a combination are among its inputs as k. Knowing nothing is one
    of the combinations, and in all transactions: of two that have only the private item, both are told.

    Example: `wine` is private and p is 2. The items a and b are together in transactions 1, 2 and 3, of which two
    have wine; c is in 3 and 4, of which one has. But b and c are together in 3 alone, without wine, and a and c in 3
    alone too, so the measure is 2/3 and k is 1. With p = 1 the measure is still 2/3, of b, and k is 2, of c.

    | transaction | items    |
    |-------------|----------|
    | 1           | a b wine |
    | 2           | a b wine |
    | 3           | a b c    |
    | 4           | c wine   |
    | 5           | a        |
    """

    h: float = field(metadata={"help": "Largest share of transactions with one private item, 0 to 1."})
    k: int = field(metadata={"help": "Fewest transactions that may share a combination of public items."})
    p: int = field(metadata={"help": "Most public items an attacker knows: 1 to 3."})
    private: tuple[str, ...] = field(metadata={"help": "The private items; all others are public."})
    transaction: Literal["customer", "invoice"] = field(
        default="customer", metadata={"help": "Whose items belong together: customer or invoice."}
    )

    def __post_init__(self) -> None:
        if not 0 <= self.h <= 1:
            raise InputError.of("a share from 0 to 1", option="h", value=self.h)
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        check_n_known(self.p, "p")
        if self.transaction not in ("customer", "invoice"):
            raise InputError.of("customer or invoice", column="transaction", value=self.transaction)

    def holds(self, released: History) -> bool:
        """Whether every combination is in k transactions, of which at most a share h has one private item."""
        found = self._exposure(released)
        return (found.n_sharing >= self.k or not found.n_sharing) and found.confidence <= self.h + ROUNDING

    def measure(self, released: History) -> Score:
        """Return the largest share; the inputs name the combination and the private item."""
        found = self._exposure(released)
        inputs = {"p": self.p, "k": found.n_sharing, "rarest": found.rarest, "telling": found.telling}
        return Score("hkp-coherence", found.confidence, best=0, worst=1, inputs=inputs | {"told": found.told})

    def _exposure(self, released: History) -> Exposure:
        transactions = released if self.transaction == "customer" else _by_invoice(released)
        public, private = split_items(ItemSets.of(transactions), self.private)
        return expose(public, self.p, private)


def _by_invoice(history: History) -> History:
    """Put the invoice in the customer's place."""
    if history.kept["invoice"].null_count():
        raise InputError.of("an invoice in every row", file=history.name, column="invoice")
    # A deleted row stays missing, whatever stands in it.
    invoice = pl.when(pl.col("customer").is_not_null()).then(pl.col("invoice"))
    return History(history.frame.with_columns(customer=invoice), history.name)
