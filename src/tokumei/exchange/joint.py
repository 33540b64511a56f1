"""What all releases of one table tell together.

Threat model. All users may collude, and everybody knows the offer: its hierarchies, the first release, and all that
its predictor publishes. Releases are class counts, in the order of their labels; where columns are carried along,
rows of two releases may be linked by them. So the releases are taken to tell everything down to their *joint node*:
for each attribute the coarsest level that all levels given out follow from. Levels need not nest (ages in five bands
and in three): then the joint level is finer than both.

Rule. A release is given only where the joint node with everything given before holds k, predicted as well as counted.
Releases that form a chain, each a coarsening of another, join to their finest: a coarser one adds nothing.

What the offer itself publishes (the rows of each value, some two-way tables) cannot be joined the same way, or nothing
could ever be given. It need not be: where the tables that are out – the joint node's and the published ones – are
*decomposable*, rows can be arranged so that any class that may have rows at all has as many as the smallest table entry
it lies in, which is k or more (Dobra and Fienberg 2000; a row of one table is matched with a row of the next that
agrees on what the two share). Then, whatever is added up and subtracted, no class is shown to be smaller than k.
Where they are not, or where labels cross the groups that small values were merged into, it is not so: age bands
0–9: 40 and 10–19: 50 beside published groups {0–4}: 37 and {5–9, 10–19}: 53 tell of 3 people aged 5–9. Such nodes are
refused, and since only published things decide it, everybody can tell beforehand.

That values were merged tells that not both halves of their group have k rows (`predict.margin`). So a label may hold a
merged group whole, or lie within one half of it: then its rows can all be put on one value, or are known anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.halving import halving_tree
from tokumei.predictors.margin import Ints, Margin, common_coarsening
from tokumei.predictors.predictor import Fitted

Partitions = Mapping[int, Ints]
"""A table: by attribute (by its number) the part of each value that occurs; an attribute that it lacks is absent."""

# How many comparisons of parts are kept.
KEPT = 10_000


def joint_node(lattice: Lattice, nodes: Iterable[Node]) -> Node:
    """Return the coarsest node that all of these follow from; the top if there are none."""
    joint = lattice.top
    for node in dict.fromkeys(nodes):
        joint = tuple(
            joint_level(hierarchy, one, other)
            for hierarchy, one, other in zip(lattice.hierarchies, joint, node, strict=True)
        )
    return joint


def joint_level(hierarchy: Hierarchy, one: int, other: int) -> int:
    """Return the coarsest level that two levels follow from: the finer of the two where they nest."""
    finer = hierarchy.finer
    both = [
        level
        for level in range(len(hierarchy.levels))
        if (level == one or finer[level, one]) and (level == other or finer[level, other])
    ]
    return min(both, key=lambda level: (len(hierarchy.levels[level]), -level))


def published_tables(fitted: Fitted) -> list[Partitions]:
    """Return the tables that a predictor publishes; a power law has none of its own (see `offering`)."""
    if not isinstance(fitted, FittedMargins):
        return []
    tables: list[Partitions] = []
    for index, margin in enumerate(fitted.margins):
        tables.append({index: margin.group_of[margin.group_of >= 0]})
    for table in fitted.tables:
        parts = {table.first: table.first_parts, table.second: table.second_parts}
        tables.append(
            {index: each[(groups := fitted.margins[index].group_of)[groups >= 0]] for index, each in parts.items()}
        )
    return tables


def joiner(fitted: Fitted) -> Callable[[Node], bool]:
    """Return a test of whether a node's table fits what a predictor publishes: together they are decomposable."""
    if not isinstance(fitted, FittedMargins):
        return lambda _: True
    published = [as_keys(table) for table in published_tables(fitted)]
    by_level = [[codes[margin.group_of >= 0] for codes in margin.codes] for margin in fitted.margins]
    keys = [[as_keys({index: parts}) for parts in levels] for index, levels in enumerate(by_level)]

    @cache
    def spares(index: int, level: int) -> bool:
        return spares_groups(fitted.margins[index], level)

    def can_join(node: Node) -> bool:
        if not all(spares(index, level) for index, level in enumerate(node)):
            return False
        own = {name: key for index, level in enumerate(node) for name, key in keys[index][level].items()}
        return are_decomposable([own, *published])

    return can_join


def spares_groups(margin: Margin, level: int) -> bool:
    """Whether each merged group lies in one label of a level, or each label that it meets within one half of it."""
    codes = margin.codes[level]
    tree = halving_tree(margin.codes, has_missing=bool(margin.group_of[-1] >= 0))
    for group in (each for each in margin.groups if len(each) > 1):
        labels = set(codes[list(group)].tolist())
        if len(labels) == 1:
            continue
        halves = [set(half.leaves) for half in tree.of(group).halves]
        for label in labels:
            leaves = set(np.flatnonzero((codes == label) & (margin.group_of >= 0)).tolist())
            if not any(leaves <= half for half in halves):
                return False
    return True


def are_decomposable(tables: Sequence[Mapping[int, bytes]]) -> bool:
    """Whether tables can be taken away one by one, each sharing with all others no more than with one of them."""
    left = list(tables)
    while len(left) > 1:
        ear = next((index for index in range(len(left)) if _is_ear(left[index], _without(left, index))), None)
        if ear is None:
            return False
        left = _without(left, ear)
    return True


# Parts as bytes, since the same few are compared over and over and what was found is kept.


def as_keys(table: Partitions) -> dict[int, bytes]:
    """Return the parts of a table as bytes; an attribute in one part reveals nothing, and is left out."""
    return {
        index: np.unique(parts, return_inverse=True)[1].astype(np.int64).tobytes()
        for index, parts in table.items()
        if len(parts) and parts.min() != parts.max()
    }


def _parts(key: bytes) -> Ints:
    return np.frombuffer(key, np.int64)


def _is_ear(table: Mapping[int, bytes], others: Sequence[Mapping[int, bytes]]) -> bool:
    """Whether one of the other tables holds all that a table shares with them."""
    shared = {}
    for index, parts in table.items():
        rest = frozenset(other[index] for other in others if index in other)
        if not rest:
            continue
        common = _shared(rest, parts)
        if common is None:
            return False
        if any(common):
            shared[index] = common
    return any(
        all(index in other and _follows(other[index], common) for index, common in shared.items()) for other in others
    )


@lru_cache(maxsize=KEPT)
def _shared(others: frozenset[bytes], key: bytes) -> bytes | None:
    """Return what parts share with the joint parts of others; None if two with a shared part have no common value."""
    parts = _parts(key)
    joint = np.zeros_like(parts)
    for other in sorted(others):
        joint = _both(joint, _parts(other))
    common = common_coarsening(joint, parts)
    pairs, first = np.unique(_both(joint, parts), return_index=True)
    n_pairs = np.bincount(common[first], minlength=len(pairs))
    n_joint, n_parts = (
        np.bincount(common[np.unique(each, return_index=True)[1]], minlength=len(pairs)) for each in (joint, parts)
    )
    return common.tobytes() if (n_pairs == n_joint * n_parts).all() else None


@lru_cache(maxsize=KEPT)
def _follows(fine: bytes, coarse: bytes) -> bool:
    """Whether each fine part lies in one coarse part."""
    parts = _parts(fine)
    return len(np.unique(_both(parts, _parts(coarse)))) == len(np.unique(parts))


def _both(one: Ints, other: Ints) -> Ints:
    """Return the coarsest parts that lie within parts of both, numbered anyhow but from 0."""
    parts: Ints = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1].reshape(-1)
    return parts


def _without(tables: Sequence[Mapping[int, bytes]], index: int) -> list[Mapping[int, bytes]]:
    return [*tables[:index], *tables[index + 1 :]]
