"""The attacker who compares what people buy: item sets."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.attacks.item_sets import EACH_ONCE, count_items, guess_all_months, nearest_by_jaccard
from tokumei.data.history import History


@dataclass(frozen=True)
class Jaccard:
    """Guess for each pseudonym the customer whose item set is most like its own (Jaccard similarity).

    Knowledge: some rows of the original, items whole or cut to their first characters. Aim: the customer behind each
    pseudonym. Success: the pseudonym is the customer's own in that month. A pseudonym that lives several months is
    compared as one. Several pseudonyms may go to one customer, as in algorithm 1 of Ito, Kikuchi et al. (2016).
    """

    each_once: bool = field(default=False, metadata={"help": EACH_ONCE})

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the most similar customer of each pseudonym, in each month it lives."""
        counts = count_items(knowledge.kept, published.kept)
        best, how_like = nearest_by_jaccard(counts.released, counts.known)
        return guess_all_months(counts, best, how_like.astype(np.float64), published, each_once=self.each_once)
