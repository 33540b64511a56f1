"""The item–item matrices that the evaluation of PWSCUP 2018 looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.utility._item_cf import below_a_dozen, in_dozens, is_bought, score_item_cf
from tokumei.measure.utility.top_items import top_items

TOP = 100


@dataclass(frozen=True)
class ItemItem:
    """Distance of the item–item similarities in a use case of PWSCUP 2018: 0 if the same, 1 if lost.

    `wholesale` counts whole dozens without the upper bound of 2017, `retail` pieces below a dozen, `top` who bought
    which of the 100 items with the most buyers in the original. The paper points to 2017 for all it leaves out, so
    the distance is the same: Σ|w − w′| / Σw over the pairs with w > 0, and at most 1.
    """

    kind: Literal["wholesale", "retail", "top"] = field(
        default="wholesale", metadata={"help": "Whose matrix: wholesale, retail or top."}
    )

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        weigh = {"wholesale": in_dozens, "retail": below_a_dozen, "top": is_bought}[self.kind]
        items = top_items(original, TOP) if self.kind == "top" else None
        return score_item_cf(f"item-item {self.kind}", original, released, weigh, items)
