"""Trying levels on an offer alone: nothing is counted, and nobody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.exchange.offer import Offer
from tokumei.exchange.zones import Why, Zone, Zoned, sentence
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.predictor import Prediction
from tokumei.predictors.quadrants import Rule, is_served


@dataclass(frozen=True)
class Tried:
    """What an offer says of one node: its class count, its predicted k, and whether it can be asked for.

    The zone is that of the `joint` node, which all releases together tell down to; where nothing but the first
    release is known to be out, that is all that counts. `judged` is what is predicted of the node that must hold: the
    joint one, or a finer one that is decomposable with what is published. `why` is the `reason` in words, with the
    number that decided.
    """

    node: Node
    levels: Mapping[str, int]
    class_count: int
    prediction: Prediction
    joint: Node
    judged: Prediction
    zone: Zone
    why: str
    reason: Why
    rule: Rule = "low"

    def as_dict(self) -> dict[str, Any]:
        """Return the try for JSON."""
        return {
            "levels": dict(self.levels),
            "class_count": self.class_count,
            "k": self.prediction.k,
            "low": self.prediction.low,
            "high": self.prediction.high,
            "judged_k": self.judged.k,
            "judged_low": self.judged.low,
            "zone": self.zone,
            "why": self.why,
        }


@dataclass(frozen=True)
class Connection:
    """How far a user's own column connects to an attribute at a level: by how many of its values.

    `own_level` is the level of the user's own hierarchy whose labels are looked up; 0 are the values themselves.
    """

    attribute: str
    column: str
    level: int
    own_level: int
    n_values: int
    n_connected: int

    @property
    def coverage(self) -> float:
        """Share of the user's values that have a partner: 1 where the level connects."""
        return self.n_connected / self.n_values if self.n_values else 0.0

    @property
    def connects(self) -> bool:
        """Whether every value of the user has its label at this level."""
        return self.n_values > 0 and self.n_connected == self.n_values


def try_node(offer: Offer, node: Node, *, criterion: str | None = None, given: Iterable[Node] = ()) -> Tried:
    """Return what an offer says of a node, beside the nodes known to be out after the first release."""
    if node not in offer.lattice:
        raise InputError.of("a node of the offer", value=node)
    joint = offer.joint(node, *given)
    k = offer.criterion(criterion).k
    # What follows from what is out already adds nothing.
    zoned = offer.zone(joint, k)
    if joint == offer.joint(*given):
        zoned = Zoned("allowed", "", joint)
    levels, own, judged = offer.lattice.levels(node), offer.predict(node), offer.predict(zoned.cover)
    reason = zoned.why
    if reason == "small" and joint != node and is_served(own, k, by=offer.rule):
        reason = "small together"
    why = sentence(reason, judged, k, offer.rule)
    return Tried(node, levels, offer.lattice.class_count(node), own, joint, judged, zoned.zone, why, reason, offer.rule)


def try_all(
    offer: Offer, *, criterion: str | None = None, given: Sequence[Node] = (), limit: int | None = None
) -> list[Tried]:
    """Try nodes, those with fewest classes first."""
    nodes = sorted(offer.lattice, key=lambda node: (offer.lattice.class_count(node), node))[:limit]
    return [try_node(offer, node, criterion=criterion, given=given) for node in nodes]


def connections(
    offer: Offer, attribute: str, values: pl.Series, *, own_levels: Sequence[Sequence[str]] | None = None
) -> list[Connection]:
    """Return the levels of an attribute at which a user's own column connects to it.

    A value connects where its text is a label of the level, or a leaf below one. With a hierarchy of their own,
    given by the labels of their distinct values at each level, users see the finest level of theirs that connects.
    """
    index = offer.lattice.attributes.index(attribute) if attribute in offer.lattice.attributes else None
    if index is None:
        raise InputError.of(Text("an attribute: {names}", names=", ".join(offer.lattice.attributes)), value=attribute)
    hierarchy = offer.hierarchies[index]
    plain = values.drop_nulls().unique().cast(pl.String).sort().to_list()
    ways = [plain, *(list(labels) for labels in own_levels or [])]
    found = []
    for level, labels in enumerate(hierarchy.levels):
        # A finer value has one label at every coarser level.
        known = set(labels.labels) | {
            label for finer in range(level) if hierarchy.finer[finer, level] for label in hierarchy.levels[finer].labels
        }
        counted = [sum(each in known for each in way) for way in ways]
        best = max(range(len(ways)), key=lambda way: (counted[way], -way))
        found.append(Connection(attribute, values.name, level, best, len(ways[best]), counted[best]))
    return found
