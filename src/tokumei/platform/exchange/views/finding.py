"""Finding what an address names, for somebody who may see it, and what pages of an offer have in common."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import ngettext

from tokumei.core.errors import NotFound
from tokumei.data.files.keys import fingerprint
from tokumei.exchange.offer import Offer
from tokumei.hierarchies.lattice import Node
from tokumei.platform.access import UserRequest
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.models import PublishedOffer
from tokumei.platform.exchange.services.answering import find_pending
from tokumei.platform.exchange.services.offers import (
    document_of,
    find_logged_offer,
    find_offer,
    find_own_offer,
    offers_of,
)
from tokumei.platform.exchange.services.requesting import find_request
from tokumei.platform.exchange.services.trying import first_levels, given

LABELS_SHOWN = 6


def viewer(request: HttpRequest) -> User | None:
    """Return the logged-in user, if any."""
    return request.user if isinstance(request.user, User) else None


def find(request: HttpRequest, level: str, published: str, **_: Any) -> dict[str, Any]:
    """Find an offer that everybody may see; for members, one of their teams whatever its state."""
    try:
        if level == "member" and isinstance(request.user, User):
            return {"published": find_own_offer(request.user, published)}
        return {"published": find_offer(published)}
    except NotFound:
        raise Http404 from None


def find_logged(request: HttpRequest, level: str, published: str, **_: Any) -> dict[str, Any]:
    """Find an offer whose log everybody may see: also one that was removed."""
    try:
        return {"published": find_logged_offer(published)}
    except NotFound:
        raise Http404 from None


def find_desk_request(request: UserRequest, level: str, published: str, key: str, **_: Any) -> dict[str, Any]:
    """Find a request at an offer of one's own team."""
    try:
        own = find_own_offer(request.user, published)
        return {"published": own, "key": find_pending(own, key)}
    except NotFound:
        raise Http404 from None


def find_own_request(request: UserRequest, level: str, key: str, **_: Any) -> dict[str, Any]:
    """Find a request of one's own."""
    try:
        return {"key": find_request(request.user, key)}
    except NotFound:
        raise Http404 from None


def frame(request: HttpRequest, published: PublishedOffer) -> dict[str, Any]:
    """Return the context of the head of every offer page."""
    user = viewer(request)
    return {
        "published": published,
        "is_provider": user is not None and offers_of(user).filter(pk=published.pk).exists(),
        "signed_by": fingerprint(published.public_key) if published.public_key else "",
    }


def levels_of(chosen: QueryDict, published: PublishedOffer, criterion: str | None) -> Node:
    """Read the levels that were chosen, l0 for the first column and so on; what cannot be read is as suggested."""
    offer, _signed = document_of(published)
    node = []
    for place, hierarchy in enumerate(offer.hierarchies):
        text = chosen.get(f"l{place}", "")
        if not text.isdecimal() or len(text) > 3 or int(text) > hierarchy.height:
            return first_levels(offer, criterion, given(published, offer))
        node.append(int(text))
    return tuple(node)


def sliders(offer: Offer, node: Node) -> list[dict[str, Any]]:
    """Return a slider for each column: its levels in words, the finest at the left."""
    shown = []
    for place, (hierarchy, level) in enumerate(zip(offer.hierarchies, node, strict=True)):
        levels = [
            {
                "number": number,
                "n_labels": len(each.labels),
                "says": ngettext("%(n)s group", "%(n)s groups", len(each.labels)) % {"n": len(each.labels)},
                "labels": list(each.labels[:LABELS_SHOWN]),
                "n_more": max(0, len(each.labels) - LABELS_SHOWN),
            }
            for number, each in enumerate(hierarchy.levels)
        ]
        shown.append(
            {
                "name": f"l{place}",
                "attribute": hierarchy.attribute,
                "level": level,
                "levels": levels,
                "at": levels[level],
            }
        )
    return shown
