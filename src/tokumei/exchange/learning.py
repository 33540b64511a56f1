"""What a provider learns from its own answers: table C, the quadrants, and a steeper formula after γ.

Each answer counted some joint nodes. They are the thesis's table C: class count and true k of what was counted anyway.
From it the provider sees how the formula did, and may make it steeper (f′) until none of the counted nodes that fail
is promised any more. Fewer leaks (S₂) are paid for with lost chances (N). Lots are made anew with the formula, and a
vetted offer is vetted anew: how often refusals mean a failure depends on both.

All this is the provider's own. What is published is the new slope, one of a few numbers; and a power law drawn anew,
but only through nodes that follow from what is out already, so that it tells nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokumei.core.chain import Link
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.exchange.answer import Given
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.offer import Offer
from tokumei.exchange.offering import MOST_VETTED, drawn_slope, vetted, vetted_slope, with_new_lots
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.methods.power_law import PowerLaw
from tokumei.predictors.quadrants import Quadrants, area_with_prediction, area_without_prediction, most_that_hold


@dataclass(frozen=True)
class CountedNode:
    """One line of table C: a node that was counted, its class count, its true k, and what the formula says of it."""

    node: Node
    class_count: int
    k: int
    predicted: float
    low: float


@dataclass(frozen=True)
class Lesson:
    """How the formula does on the counted nodes at one k.

    `s1` and `s2` are the areas in which users could learn of small classes, without and with prediction, added up
    over the counted nodes; `n_lost` are the lost chances N, nodes that hold and are not promised.
    """

    slope: float
    quadrants: Quadrants
    s1: float
    s2: float
    n_lost: int

    def as_dict(self) -> dict[str, Any]:
        """Return the lesson for JSON."""
        return {"slope": self.slope, **self.quadrants.as_dict(), "s1": self.s1, "s2": self.s2, "n_lost": self.n_lost}


def table_c(offer: Offer, links: Sequence[Link]) -> list[CountedNode]:
    """Return all nodes that answers have counted, those with fewest classes first."""
    ks: dict[Node, int] = {}
    for link in links:
        for joint in link.payload.get("joints", []):
            ks[tuple(joint["node"])] = int(joint["counted"])
    return counted_nodes(offer, ks)


def counted_nodes(offer: Offer, ks: Mapping[Node, int]) -> list[CountedNode]:
    """Return table C of some nodes and their true k."""
    lines = []
    for node, k in ks.items():
        prediction = offer.predict(node)
        lines.append(CountedNode(node, offer.lattice.class_count(node), k, prediction.k, prediction.low))
    return sorted(lines, key=lambda line: (line.class_count, line.node))


def lesson(offer: Offer, counted: Sequence[CountedNode], k: int) -> Lesson:
    """Hold the offer's rule against the counted nodes at one k; lots are left aside."""
    promised = {line.node: offer.zone(line.node, k).zone == "allowed" for line in counted}
    quadrants = Quadrants.of((promised[line.node], line.k >= k) for line in counted)
    x_n = most_that_hold(k, _smallest_by_class_count([(line.class_count, line.k) for line in counted]))
    # x_p is where the formula stops promising: the most classes of any node that it allows.
    x_p = max((line.class_count for line in counted if promised[line.node]), default=0)
    s1 = sum(area_without_prediction(k, line.k, line.class_count, x_n) for line in counted)
    s2 = sum(area_with_prediction(k, line.k, line.class_count, x_n, x_p) for line in counted)
    return Lesson(offer.slope, quadrants, s1, s2, quadrants.beta)


def answers_until_tightening(offer: Offer, links: Sequence[Link]) -> int:
    """Return how many answers must still be given before the formula may be made steeper.

    The times are fixed beforehand: a steeper formula right after a refusal would tell why it was refused.
    """
    since = 0
    for link in links:
        since = 0 if link.payload.get("slope") else since + (link.payload["what"] == "answer")
    return max(0, offer.tighten_every - since)


def steepened(offer: Offer, counted: Sequence[CountedNode], offer_digest: str, secret: bytes) -> Offer:
    """Make the next revision of an offer, steep enough that no counted node that fails is promised, or steeper.

    Steps beyond what is needed are drawn in secret, so that a steeper formula proves no failure. A vetted offer, which
    everybody knows to promise nothing that fails, stays as it is.
    """
    after = replace(offer, revision=offer.revision + 1, previous=offer_digest)
    if offer.is_vetted:
        return after
    needed = vetted_slope(offer, {line.node: line.k for line in counted})
    return replace(after, slope=drawn_slope(needed, secret, after.revision))


def tightened(
    offer: Offer, counted: Sequence[CountedNode], offer_digest: str, secret: bytes, table: CountedTable
) -> Offer:
    """Make the next revision of an offer with a steeper formula (see `steepened`), and with lots that fit it."""
    return with_new_lots(steepened(offer, counted, offer_digest, secret), table, secret)


def refitted(offer: Offer, table: CountedTable, given: Sequence[Given], offer_digest: str, secret: bytes) -> Offer:
    """Make the next revision of an offer by a power law, drawn through all nodes that follow from what is out.

    Nobody learns from it what the releases together do not tell: a formula is for everybody, so those are left out that
    only a narrower circle got. The slope starts anew, the law is vetted if its nodes are few enough, and lots are made
    anew: a law through releases that hold promises too much, and beside the lots of a vetted formula most refusals
    would be true.
    """
    if offer.knowledge["method"] != "power-law":
        raise InputError.of("an offer by a power law; margins are not fitted twice", column="predictor")
    out = offer.joint(*(each.node for each in given if each.k >= offer.k_p))
    follow = [node for node in offer.lattice if offer.lattice.is_coarser_or_equal(node, out)]
    class_counts = [offer.lattice.class_count(node) for node in follow]
    if len(set(class_counts)) < 2:
        raise CannotAnonymize(
            "A law is drawn anew through the releases that everybody may have, and so far they tell the number of rows "
            "alone: answer requests first."
        )
    law = PowerLaw(caution=offer.fitted.knowledge["caution"]).fit_points(
        offer.lattice, class_counts, [table.k_of_classes(node) for node in follow]
    )
    after = replace(
        offer,
        knowledge=law.knowledge | {"epsilon": offer.knowledge["epsilon"]},
        slope=0.0,
        revision=offer.revision + 1,
        previous=offer_digest,
    )
    has_few_nodes = offer.lattice.n_nodes <= MOST_VETTED
    after = vetted(after, table, secret) if has_few_nodes else replace(after, is_vetted=False)
    return with_new_lots(after, table, secret)


def _smallest_by_class_count(points: Sequence[tuple[int, int]]) -> dict[int, float]:
    smallest: dict[int, float] = {}
    for class_count, k in points:
        smallest[class_count] = min(smallest.get(class_count, k), k)
    return smallest
