"""Whether a joint node can be given, told by what is published alone.

A joint node that is not decomposable with the published tables can still be given where a finer node is and holds k as
well: whoever knew the finer one could show no small class, and so can nobody who knows less. That finer
node, the first found with fewest classes, is the joint node's *cover*. It is what must hold, predicted and counted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from tokumei.hierarchy.lattice import Lattice, Node
from tokumei.predict.predictor import Prediction

Zone = Literal["allowed", "discretion", "refused"]

WHY_SMALL = "the predicted k is too small"
WHY_SMALL_TOGETHER = "together with what is out it tells more classes, whose predicted k is too small"
WHY_DISCRETION = "k may be large enough: the provider decides"
WHY_PUBLISHED = "with what the offer publishes it could show small classes"
# Looking further takes longer than a user waits. To predict a cover takes ten times as long as to find one.
MOST_NODES = 15
MOST_COVERS = 2


@dataclass(frozen=True)
class Zoned:
    """The zone of a joint node, why it is no better, and its cover: the node itself where that is decomposable."""

    zone: Zone
    why: str
    cover: Node


def find_zone(
    lattice: Lattice,
    node: Node,
    k: int,
    *,
    predict: Callable[[Node], Prediction],
    can_join: Callable[[Node], bool],
    has_discretion: bool,
) -> Zoned:
    """Find the zone of a joint node at k, by the best of its covers."""
    if _zone(predict(node), k, has_discretion) == "refused":
        return Zoned("refused", WHY_SMALL, node)
    discretion: Node | None = None
    for cover in islice(_covers(lattice, node, can_join), MOST_COVERS):
        zone = _zone(predict(cover), k, has_discretion)
        if zone == "allowed":
            return Zoned("allowed", "", cover)
        if zone == "discretion":
            discretion = discretion or cover
    return (
        Zoned("refused", WHY_PUBLISHED, node) if discretion is None else Zoned("discretion", WHY_DISCRETION, discretion)
    )


def _covers(lattice: Lattice, node: Node, can_join: Callable[[Node], bool]) -> Iterator[Node]:
    """Give the node and finer ones that are decomposable with what is published, those with fewest classes first."""
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


def _zone(prediction: Prediction, k: int, has_discretion: bool) -> Zone:
    if prediction.low >= k:
        return "allowed"
    return "discretion" if has_discretion and prediction.k >= k else "refused"
