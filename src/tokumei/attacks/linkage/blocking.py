"""Many customers at once: scores are made in blocks of customers, and of each only the likeliest pseudonyms are kept.

The evidence is the same as where all fits in memory; what is left out is what would fill it: the scores of pairs that
nobody believes in, and habits across epochs, which need all of them. Where a field hardly ever changes, customers are
compared only with pseudonyms that have a row which agrees in it (`linkage.narrowing`), else everybody with everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tokumei.attacks.linkage.counts import CountEvidence
from tokumei.attacks.linkage.epochs import Epoch
from tokumei.attacks.linkage.evidence import Agreement, Evidence
from tokumei.attacks.linkage.fields import Floats, Ints
from tokumei.attacks.linkage.matching import ROUNDS, SCORE_BOUNDS, STRANGER, assign
from tokumei.attacks.linkage.narrowing import Narrowed
from tokumei.core.progress import step
from tokumei.core.seeds import generator

if TYPE_CHECKING:
    # Imported where blocks are made, since it takes longer than most attacks.
    from scipy.sparse import csr_array

# Pairs of customers and pseudonyms whose scores are held at once: 8 bytes each, in a few arrays.
BLOCK_CELLS = 12_000_000
# Beyond so many pairs, customers come in blocks.
LARGEST_CELLS = 16_000_000
# Customers of a block where rows that could be counterparts are few.
NARROW_CUSTOMERS = 5_000
# Pseudonyms that are kept of each customer and epoch.
N_KEPT = 60

Learn = Callable[[Evidence, Sequence[Epoch], Sequence[Floats]], Agreement]
CountOdds = Callable[[CountEvidence, Epoch, Floats], Floats]


def some_customers(evidence: Evidence, counts: CountEvidence, chosen: Ints) -> tuple[Evidence, CountEvidence]:
    """Select what is known of some customers, numbered anew in their order."""
    compared = evidence.compared
    at = np.full(len(compared.customers), -1)
    at[chosen] = np.arange(len(chosen))
    rows = compared.known.select(np.flatnonzero(at[compared.known.owner] >= 0))
    known = replace(rows, owner=at[rows.owner])
    order = np.lexsort((known.place, known.owner, known.kind, known.month))
    names = [compared.customers[one] for one in chosen]
    expected = counts.expected
    fewer = replace(
        expected, n_known=expected.n_known[chosen], mean=expected.mean[chosen], variance=expected.variance[chosen]
    )
    return (
        replace(evidence, compared=replace(compared, known=known.select(order), customers=names)),
        replace(counts, expected=fewer, n_customers=len(compared.customers)),
    )


def score_in_blocks(
    evidence: Evidence, counts: CountEvidence, epochs: Sequence[Epoch], learn: Learn, count_odds: CountOdds
) -> list[csr_array]:
    """Give for each epoch the scores of each customer's likeliest pseudonyms: customers by pseudonyms of the epoch."""
    n = len(evidence.compared.customers)
    rates = counts.rates(counts.expected.n_known > 0)
    agreement = _learn_from_some(evidence, counts, epochs, rates, learn, count_odds)
    narrowed = Narrowed.of(evidence.compared, evidence.compared.known, agreement)
    size = (
        NARROW_CUSTOMERS if narrowed is not None else max(1, BLOCK_CELLS // max(1, len(evidence.compared.pseudonyms)))
    )
    kept: list[list[tuple[Ints, Ints, Floats]]] = [[] for _ in epochs]
    with step("comparing customers", total=n) as bar:
        for first in range(0, n, size):
            block = np.arange(first, min(n, first + size))
            part, of_part = some_customers(evidence, counts, block)
            for number, scores in enumerate(
                _dense_scores(part, of_part, epochs, agreement, rates[block], count_odds)
                if narrowed is None
                else _narrow_scores(
                    _summed(part.by_narrowed(part.compared.known, agreement, narrowed), part),
                    *(of_part, epochs, rates[block]),
                )
            ):
                kept[number].append((scores[0] + first, *scores[1:]))
            bar.advance(len(block))
    return [_joined(parts, (n, len(epoch.names))) for parts, epoch in zip(kept, epochs, strict=True)]


def _learn_from_some(
    evidence: Evidence,
    counts: CountEvidence,
    epochs: Sequence[Epoch],
    rates: Floats,
    learn: Learn,
    count_odds: CountOdds,
) -> Agreement:
    """Learn how far fields agree in the epoch of which most is known, from as many customers as one block has."""
    n_known = np.array([counts.expected.n_known[:, epoch.months].sum() for epoch in epochs])
    epoch = epochs[int(n_known.argmax())]
    there, of_there = only_epoch(evidence, counts, epoch)
    drawn = _best_known(of_there.expected.n_known[:, epoch.months].sum(axis=1), max(1, BLOCK_CELLS // len(epoch.names)))
    some, of_some = some_customers(there, of_there, drawn)
    alone = replace(epoch, names=np.arange(len(epoch.names)))
    return learn(some, [alone], [count_odds(of_some, alone, rates[drawn])])


def only_epoch(evidence: Evidence, counts: CountEvidence, epoch: Epoch) -> tuple[Evidence, CountEvidence]:
    """Select what is known and released in an epoch, its pseudonyms numbered anew in their order."""
    compared = evidence.compared
    known, released = (
        side.select(np.flatnonzero(np.isin(side.month, epoch.months))) for side in (compared.known, compared.released)
    )
    released = replace(released, owner=np.searchsorted(epoch.names, released.owner))
    names = [compared.pseudonyms[one] for one in epoch.names]
    fields = {
        name: field.of_rows(known.codes[name], released.codes[name], released.cases[name])
        for name, field in compared.fields.items()
    }
    fewer = replace(compared, known=known, released=released, fields=fields, pseudonyms=names)
    n_rows = evidence.n_rows[epoch.names]
    return replace(evidence, compared=fewer, n_rows=n_rows), replace(counts, n_rows=n_rows)


def _dense_scores(
    part: Evidence,
    counts: CountEvidence,
    epochs: Sequence[Epoch],
    agreement: Agreement,
    rates: Floats,
    count_odds: CountOdds,
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield for each epoch the likeliest of all pseudonyms."""
    by_rows = part.by_rows(part.compared.known, agreement)
    for epoch in epochs:
        yield _likeliest(by_rows[:, epoch.names] + count_odds(counts, epoch, rates))


def _summed(gains: Iterable[tuple[Ints, Ints, Floats]], part: Evidence) -> csr_array:
    """Add up what customers (down) and pseudonyms (across) gain."""
    from scipy.sparse import coo_array, csr_array

    shape = (len(part.compared.customers), len(part.compared.pseudonyms))
    scores = csr_array(shape)
    for customers, names, gained in gains:
        scores = scores + coo_array((gained, (customers, names)), shape=shape).tocsr()
    return scores


def _narrow_scores(
    by_rows: csr_array, counts: CountEvidence, epochs: Sequence[Epoch], rates: Floats
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield for each epoch the likeliest of the pseudonyms with which customers share rows that could be the same."""
    across = by_rows.tocsc()
    for epoch in epochs:
        here = across[:, epoch.names].tocoo()
        customers, names = (at.astype(np.int64) for at in here.coords)
        odds = here.data + counts.odds_of_pairs(epoch, rates, customers, names)
        order = np.lexsort((names, -odds, customers))
        customers, names, odds = customers[order], names[order], odds[order]
        rank = np.arange(len(customers)) - np.searchsorted(customers, customers)
        is_kept = (rank < N_KEPT) & (odds > SCORE_BOUNDS[0] / 8)
        yield customers[is_kept], names[is_kept], odds[is_kept]


def _best_known(n_known: Ints, size: int) -> Ints:
    """Take as many customers as one block has to learn from, those of whom most is known.

    Of somebody with a single known row nobody can say which of many rows like it is its counterpart: from a draw of
    all customers of a shop where most buy once, it was learned that nothing agrees.
    """
    luck = generator(0, "linkage", "block").permutation(len(n_known))
    chosen: Ints = np.sort(np.lexsort((luck, -n_known))[:size])
    return chosen


def _likeliest(scores: Floats) -> tuple[Ints, Ints, Floats]:
    """Take the best pseudonyms of each customer, those that are believed in at all."""
    n_kept = min(N_KEPT, scores.shape[1])
    best = np.argpartition(-scores, n_kept - 1, axis=1)[:, :n_kept]
    values = np.take_along_axis(scores, best, axis=1)
    customers = np.repeat(np.arange(len(scores)), n_kept)
    is_possible = values.ravel() > SCORE_BOUNDS[0] / 8
    return customers[is_possible], best.ravel()[is_possible], values.ravel()[is_possible]


def _joined(parts: Sequence[tuple[Ints, Ints, Floats]], shape: tuple[int, int]) -> csr_array:
    from scipy.sparse import coo_array

    customers, names, values = (np.concatenate(one) for one in zip(*parts, strict=True))
    # A score of exactly nothing is a score.
    return coo_array((np.where(values == 0, 1e-12, values), (customers, names)), shape=shape).tocsr()


def match_sparse(scores: csr_array) -> tuple[Ints, Floats]:
    """Return the pseudonym of each customer, −1 if absence is likelier, and how sure that is; as `matching.match`."""
    from scipy.sparse import csr_array

    n = scores.shape[0]
    found, starts = np.full(n, -1), scores.indptr
    if not scores.nnz:
        return found, np.ones(n)
    rows = np.repeat(np.arange(n), np.diff(starts))
    largest = np.full(n, -np.inf)
    np.maximum.at(largest, rows, scores.data)
    beyond = np.maximum(largest - SCORE_BOUNDS[1], 0.0)
    weights = csr_array(
        (np.exp(np.clip(scores.data - beyond[rows], *SCORE_BOUNDS)), scores.indices, starts), shape=scores.shape
    )
    absent, across = np.exp(-beyond), weights.T.tocsr()
    of_name = np.ones(scores.shape[1])
    for _ in range(ROUNDS):
        of_customer = 1 / (absent + weights @ of_name)
        of_name = 1 / (STRANGER + across @ of_customer)
    of_customer = 1 / (absent + weights @ of_name)
    chances = of_customer[rows] * weights.data * of_name[scores.indices]
    alone = absent * of_customer
    gain = chances - alone[rows]
    names = scores.indices.astype(np.int64)
    is_gain = gain > 0
    chosen = assign(rows[is_gain], names[is_gain], gain[is_gain], scores.shape)
    sure = alone.copy()
    at = np.flatnonzero(chosen[rows] == names)
    found[rows[at]] = names[at]
    sure[rows[at]] = chances[at]
    return found, sure
