"""How a release was made, learned from itself: how far the fields of counterparts still agree.

Expectation maximization over who is whom and which row is which. It starts from the kinds of items and the numbers of
rows alone, which no noise on the other fields touches, and believes in several pseudonyms for each customer at a time:
whoever starts from fields that are believed to agree, or from single matches, is led by rows that agree by accident to
believe in them more and more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.attacks.linkage.evidence import Agreement, Evidence, counts_once
from tokumei.attacks.linkage.fields import PRIOR, FieldLevels, Floats, Ints
from tokumei.attacks.linkage.rows import OF_BASKETS, Side, basket_sizes

ROUNDS = 3
# Learning ends when no share changes by more.
ENOUGH = 0.003


@dataclass(frozen=True)
class Pairs:
    """Known rows beside the released rows of the same month and kind of those pseudonyms that may be their owner's."""

    known: Ints
    released: Ints
    link: Ints  # Which known row and candidate: number of the row · candidates + number of the candidate.

    @classmethod
    def of(cls, known: Side, released: Side, candidates: Ints, n_names: int) -> Pairs:
        """Find the rows; `candidates` has the pseudonyms of each customer (down), −1 where there are fewer."""
        width = int(max(known.kind.max(initial=0), released.kind.max(initial=0))) + 1
        keys = (released.month * width + released.kind) * n_names + released.owner
        wanted = candidates[known.owner]
        key = (known.month * width + known.kind)[:, None] * n_names + wanted
        first, last = np.searchsorted(keys, key), np.searchsorted(keys, key, side="right")
        n_rows = np.where(wanted >= 0, last - first, 0).ravel()
        link = np.repeat(np.arange(n_rows.size), n_rows)
        at = np.arange(len(link)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
        return cls(link // candidates.shape[1], first.ravel()[link] + at, link)


def learn_agreement(
    evidence: Evidence, known: Side, candidates: Ints, prior: Floats, others: Floats, start: Agreement, *, least: float
) -> Agreement:
    """Learn how often counterparts are at each level of each field.

    `candidates` are the pseudonyms thought possible for each customer (down), `prior` their log odds before the fields
    are looked at, by the same places, and `others` the log odds of anybody else. Candidates of a chance
    below `least` teach nothing.
    """
    fields, released = evidence.compared.fields, evidence.compared.released
    pairs = Pairs.of(known, released, candidates, len(evidence.compared.pseudonyms))
    cells = {name: _cells(field, known, released, name, pairs) for name, field in fields.items()}
    n_links, n_candidates = len(known) * candidates.shape[1], candidates.shape[1]
    names = candidates[known.owner].ravel()
    month, kind = np.repeat(known.month, n_candidates), np.repeat(known.kind, n_candidates)
    kept = (1 - evidence.deleted) / evidence.deleted
    scale = kept / np.maximum(evidence.n_rows[names, month], 1) / evidence.kind_shares[month, kind]
    owners = np.repeat(known.owner, n_candidates) * n_candidates + np.tile(np.arange(n_candidates), len(known))
    per_basket = (1 / basket_sizes(known))[pairs.known].astype(np.float32)
    agreement = dict(start)
    for _ in range(ROUNDS):
        ratio, once = np.ones(len(pairs.link), np.float32), np.ones(len(pairs.link), np.float32)
        is_once = any(counts_once(name, agreement) for name in fields)
        for name, field in fields.items():
            of_field = field.weigh(agreement[name]).ravel().take(cells[name])
            ratio *= of_field
            if is_once:
                once *= of_field**per_basket if counts_once(name, agreement) else of_field
        odds = np.bincount(pairs.link, ratio, n_links) * scale
        # Whose a basket is, is told by what it has in common once; which of their rows is which, by all that rows have.
        counted = np.bincount(pairs.link, once, n_links) * scale if is_once else odds
        gains = np.bincount(owners, np.log1p(counted), candidates.size).reshape(candidates.shape)
        chances = _softmax(prior + gains, others)
        chances[chances < least] = 0
        share = chances.ravel()[owners] * scale / (1 + odds)
        weight = ratio * share[pairs.link]
        # A basket that was moved tells once how far, however many its rows are.
        weights = {name: weight * per_basket if name in OF_BASKETS else weight for name in fields}
        before = agreement
        agreement = {name: _shares(field, cells[name], weights[name]) for name, field in fields.items()}
        if all(np.abs(agreement[name] - before[name]).max() < ENOUGH for name in fields):
            break
    return agreement


def _cells(field: FieldLevels, known: Side, released: Side, name: str, pairs: Pairs) -> Ints:
    """Return for pairs of rows the cell of the table of cases by levels; the last level is for missing information."""
    width = field.n_levels + 1
    levels = field.levels_of(known.codes[name][pairs.known], released.codes[name][pairs.released])
    return released.cases[name][pairs.released] * width + levels % np.int8(width)


def _shares(field: FieldLevels, cells: Ints, weight: Floats) -> Floats:
    """Return by band the share of weighted pairs at each level."""
    width = field.n_levels + 1
    by_value = np.bincount(cells, weight, len(field.chance) * width).reshape(-1, width)[:, :-1]
    counts = field.usual() * PRIOR
    np.add.at(counts, field.bands, by_value)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _softmax(scores: Floats, others: Floats) -> Floats:
    """Return the chance of each candidate, given the log odds of all others together."""
    largest = np.maximum(scores.max(axis=1), others)
    chances = np.exp(scores - largest[:, None])
    softmax: Floats = chances / (chances.sum(axis=1) + np.exp(others - largest))[:, None]
    return softmax
