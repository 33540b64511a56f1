"""The attacker who compares what people buy, rare items counting more."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.attacks.item_sets import EACH_ONCE, count_items, guess_all_months, nearest_by_cosine, weigh_by_rarity
from tokumei.data.history import History


@dataclass(frozen=True)
class Tfidf:
    """Guess for each pseudonym the customer whose purchases point the same way (cosine of tf-idf vectors).

    Knowledge: some rows of the original, items whole or cut to their first characters. Aim: the customer behind each
    pseudonym. Success: the pseudonym is the customer's own in that month. An item weighs its share of the rows times
    ln(n / buyers) + 1. Several pseudonyms may go to one customer.
    """

    each_once: bool = field(default=False, metadata={"help": EACH_ONCE})

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the most similar customer of each pseudonym, in each month it lives."""
        counts = count_items(knowledge.kept, published.kept)
        known, released = (weigh_by_rarity(side, counts.known) for side in (counts.known, counts.released))
        best, how_like = nearest_by_cosine(released, known)
        return guess_all_months(counts, best, how_like.astype(np.float64), published, each_once=self.each_once)
