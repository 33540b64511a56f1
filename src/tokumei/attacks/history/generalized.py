"""Attacks on generalized histories, as in PWSCUP 2018: the attacker has the whole original.

| attack             | guesses by                                                              |
|--------------------|-------------------------------------------------------------------------|
| `generalized`      | who fits a pseudonym's cells at all, and in how many ways              |
| `items-in-common`  | the items of the customer among those of the pseudonym                  |
| `sum-of-quantities`| the nearest total quantity                                              |

The attacker hands in the guesses that pass the hypothesis test, by how sure each is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, Protocol

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching
from scipy.special import logsumexp

from tokumei.attacks.history.fitting import (
    CHANCE,
    LEVEL,
    Bools,
    Floats,
    Indices,
    Known,
    cells_by_pseudonym,
    find_fitting,
    fraction_of,
    n_needed,
)
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory

# All orders of a class of this size are tried; guesses in larger ones are taken as independent.
LARGEST_CLASS_TRIED = 6
N_SCALINGS = 200
# Scaling ends when no chance changes by more.
ENOUGH = 1e-9
# Stands for what cannot be, in logarithms.
NEVER = -1e6
# Pairs less likely than this do not make two classes one.
LEAST_CHANCE = 1e-3


@dataclass(frozen=True)
class Belief:
    """The chance of each pair of pseudonym and customer, and the class of each pseudonym.

    Pseudonyms of different classes have no customer in common, so that what is true of one tells nothing of the other.
    """

    chances: Floats
    classes: Indices


def believe(log_weights: Floats) -> Belief:
    """Turn weights of pairs into chances, given that no two pseudonyms are one customer: pseudonyms × customers.

    A pair that leaves somebody else without a customer is dropped. The rest is scaled until lines and columns are
    shares (Sinkhorn), the usual stand-in for weighing all assignments, which nobody can count.
    """
    n_pseudonyms, n_customers = log_weights.shape
    # Customers with all rows deleted have no pseudonym: empty ones take them, so that lines and columns are as many.
    n_empty = max(0, n_customers - n_pseudonyms)
    padded = np.vstack([log_weights, np.zeros((n_empty, n_customers))])
    is_possible = _possible(np.isfinite(padded))
    chances = np.zeros(padded.shape)
    # Class by class, since most are small and the whole is not.
    labels = _joined(is_possible)
    for label in np.unique(labels):
        lines = np.flatnonzero(labels == label)
        columns = np.flatnonzero(is_possible[lines].any(axis=0))
        block = np.ix_(lines, columns)
        chances[block] = _scale(np.where(is_possible[block], padded[block], -np.inf))
    chances = chances[:n_pseudonyms]
    return Belief(chances, _joined(chances > LEAST_CHANCE))


def _scale(logs: Floats) -> Floats:
    """Scale lines and columns to sums of 1, in logarithms so that small weights are not lost."""
    if not logs.size:
        return logs
    chances: Floats = np.zeros(logs.shape)
    for _ in range(N_SCALINGS):
        logs = logs - logsumexp(logs, axis=0)
        logs = logs - logsumexp(logs, axis=1, keepdims=True)
        before, chances = chances, np.exp(logs)
        if np.abs(chances - before).max() < ENOUGH:
            break
    return chances


def _possible(fits: Bools) -> Bools:
    """Mark the pairs that some assignment of all pseudonyms has."""
    customer_of = maximum_bipartite_matching(sparse.csr_matrix(fits), perm_type="column")
    if fits.shape[0] != fits.shape[1] or (customer_of < 0).any():
        # Somebody fits nobody: the release breaks the rules, and no pair can be excluded.
        return fits
    # From a pseudonym to those whose customers it could take; a circle of them is another assignment.
    takes = sparse.csr_matrix(fits[:, customer_of].astype(np.int8))
    circles = connected_components(takes, connection="strong")[1]
    circle_of_owner = np.empty_like(circles)
    circle_of_owner[customer_of] = circles
    is_possible: Bools = fits & (circles[:, None] == circle_of_owner)
    return is_possible


def _joined(pairs: Bools) -> Indices:
    """Assign numbers to pseudonyms so that those with a customer in common have the same number."""
    n_lines, n_columns = pairs.shape
    lines, columns = pairs.nonzero()
    size = n_lines + n_columns
    graph = sparse.coo_matrix((np.ones(len(lines), dtype=np.int8), (lines, n_lines + columns)), shape=(size, size))
    return connected_components(graph, directed=False)[1][:n_lines].astype(np.int64)


def assign(belief: Belief) -> Indices:
    """Assign each pseudonym a customer of its own, the most likely in all; −1 where none is possible."""
    # Here, since it takes as long to import as many an attack that does without it.
    from scipy.optimize import linear_sum_assignment

    with np.errstate(divide="ignore"):
        gains = np.maximum(np.log(belief.chances), NEVER)
    pseudonyms, customers = linear_sum_assignment(gains, maximize=True)
    chosen = np.full(len(gains), -1)
    chosen[pseudonyms] = np.where(gains[pseudonyms, customers] > NEVER, customers, -1)
    return chosen


def choose(belief: Belief, chosen: Indices, p: Fraction = CHANCE, level: Fraction = LEVEL) -> Indices:
    """Return the pseudonyms whose guesses together have the best chance to prove the release unsafe.

    Whole classes are taken, the surest first, and the last perhaps in part: right guesses come together in a class,
    since the last member of a class is right when all others are.
    """
    sure = np.where(chosen >= 0, belief.chances[np.arange(len(chosen)), chosen], 0.0)
    by_class: dict[int, list[int]] = {}
    for pseudonym in np.argsort(-sure, kind="stable").tolist():
        if chosen[pseudonym] >= 0:
            by_class.setdefault(int(belief.classes[pseudonym]), []).append(pseudonym)
    ordered = sorted(by_class.values(), key=lambda members: (-sure[members].mean(), len(members), members))
    taken: list[int] = []
    right: Floats = np.ones(1)
    best, n_best = 0.0, 0
    for members in ordered:
        chances = _chances_right(belief, chosen, members, sure)
        for n_more, some in enumerate(chances, start=1):
            n = len(taken) + n_more
            total = np.convolve(right, some)
            chance = float(total[n_needed(n, p, level) :].sum())
            # Much better, not a hair: rounding must not decide.
            if chance > best * (1 + 1e-9):
                best, n_best = chance, n
        right = np.convolve(right, chances[-1])
        taken += members
    return np.array(taken[:n_best], dtype=np.int64)


def _chances_right(belief: Belief, chosen: Indices, members: list[int], sure: Floats) -> list[Floats]:
    """Return the chances of 0, 1, … right among the first 1, 2, … members of a class."""
    size = len(members)
    chances: list[Floats] = []
    if size > LARGEST_CLASS_TRIED:
        so_far: Floats = np.ones(1)
        for member in members:
            so_far = np.convolve(so_far, [1 - sure[member], sure[member]])
            chances.append(so_far)
        return chances
    weights = belief.chances[np.array(members)[:, None], chosen[members]]
    orders = np.array(list(permutations(range(size))))
    of_order = weights[np.arange(size), orders].prod(axis=1)
    of_order /= of_order.sum()
    is_right = orders == np.arange(size)
    for n in range(1, size + 1):
        n_right = is_right[:, :n].sum(axis=1)
        chances.append(np.bincount(n_right, weights=of_order, minlength=n + 1).astype(np.float64))
    return chances


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
        original.check_has(["quantity"], "sum-of-quantities")
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
