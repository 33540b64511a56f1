"""Telling providers of requests, and those who asked of answers."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_noop as _

from tokumei.platform.exchange.models import LevelRequest, RequestState
from tokumei.platform.notices.models import NoticeKind
from tokumei.platform.notices.services import notify

ANSWERED = {
    RequestState.SERVED: _("Your request to %(offer)s is served: the release is there"),
    RequestState.REFUSED: _("Your request to %(offer)s is refused"),
    RequestState.WAITING: _("Your request to %(offer)s waits for a second person"),
    RequestState.INVALID: _("Your request to %(offer)s could not be used"),
}


def tell_request(request: LevelRequest) -> None:
    """Notify the provider's team of a request."""
    offer = request.offer
    notify(
        offer.team.members.all(),
        NoticeKind.REQUEST,
        _("%(recipient)s asks for levels of %(offer)s"),
        link=reverse("exchange:desk", args=[offer.slug]),
        recipient=request.recipient,
        offer=offer.name,
    )


def tell_answered(request: LevelRequest) -> None:
    """Notify the asker of the outcome; and the provider's team where it must decide."""
    says = ANSWERED.get(RequestState(request.state))
    if says is None:
        return
    offer = request.offer
    link = reverse("exchange:request", args=[request.key])
    notify([request.user], NoticeKind.ANSWER, says, link=link, offer=offer.name)
