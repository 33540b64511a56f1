"""What the rows say on whether a pseudonym is a customer.

A known purchase of a customer was either deleted, and then says nothing, or it is one of the rows that the customer's
pseudonym has in that month, each as likely as the other. How likely is told by how far the fields agree:

    log((deleted + (1 − deleted) · mean over the pseudonym's rows of the likelihood ratio) / deleted)

Rows of different kinds are taken to be no counterparts, so that only rows of one month and kind are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tokumei.attacks.linkage.fields import Floats, Ints, Ratios
from tokumei.attacks.linkage.narrowing import LEAST_EQUAL, Narrowed, score_pairs
from tokumei.attacks.linkage.rows import OF_BASKETS, Compared, Side, basket_sizes
from tokumei.core.progress import step

Agreement = Mapping[str, Floats]
# Pairs of rows looked at in one go: 4 bytes each, in two arrays.
BLOCK_PAIRS = 4_000_000
LEAST_DELETED = 0.002


@dataclass(frozen=True)
class Evidence:
    """Weighs rows: the kinds of all fields but these, and how likely a known row has no counterpart."""

    compared: Compared
    deleted: float
    n_rows: Ints  # Released rows of each pseudonym (down) in each month (across).
    kind_shares: Floats  # Of the released rows of each month (down), the share of each kind (across).

    @classmethod
    def of(cls, compared: Compared, deleted: float) -> Evidence:
        """Count the released rows."""
        released, n_months = compared.released, len(compared.months)
        n_rows = np.zeros((len(compared.pseudonyms), n_months), np.int64)
        np.add.at(n_rows, (released.owner, released.month), 1)
        kinds = np.zeros((n_months, compared.n_kinds))
        np.add.at(kinds, (released.month, released.kind), 1.0)
        # All months tell how common a kind is, its own most.
        kinds += kinds.mean(axis=0) + 0.5
        return cls(compared, max(deleted, LEAST_DELETED), n_rows, kinds / kinds.sum(axis=1, keepdims=True))

    def by_kinds(self, known: Side) -> Floats:
        """Weigh customers (down) against pseudonyms (across) by the kinds of rows alone."""
        shape = (len(self.compared.customers), len(self.compared.pseudonyms))
        scores = np.zeros(shape)
        kept = (1 - self.deleted) / self.deleted
        released = self.compared.released
        for month in range(len(self.compared.months)):
            ours, theirs = _of_month(known, month), _of_month(released, month)
            if not len(ours) or not len(theirs):
                continue
            wanted = np.zeros((shape[0], self.compared.n_kinds))
            np.add.at(wanted, (ours.owner, ours.kind), 1.0)
            had = np.zeros((shape[1], self.compared.n_kinds))
            np.add.at(had, (theirs.owner, theirs.kind), 1.0)
            share = had / np.maximum(self.n_rows[:, month], 1)[:, None] / self.kind_shares[month]
            scores += wanted @ np.log1p(kept * share).T
        return scores

    def by_rows(self, known: Side, agreement: Agreement) -> Floats:
        """Weigh customers (down) against pseudonyms (across) by all that rows have in common."""
        scores = np.zeros((len(self.compared.customers), len(self.compared.pseudonyms)))
        narrowed = Narrowed.of(self.compared, known, agreement)
        if narrowed is not None:
            for customers, names, gained in self.by_narrowed(known, agreement, narrowed):
                scores += np.bincount(customers * scores.shape[1] + names, gained, scores.size).reshape(scores.shape)
            return scores
        if not len(known):
            return scores
        tables = {name: field.weigh(agreement[name]) for name, field in self.compared.fields.items()}
        kept = (1 - self.deleted) / self.deleted
        sizes = basket_sizes(known)
        powers = {name: sizes for name in tables if counts_once(name, agreement)}
        blocks = list(_blocks(known, self.compared.released))
        with step("comparing rows", total=len(blocks)) as bar:
            for month, kind, ours, theirs in blocks:
                ratio = self._ratios(tables, powers, known, ours, theirs)
                owners, starts = _runs(self.compared.released.owner[theirs])
                summed = np.add.reduceat(ratio, starts, axis=1)
                summed *= (kept / self.n_rows[owners, month] / self.kind_shares[month, kind]).astype(np.float32)
                customers, firsts = _runs(known.owner[ours])
                gained = np.add.reduceat(np.log1p(summed), firsts, axis=0)
                scores[np.ix_(customers, owners)] += gained
                bar.advance()
        return scores

    def by_narrowed(self, known: Side, agreement: Agreement, narrowed: Narrowed) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Weigh as `by_rows` only what agrees in fields that hardly ever change.

        Customers, pseudonyms and what pairs of them gain come in parts, which add up.
        """
        released, kept = self.compared.released, (1 - self.deleted) / self.deleted

        def worth(rows: Ints) -> Floats:
            owner, month = released.owner[rows], released.month[rows]
            found: Floats = kept / self.n_rows[owner, month] / self.kind_shares[month, released.kind[rows]]
            return found

        counted = {name: basket_sizes(known) for name in agreement if counts_once(name, agreement)}
        return score_pairs(self.compared, known, narrowed, agreement, worth, counted)

    def _ratios(
        self, tables: Mapping[str, Ratios], sizes: Mapping[str, Ints], known: Side, ours: slice, theirs: slice
    ) -> Ratios:
        """Multiply the likelihood ratios of all fields for each pair of two runs of rows, those of a basket once."""
        ratio = np.ones((ours.stop - ours.start, theirs.stop - theirs.start), np.float32)
        for name, table in tables.items():
            field = self.compared.fields[name]
            one, other = known.codes[name][ours], self.compared.released.codes[name][theirs]
            cases = self.compared.released.cases[name][theirs]
            if field.levels is None:
                ratio *= np.where(one[:, None] == other, table[cases, 0], table[cases, 1])
                continue
            # Once for each known value, then for each known row.
            n_rows = sizes[name][ours] if name in sizes else np.ones_like(one)
            values, back = np.unique(one * (1 + n_rows.max()) + n_rows, return_inverse=True)
            values, n_rows = np.divmod(values, 1 + n_rows.max())
            cells = (field.levels[values] % np.int8(table.shape[1])).astype(np.int64).take(other, axis=1)
            cells += cases * table.shape[1]
            of_field = table.ravel().take(cells)
            ratio *= (of_field ** (1 / n_rows[:, None]).astype(np.float32) if name in sizes else of_field)[back]
        return ratio


def counts_once(name: str, agreement: Agreement) -> bool:
    """Whether what a field says of a basket counts once: rows of a basket are not moved each for itself.

    Whose baskets are of other days agrees in none of their rows, and whose is of the same day by accident in all of
    them. Where a field hardly ever changes this misleads nobody.
    """
    return name in OF_BASKETS and agreement[name][:, 0].min() < LEAST_EQUAL


def _of_month(side: Side, month: int) -> Side:
    first, last = np.searchsorted(side.month, [month, month + 1])
    return side.select(np.arange(first, last))


def _runs(values: Ints) -> tuple[Ints, Ints]:
    """Return the values of the runs of equal ones, and where each run starts."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return values[starts], starts


def _blocks(known: Side, released: Side) -> Iterator[tuple[int, int, slice, slice]]:
    """Yield the runs of known and released rows of one month and kind, cut to the largest block."""
    width = int(max(known.kind.max(initial=0), released.kind.max(initial=0))) + 1
    ours, theirs = (side.month * width + side.kind for side in (known, released))
    keys, starts = _runs(ours)
    ends = np.append(starts[1:], len(ours))
    firsts, lasts = np.searchsorted(theirs, keys), np.searchsorted(theirs, keys, side="right")
    for key, start, end, first, last in zip(keys, starts, ends, firsts, lasts, strict=True):
        n = max(1, BLOCK_PAIRS // max(1, last - first))
        for at in range(int(start), int(end) if last > first else int(start), n):
            yield int(key // width), int(key % width), slice(at, min(at + n, int(end))), slice(int(first), int(last))
