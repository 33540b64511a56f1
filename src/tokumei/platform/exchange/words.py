"""Words of the exchange in the reader's language, for what the library says in English."""

from __future__ import annotations

import math
from collections.abc import Mapping

from django.utils.translation import gettext as _

from tokumei.exchange.criteria import Criterion
from tokumei.exchange.offer import Offer
from tokumei.exchange.zones import Zone
from tokumei.platform.exchange.services.trying import OfferTrial

OWN_SOURCE = "the provider's own"
LABELS_SHOWN = 4
TAG_OF_ZONE = {"allowed": "good", "discretion": "warn", "refused": "bad"}


def zone_name(zone: Zone) -> str:
    """Name a zone."""
    if zone == "allowed":
        return _("Allowed")
    return _("At the provider's discretion") if zone == "discretion" else _("Not given")


def why(attempt: OfferTrial) -> str:
    """Explain why levels are in their zone."""
    if attempt.tried.zone != attempt.zone:
        return _("Alone it would be fine, but together with the releases that are out it would tell more.")
    tried = attempt.tried
    numbers = {"k": f"{math.floor(tried.judged.k):,}", "low": f"{math.floor(tried.judged.low):,}"}
    numbers["needed"] = f"{attempt.criterion.k:,}"
    by_k = tried.rule == "k"
    decided = (
        _("predicted %(k)s, which is below %(needed)s")
        if by_k
        else _("predicted %(k)s, its low end %(low)s is below %(needed)s")
    ) % numbers
    if tried.reason == "small":
        return _("The predicted k is too small: %(decided)s.") % {"decided": decided}
    if tried.reason == "small together":
        return _("Together with what is out it tells more classes: %(decided)s.") % {"decided": decided}
    if tried.reason == "discretion":
        return _("k may be large enough: %(decided)s, and the provider decides.") % {"decided": decided}
    if tried.reason == "published":
        return _("Together with what the offer publishes it could show small classes.")
    return _("You can ask for this; the provider counts before it answers.")


def criterion_source(criterion: Criterion) -> str:
    """Describe where a criterion comes from."""
    own, mark, risk = criterion.source.partition(", risk ")
    if own != OWN_SOURCE:
        return criterion.source
    return _("the provider's own, risk at most %(risk)s") % {"risk": risk} if mark else _("the provider's own")


def levels_in_words(offer: Offer, levels: Mapping[str, int]) -> list[tuple[str, str]]:
    """Describe what is asked of each column: its groups by their labels, or that it is withheld."""
    told = []
    for hierarchy, level in zip(offer.hierarchies, offer.lattice.node(levels), strict=True):
        labels = hierarchy.levels[level].labels
        shown = " · ".join(str(label) for label in labels[:LABELS_SHOWN])
        if hierarchy.says_nothing(level):
            shown = _("not told")
        elif len(labels) > LABELS_SHOWN:
            shown = _("%(labels)s … (%(n)d groups)") % {"labels": shown, "n": len(labels)}
        told.append((hierarchy.attribute, shown))
    return told


def criterion_name(criterion: Criterion) -> str:
    """Name a criterion: the presets in words."""
    if criterion.name == "cheo-trusted-recipient":
        return _("Trusted recipient (CHEO)")
    if criterion.name == "cheo-public-release":
        return _("Public release (CHEO)")
    if criterion.name == "cheo-breach":
        return _("Recipient who may lose the data (CHEO)")
    return criterion.name
