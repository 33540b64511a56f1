"""Halves of leaves: runs of places, against the plain recursion over labels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokumei.predictors.one_way import MOST_ASIDE, Group, Halving, Ints, halving_tree

Tree = tuple[Group, tuple["Tree", ...]]


def plain_tree(codes: Ints, *, has_missing: bool) -> Tree:
    """Part leaves as it is told: by the labels of the coarsest level, then of the next, each time in the middle."""
    n_leaves = codes.shape[1] - (not has_missing)
    placed = codes[:, :n_leaves].copy()
    if has_missing:
        placed[1:, -1] = placed[1:, -2]
    nested = [0]
    for level in range(1, len(codes)):
        pairs = {(codes[nested[-1], leaf], codes[level, leaf]) for leaf in range(codes.shape[1] - 1)}
        if len(pairs) == len({finer for finer, _ in pairs}):
            nested.append(level)
    telling = [level for level in range(len(codes)) if codes[level, :-1].max() > 0]
    chain = [level for level in reversed(telling) if level in nested]
    return _halved(tuple(range(n_leaves)), chain, placed, [level for level in telling if level not in nested])


def _halved(leaves: Group, chain: list[int], codes: Ints, aside: list[int]) -> Tree:
    if len(leaves) == 1:
        return leaves, ()
    if not chain:
        return _parted([(leaf,) for leaf in leaves], chain, codes, aside)
    by_label: dict[int, list[int]] = {}
    for leaf in leaves:
        by_label.setdefault(int(codes[chain[0], leaf]), []).append(leaf)
    return _parted([tuple(inside) for inside in by_label.values()], chain[1:], codes, aside)


def _parted(blocks: list[Group], chain: list[int], codes: Ints, aside: list[int]) -> Tree:
    if len(blocks) == 1:
        return _halved(blocks[0], chain, codes, aside)
    at = len(blocks) // 2
    if aside:
        near = range(max(1, at - MOST_ASIDE), min(len(blocks), at + MOST_ASIDE + 1))
        at = min(near, key=lambda each: (_n_cut(blocks, each, codes, aside), abs(2 * each - len(blocks)), each))
    one, other = (_parted(part, chain, codes, aside) for part in (blocks[:at], blocks[at:]))
    return tuple(sorted(one[0] + other[0])), (one, other)


def _n_cut(blocks: list[Group], at: int, codes: Ints, aside: list[int]) -> int:
    one, other = ({leaf for block in part for leaf in block} for part in (blocks[:at], blocks[at:]))
    return sum(bool({codes[level, i] for i in one} & {codes[level, i] for i in other}) for level in aside)


def as_tree(halving: Halving) -> Tree:
    return halving.leaves, tuple(as_tree(half) for half in halving.halves)


@given(st.integers(1, 14), st.booleans(), st.data())
def test_halves_are_those_of_the_plain_recursion(n_leaves: int, has_missing: bool, data: st.DataObject) -> None:
    levels = [list(range(n_leaves))]
    for _ in range(data.draw(st.integers(0, 3))):
        if data.draw(st.booleans()):
            # Follows from the level before; else it may cross.
            labels = data.draw(st.lists(st.integers(0, 4), min_size=14, max_size=14))
            levels.append([labels[code] for code in levels[-1]])
        else:
            levels.append(data.draw(st.lists(st.integers(0, 4), min_size=n_leaves, max_size=n_leaves)))
    levels.append([0] * n_leaves)
    codes = np.array([[*level, max(level) + 1 if max(level) else 0] for level in levels], np.int64)
    assert as_tree(halving_tree(codes, has_missing=has_missing)) == plain_tree(codes, has_missing=has_missing)
