"""LKC-privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.engines.item_sets import ItemSets
from tokumei.measures.requirement import ROUNDING
from tokumei.measures.safety.history._exposure import Exposure, Secrets, check_n_known, expose, split_items


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
