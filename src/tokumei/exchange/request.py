"""Requests and approvals: who asks for which levels, and who agrees."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Text
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.documents import Fields, Signed, read_signed, sign
from tokumei.exchange.offer import Offer, read_alike
from tokumei.exchange.trying import try_node

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

    def body(self) -> dict[str, Any]:
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
    fields = Fields(signed.body, file)
    request = Request(
        offer=fields.text("offer", most=64),
        levels=fields.wholes("levels"),
        criterion=fields.text("criterion", most=100),
        user=fields.text("user", most=200),
        purpose=fields.text("purpose"),
        nonce=fields.text("nonce", most=NONCE_LENGTH),
    )
    fields.done()
    if len(request.nonce) != NONCE_LENGTH:
        raise fields.fault(f"{NONCE_LENGTH} hexadecimal digits", "nonce")
    return request


def read_approval(path: Path | str) -> tuple[Approval, Signed]:
    """Read an approval and check its signature."""
    signed = read_signed(path, APPROVAL, VERSION)
    return approval_of(signed, file=str(path)), signed


def approval_of(signed: Signed, *, file: str | None = None) -> Approval:
    """Read the approval in a signed document."""
    fields = Fields(signed.body, file)
    approval = Approval(fields.text("request", most=64), fields.is_true("is_approved"))
    fields.done()
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
