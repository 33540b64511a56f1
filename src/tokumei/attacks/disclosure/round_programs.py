"""The programs of a release made in rounds: several rounds, and several classes, bound together what each class holds.

A class has a variable for each of its cells, at the finest levels of those earlier rounds that leave few cells in it. A
cell that a round released holds none of its rows. All classes that came later share the k − 1 rows that any other cell
of a round may hold. Classes that share a cell make one program; where there are many, they are taken in parts, and what
classes of different parts share is left out, so that bounds stay true and may be wider.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tokumei.attacks.disclosure.count_programs import CountProgram, rows_of
from tokumei.attacks.disclosure.rounds import Contradiction, Rounds, finest_parts
from tokumei.attacks.disclosure.value_counts import ValueCounts
from tokumei.core.progress import step
from tokumei.hierarchies.label_semantics import Ints

# A class with more cells is bounded by each round alone.
MOST_CELLS = 512
# Variables of one part, and of one program.
MOST_IN_PART, MOST_IN_PROGRAM = 20_000, 1_000


@dataclass
class Solved:
    """How much was solved: classes that had a program, those that time did not allow, those too large for one."""

    classes: int = 0
    out_of_time: int = 0
    too_large: int = 0
    # Bounds that are proven, of which better ones may follow from whole counts.
    inexact: int = 0


@dataclass(frozen=True, eq=False)
class _Cells:
    """The open cells of a class: their codes, the level of each column, and the earlier groups that bound them."""

    number: int
    codes: Ints
    levels: Ints
    earlier: Sequence[int]
    # The first of its variables in the program of its part.
    start: int = field(default=0)


def solve(rounds: Rounds, counts: ValueCounts, *, seconds: float) -> Solved:
    """Bound what each class holds by programs, as far as time allows."""
    deadline, solved = time.perf_counter() + seconds, Solved()
    chosen = _chosen(rounds, solved)
    with step("solving programs", float(len(chosen))) as bar:
        for part in _parts(rounds, chosen, deadline):
            for program, cells in _programs(rounds, part, deadline):
                _bound(rounds, counts, program, cells, solved)
                bar.advance(len(cells))
    solved.out_of_time = len(chosen) - solved.classes
    return solved


def _chosen(rounds: Rounds, solved: Solved) -> list[tuple[float, int, list[int], Ints]]:
    """Choose the classes that get a program, those first whose rows fill most of the room that there is.

    Each with the earlier groups that are taken into account: those that leave the fewest cells in it come first.
    """
    out: list[tuple[float, int, list[int], Ints]] = []
    for own, earlier in enumerate(rounds.earlier):
        classes = rounds.members[own]
        below = np.array([rounds.cells_below(other, classes) for other in earlier]).reshape(len(earlier), len(classes))
        for at, number in enumerate(classes.tolist()):
            levels, taken = rounds.high[number].copy(), []
            for other in np.argsort(below[:, at], kind="stable").tolist():
                finer = np.minimum(levels, rounds.low[rounds.members[earlier[other]][0]])
                if _n_cells(rounds, number, finer) <= MOST_CELLS:
                    levels = finer
                    taken.append(earlier[other])
            if rounds.is_finest and taken:
                for column, _ in finest_parts(rounds, number):
                    finer = levels.copy()
                    finer[column] = min(levels[column], rounds.high[number, column] - 1)
                    levels = finer if _n_cells(rounds, number, finer) <= MOST_CELLS else levels
            if taken:
                fullness = float(rounds.public.sizes[number]) / (rounds.cap * float(below[:, at].min()))
                out.append((-fullness, number, taken, levels))
            solved.too_large += bool(earlier) and not taken
    return sorted(out, key=lambda one: one[:2])


def _n_cells(rounds: Rounds, number: int, levels: Ints) -> float:
    n_cells = 1.0
    for at, column in enumerate(rounds.columns):
        coarser = int(rounds.high[number, at])
        n_cells *= float(column.n_below(int(levels[at]), coarser, 1)[rounds.high_codes[number, at]])
    return n_cells


def _parts(
    rounds: Rounds, chosen: Sequence[tuple[float, int, list[int], Ints]], deadline: float
) -> Iterator[list[_Cells]]:
    """Enumerate the open cells of classes, so many at a time as fit, until time is up."""
    part: list[_Cells] = []
    n_variables = 0
    for _, number, earlier, levels in chosen:
        if time.perf_counter() >= deadline:
            return
        codes = _open_cells(rounds, number, earlier, levels)
        if part and n_variables + len(codes) > MOST_IN_PART:
            yield part
            part, n_variables = [], 0
        part.append(_Cells(number, codes, levels, earlier, n_variables))
        n_variables += len(codes)
    if part:
        yield part


def _open_cells(rounds: Rounds, number: int, earlier: Sequence[int], levels: Ints) -> Ints:
    """List the cells of a class that no earlier round released."""
    below = [
        column.below(int(levels[at]), int(rounds.high[number, at]), int(rounds.high_codes[number, at]))
        for at, column in enumerate(rounds.columns)
    ]
    own_group = int(rounds.group_of[number])
    place = int(np.searchsorted(rounds.members[own_group], number))
    codes = np.stack(np.meshgrid(*below, indexing="ij"), axis=-1).reshape(-1, len(below))
    for other in earlier:
        inner = rounds.members[other]
        low = rounds.low[inner[0]]
        is_inside = rounds.released_within(other, own_group) == place
        released = {one.tobytes() for one in np.ascontiguousarray(rounds.low_codes[inner[is_inside]])}
        if released:
            own = np.ascontiguousarray(_lifted(rounds, codes, levels, low))
            codes = codes[[one.tobytes() not in released for one in own]]
    if not len(codes):
        raise Contradiction
    return codes


def _lifted(rounds: Rounds, codes: Ints, levels: Ints, coarser: Ints) -> Ints:
    """Return the codes of cells at coarser levels."""
    return np.column_stack(
        [column.up(int(levels[at]), int(coarser[at]))[codes[:, at]] for at, column in enumerate(rounds.columns)]
    )


def _caps(rounds: Rounds, part: Sequence[_Cells]) -> list[Ints]:
    """List the variables of each cell of an earlier round, all of which hold fewer than k rows together."""
    lists: list[Ints] = []
    for other in sorted({one for cells in part for one in cells.earlier}):
        low = rounds.low[rounds.members[other][0]]
        of_round = [cells for cells in part if other in cells.earlier and len(cells.codes)]
        if not of_round:
            continue
        lifted = np.concatenate([_lifted(rounds, cells.codes, cells.levels, low) for cells in of_round])
        variables = np.concatenate([cells.start + np.arange(len(cells.codes)) for cells in of_round])
        # Values that nobody lists are many cells.
        is_one = ~np.logical_or.reduce(
            [column.is_unlisted(int(low[at]), lifted[:, at]) for at, column in enumerate(rounds.columns)]
        )
        _, cell = np.unique(lifted[is_one], axis=0, return_inverse=True)
        order = np.argsort(cell.reshape(-1), kind="stable")
        breaks = np.flatnonzero(np.diff(cell.reshape(-1)[order])) + 1
        lists += [one for one in np.split(variables[is_one][order], breaks) if len(one)]
    return lists


def _programs(rounds: Rounds, part: Sequence[_Cells], deadline: float) -> Iterator[tuple[CountProgram, list[_Cells]]]:
    """Make a program of all classes that share a cell with each other."""
    owner = np.concatenate([np.full(len(cells.codes), at) for at, cells in enumerate(part)])
    caps = _caps(rounds, part)
    root = list(range(len(part)))

    def found(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    n_of = [len(cells.codes) for cells in part]
    for variables in caps:
        own = np.unique(owner[variables]).tolist()
        for other in own[1:]:
            first, second = found(own[0]), found(other)
            # Of classes that would be too many for one program, some are not told of what they share.
            if first != second and n_of[first] + n_of[second] <= MOST_IN_PROGRAM:
                root[second] = first
                n_of[first] += n_of[second]
    together: dict[int, list[int]] = {}
    for at in range(len(part)):
        together.setdefault(found(at), []).append(at)
    group_of = np.array([found(at) for at in range(len(part))])
    caps_of: dict[int, list[Ints]] = {}
    for variables in caps:
        groups = group_of[owner[variables]]
        for group in np.unique(groups).tolist():
            caps_of.setdefault(group, []).append(variables[groups == group])
    for group, members in together.items():
        yield _program(rounds, [part[at] for at in members], caps_of.get(group, []), deadline)


def _program(
    rounds: Rounds, cells: Sequence[_Cells], caps: Sequence[Ints], deadline: float
) -> tuple[CountProgram, list[_Cells]]:
    """Make the program of some classes: what the variables of each add up to, and what they share."""
    lengths = [len(one.codes) for one in cells]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    moved = [
        _Cells(one.number, one.codes, one.levels, one.earlier, int(at)) for one, at in zip(cells, starts, strict=False)
    ]
    index = np.concatenate([one.start + np.arange(n) for one, n in zip(cells, lengths, strict=True)])
    order = np.argsort(index, kind="stable")
    lists = [order[np.searchsorted(index[order], one)] for one in caps]
    limits = [rounds.cap] * len(lists)
    if rounds.is_finest:
        for one in moved:
            for own in _finest(rounds, one):
                lists.append(own)
                limits.append(rounds.cap)
    sizes = rounds.public.sizes[[one.number for one in cells]]
    n_variables = int(starts[-1])
    equal = rows_of([np.arange(first, end) for first, end in itertools.pairwise(starts)], n_variables)
    upper = np.repeat(sizes, lengths)
    at_most, most = rows_of(lists, n_variables), np.array(limits, np.int64)
    return CountProgram(equal, sizes, at_most, most, upper, deadline=deadline), moved


def _finest(rounds: Rounds, cells: _Cells) -> Iterator[Ints]:
    """List the variables of each part of a class one level below, which holds fewer than k of its rows."""
    for at, _ in finest_parts(rounds, cells.number):
        column, level = rounds.columns[at], int(rounds.high[cells.number, at])
        if cells.levels[at] >= level:
            continue
        codes = column.up(int(cells.levels[at]), level - 1)[cells.codes[:, at]]
        for code in np.unique(codes).tolist():
            if not column.is_unlisted(level - 1, np.array([code]))[0]:
                yield cells.start + np.flatnonzero(codes == code)


def _bound(
    rounds: Rounds,
    counts: ValueCounts,
    program: CountProgram,
    cells: Sequence[_Cells],
    solved: Solved,
) -> None:
    """Bound each piece of each label of some classes; classes that time does not allow keep what is known."""
    for one in cells:
        if program.is_late():
            return
        is_exact = True
        for at, column in enumerate(rounds.columns):
            high, code = int(rounds.high[one.number, at]), int(rounds.high_codes[one.number, at])
            own = one.codes[:, at]
            for level in range(high - 1, int(one.levels[at]) - 1, -1):
                pieces, key = rounds.pieces(at, level, high, code), (one.number, column.column)
                lifted = column.up(int(one.levels[at]), level)[own]
                if len(pieces.names) < 2:
                    continue
                size = int(rounds.public.sizes[one.number])
                least, most = np.zeros(len(pieces.names), np.int64), np.full(len(pieces.names), size)
                hows: dict[str, list[int]] = {}
                for place, piece in enumerate(column.below(level, high, code).tolist()):
                    variables = one.start + np.flatnonzero(lifted == piece)
                    known = counts.known(key, level, place)
                    found = program.bounds(variables, known)
                    if found is None:
                        if program.is_contradicted:
                            raise Contradiction
                        is_exact = False
                        continue
                    least[place], most[place] = found.least, found.most
                    is_exact &= found.is_exact
                    hows.setdefault(found.how, []).append(place)
                for how, places in hows.items():
                    only_least, only_most = np.zeros_like(least), np.full_like(most, size)
                    only_least[places], only_most[places] = least[places], most[places]
                    counts.narrow(key, pieces, only_least, only_most, how)
        # A class that time ran out on has better bounds by now, yet is said to be left out.
        if not program.is_late():
            solved.classes += 1
            solved.inexact += not is_exact
