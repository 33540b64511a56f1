"""Give each person another record, so that all together is likeliest: who knows everybody can rule records out.

Up to 4,000 rows a side all pairs are held. Of more each person has the records likeliest to be theirs, and one choice
besides that stands for all others and is as likely as the last of these. So what all choose together is no less likely
than the best assignment of all records, and is that assignment if nobody takes the choice that stands for others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from tokumei.attacks.compared_numbers import Floats, Weights
from tokumei.attacks.likeness import TIED, Likeness
from tokumei.attacks.threat_model import NOBODY
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.hierarchies.label_semantics import Ints

# Rows of which all pairs are held; rows that are assigned at all, records of each person, and pairs of all.
MOST_DENSE, MOST_ASSIGNED, CANDIDATES, MOST_EDGES = 4_000, 50_000, 24, 4_000_000
BY_LIKELIHOOD, BY_DISTANCE = "likelihood", "plain distance"


@dataclass(frozen=True, eq=False)
class Assignment:
    """The different record that each person is given, or NOBODY.

    is_best: whether it is proven to be the likeliest of all. n_open: people whose record is among those left out.
    """

    records: Ints
    n_open: int = 0

    @property
    def is_best(self) -> bool:
        """Whether no other assignment of all records is likelier."""
        return not self.n_open


def assignments(likeness: Likeness, people: Ints, seed: int) -> dict[str, Assignment]:
    """Assign records by what was learned and, of few rows, by plain distances; none where there are too many."""
    largest = max(len(people), len(likeness.record_of))
    if largest <= MOST_DENSE:
        return {
            BY_LIKELIHOOD: _dense(likeness, _likelihoods(likeness, people), seed),
            BY_DISTANCE: _dense(likeness, -_distances(likeness, people), seed),
        }
    found = _sparse(likeness, people, seed) if largest <= MOST_ASSIGNED else None
    return {} if found is None else {BY_LIKELIHOOD: found}


def _likelihoods(likeness: Likeness, people: Ints) -> Weights:
    out = np.empty((len(people), len(likeness.sizes)), np.float32)
    for part, told in likeness.pieces(people, "comparing"):
        out[part] = told
    return out


def _distances(likeness: Likeness, people: Ints) -> Weights:
    """Return the sum of how far each record lies off: numbers by standard deviations, others by whether they fit."""
    out = np.zeros((len(people), len(likeness.sizes)), np.float32)
    for column in likeness.columns:
        values, at = np.unique(column.values[people], return_inverse=True)
        far = column.far(np.maximum(values, 0)[:, None], np.arange(len(column.shares))[None, :]).astype(np.float32)
        far[values < 0] = 0
        out += far[at][:, column.labels]
    return out


def _dense(likeness: Likeness, told: Weights, seed: int) -> Assignment:
    record_of = np.repeat(np.arange(len(likeness.sizes)), likeness.sizes)
    every = told[:, record_of]
    # Of records that are equally like any may be a person's.
    every += generator(seed, "one-to-one").random(every.shape, np.float32) * TIED / len(every)
    people, records = linear_sum_assignment(every, maximize=True)
    out = np.full(len(told), NOBODY)
    out[people] = record_of[records]
    return Assignment(out)


def _sparse(likeness: Likeness, people: Ints, seed: int) -> Assignment | None:
    """Assign by the likeliest records of each person; None where so many are alike that none would be told apart."""
    rng, n_records = generator(seed, "one-to-one"), len(likeness.sizes)
    who, which, told = [], [], []
    for near in likeness.near(people, "comparing"):
        said: Floats = near.told.astype(np.float64) + rng.random(len(near.told)) * TIED
        order = np.lexsort((-said, near.who))
        rank = np.arange(len(order)) - np.searchsorted(near.who, np.arange(len(near.part)))[near.who[order]]
        kept = order[rank < CANDIDATES]
        who.append(near.part[near.who[kept]])
        which.append(near.records[kept])
        told.append(said[kept])
    person, record, value = np.concatenate(who), np.concatenate(which), np.concatenate(told)
    # Whatever was left out is no likelier than the last that was kept.
    cut = np.full(len(people), np.inf)
    np.minimum.at(cut, person, value)
    # A record that was released several times can be given as often, and never more often than somebody asks for it.
    slots = np.minimum(likeness.sizes, np.bincount(record, minlength=n_records))
    n_of_pair = slots[record]
    if n_of_pair.sum() > MOST_EDGES:
        return None
    first = np.cumsum(slots) - slots
    edge = np.repeat(np.arange(len(record)), n_of_pair)
    slot = first[record[edge]] + np.arange(len(edge)) - np.repeat(np.cumsum(n_of_pair) - n_of_pair, n_of_pair)
    n_slots, everybody = int(slots.sum()), np.arange(len(people))
    rows, columns = np.append(person[edge], everybody), np.append(slot, n_slots + everybody)
    # Costs must not be 0, which would be no edge.
    costs = np.append(value[edge], cut)
    costs = costs.max() - costs + 1
    graph = sparse.csr_array((costs, (rows, columns)), shape=(len(people), n_slots + len(people)))
    with step("assigning records"):
        given_to, given = min_weight_full_bipartite_matching(graph)
    out, is_slot = np.full(len(people), NOBODY), given < n_slots
    out[given_to[is_slot]] = np.repeat(np.arange(n_records), slots)[given[is_slot]]
    return Assignment(out, int((~is_slot).sum()))
