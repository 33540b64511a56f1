"""From scores of pairs to the likeliest matching of customers with pseudonyms, and scores of many customers in blocks.

The evidence is the same as where all fits in memory; what is left out is what would fill it: the scores of pairs that
nobody believes in, and habits across epochs, which need all of them. Where a field hardly ever changes, customers are
compared only with pseudonyms that have a row which agrees in it (`linkage/evidence.py`), else everybody with everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tokumei.attacks.linkage.evidence import Agreement, Evidence, Narrowed
from tokumei.attacks.linkage.fields import Epoch, Floats, Ints
from tokumei.attacks.linkage.learning import CountEvidence
from tokumei.attacks.linkage.persistence import N_FOLLOWED, N_JOINED, Chain
from tokumei.core.progress import step
from tokumei.core.seeds import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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


# Pairs of customers and pseudonyms whose scores are held at once: 8 bytes each, in a few arrays.
BLOCK_CELLS = 12_000_000
# Beyond so many pairs, customers come in blocks.
LARGEST_CELLS = 16_000_000
# Customers of a block where rows that could be counterparts are few.
NARROW_CUSTOMERS = 5_000
# Pseudonyms that are kept of each customer and epoch.
N_KEPT = 60

Learn = Callable[[Evidence, Sequence[Epoch], Sequence[Floats]], Agreement]


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
    evidence: Evidence, counts: CountEvidence, epochs: Sequence[Epoch], learn: Learn
) -> list[csr_array]:
    """Score the likeliest pseudonyms of each customer, epoch by epoch: customers by pseudonyms."""
    n = len(evidence.compared.customers)
    rates = counts.first_rates(epochs)
    agreement = _learn_from_some(evidence, counts, epochs, rates, learn)
    narrowed = Narrowed.of(evidence.compared, evidence.compared.known, agreement, evidence.deleted)
    chain = Chain.of(evidence, epochs)
    size = (
        NARROW_CUSTOMERS if narrowed is not None else max(1, BLOCK_CELLS // max(1, len(evidence.compared.pseudonyms)))
    )
    kept: list[list[tuple[Ints, Ints, Floats]]] = [[] for _ in epochs]
    with step("comparing customers", total=n) as bar:
        for first in range(0, n, size):
            block = np.arange(first, min(n, first + size))
            part, of_part = some_customers(evidence, counts, block)
            for number, scores in enumerate(
                _dense_scores(part, of_part, epochs, agreement, rates[block], chain)
                if narrowed is None
                else _narrow_scores(
                    _summed(part.by_narrowed(part.compared.known, agreement, narrowed), part),
                    *(of_part, epochs, rates[block], chain),
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
) -> Agreement:
    """Learn how far fields agree in the epoch of which most is known, from as many customers as one block has."""
    n_known = np.array([counts.expected.n_known[:, epoch.months].sum() for epoch in epochs])
    epoch = epochs[int(n_known.argmax())]
    there, of_there = only_epoch(evidence, counts, epoch)
    drawn = _best_known(of_there.expected.n_known[:, epoch.months].sum(axis=1), max(1, BLOCK_CELLS // len(epoch.names)))
    some, of_some = some_customers(there, of_there, drawn)
    alone = replace(epoch, names=np.arange(len(epoch.names)))
    return learn(some, [alone], [of_some.odds(alone, rates[drawn])])


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
    chain: Chain,
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield for each epoch the likeliest of all pseudonyms."""
    by_rows = part.by_rows(part.compared.known, agreement)
    if not chain.is_linked:
        for epoch in epochs:
            yield _likeliest(by_rows[:, epoch.names] + counts.odds(epoch, rates))
        return
    odds = [by_rows[:, epoch.names] + counts.odds(epoch, rates) for epoch in epochs]
    for _ in range(N_JOINED):
        messages, _ = chain.join(odds)
        chain = chain.learned()
    for one, message in zip(odds, messages, strict=True):
        yield _likeliest(one + message)


def _summed(gains: Iterable[tuple[Ints, Ints, Floats]], part: Evidence) -> csr_array:
    """Add up what customers (down) and pseudonyms (across) gain."""
    from scipy.sparse import coo_array, csr_array

    shape = (len(part.compared.customers), len(part.compared.pseudonyms))
    scores = csr_array(shape)
    for customers, names, gained in gains:
        scores = scores + coo_array((gained, (customers, names)), shape=shape).tocsr()
    return scores


def _narrow_scores(
    by_rows: csr_array, counts: CountEvidence, epochs: Sequence[Epoch], rates: Floats, chain: Chain
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield for each epoch the likeliest of the pseudonyms with which customers share rows that could be the same."""
    if chain.is_linked:
        yield from _followed_scores(by_rows, counts, epochs, rates, chain)
        return
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


def _followed_scores(
    by_rows: csr_array, counts: CountEvidence, epochs: Sequence[Epoch], rates: Floats, chain: Chain
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield for each epoch the pseudonyms with which customers share such rows in any epoch."""
    n_names = chain.is_there.shape[1]
    # The piece of each pseudonym (across) in each epoch (down), by its place in the epoch.
    place = np.full((len(epochs), n_names), -1)
    name_of = np.zeros(by_rows.shape[1], np.int64)
    for at, (epoch, column) in enumerate(zip(epochs, chain.columns, strict=True)):
        place[at, column] = np.arange(len(column))
        name_of[epoch.names] = column
    names = _best_names(by_rows, name_of, n_names)
    odds = np.zeros((len(epochs), *names.shape))
    for at, epoch in enumerate(epochs):
        customers, which = np.nonzero(place[at, names] >= 0)
        here = place[at, names[customers, which]]
        by_count = counts.odds_of_pairs(epoch, rates, customers, here)
        odds[at, customers, which] = by_rows[customers, epoch.names[here]] + by_count
    for _ in range(N_JOINED):
        chain = replace(chain, stays=np.zeros(len(chain.stay)), seen=np.zeros(len(chain.stay)))
        messages, _, _ = chain.pass_on(odds, names)
        chain = chain.learned()
    total = odds + messages
    for at in range(len(epochs)):
        customers, which = np.nonzero((place[at, names] >= 0) & (total[at] > SCORE_BOUNDS[0] / 8))
        yield customers, place[at, names[customers, which]], total[at, customers, which]


def _best_names(by_rows: csr_array, name_of: Ints, n_names: int) -> Ints:
    """Return the pseudonyms of each customer (down) that have the best pieces; filled up with the last, nobody's."""
    customers, pieces = by_rows.tocoo().coords
    names, values = name_of[pieces], by_rows.tocoo().data
    order = np.lexsort((-values, names, customers))
    customers, names, values = customers[order].astype(np.int64), names[order], values[order]
    is_first = np.append(True, (customers[1:] != customers[:-1]) | (names[1:] != names[:-1]))[: len(names)]
    customers, names, values = customers[is_first], names[is_first], values[is_first]
    order = np.lexsort((names, -values, customers))
    customers, names = customers[order], names[order]
    rank = np.arange(len(customers)) - np.searchsorted(customers, customers)
    is_best = rank < N_FOLLOWED
    best: Ints = np.full((by_rows.shape[0], min(N_FOLLOWED, int(rank.max(initial=0)) + 1)), n_names - 1)
    best[customers[is_best], rank[is_best]] = names[is_best]
    return best


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
    """Return the pseudonym of each customer, −1 if absence is likelier, and how sure that is; as `match`."""
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
