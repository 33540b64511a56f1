"""Trying levels on an offer, and asking for them.

Levels are tried on the offer alone: nothing is counted, and nobody is asked. A request says who asks for which levels,
an approval who agrees.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Json, Text
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.documents import Document, Signed, read_signed, sign
from tokumei.exchange.joint import Why, Zone, Zoned, sentence
from tokumei.exchange.offer import Offer, read_alike
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.predictor import Prediction, Rule, is_served


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

    def as_dict(self) -> Json:
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
    """How far a user's own column connects to an attribute at a level: by how many of its values."""

    attribute: str
    column: str
    level: int
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


def connections(offer: Offer, attribute: str, values: pl.Series) -> list[Connection]:
    """Return the levels of an attribute at which a user's own column connects to it.

    A value connects where its text is a label of the level, or a leaf below one.
    """
    index = offer.lattice.attributes.index(attribute) if attribute in offer.lattice.attributes else None
    if index is None:
        raise InputError.of(Text("an attribute: {names}", names=", ".join(offer.lattice.attributes)), value=attribute)
    hierarchy = offer.hierarchies[index]
    plain = values.drop_nulls().unique().cast(pl.String).sort().to_list()
    found = []
    for level, labels in enumerate(hierarchy.levels):
        # A finer value has one label at every coarser level.
        known = set(labels.labels) | {
            label for finer in range(level) if hierarchy.finer[finer, level] for label in hierarchy.levels[finer].labels
        }
        n_connected = sum(each in known for each in plain)
        found.append(Connection(attribute, values.name, level, len(plain), n_connected))
    return found


REQUEST, APPROVAL, VERSION = "request", "approval", 2
NONCE_LENGTH = 32


@dataclass(frozen=True)
class Request:
    """What a user asks of an offer: levels, by which criterion, and for what.

    The nonce keeps what the public log tells of it from being guessed.
    """

    offer: str
    levels: Mapping[str, int]
    criterion: str
    user: str
    purpose: str
    nonce: str = field(default_factory=lambda: secrets.token_hex(NONCE_LENGTH // 2))

    def body(self) -> Json:
        """Return the request for JSON."""
        return {
            "offer": self.offer,
            "levels": dict(self.levels),
            "criterion": self.criterion,
            "user": self.user,
            "purpose": self.purpose,
            "nonce": self.nonce,
        }

    def signed(self, key: PrivateKey) -> Signed:
        """Sign the request."""
        return sign(REQUEST, VERSION, self.body(), key)


@dataclass(frozen=True)
class Approval:
    """What a second person says of a request."""

    request: str
    is_approved: bool

    def signed(self, key: PrivateKey) -> Signed:
        """Sign the approval."""
        return sign(APPROVAL, VERSION, {"request": self.request, "is_approved": self.is_approved}, key)


def make_request(
    offer: Offer,
    offer_digest: str,
    levels: Mapping[str, int],
    *,
    signer: str,
    user: str,
    purpose: str,
    criterion: str | None = None,
) -> Request:
    """Make a request, where the offer says that it can be had; NotAllowed tells why it cannot."""
    named = offer.criterion(criterion).name
    tried = try_node(offer, offer.lattice.node(levels), criterion=named)
    if tried.zone == "refused":
        raise NotAllowed(Text("The offer does not allow these levels: {why}.", why=tried.why))
    made = Request(offer_digest, offer.lattice.levels(tried.node), named, user, purpose)
    check_signer(made, signer, offer)
    return made


def read_request(path: Path | str) -> tuple[Request, Signed]:
    """Read a request and check its signature."""
    signed = read_signed(path, REQUEST, VERSION)
    return request_of(signed, file=str(path)), signed


def request_of(signed: Signed, *, file: str | None = None) -> Request:
    """Read the request in a signed document."""
    fields = Document(signed.body, file)
    request = Request(
        offer=fields.text("offer", most=64),
        levels=fields.wholes("levels"),
        criterion=fields.text("criterion", most=100),
        user=fields.text("user", most=200),
        purpose=fields.text("purpose"),
        nonce=fields.text("nonce", most=NONCE_LENGTH),
    )
    fields.finish()
    if len(request.nonce) != NONCE_LENGTH:
        raise fields.fault(f"{NONCE_LENGTH} hexadecimal digits", "nonce")
    return request


def read_approval(path: Path | str) -> tuple[Approval, Signed]:
    """Read an approval and check its signature."""
    signed = read_signed(path, APPROVAL, VERSION)
    return approval_of(signed, file=str(path)), signed


def approval_of(signed: Signed, *, file: str | None = None) -> Approval:
    """Read the approval in a signed document."""
    fields = Document(signed.body, file)
    approval = Approval(fields.text("request", most=64), fields.flag("is_approved"))
    fields.finish()
    return approval


def check_fits(request: Request, signer: str, offer: Offer, digests: Collection[str]) -> None:
    """Refuse a request that is not for this offer as it stands, or not its signer's to make.

    digests: those of the offer's revisions with the formula as it stands.
    """
    if request.offer not in digests:
        expected = f"the digest of this offer as it stands, revision {offer.revision}"
        raise InputError.of(expected, column="offer", value=request.offer)
    if set(request.levels) != set(offer.lattice.attributes):
        expected = Text("a level for each of {names}", names=", ".join(offer.lattice.attributes))
        raise InputError.of(expected, column="levels", value=", ".join(request.levels))
    offer.lattice.node(request.levels)
    offer.criterion(request.criterion)
    check_signer(request, signer, offer)


def check_signer(request: Request, signer: str, offer: Offer) -> None:
    """Refuse a request in somebody else's name, or by a criterion that its signer is not served by."""
    known = offer.recipient(signer)
    if not request.user.strip() or not request.user.isprintable():
        raise InputError.of("a name that can be read", column="user", value=request.user)
    alike = [one.name for one in offer.recipients if read_alike(one.name) == read_alike(request.user)]
    if known is None and alike:
        raise NotAllowed(Text("The offer lists {name} with another key.", name=alike[0]))
    if known is not None and request.user != known.name:
        raise NotAllowed(Text("The offer lists this key as that of {name}.", name=known.name))
    if request.criterion not in {one.name for one in offer.criteria_for(signer)}:
        raise NotAllowed(
            Text("The provider does not serve this key by the criterion '{name}'.", name=request.criterion)
        )
    if offer.approvals_needed and known is None:
        raise NotAllowed("Where others must agree, only recipients whom the offer lists can ask.")
