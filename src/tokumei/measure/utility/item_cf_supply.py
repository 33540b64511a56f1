"""What a wholesaler would recommend."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.utility._item_cf import in_dozens, score_item_cf


@dataclass(frozen=True)
class ItemCfSupply:
    """Distance of the item–item similarities of a wholesaler: 0 if the same, 1 if lost (E1 of PWSCUP 2017).

    What a user bought of an item counts in whole dozens, at most `most_dozens`; two items are as similar as the cosine
    of their users' counts. The distance is Σ|w − w′| / Σw over the pairs with w > 0, and at most 1. In a release a
    user is a pseudonym.
    """

    most_dozens: int = field(default=6, metadata={"help": "More dozens than these count as these."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        if self.most_dozens < 1:
            raise InputError.of("at least one dozen", column="most_dozens", value=self.most_dozens)
        return score_item_cf(
            "item-cf-supply", original, released, lambda total: np.minimum(in_dozens(total), self.most_dozens)
        )
