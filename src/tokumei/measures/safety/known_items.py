"""Safety against somebody who knows a few items of a customer: kᵐ-anonymity, (h,k,p)-coherence and LKC-privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.engines.item_sets import LARGEST_SIZE, Combinations, Floats, ItemSets, Matrix, count_combinations
from tokumei.measures.requirement import ROUNDING


@dataclass(frozen=True)
class Secrets:
    """What an attacker wants to learn of each customer: a row a customer, a column a secret, 1 where it is true."""

    names: tuple[str, ...]
    has: Matrix


@dataclass(frozen=True)
class Exposure:
    """The combination of known items that the fewest customers share, and the one that tells most of a secret.

    `confidence` is the largest share, among those who bought a combination, of those who also have one secret.
    """

    n_sharing: int = 0
    rarest: tuple[str, ...] = ()
    confidence: float = 0.0
    telling: tuple[str, ...] = ()
    told: str | None = None


def expose(sets: ItemSets, n_known: int, secrets: Secrets | None = None) -> Exposure:
    """Go through all combinations of up to `n_known` items that somebody bought.

    Where there are secrets, the combination of no items is one: what most have is learned by knowing nothing.
    """
    found = Exposure() if secrets is None else _knowing_nothing(sets, secrets)
    for size in range(1, n_known + 1):
        for block in count_combinations(sets.bought, size, None if secrets is None else secrets.has):
            found = _with_rarest(found, block, sets.items)
            if secrets is not None:
                found = _with_most_telling(found, block, sets.items, secrets)
            # Nothing that is counted further could be worse.
            if found.n_sharing == 1 and (secrets is None or found.confidence == 1):
                return found
    return found


def split_items(sets: ItemSets, secret: tuple[str, ...]) -> tuple[ItemSets, Secrets]:
    """Part the items that may be known from those that are secret; a secret item that nobody bought is left out."""
    is_secret = sets.items.is_in(list(secret)).to_numpy()
    known, hidden = np.flatnonzero(~is_secret), np.flatnonzero(is_secret)
    has = sparse.csr_array(sets.bought[:, hidden])
    rest = ItemSets(sets.customers, sets.items.gather(known), sparse.csr_array(sets.bought[:, known]))
    return rest, Secrets(tuple(sets.items.gather(hidden)), has)


def check_n_known(n_known: int, option: str) -> None:
    """Raise an InputError for a number of items whose combinations are not counted."""
    if not 1 <= n_known <= LARGEST_SIZE:
        raise InputError.of(f"from 1 to {LARGEST_SIZE} items", option=option, value=n_known)


def _knowing_nothing(sets: ItemSets, secrets: Secrets) -> Exposure:
    n_customers = len(sets.customers)
    n_alike: Floats = np.asarray(secrets.has.sum(axis=0)).reshape(-1)
    if not n_customers or not len(n_alike):
        return Exposure(n_customers)
    most = int(n_alike.argmax())
    if not n_alike[most]:
        return Exposure(n_customers)
    return Exposure(n_customers, confidence=float(n_alike[most]) / n_customers, told=secrets.names[most])


def _with_rarest(found: Exposure, block: Combinations, items: pl.Series) -> Exposure:
    index = int(block.n_buyers.argmin())
    n_sharing = int(block.n_buyers[index])
    if found.n_sharing and n_sharing >= found.n_sharing:
        return found
    return replace(found, n_sharing=n_sharing, rarest=tuple(items.gather(block.items[index]).sort()))


def _with_most_telling(found: Exposure, block: Combinations, items: pl.Series, secrets: Secrets) -> Exposure:
    shares = block.n_alike / block.n_buyers
    index = int(shares.argmax())
    if shares[index] <= found.confidence:
        return found
    telling, told = tuple(items.gather(block.items[index]).sort()), secrets.names[int(block.secret[index])]
    return replace(found, confidence=float(shares[index]), telling=telling, told=told)


@dataclass(frozen=True)
class KmAnonymity:
    """Each combination of up to m items is bought by at least k customers or by none; measures the fewest.

    Answers record linkage by an attacker who knows up to m items that a customer bought, in no order (Terrovitis,
    Mamoulis and Kalnis 2008). 0 for no purchases, 1 if m items tell a customer from all others; the more the better.
    The promise is about pseudonyms: a customer with several is counted once for each.

    Example: with m = 2 the items b and c are both bought by customer 1 alone, so the measure is 1. With m = 1 it is
    2, since each single item has two buyers.

    | customer | items |
    |----------|-------|
    | 1        | a b c |
    | 2        | a b   |
    | 3        | a c   |
    """

    k: int = field(metadata={"help": "Fewest customers who may share a combination of items."})
    m: int = field(default=2, metadata={"help": "Most items an attacker knows: 1 to 3."})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        check_n_known(self.m, "m")

    def holds(self, released: History) -> bool:
        """Whether k customers share every combination that occurs."""
        fewest = self.measure(released).value
        return fewest >= self.k or fewest == 0

    def measure(self, released: History) -> Score:
        """Return the fewest customers who share a combination; the inputs name one such combination."""
        found = expose(ItemSets.of(released), self.m)
        inputs = {"m": self.m, "rarest": found.rarest}
        return Score("km-anonymity", found.n_sharing, best=math.inf, worst=0, inputs=inputs)


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


@dataclass(frozen=True)
class LkcPrivacy:
    """Who knows up to L items of a customer finds at least K customers, and no secret with confidence above C.

    Answers record linkage and attribute linkage by an attacker whose knowledge is limited to L items (Mohammed, Fung,
    Hung and Lee 2009). Secret are some items, which then count as unknown, or the values of an attribute of
    customers, such as an illness. Measures the largest confidence: near 0 if no combination tells anything, 1 if all
    who share one have the same secret; the fewest customers who share a combination are among its inputs as k. Knowing
    nothing is one of the combinations, which all customers share.

    Example: `test` is the secret item and L is 1. Of the three who bought a, two bought the test, so the confidence
    is at least 2/3; of the two who bought c, one did. The only buyer of b did too, so it is 1, and k is 1. Without
    customer 4 the most telling is to know nothing, since two of three bought the test: 2/3, and k is 2.

    | customer | items    |
    |----------|----------|
    | 1        | a c      |
    | 2        | a test   |
    | 3        | c test   |
    | 4        | a b test |
    """

    l: int = field(metadata={"help": "Most items an attacker knows: 1 to 3."})  # noqa: E741 - It is named so.
    k: int = field(metadata={"help": "Fewest customers who may share a combination of known items."})
    c: float = field(metadata={"help": "Largest confidence allowed for a secret, 0 to 1."})
    sensitive: tuple[str, ...] = field(default=(), metadata={"help": "The secret items."})
    attribute: Mapping[str, str] | None = field(
        default=None, metadata={"help": "The secret value of each customer or pseudonym; none for those not named."}
    )

    def __post_init__(self) -> None:
        check_n_known(self.l, "l")
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        if not 0 <= self.c <= 1:
            raise InputError.of("a share from 0 to 1", option="c", value=self.c)
        if not self.sensitive and not self.attribute:
            raise InputError.of("secret items or a secret attribute", option="sensitive")

    def holds(self, released: History) -> bool:
        """Whether every combination has K customers, and reveals no secret with a confidence above C."""
        found = self._exposure(released)
        return (found.n_sharing >= self.k or not found.n_sharing) and found.confidence <= self.c + ROUNDING

    def measure(self, released: History) -> Score:
        """Return the largest confidence; the inputs name the combination and what it reveals."""
        found = self._exposure(released)
        inputs = {"l": self.l, "k": found.n_sharing, "rarest": found.rarest, "telling": found.telling}
        return Score("lkc-privacy", found.confidence, best=0, worst=1, inputs=inputs | {"told": found.told})

    def _exposure(self, released: History) -> Exposure:
        known, secrets = split_items(ItemSets.of(released), self.sensitive)
        if self.attribute is not None:
            secrets = _joined(secrets, _attribute_secrets(known, self.attribute))
        return expose(known, self.l, secrets)


def _attribute_secrets(sets: ItemSets, attribute: Mapping[str, str]) -> Secrets:
    """Make each value of the attribute a secret of the customers who have it."""
    values = [attribute.get(customer) for customer in sets.customers.to_list()]
    names = sorted({value for value in values if value is not None})
    column = {value: index for index, value in enumerate(names)}
    rows = np.array([row for row, value in enumerate(values) if value is not None], np.int64)
    columns = np.array([column[value] for value in values if value is not None], np.int64)
    shape = (len(values), len(names))
    return Secrets(tuple(names), sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape))


def _joined(one: Secrets, other: Secrets) -> Secrets:
    return Secrets((*one.names, *other.names), sparse.csr_array(sparse.hstack([one.has, other.has], format="csr")))
