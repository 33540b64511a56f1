"""How sure each guess is, and which guesses to submit to pass the hypothesis test."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching
from scipy.special import logsumexp

from tokumei.attacks.fitting import Bools, Floats, Indices
from tokumei.attacks.hypothesis import CHANCE, LEVEL, n_needed

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
