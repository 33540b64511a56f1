"""One customer, one pseudonym: from scores of pairs to the likeliest matching."""

from __future__ import annotations

import numpy as np

from tokumei.attacks.linkage.fields import Floats, Ints

ROUNDS = 60
# Weight of a pseudonym being nobody's whom the attacker knows of.
STRANGER = 0.02
SCORE_BOUNDS = (-80.0, 250.0)
# Pairs beyond which the general solver, which sees only those that gain, is as fast and needs less memory.
MOST_CELLS = 1_000_000


def match_chances(scores: Floats) -> tuple[Floats, Floats]:
    """Return the chance of each pair and of each customer being absent.

    Scores are log odds of a customer (down) being a pseudonym (across) against being absent. Scaling rows and
    columns in turn (Sinkhorn) makes a customer be one pseudonym or absent, and a pseudonym one customer or a stranger.
    """
    weights, absent = _weights(scores)
    of_pseudonym = np.ones(scores.shape[1])
    for _ in range(ROUNDS):
        of_customer = 1 / (absent + weights @ of_pseudonym)
        of_pseudonym = 1 / (STRANGER + of_customer @ weights)
    of_customer = 1 / (absent + weights @ of_pseudonym)
    return of_customer[:, None] * weights * of_pseudonym, absent * of_customer


def log_freedom(scores: Floats) -> Floats:
    """Return how free each pseudonym is, in logarithms: less so the more customers claim it."""
    weights, absent = _weights(scores)
    of_pseudonym = np.ones(scores.shape[1])
    for _ in range(ROUNDS // 3):
        of_pseudonym = 1 / (STRANGER + 1 / (absent + weights @ of_pseudonym) @ weights)
    freedom: Floats = np.log(of_pseudonym)
    return freedom


def _weights(scores: Floats) -> tuple[Floats, Floats]:
    """Return the weight of each pair and of each customer being absent.

    A customer of many known rows has scores beyond what a number holds, for several pseudonyms: its weights are made
    smaller together, that of absence too, which changes no chance; cut off, they would all be equal.
    """
    beyond = np.maximum(scores.max(axis=1, initial=-np.inf) - SCORE_BOUNDS[1], 0.0)
    weights: Floats = np.exp(np.clip(scores - beyond[:, None], *SCORE_BOUNDS))
    return weights, np.exp(-beyond)


def match(scores: Floats) -> tuple[Ints, Floats]:
    """Return the pseudonym of each customer, −1 where absence is likelier, and how sure that is.

    Of all one-to-one matchings the one with about the most cells expected to be right is taken.
    """
    chances, absent = match_chances(scores)
    found = assign_all(chances - absent[:, None])
    sure, at = absent.copy(), np.flatnonzero(found >= 0)
    sure[at] = chances[at, found[at]]
    return found, sure


def assign_all(gain: Floats) -> Ints:
    """Match customers (down) and pseudonyms (across) one to one for the largest gain in all; −1 for who is left.

    A pair that gains as much as the best of its customer's others and the best of its pseudonym's others together is
    in some best matching: whatever the two were matched with instead, gains no more. Most are found so, and what is
    left is a smaller matching.
    """
    if gain.size > MOST_CELLS:
        customers, names = np.nonzero(gain > 0)
        return assign(customers, names, gain[customers, names], gain.shape)
    found: Ints = np.full(len(gain), -1)
    rows, columns = (np.flatnonzero((gain > 0).any(axis=axis)) for axis in (1, 0))
    table = np.clip(gain[np.ix_(rows, columns)], 0.0, 1.0)
    while table.size:
        at, best = np.arange(len(rows)), table.argmax(axis=1)
        others = [_second(table, axis=1), _second(table, axis=0)[best]]
        is_sure = (table.argmax(axis=0)[best] == at) & (table[at, best] >= sum(others)) & (table[at, best] > 0)
        found[rows[is_sure]] = columns[best[is_sure]]
        rows, columns = rows[~is_sure], np.delete(columns, best[is_sure])
        table = np.delete(table[~is_sure], best[is_sure], axis=1)
        if not is_sure.any():
            customers, names = np.nonzero(table)
            chosen = assign(customers, names, table[customers, names], table.shape)
            found[rows] = np.where(chosen >= 0, columns[chosen], -1)
            break
    return found


def _second(table: Floats, axis: int) -> Floats:
    """Return the second largest of each line, 0 where there is but one."""
    if table.shape[axis] == 1:
        return np.zeros(table.shape[1 - axis])
    ordered = np.partition(table, -2, axis=axis)
    return ordered[-2] if axis == 0 else ordered[:, -2]


def assign(customers: Ints, names: Ints, gain: Floats, shape: tuple[int, int]) -> Ints:
    """Match pairs of customers and pseudonyms one to one for the largest gain in all; −1 for who is left.

    Gains are above 0 and count as 1 at most.
    """
    # Here, since it takes longer to import than most attacks; scipy.optimize would take longer still.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, n_names = shape
    # Everybody may also be absent, which is a place of their own at no gain.
    costs = np.concatenate([2.0 - np.minimum(gain, 1.0), np.full(n, 2.0)])
    places = (np.concatenate([customers, np.arange(n)]), np.concatenate([names, n_names + np.arange(n)]))
    table = csr_array((costs, places), shape=(n, n_names + n))
    rows, columns = min_weight_full_bipartite_matching(table)
    chosen: Ints = np.full(n, -1)
    chosen[rows] = np.where(columns < n_names, columns, -1)
    return chosen
