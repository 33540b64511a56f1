"""What an offer says of levels, in numbers and in the reader's language: nothing is counted, nobody is asked."""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import polars as pl
from django import template
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.text import Json
from tokumei.exchange.answer import Given, joints_of
from tokumei.exchange.documents import Criterion
from tokumei.exchange.joint import Zone
from tokumei.exchange.offer import Offer
from tokumei.exchange.request import Connection, Tried, connections, try_node
from tokumei.hierarchies.lattice import Node
from tokumei.platform.exchange.models import PublishedOffer, RequestState
from tokumei.platform.exchange.services.offers import document_of

# Enough to see the shape of the formula; a lattice may have millions of nodes.
MOST_POINTS = 240
MOST_VALUES = 100_000
# Somebody else's offer may be made to be slow: a figure with fewer dots must do then.
MOST_SECONDS = 2.0


@dataclass(frozen=True)
class OfferTrial:
    """Levels that were tried: what the offer alone says, and what it says beside the releases that are out."""

    tried: Tried
    criterion: Criterion
    beside: Zone

    @property
    def zone(self) -> Zone:
        """The zone that counts."""
        order: Sequence[Zone] = ("allowed", "discretion", "refused")
        return max(self.tried.zone, self.beside, key=order.index)


@dataclass(frozen=True)
class Point:
    """A node in the figure."""

    node: Node
    class_count: int
    k: float
    zone: Zone


def try_levels(published: PublishedOffer, levels: Sequence[int], criterion: str | None = None) -> OfferTrial:
    """Try levels, one for each column in the order of the offer."""
    offer, _signed = document_of(published)
    node = tuple(levels)
    tried = try_node(offer, node, criterion=criterion)
    wanted = offer.criterion(criterion)
    return OfferTrial(tried, wanted, zone_beside(offer, node, wanted.k, given(published, offer)))


def given(published: PublishedOffer, offer: Offer) -> tuple[Given, ...]:
    """Return the releases that are out, as the public disclosure lists them."""
    served = published.requests.filter(state=RequestState.SERVED).values_list("levels", "criterion").distinct()
    return tuple(
        Given(offer.lattice.node(levels), offer.criterion(criterion).k) for levels, criterion in served.order_by("pk")
    )


def zone_beside(offer: Offer, node: Node, k: int, out: tuple[Given, ...]) -> Zone:
    """Return the zone of a node beside what is out, by the provider's rule before it counts."""
    zones = [offer.zone(each.node, each.k).zone for each in joints_of(offer, node, k, out)]
    return "refused" if "refused" in zones else "discretion" if "discretion" in zones else "allowed"


def first_levels(offer: Offer, criterion: str | None = None, out: tuple[Given, ...] = ()) -> Node:
    """Return levels to begin with: the finest allowed on a short way down from the top."""
    node, k = offer.lattice.top, offer.criterion(criterion).k
    ends_at = time.monotonic() + MOST_SECONDS
    while time.monotonic() < ends_at:
        finer = sorted(offer.lattice.finer_neighbors(node), key=offer.lattice.class_count)
        allowed = next((each for each in finer if zone_beside(offer, each, k, out) == "allowed"), None)
        if allowed is None:
            return node
        node = allowed
    return node


@lru_cache(maxsize=128)
def points(offer: Offer, criterion: str) -> tuple[Point, ...]:
    """Return the nodes of an offer for its figure, all or a sample."""
    found: list[Point] = []
    ends_at = time.monotonic() + MOST_SECONDS
    for node in _some_nodes(offer):
        if found and time.monotonic() > ends_at:
            break
        tried = try_node(offer, node, criterion=criterion)
        found.append(Point(node, tried.class_count, tried.prediction.k, tried.zone))
    return tuple(sorted(found, key=lambda point: (point.class_count, point.node)))


def most_allowed(offer: Offer, criterion: str) -> int:
    """Return x_p: the most classes of any allowed node in the figure."""
    return max((point.class_count for point in points(offer, criterion) if point.zone == "allowed"), default=1)


def connect(offer: Offer, attribute: str, pasted: str, uploaded: bytes | None) -> list[Connection]:
    """Find the levels at which somebody's own column connects; the values are not kept."""
    values = [line.strip() for line in pasted.splitlines()] if uploaded is None else _column(uploaded, attribute)
    values = [value for value in values if value]
    if not values:
        raise InputError.of(_("at least one value"), column=attribute)
    if len(values) > MOST_VALUES:
        raise InputError.of(_("at most %s values") % f"{MOST_VALUES:,}", column=attribute)
    return connections(offer, attribute, pl.Series(attribute, values, dtype=pl.String))


def _some_nodes(offer: Offer) -> list[Node]:
    lattice = offer.lattice
    if lattice.n_nodes <= MOST_POINTS:
        return sorted(lattice, key=lattice.class_count)
    # Always the same ones, with both ends.
    draw = generator(0, "nodes of a figure")
    sizes = [len(hierarchy.levels) for hierarchy in lattice.hierarchies]
    drawn = (tuple(int(draw.integers(size)) for size in sizes) for _each in range(2 * MOST_POINTS))
    return list(dict.fromkeys([lattice.top, lattice.bottom, offer.first_node, *islice(drawn, MOST_POINTS)]))


def _column(content: bytes, attribute: str) -> list[str]:
    """Read one column of a CSV file: the one of this name, or the first where no header names it."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError.of(_("text in UTF-8"), file=attribute) from None
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows: list[list[str]] = []
    try:
        rows = [row for row in islice(csv.reader(io.StringIO(text), delimiter=delimiter), MOST_VALUES + 2) if row]
    except csv.Error:
        raise InputError.of(_("a CSV file"), file=attribute) from None
    if not rows:
        return []
    place = rows[0].index(attribute) if attribute in rows[0] else None
    if place is None:
        return [row[0].strip() for row in rows]
    return [row[place].strip() for row in rows[1:] if len(row) > place]


def as_dict(attempt: OfferTrial) -> Json:
    """Serialize an attempt for JSON."""
    return attempt.tried.as_dict() | {
        "criterion": attempt.criterion.name,
        "k_p": attempt.criterion.k,
        "zone": attempt.zone,
        "zone_alone": attempt.tried.zone,
    }


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


def source_in_words(criterion: Criterion) -> str:
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


register = template.Library()


@register.filter
def criterion_source(criterion: Criterion) -> str:
    """Describe where a criterion comes from."""
    return source_in_words(criterion)
