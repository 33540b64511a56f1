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

A joint node that is not decomposable with the published tables can still be given where a finer node is and holds k as
well: whoever knew the finer one could show no small class, and so can nobody who knows less. That finer node, the first
found with fewest classes, is the joint node's *cover*. It is what must hold, predicted and counted.

Since an offer comes from somebody else, and may be made to mislead, published knowledge is held against itself: whether
it can be that of a table at all.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Literal

import numpy as np

from tokumei.core.text import Text, choice_of
from tokumei.exchange.documents import Document
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.margins import SPREADS
from tokumei.predictors.one_way import Ints, Margin, common_coarsening, halving_tree
from tokumei.predictors.predictor import Fitted, Prediction, Rule, is_served

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


Zone = Literal["allowed", "discretion", "refused"]
Why = Literal["", "small", "small together", "discretion", "published"]

WHY_PUBLISHED = "with what the offer publishes it could show small classes"
# Looking further takes longer than a user waits. To predict a cover takes ten times as long as to find one.
MOST_NODES = 15
MOST_COVERS = 2


@dataclass(frozen=True)
class Zoned:
    """The zone of a joint node, why it is no better, and its cover: the node itself where that is decomposable."""

    zone: Zone
    why: Why
    cover: Node


def find_zone(
    lattice: Lattice,
    node: Node,
    k: int,
    *,
    predict: Callable[[Node], Prediction],
    can_join: Callable[[Node], bool],
    has_discretion: bool,
    rule: Rule = "low",
) -> Zoned:
    """Find the zone of a joint node at k, by the best of its covers."""
    if _zone(predict(node), k, has_discretion, rule) == "refused":
        return Zoned("refused", "small", node)
    discretion: Node | None = None
    for cover in islice(_covers(lattice, node, can_join), MOST_COVERS):
        zone = _zone(predict(cover), k, has_discretion, rule)
        if zone == "allowed":
            return Zoned("allowed", "", cover)
        if zone == "discretion":
            discretion = discretion or cover
    return Zoned("refused", "published", node) if discretion is None else Zoned("discretion", "discretion", discretion)


def sentence(why: Why, judged: Prediction, k: int, rule: Rule) -> str:
    """Put the reason for a zone in words, with the number that decided; empty where nothing stands in the way."""
    if why in ("", "published"):
        return WHY_PUBLISHED if why else ""
    # Rounded down, lest 9.7 be said to be 10 and below it.
    numbers = {"predicted": math.floor(judged.k), "low": math.floor(judged.low), "k": k}
    if rule == "k":
        decided = Text("predicted {predicted:,}, which is below {k:,}", **numbers)
    else:
        decided = Text("predicted {predicted:,}, its low end {low:,} is below {k:,}", **numbers)
    if why == "small together":
        return Text("together with what is out it tells more classes: {decided}", decided=decided)
    return Text("{decided}: the provider decides", decided=decided) if why == "discretion" else decided


def _covers(lattice: Lattice, node: Node, can_join: Callable[[Node], bool]) -> Iterator[Node]:
    """Yield the node and finer ones that are decomposable with what is published, those with fewest classes first."""
    waiting, seen = [(lattice.class_count(node), node)], {node}
    for _ in range(MOST_NODES):
        if not waiting:
            return
        _, finest = heapq.heappop(waiting)
        if can_join(finest):
            yield finest
            continue
        for finer in lattice.finer_neighbors(finest):
            if finer not in seen:
                seen.add(finer)
                heapq.heappush(waiting, (lattice.class_count(finer), finer))


def _zone(prediction: Prediction, k: int, has_discretion: bool, rule: Rule) -> Zone:
    if is_served(prediction, k, by=rule):
        return "allowed"
    return "discretion" if has_discretion and prediction.k >= k else "refused"


KNOWN_PREDICTORS = ("margins", "power-law")


def check_knowledge(lattice: Lattice, fields: Document) -> None:
    """Refuse knowledge that no table has: numbers that are none, groups without rows, tables that do not add up."""
    method = fields.text("method", most=100)
    if method not in KNOWN_PREDICTORS:
        raise fields.fault(f"a predictor whose publication can be checked: {', '.join(KNOWN_PREDICTORS)}", "method")
    fields.number("caution", least=1e-9, most=0.5)
    if method == "margins":
        _check_margins(lattice, fields)
    else:
        fields.number("alpha", least=1e-9, most=1e15)
        fields.number("beta", least=-100, most=100)
        fields.number("spread", least=0, most=100)
        fields.number("middle", least=-100, most=100)
        fields.number("extent", least=1e-9, most=1e12)
        fields.whole("n_sampled", least=2)
        fields.number("epsilon", least=1e-6, most=100)
    fields.finish()


def _check_margins(lattice: Lattice, fields: Document) -> None:
    fields.whole("k_p", least=1)
    if fields.number("spread", least=0, most=max(SPREADS)) not in SPREADS:
        raise fields.fault(choice_of(f"{each:g}" for each in SPREADS), "spread")
    attributes = fields.inside("attributes")
    sizes = {name: _group_sizes(attributes, name) for name in lattice.attributes}
    attributes.finish()
    if len({sum(each) for each in sizes.values()}) > 1:
        raise fields.fault("equally many rows for each attribute", "attributes")
    for table in fields.objects("tables"):
        _check_table(table, sizes)


def _group_sizes(attributes: Document, name: str) -> list[int]:
    """Return the rows of each group of an attribute's values; the values are looked up when they are used."""
    groups = attributes.items(name)
    is_sound = bool(groups) and all(
        isinstance(group, list)
        and len(group) == 2
        and isinstance(group[0], list)
        and bool(group[0])
        and all(leaf is None or isinstance(leaf, str) for leaf in group[0])
        and _is_count(group[1], 0)
        for group in groups
    )
    if not is_sound:
        raise attributes.fault("groups of values, each with the number of its rows", name)
    return [group[1] for group in groups]


def _check_table(table: Document, sizes: dict[str, list[int]]) -> None:
    names, parts, rows = table.texts("attributes"), table.items("parts"), table.items("rows")
    if len(set(names)) != 2 or not set(names) <= set(sizes) or len(parts) != 2:
        raise table.fault("two attributes, and parts for each", "attributes")
    is_grid = bool(rows) and all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows)
    if not is_grid or not all(_is_count(each, 0) for row in rows for each in row):
        raise table.fault("rows of counts, equally long", "rows")
    counts = np.array(rows, np.int64)
    for axis, (name, part) in enumerate(zip(names, parts, strict=True)):
        if not (isinstance(part, list) and len(part) == len(sizes[name]) and all(_is_count(each, 0) for each in part)):
            raise table.fault(f"a part for each of the {len(sizes[name])} groups of {name}", "parts")
        if set(part) != set(range(counts.shape[axis])):
            raise table.fault(f"the {counts.shape[axis]} parts of {name}, numbered from 0", "parts")
        if not np.array_equal(np.bincount(part, sizes[name]), counts.sum(axis=1 - axis)):
            raise table.fault(f"counts that add up to those of {name}", "rows")
    table.finish()


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 10**12
