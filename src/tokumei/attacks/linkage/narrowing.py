"""Rows that could be counterparts at all: where a field hardly ever changes, only rows that agree in it are compared.

Cost then follows the pairs of rows that could match, and not all pairs of one month and kind. A row whose field did
change is taken for deleted, which is at most a hundredth of the rows for each field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tokumei.attacks.linkage.fields import BANDS, EQUAL, FieldLevels, Floats, Ints
from tokumei.attacks.linkage.rows import Compared, Side

# Fields by which rows are narrowed, each where at least this share of counterparts still agrees.
NARROWING = ("date", "time", "item")
LEAST_EQUAL = 0.99
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


def _equal_keys(compared: Compared, known: Side, chosen: Mapping[str, FieldLevels]) -> tuple[Ints, Ints]:
    """Return keys of known and released rows, equal where these fields, the month and the kind are."""
    released = compared.released
    ours, theirs = (side.month * compared.n_kinds + side.kind for side in (known, released))
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
class Narrowed:
    """Known and released rows by a key that is equal where they may be counterparts: found once for all customers."""

    ours: Ints  # The key of each known row, by its place.
    order: Ints  # Released rows that agree with something known, by key and owner.
    theirs: Ints  # The key of each of these.

    @classmethod
    def of(cls, compared: Compared, known: Side, agreement: Mapping[str, Floats]) -> Narrowed | None:
        """Find the keys; None if every field changes."""
        keys = narrow_keys(compared, known, agreement)
        if keys is None:
            return None
        ours = np.full(int(known.place.max(initial=-1)) + 1, -1)
        ours[known.place] = keys[0]
        met = np.flatnonzero(keys[1] >= 0)
        order = met[np.lexsort((compared.released.owner[met], keys[1][met]))]
        return cls(ours, order, keys[1][order])

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
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Weigh customers against pseudonyms by the rows that share a key: customers, pseudonyms and what pairs gain.

    A pair that has several known rows in common comes several times. `worth` says of released rows what a pair with
    each is worth besides how far its fields agree; `sizes` how many rows the basket of a known row has, for the fields
    that are counted once a basket.
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
        yield known.owner[ours[starts]], owner[starts], np.log1p(np.add.reduceat(ratio, starts))
