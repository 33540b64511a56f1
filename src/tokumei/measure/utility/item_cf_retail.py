"""What a retailer would recommend."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.utility._item_cf import below_a_dozen, score_item_cf


@dataclass(frozen=True)
class ItemCfRetail:
    """Distance of the item–item similarities of a retailer: 0 if the same, 1 if lost (E2 of PWSCUP 2017).

    As for the wholesaler, but what a user bought of an item counts in pieces, and not at all from a dozen on.
    """

    def measure(self, original: History, released: History) -> Score:
        """Compare the similarities of both."""
        return score_item_cf("item-cf-retail", original, released, below_a_dozen)
