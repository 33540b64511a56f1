"""The pieces in which pseudonyms are compared: each the rows of one epoch, for as long as nearly all keep theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tokumei.attacks.linkage.blocking import some_customers
from tokumei.attacks.linkage.evidence import Evidence, mostly_as_it_was
from tokumei.attacks.linkage.fields import Epoch, Ints, find_epochs
from tokumei.attacks.linkage.learning import CountEvidence
from tokumei.attacks.linkage.persistence import SUREST, Chain

# Customers and cells to learn from whether pseudonyms are kept, and how often that is estimated anew.
LEARNING_CUSTOMERS, LEARNING_CELLS, LEARNING_ROUNDS = 150, 1_000_000, 6
MISLEADING = 0.1


def in_pieces(evidence: Evidence, counts: CountEvidence) -> tuple[Evidence, CountEvidence, list[Epoch]]:
    """Cut the release into epochs, and its pseudonyms into pieces, the numbers of which the epochs have then."""
    epochs = find_epochs(evidence.n_rows, len(evidence.compared.customers))
    if any(len(epoch.months) > 1 for epoch in epochs) and _do_names_change(evidence, counts, epochs):
        epochs = single_months(evidence)
    if sum(len(epoch.names) for epoch in epochs) == len(evidence.n_rows):
        return evidence, counts, epochs
    return as_pieces(evidence, counts, epochs)


def as_pieces(
    evidence: Evidence, counts: CountEvidence, epochs: Sequence[Epoch]
) -> tuple[Evidence, CountEvidence, list[Epoch]]:
    """Give each pseudonym another number in each epoch."""
    sizes = [len(epoch.names) for epoch in epochs]
    firsts = np.cumsum([0, *sizes])
    names = np.concatenate([epoch.names for epoch in epochs])
    released, n_rows = evidence.compared.released, np.zeros((len(names), evidence.n_rows.shape[1]), np.int64)
    owner = released.owner.copy()
    number = np.zeros(len(evidence.n_rows), np.int64)
    pieces = []
    for epoch, first, size in zip(epochs, firsts, sizes, strict=False):
        own = np.arange(first, first + size)
        number[epoch.names] = own
        starts = np.searchsorted(released.month, [epoch.months[0], epoch.months[-1] + 1])
        owner[slice(*starts)] = number[released.owner[slice(*starts)]]
        n_rows[np.ix_(own, epoch.months)] = evidence.n_rows[np.ix_(epoch.names, epoch.months)]
        pieces.append(Epoch(epoch.months, own))
    pseudonyms = [evidence.compared.pseudonyms[name] for name in names]
    compared = replace(evidence.compared, released=replace(released, owner=owner), pseudonyms=pseudonyms)
    return replace(evidence, compared=compared, n_rows=n_rows), replace(counts, n_rows=n_rows), pieces


def _do_names_change(evidence: Evidence, counts: CountEvidence, epochs: Sequence[Epoch]) -> bool:
    """Whether customers change pseudonyms that live on: single months are then explained better by others.

    How likely customers are which pseudonym in single months is told by the numbers of rows and by their kinds, or by
    all fields alone where most rows are released as they were. Two explanations are compared: that everybody keeps
    theirs, and that a share does, learned for each month.
    """
    pieces, of_pieces, months = as_pieces(evidence, counts, single_months(evidence))
    n_known = np.bincount(evidence.compared.known.owner, minlength=len(evidence.compared.customers))
    n_drawn = min(LEARNING_CUSTOMERS, max(10, LEARNING_CELLS // (len(months) * len(evidence.n_rows))))
    drawn: Ints = np.sort(np.argsort(-n_known, kind="stable")[:n_drawn])
    some, of_some = some_customers(pieces, of_pieces, drawn)
    known = some.compared.known
    same = mostly_as_it_was(some, known)
    if same is None:
        scores, rates = some.by_kinds(known), of_some.first_rates(epochs)
        odds = [scores[:, month.names] + of_some.odds(month, rates) for month in months]
    else:
        scores = some.by_rows(known, same)
        odds = [scores[:, month.names] for month in months]
    chain = Chain.of(pieces, months)
    kept, given_up = (replace(chain, stay=np.full(len(chain.stay), stay)).join(odds)[1] for stay in (SUREST, 0.0))
    likelihood = 0.0
    for _ in range(LEARNING_ROUNDS):
        _, likelihood = chain.join(odds)
        learned, chain = chain, chain.learned()
    # A share for each month must explain more than any would by accident (Schwarz 1978), and more than a tenth of what
    # keeping explains where kinds are all there is to go by: which rows were deleted misleads these.
    worth = len(learned.stay) * np.log(max(2.0, learned.seen.mean())) / 2
    if same is None:
        worth = max(worth, MISLEADING * (likelihood - given_up))
    return bool(likelihood - kept > worth)


def single_months(evidence: Evidence) -> list[Epoch]:
    """Return an epoch for each month with released rows."""
    names = [np.flatnonzero(n_rows) for n_rows in evidence.n_rows.T]
    return [Epoch(np.array([month]), there) for month, there in enumerate(names) if len(there)]
