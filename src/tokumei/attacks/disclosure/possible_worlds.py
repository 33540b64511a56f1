"""What people's sensitive values may be, given a release and that a method refused to group people in other ways.

Whoever knows everybody's quasi-identifiers knows who stands in which released class, and the class's values, but not
whose each is: every way to hand them out is a world, and all worlds are alike. A method that would rather have grouped
people otherwise, and did not, found a part there that breaks the requirement. The worlds in which all parts of such a
grouping hold are ruled out, and what is left is counted (Wong, Fu, Wang and Pei, VLDB 2007, count so for one class).

Counted are tables: how many people of each *cell* have each value. A cell is the people of a class that no refused
grouping tells apart, so that all of them are as likely to have a value. Classes that no part joins are independent
within one grouping, and several groupings are counted by inclusion and exclusion: whole numbers, no rounding. Where
there are too many tables, worlds are drawn.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.seeds import generator
from tokumei.hierarchies.label_semantics import Bools, Ints

Sums = npt.NDArray[np.float64]
Holds = Callable[[Ints], Bools]
"""Whether each of some groups meets what was asked, by how many of its rows have each value: groups × values."""

MOST_TABLES = 2_000
MOST_BLOCKS = 300
MOST_GROUPINGS = 8
# Worlds that are drawn at once, in rows; and to see whether any is left.
DRAWN_ROWS = 1 << 20
FIRST_DRAWS = 100
FEWEST_ACCEPTED = 100
# How many standard errors a share that was drawn must lie from the class's own to be another one.
CLEARLY = 4.0
# Rows that are dealt out, and numbers of tables that are looked at, until no more is drawn.
MOST_DRAWN = 1 << 27


@dataclass(frozen=True, eq=False)
class Refused:
    """A grouping of some kinds of people that was not made: one of its parts at least does not hold."""

    kinds: Ints
    parts: Ints

    @property
    def key(self) -> tuple[bytes, bytes]:
        """Equal for groupings that are the same, whatever the order of their kinds and the numbers of their parts."""
        order = np.argsort(self.kinds, kind="stable")
        _, first, part_of = np.unique(self.parts[order], return_index=True, return_inverse=True)
        renamed = np.argsort(np.argsort(first))[part_of.reshape(-1)]
        return self.kinds[order].tobytes(), renamed.tobytes()


@dataclass(frozen=True, eq=False)
class Worlds:
    """Kinds of people with equal quasi-identifiers, the released class of each, and each class's values.

    sizes: people of each kind. class_of: the class of each kind. counts: rows of each class with each value.
    """

    sizes: Ints
    class_of: Ints
    counts: Ints
    holds: Holds


@dataclass(eq=False)
class Beliefs:
    """How likely each value is for each kind of people: kinds × values.

    exact: the same as fractions, for kinds whose worlds were counted. is_drawn: kinds whose worlds were drawn; a
    share that does not clearly differ from the class's own is that one. n_left_out: refused groupings that were not
    used, since no world that was drawn agreed with them all, or too much had been drawn. n_contradicted: those that
    no world agrees with.
    """

    shares: Sums
    exact: dict[int, tuple[Fraction, ...]] = field(default_factory=dict)
    is_drawn: Bools = field(default_factory=lambda: np.zeros(0, bool))
    n_used: int = 0
    n_drawn: int = 0
    n_left_out: int = 0
    n_contradicted: int = 0


def beliefs(worlds: Worlds, refused: Sequence[Refused], *, n_draws: int, seed: int) -> Beliefs:
    """Return what somebody believes who knows the worlds and what was refused."""
    sizes = worlds.counts.sum(axis=1)
    out = Beliefs((worlds.counts / sizes[:, None])[worlds.class_of], is_drawn=np.zeros(len(worlds.sizes), bool))
    torn = [_torn(worlds, one) for one in refused]
    out.n_contradicted = sum(not len(one.kinds) for one in torn)
    # A method may come by the same grouping on several ways.
    different = {one.key: one for one in torn if len(one.kinds)}
    told = [_Component.of(worlds, each) for each in _components(worlds, list(different.values()))]
    rng = generator(seed, "possible worlds")
    for component, blocks in _counted(worlds, told):
        if blocks is None:
            _draw(worlds, component, out, n_draws, rng)
        elif not _count(component, blocks, out):
            out.n_contradicted += len(component.refused)
    return out


def _torn(worlds: Worlds, refused: Refused) -> Refused:
    """Drop the parts that are made of whole classes: what classes keep, classes merged with each other keep."""
    own = np.bincount(worlds.class_of, worlds.sizes, len(worlds.counts)).astype(np.int64)
    rows = worlds.sizes[refused.kinds]
    n_parts = int(refused.parts.max()) + 1
    pairs, at = np.unique(refused.parts * len(worlds.counts) + worlds.class_of[refused.kinds], return_inverse=True)
    is_torn = np.bincount(at, rows) < own[pairs % len(worlds.counts)]
    torn = np.zeros(n_parts, bool)
    torn[(pairs // len(worlds.counts))[is_torn]] = True
    is_kept = torn[refused.parts]
    return Refused(refused.kinds[is_kept], refused.parts[is_kept])


def _components(worlds: Worlds, refused: Sequence[Refused]) -> Iterator[list[Refused]]:
    """Bring refused groupings together that share classes, directly or through others."""
    classes = [np.unique(worlds.class_of[one.kinds]) for one in refused]
    root = _joined(len(worlds.counts), classes)
    found: dict[int, list[Refused]] = {}
    for one, own in zip(refused, classes, strict=True):
        found.setdefault(root[own[0]], []).append(one)
    yield from found.values()


def _joined(n: int, sets: Sequence[Ints]) -> list[int]:
    """For each of n things, the first one that shares a set with it, directly or through others."""
    root = list(range(n))

    def find(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    for one in sets:
        first, *others = one.tolist()
        for other in others:
            a, b = find(first), find(other)
            root[max(a, b)] = min(a, b)
    return [find(at) for at in range(n)]


@dataclass(frozen=True, eq=False)
class _Component:
    """Classes that refused groupings bind together, their people in cells, and each grouping's part of each cell."""

    refused: Sequence[Refused]
    classes: Ints
    kinds: Ints
    cell_of: Ints
    cell_sizes: Ints
    # The class of each cell, counted within the component, and its part in each grouping, −1 for none.
    class_of_cell: Ints
    part_of_cell: Ints
    counts: Ints

    @classmethod
    def of(cls, worlds: Worlds, refused: Sequence[Refused]) -> _Component:
        classes = np.unique(np.concatenate([worlds.class_of[one.kinds] for one in refused]))
        kinds = np.flatnonzero(np.isin(worlds.class_of, classes))
        at = np.full(len(worlds.sizes), -1)
        at[kinds] = np.arange(len(kinds))
        parts = np.full((len(refused) + 1, len(kinds)), -1)
        parts[0] = np.searchsorted(classes, worlds.class_of[kinds])
        for number, one in enumerate(refused, 1):
            parts[number, at[one.kinds]] = one.parts
        cells, cell_of = np.unique(parts, axis=1, return_inverse=True)
        cell_of = cell_of.reshape(-1)
        sizes = np.bincount(cell_of, worlds.sizes[kinds]).astype(np.int64)
        return cls(refused, classes, kinds, cell_of, sizes, cells[0], cells[1:], worlds.counts[classes])

    @property
    def n_rows(self) -> int:
        return int(self.cell_sizes.sum())

    def blocks(self) -> list[Ints]:
        """Cells of the classes that some part joins, block by block."""
        parts = [
            np.unique(self.class_of_cell[own == part]) for own in self.part_of_cell for part in np.unique(own[own >= 0])
        ]
        root = np.array(_joined(len(self.classes), parts))[self.class_of_cell]
        return [np.flatnonzero(root == one) for one in np.unique(root)]


@dataclass(eq=False)
class _Block:
    """All tables of some cells, in how many ways each is dealt out, and which groupings hold within it, as bits."""

    cells: Ints
    tables: Ints
    ways: list[int]
    bits: Ints


def _counted(worlds: Worlds, components: Sequence[_Component]) -> Iterator[tuple[_Component, list[_Block] | None]]:
    """Tables of each component, None where there are too many; all parts of it are asked together."""
    waiting: list[tuple[_Component, list[_Block], list[tuple[_Block, int, int]]]] = []
    asked: list[Ints] = []
    n_asked = 0

    def answered() -> Iterator[tuple[_Component, list[_Block]]]:
        holds = worlds.holds(np.concatenate(asked)) if asked else np.zeros(0, bool)
        for component, blocks, questions in waiting:
            for block, number, first in questions:
                block.bits &= ~np.where(holds[first : first + len(block.bits)], 0, 1 << number)
            yield component, blocks

    for component in components:
        blocks = _blocks(component)
        if blocks is None:
            yield component, None
            continue
        questions = []
        for block in blocks:
            for number, own in enumerate(component.part_of_cell[:, block.cells]):
                for part in np.unique(own[own >= 0]):
                    questions.append((block, number, n_asked))
                    asked.append(block.tables[:, own == part].sum(axis=1))
                    n_asked += len(block.tables)
        waiting.append((component, blocks, questions))
        if n_asked > DRAWN_ROWS:
            yield from answered()
            waiting, asked, n_asked = [], [], 0
    yield from answered()


def _blocks(component: _Component) -> list[_Block] | None:
    if len(component.refused) > MOST_GROUPINGS:
        return None
    each = component.blocks()
    if len(each) > MOST_BLOCKS:
        return None
    out = []
    for cells in each:
        made = _tables(component, cells)
        if made is None:
            return None
        tables, ways = made
        bits = np.full(len(ways), (1 << len(component.refused)) - 1)
        out.append(_Block(cells, tables, ways, bits))
    return out


def _tables(component: _Component, cells: Ints) -> tuple[Ints, list[int]] | None:
    """List all tables of some cells with the ways to deal each out; None if there are too many."""
    of_classes = []
    n_tables = 1
    for number in np.unique(component.class_of_cell[cells]):
        own = np.flatnonzero(component.class_of_cell[cells] == number)
        found = _tables_of_class(
            component.cell_sizes[cells[own]].tolist(), tuple(component.counts[number].tolist()), MOST_TABLES // n_tables
        )
        if found is None:
            return None
        of_classes.append((own, found))
        n_tables *= len(found)
    tables = np.zeros((n_tables, len(cells), component.counts.shape[1]), np.int64)
    ways = []
    for at, chosen in enumerate(itertools.product(*(found for _, found in of_classes))):
        for (own, _), (rows, _) in zip(of_classes, chosen, strict=True):
            tables[at, own] = rows
        ways.append(math.prod(way for _, way in chosen))
    return tables, ways


def _tables_of_class(
    sizes: Sequence[int], counts: tuple[int, ...], most: int
) -> list[tuple[list[tuple[int, ...]], int]] | None:
    """List all ways to split the values of a class over its cells, with the number of ways to deal each out."""
    found: list[tuple[list[tuple[int, ...]], int, tuple[int, ...]]] = [([], 1, counts)]
    for size in sizes:
        longer = []
        for rows, way, left in found:
            for row in _fillings(left, size):
                dealt = math.factorial(size) // math.prod(math.factorial(n) for n in row)
                rest = tuple(a - b for a, b in zip(left, row, strict=True))
                longer.append(([*rows, row], way * dealt, rest))
                if len(longer) > most:
                    return None
        found = longer
    return [(rows, way) for rows, way, _ in found]


def _fillings(left: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """All ways to take a number of values out of those that are left."""
    if len(left) == 1:
        if size <= left[0]:
            yield (size,)
        return
    beyond = sum(left[1:])
    for n in range(max(0, size - beyond), min(left[0], size) + 1):
        for rest in _fillings(left[1:], size - n):
            yield n, *rest


def _count(component: _Component, blocks: Sequence[_Block], out: Beliefs) -> bool:
    """Count the worlds that are left, exactly; False if there is none."""
    n_sets = 1 << len(component.refused)
    ways, held = [], []
    for block in blocks:
        by_bits: dict[int, int] = {}
        sums: dict[int, np.ndarray] = {}
        for table, way, bits in zip(block.tables, block.ways, block.bits.tolist(), strict=True):
            by_bits[bits] = by_bits.get(bits, 0) + way
            sums[bits] = sums.get(bits, 0) + table.astype(object) * way
        # In which worlds all groupings of a set hold, whatever others do.
        ways.append([sum(n for bits, n in by_bits.items() if bits & each == each) for each in range(n_sets)])
        held.append([sum(n for bits, n in sums.items() if bits & each == each) for each in range(n_sets)])
    signs = [-1 if each.bit_count() % 2 else 1 for each in range(n_sets)]
    everywhere = [math.prod(own[each] for own in ways) for each in range(n_sets)]
    total = sum(sign * n for sign, n in zip(signs, everywhere, strict=True))
    if not total:
        return False
    out.n_used += len(component.refused)
    exact: dict[int, tuple[Fraction, ...]] = {}
    for number, block in enumerate(blocks):
        elsewhere = [
            everywhere[each] // ways[number][each]
            if ways[number][each]
            else math.prod(own[each] for at, own in enumerate(ways) if at != number)
            for each in range(n_sets)
        ]
        found: Any = sum(signs[each] * elsewhere[each] * held[number][each] for each in range(n_sets))
        for cell, row in zip(block.cells.tolist(), found, strict=True):
            exact[cell] = tuple(Fraction(int(n), total * int(component.cell_sizes[cell])) for n in row)
    shares = np.array([[float(one) for one in exact[cell]] for cell in range(len(component.cell_sizes))])
    out.shares[component.kinds] = shares[component.cell_of]
    out.exact |= {
        kind: exact[cell] for kind, cell in zip(component.kinds.tolist(), component.cell_of.tolist(), strict=True)
    }
    return True


def _draw(worlds: Worlds, component: _Component, out: Beliefs, n_draws: int, rng: np.random.Generator) -> None:
    """Draw worlds and keep those that agree; where hardly any does, leave out the groupings of the most classes."""
    # What one world costs: its rows in a random order, and its table for every grouping.
    cost = 8 * component.n_rows + component.counts.shape[1] * component.part_of_cell.size
    left = (MOST_DRAWN - out.n_drawn) // cost
    if left < FIRST_DRAWS:
        out.n_left_out += len(component.refused)
        return
    n_tried = min(n_draws, max(FIRST_DRAWS, left // 2))
    found, n_done = _accepted(worlds, component, n_tried, rng)
    out.n_drawn += cost * n_done
    if found is not None:
        n_accepted, total, squares = found
        sizes = component.cell_sizes[:, None]
        mean = total / n_accepted / sizes
        spread = np.sqrt(np.maximum(squares / n_accepted / sizes**2 - mean**2, 0) / n_accepted)
        own = (component.counts / component.counts.sum(axis=1)[:, None])[component.class_of_cell]
        # What was never or always drawn may yet be possible: a draw more tells how far off it can be.
        spread = np.maximum(spread, 1 / (n_accepted * np.sqrt(sizes)))
        shares = np.where(np.abs(mean - own) > CLEARLY * spread, mean, own)
        out.shares[component.kinds] = shares[component.cell_of]
        out.is_drawn[component.kinds] = True
        out.n_used += len(component.refused)
        return
    reach = np.array([len(np.unique(worlds.class_of[one.kinds])) for one in component.refused])
    is_wide = reach >= max(np.median(reach), reach.max() if len(reach) < 4 else 2)
    if not is_wide.any() or is_wide.all():
        is_wide = reach == reach.max()
    if is_wide.all():
        is_wide = np.arange(len(reach)) >= len(reach) // 2
    out.n_left_out += int(is_wide.sum())
    left = [one for one, wide in zip(component.refused, is_wide, strict=True) if not wide]
    parts = [_Component.of(worlds, each) for each in _components(worlds, left)]
    for part, blocks in _counted(worlds, parts):
        if blocks is None:
            _draw(worlds, part, out, n_draws, rng)
        elif not _count(part, blocks, out):
            out.n_contradicted += len(part.refused)


def _accepted(
    worlds: Worlds, component: _Component, n_draws: int, rng: np.random.Generator
) -> tuple[tuple[int, Sums, Sums] | None, int]:
    """Draw worlds; return how many agree, the sums of their tables and of these squared, and how many were drawn.

    None in place of the sums where hardly any agrees.
    """
    n_cells, n_values = len(component.cell_sizes), component.counts.shape[1]
    cell_of_row = np.repeat(np.arange(n_cells), component.cell_sizes)
    class_of_row = component.class_of_cell[cell_of_row]
    order = np.argsort(class_of_row, kind="stable")
    cell_of_row, class_of_row = cell_of_row[order], class_of_row[order]
    values = np.concatenate([np.repeat(np.arange(n_values), own) for own in component.counts])
    total, squares = np.zeros((n_cells, n_values)), np.zeros((n_cells, n_values))
    n_accepted = n_done = 0
    at_once = max(1, min(FIRST_DRAWS, DRAWN_ROWS // len(values)))
    while n_done < n_draws:
        mixed = np.argsort(class_of_row + rng.random((at_once, len(values))), axis=1)
        # Rows stand class by class, and so do the mixed ones: each gets a value of its own class.
        flat = (np.arange(at_once)[:, None] * n_cells + cell_of_row) * n_values + values[mixed]
        tables = np.bincount(flat.ravel(), minlength=at_once * n_cells * n_values).reshape(at_once, n_cells, n_values)
        left = _agreeing(worlds, component, tables)
        n_accepted, n_done = n_accepted + len(left), n_done + at_once
        total += left.sum(axis=0)
        squares += (left.astype(float) ** 2).sum(axis=0)
        if n_done >= FIRST_DRAWS and n_accepted < FEWEST_ACCEPTED * min(1.0, n_done / n_draws):
            return None, n_done
    return ((n_accepted, total, squares) if n_accepted >= FEWEST_ACCEPTED else None), n_done


def _agreeing(worlds: Worlds, component: _Component, tables: Ints) -> Ints:
    """Tables in which each refused grouping has a part that fails."""
    for own in component.part_of_cell:
        if not len(tables):
            break
        order = np.argsort(own, kind="stable")[int((own < 0).sum()) :]
        starts = np.flatnonzero(np.diff(own[order], prepend=-1))
        asked = np.add.reduceat(tables[:, order], starts, axis=1).reshape(-1, tables.shape[2])
        kinds, which = np.unique(asked, axis=0, return_inverse=True)
        holds = worlds.holds(kinds)[which.reshape(-1)].reshape(len(tables), -1)
        tables = tables[~holds.all(axis=1)]
    return tables
