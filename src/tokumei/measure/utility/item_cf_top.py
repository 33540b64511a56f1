"""What would be recommended among the most popular items."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.utility._item_cf import is_bought, score_item_cf
from tokumei.measure.utility.top_items import top_items


@dataclass(frozen=True)
class ItemCfTop:
    """Distance of the similarities of the most bought items: 0 if the same, 1 if lost (PWSCUP 2017, E3's second value).

    As for the wholesaler, but an item counts 1 for each user who bought it, and only the k items with the most buyers
    in the original are looked at.
    """

    k: int = field(default=100, metadata={"help": "How many items count as the top."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        if self.k < 2:
            raise InputError.of("at least two items", column="k", value=self.k)
        return score_item_cf("item-cf-top", original, released, is_bought, top_items(original, self.k))
