"""What the rows say on whether a pseudonym is a customer, and which rows could be counterparts at all.

A known purchase of a customer was either deleted, and then says nothing, or it is one of the rows that the customer's
pseudonym has in that month, each as likely as the other. How likely is told by how far the fields agree:

    log((deleted + (1 − deleted) · mean over the pseudonym's rows of the likelihood ratio) / deleted)

Rows of different kinds are taken to be no counterparts, so that only rows of one month and kind are compared.

Where a field hardly ever changes, only rows that agree in it are compared. Cost then follows the pairs of rows that
could match, and not all pairs of one month and kind. A row whose field did change is taken for deleted, which is at
most a hundredth of the rows for each field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tokumei.attacks.linkage.fields import BANDS, EQUAL, FieldLevels, Floats, Ints, Ratios
from tokumei.attacks.linkage.rows import OF_BASKETS, Compared, Side, basket_sizes
from tokumei.attacks.linkage.taste import Taste, items_of
from tokumei.core.progress import step

# Fields by which rows are narrowed, each where at least this share of counterparts still agrees.
NARROWING = ("date", "time", "item")
LEAST_EQUAL = 0.99
# Days and times are kept where they equal those of so many counterparts at least.
KEPT = 0.9
# Where so many rows are deleted, baskets are compared besides rows.
MANY_DELETED = 0.1
# Where so many known rows are released as they were, learning starts from fields that nearly always agree: so nearly
# that only rows which agree in them are compared.
UNCHANGED, NEARLY_ALL = 0.4, 0.995
# Pairs of rows looked at in one go.
CHUNK_PAIRS = 2_000_000
# Steps by which a share is found: to a millionth.
HALVINGS = 20


def narrow_keys(compared: Compared, known: Side, agreement: Mapping[str, Floats]) -> tuple[Ints, Ints] | None:
    """Return keys of known and released rows, equal where they may be counterparts; None if fields change.

    Released rows that agree with nothing known have −1.
    """
    fields = {name: compared.fields[name] for name in NARROWING if name in compared.fields}
    chosen = {name: field for name, field in fields.items() if agreement[name][:, 0].min() >= LEAST_EQUAL}
    return _equal_keys(compared, known, chosen) if chosen else None


def share_unchanged(compared: Compared, known: Side) -> float:
    """Estimate the share of known rows that are released with every field as it was, and not by accident.

    A share m of the known rows meets released rows equal in all fields, μ of them on average. If a share q has its
    counterpart there, and rows of others besides by chance (μ − q each, after Poisson), 1 − m = (1 − q) · exp(q − μ).
    Where chance accounts for all that is met, q is 0.
    """
    ours, theirs = _equal_keys(compared, known, compared.fields)
    n_met = np.bincount(theirs[theirs >= 0], minlength=int(ours.max(initial=-1)) + 1)[ours]
    unmet, mean = float((n_met == 0).mean()), float(n_met.mean())
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_more = (1 - middle) * np.exp(middle - mean) > unmet
        low, high = (middle, high) if is_more else (low, middle)
    return low


def _equal_keys(
    compared: Compared, known: Side, chosen: Mapping[str, FieldLevels], *, of_baskets: bool = False
) -> tuple[Ints, Ints]:
    """Return keys of known and released rows, equal where these fields, the month and the kind are.

    of_baskets: whatever the kind.
    """
    released = compared.released
    ours, theirs = (
        side.month if of_baskets else side.month * compared.n_kinds + side.kind for side in (known, released)
    )
    is_met = np.ones(len(released), bool)
    for name, field in chosen.items():
        equal, n_values = _equal_values(field, EQUAL if name in BANDS else 0)
        of_row = equal[released.codes[name]]
        is_met &= of_row >= 0
        ours, theirs = ours * n_values + known.codes[name], theirs * n_values + of_row
        # Numbered anew, so that keys of several fields stay small.
        values = np.unique(ours)
        at = np.minimum(np.searchsorted(values, theirs), len(values) - 1)
        is_met &= values[at] == theirs
        ours, theirs = np.searchsorted(values, ours), at
    return ours, np.where(is_met, theirs, -1)


def _equal_values(field: FieldLevels, level: int) -> tuple[Ints, int]:
    """Return the known value equal to each released one, −1 if none is, and the number of known values.

    level: the one of equal values.
    """
    if field.levels is None:
        n_values = int(max(codes.max(initial=0) for codes in field.codes)) + 1
        return np.arange(n_values), n_values
    is_equal = field.levels == level
    return np.where(is_equal.any(axis=0), is_equal.argmax(axis=0), -1), len(field.levels)


@dataclass(frozen=True)
class Baskets:
    """Known and released baskets by day and time: one is a witness though all that is known of it was deleted.

    A known basket was deleted whole, or is one of the baskets that the pseudonym has in the month, each as likely as
    the other. How many agree by accident is told by how many of all baskets of the month are of that day and time.
    """

    ours: Ints  # The key of each known row's basket, by its place.
    theirs: Ints  # The key of each released basket, in order,
    owner: Ints  # whose it is,
    gain: Floats  # and what it says for its owner if a known one has the key.

    @classmethod
    def of(cls, compared: Compared, known: Side, chosen: Mapping[str, FieldLevels], deleted: float) -> Baskets:
        """Find the baskets; rows are deleted each for itself with this chance."""
        released = compared.released
        keys = _equal_keys(compared, known, chosen, of_baskets=True)
        ours = np.full(int(known.place.max(initial=-1)) + 1, -1)
        ours[known.place] = keys[0]
        # All released baskets of a month, those on days of which nothing is known included.
        own = released.month * len(compared.pseudonyms) + released.owner
        codes = own
        for name in chosen:
            codes = codes * (int(released.codes[name].max(initial=0)) + 1) + released.codes[name]
        _, rows = np.unique(codes, return_index=True)
        # That nothing is left of a known basket: all its other rows were deleted, too.
        gone = deleted ** (len(released) / max(1, len(rows)))
        n_of_month = np.bincount(released.month[rows], minlength=len(compared.months))
        names, n_of_name = np.unique(own[rows], return_counts=True)
        rows = rows[keys[1][rows] >= 0]
        rows = rows[np.argsort(keys[1][rows], kind="stable")]
        theirs = keys[1][rows]
        _, back, n_alike = np.unique(theirs, return_inverse=True, return_counts=True)
        chance = n_alike[back] / n_of_month[released.month[rows]]
        each = 1 / n_of_name[np.searchsorted(names, own[rows])]
        return cls(ours, theirs, released.owner[rows], np.log((gone + (1 - gone) * each / chance) / gone))

    def pairs(self, keys: Ints) -> tuple[Ints, Ints]:
        """Return which known baskets, by their keys, and released ones are of one day and time."""
        first, last = (np.searchsorted(self.theirs, keys, side=side) for side in ("left", "right"))
        one = np.repeat(np.arange(len(keys)), last - first)
        return one, np.arange(len(one)) + np.repeat(first - np.cumsum(last - first) + (last - first), last - first)


@dataclass(frozen=True)
class Narrowed:
    """Known and released rows by a key that is equal where they may be counterparts: found once for all customers."""

    ours: Ints  # The key of each known row, by its place.
    order: Ints  # Released rows that agree with something known, by key and owner.
    theirs: Ints  # The key of each of these.
    baskets: Baskets | None  # Where enough rows are deleted for baskets to say more than their rows.

    @classmethod
    def of(
        cls, compared: Compared, known: Side, agreement: Mapping[str, Floats], deleted: float = 0.0
    ) -> Narrowed | None:
        """Find the keys; None if every field changes."""
        keys = narrow_keys(compared, known, agreement)
        if keys is None:
            return None
        ours = np.full(int(known.place.max(initial=-1)) + 1, -1)
        ours[known.place] = keys[0]
        met = np.flatnonzero(keys[1] >= 0)
        order = met[np.lexsort((compared.released.owner[met], keys[1][met]))]
        chosen = kept_baskets(compared, agreement) if deleted >= MANY_DELETED else {}
        baskets = Baskets.of(compared, known, chosen, deleted) if chosen else None
        return cls(ours, order, keys[1][order], baskets)

    def pairs(self, known: Side) -> Iterator[tuple[Ints, Ints]]:
        """Yield pairs of some known and released rows that share a key, by known rows and the owners of released."""
        own = self.ours[known.place]
        first, last = (np.searchsorted(self.theirs, own, side=side) for side in ("left", "right"))
        n_pairs = last - first
        # Cut between known rows; one with more pairs than a chunk is a chunk of its own.
        chunk = np.cumsum(n_pairs) // CHUNK_PAIRS
        for rows in np.split(np.arange(len(chunk)), np.flatnonzero(np.diff(chunk)) + 1):
            n = n_pairs[rows]
            if n.sum():
                ours = np.repeat(rows, n)
                at = np.arange(len(ours)) - np.repeat(np.cumsum(n) - n, n)
                yield ours, self.order[first[ours] + at]


def score_pairs(
    compared: Compared,
    known: Side,
    narrowed: Narrowed,
    agreement: Mapping[str, Floats],
    worth: Callable[[Ints], Floats],
    sizes: Mapping[str, Ints],
    taste: Taste | None = None,
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Weigh known rows against pseudonyms by the rows that share a key: known rows, pseudonyms and what pairs gain.

    `worth` says of released rows what a pair with each is worth besides how far its fields agree; `sizes` how many rows
    the basket of a known row has, for the fields that are counted once a basket.
    """
    tables = {name: field.weigh(agreement[name]) for name, field in compared.fields.items()}
    released = compared.released
    for ours, theirs in narrowed.pairs(known):
        ratio = worth(theirs)
        for name, table in tables.items():
            levels = compared.fields[name].levels_of(known.codes[name][ours], released.codes[name][theirs])
            of_field = table.ravel().take(
                released.cases[name][theirs] * table.shape[1] + levels % np.int8(table.shape[1])
            )
            ratio *= of_field ** (1 / sizes[name][ours]) if name in sizes else of_field
        owner = released.owner[theirs]
        starts = np.flatnonzero(np.append(True, (ours[1:] != ours[:-1]) | (owner[1:] != owner[:-1])))
        summed = np.add.reduceat(ratio, starts)
        rows, names = ours[starts], owner[starts]
        if taste is not None:
            summed /= taste.look_up(items_of(known)[rows], names)
        yield rows, names, np.log1p(summed)


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
    taste: Taste | None = None  # What deleted rows say, if rows are weighed beside it.

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
        narrowed = Narrowed.of(self.compared, known, agreement, self.deleted)
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
                if self.taste is not None:
                    summed /= self.taste.of_rows(items_of(known)[ours], owners)
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
        by_row = score_pairs(self.compared, known, narrowed, agreement, worth, counted, self.taste)
        if narrowed.baskets is None:
            for rows, names, gained in by_row:
                yield known.owner[rows], names, gained
        else:
            yield self._with_baskets(known, narrowed.baskets, by_row)

    def _with_baskets(
        self, known: Side, baskets: Baskets, by_row: Iterator[tuple[Ints, Ints, Floats]]
    ) -> tuple[Ints, Ints, Floats]:
        """Let a basket say what its rows do, or what its day and time does where that is more."""
        n_names = len(self.compared.pseudonyms)
        keys, basket = np.unique(np.stack([known.owner, baskets.ours[known.place]]), axis=1, return_inverse=True)
        own, released = baskets.pairs(keys[1])
        pairs = [own * n_names + baskets.owner[released]]
        gains = [np.zeros(len(own))]
        for rows, names, gained in by_row:
            pairs.append(basket.ravel()[rows] * n_names + names)
            gains.append(gained)
        found, back = np.unique(np.concatenate(pairs), return_inverse=True)
        total: Floats = np.bincount(back, np.concatenate(gains), len(found)).astype(np.float64)
        at = back[: len(own)]
        total[at] = np.maximum(total[at], baskets.gain[released])
        customers: Ints = keys[0][found // n_names]
        return customers, found % n_names, total

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


def mostly_equal(name: str, field: FieldLevels, share: float) -> Floats:
    """Return shares of levels as if such a share of counterparts were equal, and all others like any two rows."""
    shares = field.usual() * (1 - share)
    shares[:, EQUAL if name in BANDS else 0] += share
    return shares


def mostly_as_it_was(evidence: Evidence, known: Side) -> Agreement | None:
    """Return agreement to start from where most known rows are released as they were; else None."""
    if share_unchanged(evidence.compared, known) < UNCHANGED:
        return None
    return {name: mostly_equal(name, field, NEARLY_ALL) for name, field in evidence.compared.fields.items()}


def kept_baskets(compared: Compared, agreement: Agreement) -> dict[str, FieldLevels]:
    """Return the fields by which a basket is known again: day and time where both are kept; none where either is not.

    A time that is the same in all rows is not told, and says nothing.
    """
    told = {
        name: compared.fields[name]
        for name in OF_BASKETS
        if name in compared.fields and len(np.unique(compared.released.codes[name])) > 1
    }
    is_kept = all(agreement[name][:, 0].min() >= KEPT for name in told)
    return told if is_kept and "date" in told else {}


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
