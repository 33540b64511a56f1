"""Epochs joined: each round matches all of them, then learns habits from them for the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tokumei.attacks.linkage.blocking import log_freedom, match, match_sparse, score_in_blocks
from tokumei.attacks.linkage.evidence import Agreement, Evidence, mostly_as_it_was, mostly_equal
from tokumei.attacks.linkage.fields import Epoch, Floats, Ints, Ratios
from tokumei.attacks.linkage.learning import CountEvidence, learn_agreement
from tokumei.attacks.linkage.persistence import N_JOINED, Chain
from tokumei.attacks.linkage.rows import Habits, Side, learn_weights
from tokumei.attacks.linkage.taste import Taste
from tokumei.core.progress import step
from tokumei.core.seeds import generator

# Matches with at least this chance teach what habits are worth.
SURE = 0.9
# Cases times customers to learn from.
LEARNING_CELLS = 150_000
# Known rows to learn agreement from; so many are enough for some dozens of shares.
LEARNING_ROWS = 3_000
# After the first pass only candidates of at least this chance teach.
LEAST = 0.5
# Pseudonyms of each customer and epoch that are thought possible, pass by pass.
N_CANDIDATES = (20, 8, 4, 4)
# Log odds by which a pseudonym is out of the question beside a better one, as rows say: one in ten million million.
FAR = 30.0
# Passes end when no share changes by more.
SETTLED = 0.01
# The share of counterparts that are equal where learning starts from fields that agree.
MOSTLY = 0.9
# Where all items are of one kind nothing but numbers of rows tells candidates at first: so many links are looked at.
FIRST_LINKS = 2_000_000


def join_epochs(
    evidence: Evidence,
    counts: CountEvidence,
    epochs: Sequence[Epoch],
    *,
    n_rounds: int,
    agreement: Agreement | None = None,
) -> Ints:
    """Return the pseudonym of each customer (down) in each month (across) by number, −1 where absent.

    How far fields agree is learned unless it is told.
    """
    n_months = len(evidence.compared.months)
    is_found = counts.expected.n_known > 0
    rates = counts.first_rates(epochs)
    by_count = [counts.odds(epoch, rates) for epoch in epochs]
    if agreement is None:
        agreement = learn_fields(evidence, epochs, by_count)
    taste = Taste.of(evidence.compared)
    by_rows = replace(evidence, taste=taste).by_rows(evidence.compared.known, agreement)
    if taste is not None:
        by_rows += taste.weigh(evidence.compared.known, len(by_rows), epochs)
    chain = Chain.of(evidence, epochs)
    # Visits without items, prices and quantities have no habits to compare.
    has_habits = bool(n_rounds and len(epochs) > 1 and evidence.compared.tokens)
    habits = _habits(evidence, epochs) if has_habits else None
    bonus = [np.zeros(1)] * len(epochs)
    learned: tuple[Ints, list[Ratios]] | None = None
    weights: Floats | None = None
    found = np.full((len(is_found), n_months), -1)
    with step("joining epochs", total=n_rounds + 1) as bar:
        for n_done in range(n_rounds + 1):
            # Numbers of all pairs are large: none is kept longer than it is needed.
            odds = [by_rows[:, e.names] + c + bonus.pop(0) for e, c in zip(epochs, by_count, strict=True)]
            bonus = [np.zeros(1)] * len(epochs)
            if chain.is_linked:
                chain, messages = _join_with_freedom(chain, odds)
                for one in odds:
                    one += messages.pop(0)
            matches = [match(odds.pop(0)) for _ in epochs]
            found = _by_month(matches, epochs, evidence.n_rows, len(is_found))
            bar.advance()
            if n_done < n_rounds and habits is not None:
                rates = counts.rates(found >= 0)
                by_count = [counts.odds(epoch, rates) for epoch in epochs]
                matched = _matched(matches, epochs)
                learned = matched, habits.all_features(matched, learned)
                weights = _learn_habits(habits, matches, epochs, rates, counts.log_missed, learned[1], weights)
                bonus = _weigh_habits(epochs, rates, learned[1], weights)
    return found


def join_in_blocks(evidence: Evidence, counts: CountEvidence, epochs: Sequence[Epoch]) -> Ints:
    """Match customers (down) in each month (across) where scores of all pairs would not fit; by rows and numbers."""
    scores = score_in_blocks(evidence, counts, epochs, learn_fields)
    matches = [match_sparse(one) for one in scores]
    return _by_month(matches, epochs, evidence.n_rows, len(evidence.compared.customers))


def match_counts(counts: CountEvidence, epochs: Sequence[Epoch]) -> Ints:
    """Match customers (down) in each month (across) by the numbers of rows alone, −1 where absent."""
    rates = counts.first_rates(epochs)
    matches = [match(counts.odds(epoch, rates)) for epoch in epochs]
    return _by_month(matches, epochs, counts.n_rows, len(rates))


def learn_fields(evidence: Evidence, epochs: Sequence[Epoch], by_count: Sequence[Floats]) -> Agreement:
    """Learn how far fields agree, starting from kinds and numbers of rows; and if none is sure to, from those that do.

    Where most buy once and all items are of one kind, numbers of rows lead nowhere: nobody's pseudonym is among those
    thought possible. Which of two starts led to the truth is told by how well each lets some days foretell the others.
    Where most known rows are released as they were, fields that agree come first: few pairs of rows are compared then.
    """
    known = evidence.compared.known
    epoch_of = _epoch_of(epochs, len(evidence.compared.months))
    chosen = _largest(np.bincount(epoch_of[known.month], minlength=len(epochs)))
    known = _fewer(known.select(np.isin(epoch_of[known.month], chosen)))
    here = [(epochs[at], by_count[at]) for at in chosen]
    n_customers = len(evidence.compared.customers)
    units = replace(known, owner=np.searchsorted(chosen, epoch_of[known.month]) * n_customers + known.owner)
    fields = evidence.compared.fields
    same = mostly_as_it_was(evidence, known)
    if same is not None:
        learned = _learn_from(evidence, known, units, here, same, evidence.by_rows(known, same), N_CANDIDATES[2:])
        if _is_sure(learned):
            return learned
    learned = _learn_from(evidence, known, units, here, {name: field.usual() for name, field in fields.items()}, None)
    if _is_sure(learned):
        return learned
    equal: Agreement = {name: mostly_equal(name, field, MOSTLY) for name, field in fields.items()}
    other = _learn_from(evidence, known, units, here, equal, evidence.by_rows(known, equal))
    return max(learned, other, key=lambda one: _foresight(evidence, known, one, here))


def _learn_from(
    evidence: Evidence,
    known: Side,
    units: Side,
    here: Sequence[tuple[Epoch, Floats]],
    agreement: Agreement,
    scores: Floats | None,
    passes: Sequence[int] = N_CANDIDATES,
) -> Agreement:
    """Learn from a start and what it says on who is whom; without that from kinds.

    Everybody of an epoch takes part: who is left to himself believes in a pseudonym that others fit better.
    """
    least, by_rows = 0.0, scores is not None
    # Candidates are kept of those alone of whom rows are known in an epoch.
    owners, owner = np.unique(units.owner, return_inverse=True)
    units = replace(units, owner=owner)
    for number, n_candidates in enumerate(passes):
        if number:
            scores, least, by_rows = evidence.by_rows(known, agreement), LEAST, True
        elif scores is None:
            scores = evidence.by_kinds(known)
            if evidence.compared.n_kinds == 1:
                n_candidates = max(n_candidates, FIRST_LINKS // max(1, len(known)))
        # By kinds alone nobody is ruled out.
        far = FAR if by_rows else np.inf
        found = []
        for at, (epoch, odds) in enumerate(here):
            some = owners[owners // len(scores) == at] % len(scores)
            found.append([part[some] for part in _candidates(scores, epoch, odds, n_candidates, far)])
        candidates, prior, others = (np.concatenate(part) for part in zip(*found, strict=True))
        before = agreement
        agreement = learn_agreement(evidence, units, candidates, prior, others, agreement, least=least)
        # Where little agrees yet, learning may only have begun.
        is_settled = all(np.abs(agreement[name] - before[name]).max() < SETTLED for name in agreement)
        if number and is_settled and _is_sure(agreement):
            break
    return agreement


def _is_sure(agreement: Agreement) -> bool:
    """Whether some field is sure to agree."""
    return any(shares[:, 0].min() > 1 - SETTLED for shares in agreement.values())


def _foresight(evidence: Evidence, known: Side, agreement: Agreement, here: Sequence[tuple[Epoch, Floats]]) -> float:
    """Return how much likelier half of the known days makes the other half, if rows are worth that much.

    The likelihood of everything would not do: all rows of a basket agree by accident with one that was moved to its
    day, and whoever believes in days finds such a basket for everybody. It foretells no other day, though. Of who is
    known by one half alone the likelihood is taken.
    """
    days = known.codes.get("date", known.place) % 2
    halves = [known.select(days == half) for half in (0, 1)]
    scores = [evidence.by_rows(half, agreement) for half in halves]
    gained = 0.0
    for epoch, odds in here:
        is_known = [np.isin(np.arange(len(odds)), side.owner[np.isin(side.month, epoch.months)]) for side in halves]
        has_both = is_known[0] & is_known[1]
        one, other = (score[:, epoch.names] for score in scores)
        halfway = (_log_of_anybody(one + odds) + _log_of_anybody(other + odds)) / 2
        before = np.where(has_both, halfway, _log_of_anybody(odds))
        gained += float((_log_of_anybody(one + other + odds) - before).sum())
    return gained


def _log_of_anybody(odds: Floats) -> Floats:
    """Add up the odds of all pseudonyms and of absence for each customer (down), as a logarithm."""
    largest = np.maximum(odds.max(axis=1), 0)
    total: Floats = np.log(np.exp(odds - largest[:, None]).sum(axis=1) + np.exp(-largest)) + largest
    return total


def _epoch_of(epochs: Sequence[Epoch], n_months: int) -> Ints:
    """Return the epoch of each month."""
    epoch_of = np.zeros(n_months, np.int64)
    for number, epoch in enumerate(epochs):
        epoch_of[epoch.months] = number
    return epoch_of


def _candidates(scores: Floats, epoch: Epoch, odds: Floats, n_wanted: int, far: float) -> tuple[Ints, Floats, Floats]:
    """Return the likeliest pseudonyms of each customer, their log odds without rows, and those of anybody else.

    Whoever's log odds with rows are by so `far` less than the best is none of them.
    """
    candidates = np.full((len(scores), n_wanted), -1)
    prior = np.full(candidates.shape, -1e9)
    total = scores[:, epoch.names] + odds
    free = log_freedom(total)
    total += free
    n = min(n_wanted, len(epoch.names))
    best = np.argpartition(-total, n - 1, axis=1)[:, :n]
    values = np.take_along_axis(total, best, axis=1)
    is_near = values >= values.max(axis=1, keepdims=True) - far
    candidates[:, :n] = np.where(is_near, epoch.names[best], -1)
    prior[:, :n] = np.where(is_near, np.take_along_axis(odds + free, best, axis=1), -1e9)
    np.put_along_axis(total, best, np.where(is_near, -np.inf, values), axis=1)
    # Somebody else, or nobody.
    return candidates, prior, np.logaddexp(0, np.logaddexp.reduce(total, axis=1))


def _largest(n_rows: Ints) -> Ints:
    """Take the epochs with the most known rows, so many as are enough to learn from."""
    order = np.argsort(-n_rows, kind="stable")
    n_epochs = int(np.searchsorted(np.cumsum(n_rows[order]), LEARNING_ROWS)) + 1
    return np.sort(order[:n_epochs])


def _fewer(known: Side) -> Side:
    """Draw known rows to learn from, where there are more than enough."""
    if len(known) <= 2 * LEARNING_ROWS:
        return known
    # Which are drawn is of no consequence, so the seed is no option.
    drawn = generator(0, "linkage", "rows").permutation(len(known))[: 2 * LEARNING_ROWS]
    return known.select(np.sort(drawn))


def _by_month(matches: Sequence[tuple[Ints, Floats]], epochs: Sequence[Epoch], n_rows: Ints, n_customers: int) -> Ints:
    """Spread the matches of epochs over the months in which the pseudonyms have rows."""
    found = np.full((n_customers, n_rows.shape[1]), -1)
    for (chosen, _), epoch in zip(matches, epochs, strict=True):
        names = np.where(chosen >= 0, epoch.names[chosen], -1)
        for month in epoch.months:
            is_there = (names >= 0) & (n_rows[names, month] > 0)
            found[is_there, month] = names[is_there]
    return found


def _habits(evidence: Evidence, epochs: Sequence[Epoch]) -> Habits:
    """Count what each piece buys."""
    epoch_of = np.zeros(len(evidence.n_rows), np.int64)
    for number, epoch in enumerate(epochs):
        epoch_of[epoch.names] = number
    return Habits(evidence.compared.tokens, evidence.compared.released.owner, epoch_of)


def _matched(matches: Sequence[tuple[Ints, Floats]], epochs: Sequence[Epoch]) -> Ints:
    """Return the piece of each customer (down) in each epoch (across), −1 where there is none."""
    pairs = zip(matches, epochs, strict=True)
    return np.stack([np.where(found >= 0, epoch.names[found], -1) for (found, _), epoch in pairs], axis=1)


def _learn_habits(
    habits: Habits,
    matches: Sequence[tuple[Ints, Floats]],
    epochs: Sequence[Epoch],
    rates: Floats,
    log_missed: float,
    features: Sequence[Ratios],
    start: Floats | None,
) -> Floats | None:
    """Learn what each feature of habits is worth; None where no match is sure enough to learn from.

    `log_missed` is the log chance that of somebody with one released row in an epoch nothing is known.
    """
    found = np.stack([chosen for chosen, _ in matches], axis=1)
    sure = np.stack([chances for _, chances in matches], axis=1)
    customers, at = np.nonzero(found >= 0)
    cases = np.flatnonzero(sure[customers, at] > SURE)
    if not len(cases):
        return None
    n_cases = max(1, LEARNING_CELLS // len(found))
    # Habits decide where little is known, mostly of few rows: such cases are drawn more often. The half keeps others.
    sizes = np.exp(habits.log_sizes[_matched(matches, epochs)[customers, at]][cases])
    luck = generator(0, "linkage").gumbel(size=len(cases)) + sizes * log_missed / 2
    drawn = np.sort(cases[np.argsort(-luck, kind="stable")[:n_cases]])
    values = np.stack([features[at[i]][:, :, found[customers[i], at[i]]] for i in drawn], axis=1).astype(np.float64)
    return learn_weights(values, customers[drawn], np.log(_epoch_rates(epochs, rates).mean(axis=1)), start)


def _weigh_habits(
    epochs: Sequence[Epoch], rates: Floats, features: Sequence[Ratios], weights: Floats | None
) -> list[Floats]:
    """Return the log likelihood ratio of each customer's habits, as `features`, for each pseudonym of each epoch."""
    if weights is None:
        return [np.zeros(feature.shape[1:]) for feature in features]
    rate = _epoch_rates(epochs, rates)
    scores = (np.tensordot(weights.astype(np.float32), feature, 1).astype(np.float64) for feature in features)
    return [_against_anybody(score, rate[:, number]) for number, score in enumerate(scores)]


def _epoch_rates(epochs: Sequence[Epoch], rates: Floats) -> Floats:
    """Return how likely each customer (down) buys in each epoch (across)."""
    return np.stack([rates[:, epoch.months].max(axis=1) for epoch in epochs], axis=1)


def _against_anybody(scores: Floats, rate: Floats) -> Floats:
    """Hold each score against that of a customer drawn by how often customers buy."""
    largest = scores.max(axis=0)
    anybody = np.log(rate @ np.exp(scores - largest) / rate.sum()) + largest
    against: Floats = scores - anybody
    return against


def _join_with_freedom(chain: Chain, odds: Sequence[Floats]) -> tuple[Chain, list[Floats]]:
    """Return what other epochs say where a pseudonym that somebody else is sure to hold is less free for others."""
    messages: list[Floats] = [np.zeros_like(one) for one in odds]
    for _ in range(N_JOINED):
        free = [log_freedom(one + other) for one, other in zip(odds, messages, strict=True)]
        messages, _ = chain.join(odds, free, messages)
        chain = chain.learned()
    return chain, messages
