"""Attacks on generalized histories, as in PWSCUP 2018: the attacker has the whole original.

| attack             | guesses by                                                              |
|--------------------|-------------------------------------------------------------------------|
| `generalized`      | who fits a pseudonym's cells at all, and in how many ways              |
| `items-in-common`  | the items of the customer among those of the pseudonym                  |
| `sum-of-quantities`| the nearest total quantity                                              |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.attacks.fitting import Floats, Indices, Known, cells_by_pseudonym, find_fitting
from tokumei.attacks.hypothesis import CHANCE, LEVEL, fraction_of
from tokumei.attacks.submission import assign, believe, choose
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History

# What the report of 2018 reckons with: so many guesses disprove a 2-anonymous release with a chance of 0.073.
N_GUESSES = 24
SCHEMA = {"pseudonym": pl.String, "customer": pl.String, "confidence": pl.Float64}


class GeneralizedAttack(Protocol):
    """Finds the customers of a generalized release in its original; its fields are its options."""

    def guess(self, original: History, published: GeneralizedHistory) -> pl.DataFrame:
        """Return the guesses to submit, the surest first: pseudonym, customer, confidence.

        A pseudonym that is left out is not guessed.
        """


@dataclass(frozen=True)
class Generalized:
    """Guess among the customers who fit all cells of a pseudonym, no customer twice.

    Knowledge: the whole original. Aim: enough right guesses to prove the release unsafe. A customer fits if each row of
    the pseudonym can stand for a row of its own, and is likelier if it can in more ways. How many rows a customer would
    have lost tells nothing: whoever is whom, all together lost the same. Confidence is the chance of the pair.
    """

    submit_all: bool = field(
        default=False, metadata={"help": "Submit all guesses, not only those with the best chance to pass the test."}
    )
    p: str | float = field(default=str(CHANCE), metadata={"help": "Chance of a right guess that the test allows."})
    alpha: str | float = field(default=str(LEVEL), metadata={"help": "Level of the test, for each attack."})

    def guess(self, original: History, published: GeneralizedHistory) -> pl.DataFrame:
        """Return the guesses to submit, the surest first."""
        p, level = fraction_of(self.p, "p"), fraction_of(self.alpha, "alpha")
        known = Known.of(original)
        cells = cells_by_pseudonym(published, known)
        if not cells:
            return pl.DataFrame(schema=SCHEMA)
        belief = believe(find_fitting(known, cells))
        chosen = assign(belief)
        submitted = np.flatnonzero(chosen >= 0) if self.submit_all else choose(belief, chosen, p, level)
        sure = belief.chances[submitted, chosen[submitted]]
        return _guesses(list(cells), known.customers, submitted, chosen[submitted], sure)


@dataclass(frozen=True)
class ItemsInCommon:
    """Guess the customer who bought most of the items that a pseudonym's cells name.

    Knowledge: the items of each customer. An item of a set counts by its share of the set, and customers are compared
    by the angle between their items and the pseudonym's. Confidence is the lead over the second best.
    """

    n_guesses: int = field(default=N_GUESSES, metadata={"help": "Guesses to submit, the surest ones."})

    def guess(self, original: History, published: GeneralizedHistory) -> pl.DataFrame:
        """Return the guesses to submit, the surest first."""
        known = Known.of(original)
        cells = cells_by_pseudonym(published, known)
        named = [
            (line, item, 1 / len(items))
            for line, mine in enumerate(cells.values())
            for items in mine.items
            if items is not None
            for item in items
        ]
        table = np.array(named, dtype=np.float64).reshape(-1, 3)
        lines, items_named = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        n_items = len(known.item_numbers)
        released = _vectors(table[:, 2], lines, items_named, len(cells), n_items)
        bought = _vectors(np.ones(len(known.owner)), known.owner, known.item, len(known.customers), n_items)
        likeness = (released @ bought.T).toarray()
        return _surest(list(cells), known.customers, likeness, self.n_guesses)


@dataclass(frozen=True)
class SumOfQuantities:
    """Guess the customer whose total quantity is nearest to the pseudonym's.

    Knowledge: the total quantity of each customer. A range counts by its middle, a suppressed cell by the mean.
    Confidence is the lead over the second nearest.
    """

    n_guesses: int = field(default=N_GUESSES, metadata={"help": "Guesses to submit, the surest ones."})

    def guess(self, original: History, published: GeneralizedHistory) -> pl.DataFrame:
        """Return the guesses to submit, the surest first."""
        known = Known.of(original)
        cells = cells_by_pseudonym(published, known)
        quantity = known.values[2]
        released = np.array([_middles(mine.low[2], mine.high[2], quantity.mean()).sum() for mine in cells.values()])
        bought = np.bincount(known.owner, weights=quantity, minlength=len(known.customers))
        nearness = -np.abs(np.log1p(released)[:, None] - np.log1p(bought))
        return _surest(list(cells), known.customers, nearness, self.n_guesses)


GENERALIZED_ATTACKS: dict[str, type[GeneralizedAttack]] = {
    "generalized": Generalized,
    "items-in-common": ItemsInCommon,
    "sum-of-quantities": SumOfQuantities,
}


def _middles(low: Floats, high: Floats, unknown: float) -> Floats:
    """Return the middle of each range, and `unknown` for suppressed cells."""
    is_known = np.isfinite(low)
    return np.where(is_known, (np.where(is_known, low, 0) + np.where(is_known, high, 0)) / 2, unknown)


def _vectors(weights: Floats, lines: Indices, items: Indices, n_lines: int, n_items: int) -> Any:
    """Return the items of each line as a vector of length one."""
    counts = sparse.csr_matrix((weights, (lines, items)), shape=(n_lines, n_items))
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1))).ravel()
    return sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ counts


def _surest(pseudonyms: list[str], customers: list[str], scores: Floats, n_guesses: int) -> pl.DataFrame:
    """Guess the best customer for each pseudonym, and submit those with the greatest lead over the second best."""
    if not pseudonyms or len(customers) < 2:
        return pl.DataFrame(schema=SCHEMA)
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    lead = first - second
    submitted = np.argsort(-lead, kind="stable")[:n_guesses]
    return _guesses(pseudonyms, customers, submitted, scores.argmax(axis=1)[submitted], lead[submitted])


def _guesses(pseudonyms: list[str], customers: list[str], who: Indices, whom: Indices, sure: Floats) -> pl.DataFrame:
    rows = {
        "pseudonym": [pseudonyms[number] for number in who.tolist()],
        "customer": [customers[number] for number in whom.tolist()],
        "confidence": sure,
    }
    return pl.DataFrame(rows, schema=SCHEMA).sort("confidence", descending=True, maintain_order=True)
