"""What a provider learns from answers at a hosted offer, and making its formula steeper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.exchange.criteria import Criterion
from tokumei.exchange.desk import DeskFolder, revise
from tokumei.exchange.learning import (
    CountedNode,
    Lesson,
    answers_until_tightening,
    lesson,
    steepened,
    table_c,
    tightened,
)
from tokumei.exchange.offer import Offer
from tokumei.platform.exchange.desk_work import desk_key, facts_of
from tokumei.platform.exchange.models import PublishedOffer
from tokumei.platform.exchange.services.desks import changing_desk
from tokumei.platform.exchange.services.offers import note_desk


@dataclass(frozen=True)
class Learned:
    """What a provider learns from its answers at one criterion: how the formula did, and how a steeper one would."""

    criterion: Criterion
    before: Lesson
    after: Lesson
    # x_p: the most classes of a counted node that each formula allows.
    before_x_p: int
    after_x_p: int


@dataclass(frozen=True)
class Learning:
    """Table C, what it teaches, and the revision that would come of it."""

    offer: Offer
    counted: Sequence[CountedNode]
    learned: Sequence[Learned]
    # How many answers are still to come before the formula may be made steeper; the times are fixed.
    n_until: int


def learn(published: PublishedOffer) -> Learning:
    """Show how the formula of a hosted offer did on what was counted."""
    desk = DeskFolder(published.folder)
    offer, signed = desk.offer()
    links = desk.private_log.read(signed.key)
    counted = table_c(offer, links)
    after = steepened(offer, counted, signed.digest, desk.source["secret"])
    learned = [
        Learned(
            one,
            before=lesson(offer, counted, one.k),
            after=lesson(after, counted, one.k),
            before_x_p=_most_allowed(offer, counted, one.k),
            after_x_p=_most_allowed(after, counted, one.k),
        )
        for one in reversed(offer.criteria)
    ]
    return Learning(offer, counted, learned, answers_until_tightening(offer, links))


def _most_allowed(offer: Offer, counted: Sequence[CountedNode], k: int) -> int:
    return max((each.class_count for each in counted if offer.zone(each.node, k).zone == "allowed"), default=0)


def tighten(published: PublishedOffer) -> None:
    """Publish the formula that is due: steep enough to promise nothing that was counted and fails, or steeper."""
    if not published.is_hosted:
        raise NotAllowed(_("The provider's own process does this."))
    with changing_desk(published) as desk:
        offer, signed = desk.offer()
        links = desk.private_log.read(signed.key)
        if n_until := answers_until_tightening(offer, links):
            raise NotAllowed(_("The formula is made steeper after %s more answers, and not before.") % n_until)
        counted, secret = table_c(offer, links), desk.source["secret"]
        # A vetted offer stays as it is, and its table need not be counted.
        after = (
            steepened(offer, counted, signed.digest, secret)
            if offer.is_vetted
            else tightened(offer, counted, signed.digest, secret, desk.same_table())
        )
        revise(desk, after, desk_key(desk.folder), is_tightened=True)
        note_desk(published, facts_of(desk))
