"""Listing users in an offer by their keys: by which criterion each is served, and who may ask at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from tokumei.exchange.offer import Offer, Recipient, check_offer


def admitted(
    offer: Offer, offer_digest: str, recipients: Iterable[Recipient], *, without: Collection[str] = ()
) -> Offer:
    """Return the next revision of an offer, with added recipients and without those of some keys.

    One whose key is listed already is listed anew.
    """
    new = tuple(recipients)
    gone = {*without, *(one.key for one in new)}
    listed = (*(one for one in offer.recipients if one.key not in gone), *new)
    after = replace(offer, recipients=listed, revision=offer.revision + 1, previous=offer_digest)
    check_offer(after)
    return after
