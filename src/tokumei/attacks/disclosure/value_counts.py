"""How many rows of a class have which values: bounds by several lines of reasoning, and the claims they make.

The levels of a column are read first, as far as an attacker can: which label is at which level, and what lies below it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.attacks.claims import MISSING, Claim, Leaf, Leaves
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.core.text import counted
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.label_semantics import Bools, Ints
from tokumei.hierarchies.labels import read_range, set_members
from tokumei.hierarchies.leaves import read_number

MISSING_NAME = "(missing)"


@dataclass(frozen=True)
class Place:
    """The levels that a label may be of, the finest and the coarsest, and its code at both."""

    low: int
    high: int
    low_code: int
    high_code: int


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """The values of a column, and the code of each at every level; levels that group alike are one.

    names: the text of each code, by level. leaves: each value as a claim names it. A column without a hierarchy has
    values that nobody lists: they stand together as the last one, and `has_unlisted` says so.
    """

    column: str
    codes: Ints
    names: Sequence[Sequence[str]]
    leaves: Sequence[Leaf]
    has_unlisted: bool
    places: Sequence[Place | None]

    @classmethod
    def of(cls, reading: LabelReading, *, is_complete: bool) -> ColumnLevels | None:
        """Read the levels of a column; None if they cross."""
        has_missing = not is_complete or None in reading.labels
        if reading.hierarchy is not None and not reading.hierarchy.is_nested:
            return None
        codes, names, leaves = _of_tree(reading, has_missing) if reading.hierarchy else _of_values(reading, has_missing)
        if len(np.unique(codes[-1])) > 1:
            codes.append(np.zeros_like(codes[0]))
            names.append([SUPPRESSED])
        kept = [at for at in range(len(codes)) if at == 0 or not _group_alike(codes[at - 1], codes[at])]
        # The level that each one was put together with, itself if it was kept.
        merged = np.searchsorted(kept, np.arange(len(codes)), side="right") - 1
        # Every label of a merged level stays known, by its code at the level that was kept.
        code_of: list[dict[str, tuple[int, int]]] = [{} for _ in kept]
        for at, own in enumerate(codes):
            level = int(merged[at])
            for code in np.unique(own).tolist():
                first = int(np.argmax(own == code))
                code_of[level].setdefault(names[at][code], (level, int(codes[kept[level]][first])))
        # A suppressed row says nothing, whatever the top is called.
        code_of[-1].setdefault(SUPPRESSED, (len(kept) - 1, int(codes[-1][0])))
        levels = np.array([codes[at] for at in kept], np.int64)
        own_names = [names[at] for at in kept]
        made = cls(reading.column, levels, own_names, leaves, has_unlisted=reading.hierarchy is None, places=[])
        return replace(made, places=[made._placed(label, code_of, reading) for label in reading.labels])

    @property
    def top(self) -> int:
        """The coarsest level, at which nothing is said."""
        return len(self.codes) - 1

    def up(self, level: int, coarser: int) -> Ints:
        """Return the code at a coarser level of each code at a level."""
        if (level, coarser) not in self._ups:
            out = np.full(int(self.codes[level].max()) + 1, -1, np.int64)
            out[self.codes[level]] = self.codes[coarser]
            self._ups[level, coarser] = out
        return self._ups[level, coarser]

    def below(self, level: int, coarser: int, code: int) -> Ints:
        """Return the codes at a level that lie below a code at a coarser one."""
        return np.flatnonzero(self.up(level, coarser) == code)

    def n_below(self, level: int, coarser: int, n_unlisted: int) -> Ints:
        """Count the codes of a level below each code of a coarser one; values that nobody lists count as many."""
        up = self.up(level, coarser)
        return np.bincount(up[up >= 0], self.weights(level, n_unlisted)[up >= 0]).astype(np.int64)

    def weights(self, level: int, n_unlisted: int) -> Ints:
        """Return 1 for each code of a level; for values that nobody lists how many are reckoned with."""
        out = np.ones(int(self.codes[level].max()) + 1, np.int64)
        if self.has_unlisted and level == 0:
            out[self.codes[0, -1]] = n_unlisted
        return out

    def is_unlisted(self, level: int, codes: Ints) -> Bools:
        """Whether each code of a level stands for several values that nobody lists."""
        if not self.has_unlisted or level:
            return np.zeros(len(codes), bool)
        out: Bools = codes == self.codes[0, -1]
        return out

    def leaves_of(self, level: int, code: int) -> frozenset[Leaf]:
        """Return the values of a code as claims name them."""
        return frozenset(self.leaves[at] for at in np.flatnonzero(self.codes[level] == code).tolist())

    @cached_property
    def _ups(self) -> dict[tuple[int, int], Ints]:
        return {}

    def _placed(
        self, label: str | None, code_of: Sequence[dict[str, tuple[int, int]]], reading: LabelReading
    ) -> Place | None:
        """Find the levels that a label may be of; None if it is of none, or of levels that have nothing in common."""
        if label is None:
            return self._place_of_missing()
        if self.has_unlisted and label != SUPPRESSED and _says_several(label):
            return None
        found = [own[label] for own in code_of if label in own]
        if not found and reading.is_numeric and (number := read_number(label)) is not None:
            index = reading.vocabulary.index_of_number.get(number)
            if index is not None:
                atom = int(np.flatnonzero(reading.vocabulary.index_of_leaf == index)[0])
                found = [(0, int(self.codes[0, atom]))]
        if not found:
            return None
        (low, low_code), (high, high_code) = found[0], found[-1]
        if self.up(low, high)[low_code] != high_code:
            return None
        return Place(low, high, low_code, high_code)

    def _place_of_missing(self) -> Place:
        atom = len(self.leaves) - 1 - self.has_unlisted
        alone = [level for level, own in enumerate(self.codes) if (own == own[atom]).sum() == 1]
        return Place(0, alone[-1], int(self.codes[0, atom]), int(self.codes[alone[-1], atom]))


Levels = tuple[list[Ints], list[list[str]], list[Leaf]]


def _of_tree(reading: LabelReading, has_missing: bool) -> Levels:
    """Return the codes of the values at each level of the hierarchy, the texts of these, and the values."""
    assert reading.hierarchy is not None  # noqa: S101 - the caller chose by it.
    tree = reading.hierarchy
    codes = [tree.codes_with_missing(level)[: None if has_missing else -1] for level in range(tree.height + 1)]
    names = [[*level.labels, MISSING_NAME] for level in tree.levels]
    return codes, names, [*reading.vocabulary.index_of_leaf.tolist(), *([MISSING] if has_missing else [])]


def _of_values(reading: LabelReading, has_missing: bool) -> Levels:
    """Return the same for a column without a hierarchy: the values that were released, and last what nobody lists."""
    listed = [leaf for leaf in reading.vocabulary.hierarchy.leaves if leaf]
    names = [*listed, *([MISSING_NAME] if has_missing else []), "(another value)"]
    leaves: list[Leaf] = [*listed, *([MISSING] if has_missing else []), ""]
    return [np.arange(len(names))], [names], leaves


def _says_several(label: str) -> bool:
    """Whether a label that no hierarchy has stands for several values: a range, a set or a mask."""
    found = read_range(label)
    is_range = found is not None and found.low < found.high
    return is_range or SUPPRESSED in label or len(set_members(label) or ()) > 1


def _group_alike(fine: Ints, coarse: Ints) -> bool:
    """Whether two levels group all values alike."""
    return len(np.unique(fine)) == len(np.unique(coarse))


Floats = npt.NDArray[np.float64]
# A claim about many values names so many of them.
MOST_NAMED = 12
# Ways to fill a class are counted for classes of so many rows at most.
MOST_COUNTED = 200
Key = tuple[int, str]
"""A class and a column."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Disjoint parts of the values that a label stands for: the name of each, and its values.

    level: pieces of a higher level consist of whole pieces of a lower one. A piece of values that nobody lists has no
    name. n_values: how many values each has, at least.
    """

    level: int
    names: Sequence[str | None]
    leaves: Sequence[Leaves | Fraction | str]
    n_values: Sequence[int]

    @cached_property
    def of_leaf(self) -> dict[int | str, int]:
        """The piece of each value."""
        return {leaf: at for at, own in enumerate(self.leaves) if isinstance(own, frozenset) for leaf in own}


@dataclass(frozen=True, eq=False)
class _Bounded:
    pieces: Pieces
    least: Ints
    most: Ints
    kinds: list[str]


class ValueCounts:
    """The best bounds found of each class, column and piece of a label."""

    def __init__(self, public: PublicKnowledge) -> None:
        self._public = public
        self._found: dict[Key, dict[int, _Bounded]] = {}

    def narrow(self, key: Key, pieces: Pieces, least: Ints, most: Ints, kind: str) -> None:
        """Take bounds of the pieces of a label where they are better than those known."""
        size = int(self._public.sizes[key[0]])
        if not (least > 0).any() and not (most < size).any():
            return
        own = self._found.setdefault(key, {})
        if pieces.level not in own:
            n = len(pieces.names)
            own[pieces.level] = _Bounded(pieces, np.zeros(n, np.int64), np.full(n, size, np.int64), [""] * n)
        known = own[pieces.level]
        is_better = (least > known.least) | (most < known.most)
        for at in np.flatnonzero(is_better).tolist():
            known.kinds[at] = kind
        np.maximum(known.least, least, out=known.least)
        np.minimum(known.most, most, out=known.most)

    def known(self, key: Key, level: int, at: int) -> tuple[int, int]:
        """Return the best bounds of one piece."""
        found = self._found.get(key, {}).get(level)
        size = int(self._public.sizes[key[0]])
        return (0, size) if found is None else (int(found.least[at]), int(found.most[at]))

    def spread(self) -> None:
        """Carry bounds between the pieces of a label, and between those that consist of each other."""
        for key, levels in self._found.items():
            size, order = int(self._public.sizes[key[0]]), [levels[level] for level in sorted(levels)]
            for _ in range(2):
                for fine, coarse in itertools.pairwise(order):
                    _between_levels(fine, coarse)
                for one in order:
                    _within_level(one, size)

    def claims(self) -> Iterator[Claim]:
        """Claim what does not follow from other claims about the same class and column."""
        for key in sorted(self._found):
            size, levels = int(self._public.sizes[key[0]]), self._found[key]
            order = [levels[level] for level in sorted(levels)]
            for at, one in enumerate(order):
                yield from _claims_of(key, one, size, order[at - 1] if at else None, order[at + 1 :])

    def bits_removed(self, key: Key, n_values: float) -> float:
        """Count the bits that the bounds of a class and column remove of those that its label leaves open."""
        size = int(self._public.sizes[key[0]])
        return max((_bits(one, size, n_values) for one in self._found.get(key, {}).values()), default=0.0)

    @property
    def keys(self) -> list[Key]:
        """The classes and columns of which something is known."""
        return sorted(self._found)


def _between_levels(fine: _Bounded, coarse: _Bounded) -> None:
    """Carry bounds up to the pieces that others make up, and down to those."""
    parent = _parents(fine.pieces, coarse.pieces)
    if parent is None:
        return
    n = len(coarse.most)
    least, most = np.bincount(parent, fine.least, n).astype(np.int64), np.bincount(parent, fine.most, n)
    np.maximum(coarse.least, least, out=coarse.least)
    np.minimum(coarse.most, most.astype(np.int64), out=coarse.most)
    np.minimum(fine.most, coarse.most[parent], out=fine.most)
    # What the other parts of a piece cannot hold, this one must.
    rest = np.bincount(parent, fine.most, n).astype(np.int64)
    np.maximum(fine.least, coarse.least[parent] - (rest[parent] - fine.most), out=fine.least)


def _within_level(one: _Bounded, size: int) -> None:
    np.minimum(one.most, size - (int(one.least.sum()) - one.least), out=one.most)
    np.maximum(one.least, size - (int(one.most.sum()) - one.most), out=one.least)


def _parents(fine: Pieces, coarse: Pieces) -> Ints | None:
    """Return the coarse piece that each fine one lies in; None where they do not nest."""
    out = []
    for own in fine.leaves:
        if not isinstance(own, frozenset):
            return None
        at = coarse.of_leaf.get(next(iter(own)))
        if at is None:
            return None
        out.append(at)
    return np.array(out, np.int64)


def _claims_of(
    key: Key, one: _Bounded, size: int, finer: _Bounded | None, coarser: Sequence[_Bounded]
) -> Iterator[Claim]:
    number, column = key
    implied_most = np.full(len(one.most), size)
    for above in coarser:
        parent = _parents(one.pieces, above.pieces)
        if parent is not None:
            implied_most = np.minimum(implied_most, above.most[parent])
    implied_least = np.zeros(len(one.most), np.int64)
    if finer is not None and (inner := _parents(finer.pieces, one.pieces)) is not None:
        implied_least = np.bincount(inner, finer.least, len(one.most)).astype(np.int64)
    grouped: dict[tuple[int, str], list[int]] = {}
    for at, name in enumerate(one.pieces.names):
        least, most = int(one.least[at]), int(one.most[at])
        if name is None or (least <= implied_least[at] and most >= implied_most[at]):
            continue
        kind = one.kinds[at] or "counting"
        if least == 0:
            grouped.setdefault((most, kind), []).append(at)
            continue
        text = f"{name} in {counted(least, 'row')}" if least == most else f"{name} in {least} to {most} rows"
        leaves = one.pieces.leaves[at]
        # A node with one value below it says the same as the value, which is counted once.
        is_exact = finer is None and one.pieces.n_values[at] == 1
        yield Claim(number, column, kind, "count", least, most, text, name, leaves, is_exact=is_exact)
    for (most, kind), members in sorted(grouped.items()):
        named = _listed([str(one.pieces.names[at]) for at in members])
        if len(members) == 1:
            text = f"{named} in no row" if most == 0 else f"{named} in {counted(most, 'row')} or fewer"
            name, leaves = one.pieces.names[members[0]], one.pieces.leaves[members[0]]
            yield Claim(number, column, kind, "count", 0, most, text, name, leaves)
        else:
            parts = [own for at in members if isinstance(own := one.pieces.leaves[at], frozenset)]
            text = f"in no row: {named}" if most == 0 else f"in {counted(most, 'row')} or fewer, each of: {named}"
            yield Claim(number, column, kind, "each", 0, most, text, parts=parts)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _bits(one: _Bounded, size: int, n_values: float) -> float:
    """Return by how many bits there are fewer ways to fill a class when each piece is held by its bounds.

    Of n rows and m values there are mⁿ ways. With bounds there are n! times the coefficient of zⁿ in the product of
    Σ (w z)ʲ / j! over the pieces, w being the values of a piece and j the rows that it may hold.
    """
    widths = np.maximum(np.array(one.pieces.n_values, float), 1.0)
    # Values that nobody lists are whatever the label has beside those that are listed.
    unnamed = [at for at, name in enumerate(one.pieces.names) if name is None]
    total = max(n_values, float(widths.sum()))
    if unnamed:
        widths[unnamed] = max(1.0, total - float(np.delete(widths, unnamed).sum()))
    shares = widths / widths.sum()
    if size > MOST_COUNTED:
        left = float(shares[one.most > 0].sum())
        return -size * math.log2(left) if 0 < left < 1 else 0.0
    factorials = np.array([math.lgamma(j + 1) for j in range(size + 1)])
    ways = np.full(size + 1, -np.inf)
    ways[0] = 0.0
    for share, least, most in zip(shares.tolist(), one.least.tolist(), one.most.tolist(), strict=True):
        own = np.full(size + 1, -np.inf)
        rows = np.arange(least, min(most, size) + 1)
        own[rows] = rows * math.log(share) - factorials[rows]
        ways = _multiplied(ways, own)
    left = ways[size] + factorials[size]
    return max(0.0, -left / math.log(2)) if math.isfinite(left) else 0.0


def _multiplied(ways: Floats, own: Floats) -> Floats:
    """Multiply two polynomials whose coefficients are given by their logarithms."""
    peak, own_peak = ways.max(), own.max()
    product = np.convolve(np.exp(ways - peak), np.exp(own - own_peak))[: len(ways)]
    with np.errstate(divide="ignore"):
        out: Floats = np.log(product) + peak + own_peak
    return out
