"""Whether a joint node can be given, told by what is published alone.

A joint node that is not decomposable with the published tables can still be given where a finer node is and holds k as
well: whoever knew the finer one could show no small class, and so can nobody who knows less. That finer
node, the first found with fewest classes, is the joint node's *cover*. It is what must hold, predicted and counted.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from tokumei.core.text import Text
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.predictor import Prediction
from tokumei.predictors.quadrants import Rule, is_served

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
