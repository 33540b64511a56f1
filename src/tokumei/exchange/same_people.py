"""Whether two tables are of the same people, told by keyed hashes alone.

Next month's file may have a column less, another name for one, other codes, or bands where there were years. So a table
is kept as the hashes of its values, column by column and level by level, and two are compared over the columns that
they seem to share: columns are matched by their values at the finest level that both know, or, where no value is known
again, by how often each occurs.

People who are others but of one town fill the same classes, too. They differ by chance, however: the counts of two
samples are as far apart as χ² says. Tables that are closer than chance allows are of the same people.
"""

from __future__ import annotations

import base64
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.text import Json, JsonView
from tokumei.exchange.counted_table import CountedTable

# Of the smaller table's people, so many or more are those of the other.
SAME_PEOPLE = 0.5
# The same by rows, which may be alike though the people are others.
SAME_ROWS = 0.95
# How seldom samples of other people are as close as this by chance.
BY_CHANCE = 1e-4
# Columns are one and the same where so many rows have values that both have, or that are as frequent in both.
SHARED_VALUES, SHARED_RANKS = 0.5, 0.98

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Pairing = Mapping[int, tuple[int, Hashes, Hashes]]
"""By a column of the first table the column of the second, and what the values of both are compared by."""


@dataclass(frozen=True)
class Likeness:
    """How much of the smaller table is in the larger, by people or by rows; `is_same` where that is no chance."""

    share: float
    by: str
    is_same: bool


@dataclass(frozen=True, eq=False)
class HashedTable:
    """The classes of a table: for each column the hash of each value's label at each level, and people if named."""

    names: tuple[str, ...]
    levels: tuple[tuple[Hashes, ...], ...]
    codes: npt.NDArray[np.int32]
    counts: Ints
    people: Hashes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @cached_property
    def rows_of_value(self) -> tuple[Ints, ...]:
        """For each column the rows of each value."""
        return tuple(
            np.bincount(codes, self.counts, minlength=len(levels[0])).astype(np.int64)
            for codes, levels in zip(self.codes, self.levels, strict=True)
        )

    def over(self, columns: Mapping[int, Hashes]) -> tuple[Hashes, Ints]:
        """Return one hash for each class of some columns, in order, and its rows."""
        mixed = np.zeros(len(self.counts), np.uint64)
        for number, values in columns.items():
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + values[self.codes[number]]
            mixed ^= mixed >> np.uint64(29)
        hashes, index = np.unique(mixed, return_inverse=True)
        return hashes, np.bincount(index.reshape(-1), self.counts).astype(np.int64)

    def as_dict(self) -> Json:
        """Return the table for JSON."""
        held = io.BytesIO()
        flat = {f"level{c}_{n}": each for c, levels in enumerate(self.levels) for n, each in enumerate(levels)}
        np.savez_compressed(held, codes=self.codes, counts=self.counts, people=self.people, **flat)  # type: ignore[arg-type]
        n_levels = [len(levels) for levels in self.levels]
        return {"names": list(self.names), "n_levels": n_levels, "arrays": base64.b64encode(held.getvalue()).decode()}

    @classmethod
    def of_dict(cls, shape: JsonView) -> HashedTable:
        """Read what `as_dict` gave."""
        with np.load(io.BytesIO(base64.b64decode(shape["arrays"])), allow_pickle=False) as held:
            levels = tuple(
                tuple(held[f"level{c}_{n}"] for n in range(n_levels)) for c, n_levels in enumerate(shape["n_levels"])
            )
            return cls(tuple(shape["names"]), levels, held["codes"], held["counts"], held["people"])


def hashed(table: CountedTable, key: bytes, people: Sequence[object] = ()) -> HashedTable:
    """Hash a table by a key; `people` are the names of its people, each once."""
    lattice = table.lattice
    counts = table.classes(lattice.bottom).over(lattice.attributes)
    levels = []
    for hierarchy, domain in zip(lattice.hierarchies, counts.domains, strict=True):
        told = [dict(zip(hierarchy.leaves, hierarchy.labels_at(n), strict=True)) for n in range(len(hierarchy.levels))]
        levels.append(tuple(_hashes((label_of.get(leaf) for leaf in domain), key) for label_of in told))
    named = np.unique(_hashes(people, key))
    return HashedTable(lattice.attributes, tuple(levels), counts.codes, counts.sizes, named)


def likeness(one: HashedTable, other: HashedTable) -> Likeness:
    """Compare two tables: how alike they are, and whether that is because they are of the same people."""
    has_people = bool(len(one.people) and len(other.people))
    if has_people:
        common = len(np.intersect1d(one.people, other.people, assume_unique=True))
        share = common / min(len(one.people), len(other.people))
        if share >= SAME_PEOPLE:
            return Likeness(share, "people", True)
    best = Likeness(0.0, "rows", False)
    for pairing in _pairings(one, other):
        share, chance = _closeness(one, other, pairing)
        # With the same columns nothing speaks for other people but that somebody says so.
        is_whole = len(pairing) == len(one.names) == len(other.names) and not has_people
        is_same = share >= SAME_ROWS and (is_whole or chance < BY_CHANCE)
        best = max(best, Likeness(share, "rows", is_same), key=lambda each: (each.is_same, each.share))
    return best


def _pairings(one: HashedTable, other: HashedTable) -> Iterator[Pairing]:
    """Yield ways to match columns: by their values, without each in turn, and by how often values occur."""
    known = _by_values(one, other)
    ways: list[Pairing] = [known, {**known, **_by_ranks(one, other, known)}, _by_ranks(one, other, {})]
    ways += [{place: pair for place, pair in known.items() if place != left_out} for left_out in known]
    yield from (way for way in ways if way)


def _by_values(one: HashedTable, other: HashedTable) -> Pairing:
    """Match columns by the values that they share, those with most of them first, and of one name before others."""
    ways = []
    for here, levels in enumerate(one.levels):
        for there, theirs in enumerate(other.levels):
            for mine in levels:
                for yours in theirs:
                    n_values, share = _shared_values(
                        (mine, one.rows_of_value[here]), (yours, other.rows_of_value[there])
                    )
                    # A label that all rows of both have, such as that of the top, tells nothing.
                    tells = n_values > 1 or (n_values == 1 and max(len(set(mine)), len(set(yours))) > 1)
                    if tells and share >= SHARED_VALUES:
                        is_named = one.names[here] == other.names[there]
                        ways.append(((n_values, is_named, share), here, there, mine, yours))
    pairing: dict[int, tuple[int, Hashes, Hashes]] = {}
    for _, here, there, mine, yours in sorted(ways, key=lambda way: way[0], reverse=True):
        if here not in pairing and there not in {place for place, _, _ in pairing.values()}:
            pairing[here] = there, mine, yours
    return pairing


def _by_ranks(one: HashedTable, other: HashedTable, known: Pairing) -> Pairing:
    """Match columns whose values are all unknown by how often each occurs: those that were given other codes."""
    taken = {place for place, _, _ in known.values()}
    pairing: dict[int, tuple[int, Hashes, Hashes]] = {}
    for here in (place for place in range(len(one.names)) if place not in known):
        for there in (place for place in range(len(other.names)) if place not in taken):
            mine, yours = one.rows_of_value[here], other.rows_of_value[there]
            if len(mine) != len(yours) or len(mine) < 2:
                continue
            shares = [np.sort(each)[::-1] / each.sum() for each in (mine, yours)]
            if np.minimum(*shares).sum() >= SHARED_RANKS:
                ranks = [np.argsort(np.argsort(-each, kind="stable")).astype(np.uint64) for each in (mine, yours)]
                pairing[here] = there, ranks[0], ranks[1]
                taken.add(there)
                break
    return pairing


def _shared_values(one: tuple[Hashes, Ints], other: tuple[Hashes, Ints]) -> tuple[int, float]:
    """Return how many values two columns share, and which share of the smaller's rows has one that both have."""
    (mine, counts), (yours, theirs) = (_added(*each) for each in (one, other))
    _, here, there = np.intersect1d(mine, yours, assume_unique=True, return_indices=True)
    fewer, at = (counts, here) if counts.sum() <= theirs.sum() else (theirs, there)
    return len(here), float(fewer[at].sum() / max(int(fewer.sum()), 1))


def _closeness(one: HashedTable, other: HashedTable, pairing: Pairing) -> tuple[float, float]:
    """Return the share of the smaller table's rows that the larger has, and the chance of counts as close as these."""
    ours = one.over({here: mine for here, (_, mine, _) in pairing.items()})
    theirs = other.over({there: yours for there, _, yours in pairing.values()})
    small, large = sorted((ours, theirs), key=lambda each: int(each[1].sum()))
    inside = np.zeros(len(small[0]), np.int64)
    _, here, there = np.intersect1d(small[0], large[0], assume_unique=True, return_indices=True)
    inside[here] = large[1][there]
    share = int(np.minimum(small[1], inside).sum()) / max(int(small[1].sum()), 1)
    return share, chance_of(small[1], inside)


def chance_of(one: Ints, other: Ints) -> float:
    """Return the chance that two samples of one population differ as little as these counts of the same classes.

    The test of homogeneity, its lower tail: Σ (a·√(B/A) − b·√(A/B))² / (a + b) is χ² with one degree of freedom fewer
    than there are classes. Classes that both lack are left out.
    """
    return chance_of_all([(one, other)])


def chance_of_all(pairs: Iterable[tuple[Ints, Ints]]) -> float:
    """Return the same for several pairs of counts, such as those of several columns."""
    found, freedom = 0.0, 0
    for one, other in pairs:
        both = (one + other) > 0
        a, b = one[both].astype(float), other[both].astype(float)
        if len(a) < 2 or not a.sum() or not b.sum():
            continue
        ratio = np.sqrt(b.sum() / a.sum())
        found += float(((a * ratio - b / ratio) ** 2 / (a + b)).sum())
        freedom += len(a) - 1
    # Here, as every process of the server imports this module and few compare tables.
    from scipy.special import chdtr

    return float(chdtr(freedom, found)) if freedom else 1.0


def _added(hashes: Hashes, counts: Ints) -> tuple[Hashes, Ints]:
    values, index = np.unique(hashes, return_inverse=True)
    return values, np.bincount(index.reshape(-1), counts).astype(np.int64)


def _hashes(values: Any, key: bytes) -> Hashes:
    hashed_values = (blake2b(_text(value), digest_size=8, key=key).digest() for value in values)
    return np.frombuffer(b"".join(hashed_values), np.uint64)


def _text(value: object) -> bytes:
    """Normalize a value for comparison: however its letters are composed, wide or narrow, large or small."""
    if value is None:
        return b""
    return b"=" + unicodedata.normalize("NFKC", " ".join(str(value).split())).casefold().encode()
