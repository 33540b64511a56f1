"""Whether the most popular items still look most popular."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History


@dataclass(frozen=True)
class TopItems:
    """Share of the k most bought items that the release no longer shows among its own: 0 if none, 1 if all.

    Items rank by their number of buyers; of items with equally many the larger id comes first (the first value
    of E3 of PWSCUP 2017). In a release a buyer is a pseudonym.
    """

    k: int = field(default=100, metadata={"help": "How many items count as the top."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the top items of both."""
        if self.k < 1:
            raise InputError.of("at least one item", option="k", value=self.k)
        lost = set(top_items(original, self.k)) - set(top_items(released, self.k))
        return Score("top-items", len(lost) / self.k, best=0, worst=1)


def top_items(history: History, k: int) -> list[str]:
    """Return the k items with the most buyers, the most bought first."""
    buyers = history.kept.group_by("item").agg(pl.col("customer").n_unique().alias("n"))
    return buyers.sort("n", "item", descending=[True, True])["item"].head(k).to_list()
