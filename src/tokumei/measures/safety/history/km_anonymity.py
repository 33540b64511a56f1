"""kᵐ-anonymity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.engines.item_sets import ItemSets
from tokumei.measures.safety.history._exposure import check_n_known, expose


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
