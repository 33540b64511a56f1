"""One customer, one pseudonym: from scores of pairs to the likeliest matching."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from tokumei.attack.linkage.fields import Floats, Ints

ROUNDS = 60
# Weight of a pseudonym being nobody's whom the attacker knows of.
STRANGER = 0.02
SCORE_BOUNDS = (-80.0, 250.0)


def match_chances(scores: Floats) -> tuple[Floats, Floats]:
    """Give the chance of each pair and of each customer being absent.

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
    """Give for each pseudonym how free it is, in logarithms: the less the more customers claim it."""
    weights, absent = _weights(scores)
    of_pseudonym = np.ones(scores.shape[1])
    for _ in range(ROUNDS // 3):
        of_pseudonym = 1 / (STRANGER + 1 / (absent + weights @ of_pseudonym) @ weights)
    freedom: Floats = np.log(of_pseudonym)
    return freedom


def _weights(scores: Floats) -> tuple[Floats, Floats]:
    """Give the weight of each pair and of each customer being absent.

    A customer of many known rows has scores beyond what a number holds, for several pseudonyms: its weights are made
    smaller together, that of absence too, which changes no chance; cut off, they would all be equal.
    """
    beyond = np.maximum(scores.max(axis=1, initial=-np.inf) - SCORE_BOUNDS[1], 0.0)
    weights: Floats = np.exp(np.clip(scores - beyond[:, None], *SCORE_BOUNDS))
    return weights, np.exp(-beyond)


def match(scores: Floats) -> tuple[Ints, Floats]:
    """Give the pseudonym of each customer, −1 where absence is likelier, and how sure that is.

    Of all one-to-one matchings the one with about the most cells expected to be right is taken.
    """
    chances, absent = match_chances(scores)
    gain = chances - absent[:, None]
    customers, names = np.nonzero(gain > 0)
    found = assign(customers, names, gain[customers, names], scores.shape)
    sure, at = absent.copy(), np.flatnonzero(found >= 0)
    sure[at] = chances[at, found[at]]
    return found, sure


def assign(customers: Ints, names: Ints, gain: Floats, shape: tuple[int, int]) -> Ints:
    """Match pairs of customers and pseudonyms one to one for the largest gain in all; −1 for who is left.

    Gains are above 0 and count as 1 at most.
    """
    n, n_names = shape
    # Everybody may also be absent, which is a place of their own at no gain.
    costs = np.concatenate([2.0 - np.minimum(gain, 1.0), np.full(n, 2.0)])
    places = (np.concatenate([customers, np.arange(n)]), np.concatenate([names, n_names + np.arange(n)]))
    table = csr_array((costs, places), shape=(n, n_names + n))
    # Of scipy.sparse, since scipy.optimize takes as long to import as an attack takes.
    rows, columns = min_weight_full_bipartite_matching(table)
    chosen: Ints = np.full(n, -1)
    chosen[rows] = np.where(columns < n_names, columns, -1)
    return chosen
