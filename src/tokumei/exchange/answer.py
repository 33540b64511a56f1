"""Answering a request: judge it by what is published, count, and serve or refuse without saying more.

The order matters. First the rule, which everybody could follow from the offer and what is out: the joint node with
all that was given before must be predicted to hold and fit beside what the offer publishes. Then a lot, drawn once
for each joint node by a secret of the provider: a published share of nodes is refused although the rule would serve
them. Then the true count. Whoever is refused cannot tell which of the three it was; and since a node finer than one
that was refused is refused as well, asking further does not tell either.

What a refusal is worth to somebody who knows how good the formula is: of the nodes that are allowed a share γ fails,
and a share of the others, the lot, is refused too, so that a refused node fails with chance γ / (γ + (1 − γ)·lot). The
lots are made from the measured γ, so that this is a half at most; where the rule allows a node by little, more fail,
and as many are refused by lot as at discretion. A vetted offer has no γ: there all refusals of what is allowed are
lots. Even one who were sure of a failure would know that some class is too small, not which.

What a provider learns from its own answers comes after them: table C, the quadrants, and a steeper formula after γ.

Each answer counted some joint nodes. They are the thesis's table C: class count and true k of what was counted anyway.
From it the provider sees how the formula did, and may make it steeper (f′) until none of the counted nodes that fail
is promised any more. Fewer leaks (S₂) are paid for with lost chances (N). Lots are made anew with the formula, and a
vetted offer is vetted anew: how often refusals mean a failure depends on both.

All this is the provider's own. What is published is the new slope, one of a few numbers; and a power law drawn anew,
but only through nodes that follow from what is out already, so that it tells nothing new.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from tokumei.core.chain import Link, canonical, digest_of
from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.text import Json, Text, counted
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.joint import Zone, joint_node
from tokumei.exchange.offer import Offer
from tokumei.exchange.offering import (
    MOST_VETTED,
    drawn_slope,
    read_release,
    release_text,
    vetted,
    vetted_slope,
    with_new_lots,
)
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.power_law import PowerLaw
from tokumei.predictors.predictor import Quadrants, area_with_prediction, area_without_prediction, most_that_hold

Outcome = Literal["served", "refused", "waiting"]
Quadrant = Literal["alpha", "beta", "gamma", "delta"]
Reason = Literal["", "rule", "before", "lot", "count", "person"]

REFUSED = "The provider does not give these levels."
WAITING = "The request waits for somebody's approval."


@dataclass(frozen=True)
class Given:
    """A release that is out: its node, and the k of the criterion it was given by."""

    node: Node
    k: int
    user: str = ""


@dataclass(frozen=True)
class Joint:
    """A joint node that must hold k for a request to be served."""

    node: Node
    k: int


@dataclass(frozen=True)
class Desk:
    """What a provider remembers between answers: what is out, and the joint nodes refused for good."""

    given: tuple[Given, ...] = ()
    refused: tuple[Joint, ...] = ()


@dataclass(frozen=True)
class Ruling:
    """What is said of a request before anything is counted."""

    is_served: bool
    reason: Reason
    zone: Zone
    joints: tuple[Joint, ...]


@dataclass(frozen=True)
class Answered:
    """What became of a request. All but the outcome and the release is for the provider's own log."""

    outcome: Outcome
    quadrant: Quadrant | None
    reason: Reason
    joints: tuple[Joint, ...]
    ks: Mapping[Node, int]
    release: str | None
    desk: Desk

    @property
    def release_digest(self) -> str:
        """The digest of the release; empty if there is none."""
        return "" if self.release is None else digest_of(self.release.encode())


def joints_of(offer: Offer, node: Node, k: int, given: Sequence[Given]) -> tuple[Joint, ...]:
    """Return the joint nodes that a release at k would make finer, one for each criterion whose recipients get it.

    A release by a criterion with a large k is for a wide circle, and those in smaller circles know it too: so the
    joint node of each criterion up to k changes, and its cover (see `zones`) must hold that criterion's k.
    """
    joints = []
    for bound in sorted({one.k for one in offer.criteria if one.k <= k}):
        out = [offer.first_node, *(each.node for each in given if each.k >= bound)]
        before, after = joint_node(offer.lattice, out), joint_node(offer.lattice, [*out, node])
        if after != before:
            joints.append(Joint(offer.zone(after, bound).cover, bound))
    return tuple(joints)


def judge(offer: Offer, node: Node, k: int, desk: Desk, secret: bytes) -> Ruling:
    """Judge a request by what is published, what is out, and by lot."""
    joints = joints_of(offer, node, k, desk.given)
    zones = [offer.zone(each.node, each.k).zone for each in joints]
    zone: Zone = "refused" if "refused" in zones else "discretion" if "discretion" in zones else "allowed"
    if zone == "refused":
        return Ruling(False, "rule", zone, joints)
    if any(_is_refused(offer, each, desk.refused) for each in joints):
        return Ruling(False, "before", zone, joints)
    if any(lot(secret, each) < offer.lot_share(each.node, each.k) for each in joints):
        return Ruling(False, "lot", zone, joints)
    return Ruling(True, "", zone, joints)


def answer(
    offer: Offer,
    node: Node,
    k: int,
    *,
    desk: Desk,
    table: CountedTable,
    secret: bytes,
    user: str = "",
    n_approved: int = 0,
    is_denied: bool = False,
) -> Answered:
    """Answer a request for a node by a criterion of k, in at most one counting pass.

    A request that a person must agree to waits, and nothing is counted for it.
    """
    judged = judge(offer, node, k, desk, secret)
    # Also where the lot has decided already: that a request waits must not tell that it did not.
    if judged.zone != "refused" and not is_denied and n_approved < approvals_for(offer, judged.zone):
        return Answered("waiting", None, "", judged.joints, {}, None, desk)
    # Always counted, so that a refusal takes as long as another; in one pass, since all follow from the finest.
    table.classes(joint_node(offer.lattice, [node, *(each.node for each in judged.joints)]))
    ks = {each.node: table.k(each.node) for each in judged.joints}
    holds = all(ks[each.node] >= each.k for each in judged.joints)
    would_serve = judged.is_served and not is_denied
    quadrant: Quadrant = ("alpha" if holds else "gamma") if would_serve else ("beta" if holds else "delta")
    if quadrant == "alpha":
        release = make_release(offer, table, node, k)
        held = Desk(tuple(dict.fromkeys([*desk.given, Given(node, k, user)])), desk.refused)
        return Answered("served", quadrant, "", judged.joints, ks, release, held)
    reason: Reason = "count" if quadrant == "gamma" else "person" if judged.is_served else judged.reason
    for_good = desk if reason in ("rule", "before") else Desk(desk.given, (*desk.refused, *judged.joints))
    return Answered("refused", quadrant, reason, judged.joints, ks, None, for_good)


def approvals_for(offer: Offer, zone: Zone) -> int:
    """Return how many people must agree: in the zone of discretion at least one, where the offer names any."""
    return max(offer.approvals_needed, int(zone == "discretion" and bool(offer.approvers)))


def make_release(offer: Offer, table: CountedTable, node: Node, k: int) -> str:
    """Write a release, and count what was written."""
    text = release_text(table.classes(node), offer.lattice)
    sizes = read_release(text, offer.lattice.attributes)[SIZE].to_list()
    if min(sizes, default=0) < k:
        raise PromiseBroken(
            Text("A release for k = {k} has a class of {rows}.", k=k, rows=counted(min(sizes, default=0), "row"))
        )
    return text


def lot(secret: bytes, joint: Joint) -> float:
    """Draw the lot of a joint node: a number from 0 to 1, always the same under one secret."""
    name = canonical({"node": list(joint.node), "k": joint.k}).encode()
    return int.from_bytes(hmac.new(secret, name, sha256).digest()[:8], "big") / 2**64


def _is_refused(offer: Offer, joint: Joint, refused: Sequence[Joint]) -> bool:
    """Whether a joint node, or one that follows from it, was refused for a k no larger."""
    return any(each.k <= joint.k and offer.lattice.is_coarser_or_equal(each.node, joint.node) for each in refused)


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

    def as_dict(self) -> Json:
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
