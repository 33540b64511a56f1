"""What comes back from a provider: answers and releases, taken only where the offer's own key signed them."""

from __future__ import annotations

import logging
import os

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.chain import digest_of
from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.data.files.atomic import atomic_path
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.desk import ANSWER, VERSION
from tokumei.exchange.documents import Fields, parse_signed
from tokumei.exchange.offering import read_release
from tokumei.exchange.watch import tampering
from tokumei.platform.exchange.models import LevelRequest, PublishedOffer, RequestState, Vote
from tokumei.platform.exchange.services.news import tell_answered
from tokumei.platform.exchange.services.offers import document_of
from tokumei.platform.files.shared import share
from tokumei.platform.files.uploads import telling_full_disk

log = logging.getLogger("tokumei.exchange")
PROBLEM_LENGTH = 2_000


def pending(published: PublishedOffer) -> QuerySet[LevelRequest]:
    """Return the requests awaiting an answer, oldest first; a held one counts once somebody has decided."""
    voted = Q(state=RequestState.WAITING, votes__at__gt=F("answered"))
    return published.requests.filter(Q(state=RequestState.SENT) | voted).distinct().order_by("sent", "pk")


def approvals(published: PublishedOffer) -> list[str]:
    """Return the approvals of second persons for the requests awaiting an answer."""
    return list(Vote.objects.filter(request__in=pending(published)).values_list("document", flat=True))


def find_pending(published: PublishedOffer, key: str) -> LevelRequest:
    """Find a request of an offer by its key."""
    found = published.requests.filter(key=key).first()
    if found is None:
        raise NotFound(_("There is no such request."))
    return found


def take_problem(request: LevelRequest, problem: str) -> None:
    """Note why the provider could not use a request."""
    with transaction.atomic():
        locked = _locked(request)
        if locked.state == RequestState.INVALID:
            return
        _check_open(locked)
        locked.state, locked.problem, locked.answered = RequestState.INVALID, problem[:PROBLEM_LENGTH], timezone.now()
        locked.save(update_fields=["state", "problem", "answered"])
        tell_answered(locked)


def take_answer(request: LevelRequest, text: str, release: str | None, *, remarks: list[str] | None = None) -> None:
    """Take a signed answer with its release; the same one may come again, another may not.

    remarks: what a job found that held the release against its offer; without, it is done here.
    """
    signed = parse_signed(text, ANSWER, VERSION, file="answer.json")
    if signed.key != request.offer.public_key:
        raise NotAllowed(_("The answer is not signed by the offer's key."))
    fields = Fields(signed.body, "answer.json")
    outcome = fields.text("outcome", one_of=["served", "refused", "waiting"])
    digest = fields.text("release", most=64)
    if fields.text("request", most=64) != request.digest:
        raise NotAllowed(_("The answer is to another request."))
    if (outcome == "served") != (release is not None) or (
        release is not None and digest_of(release.encode()) != digest
    ):
        raise InputError.of(_("the release that the answer tells of"), file="release.csv")
    with telling_full_disk(), transaction.atomic():
        locked = _locked(request)
        if locked.answer == signed.text():
            return
        _check_open(locked)
        if release is not None:
            locked.remarks = _remarks(locked, release) if remarks is None else remarks
            _store(locked, release)
        locked.state, locked.answer, locked.release_digest = RequestState(outcome), signed.text(), digest
        locked.answered = timezone.now()
        locked.save(update_fields=["state", "answer", "release_digest", "answered", "remarks"])
        tell_answered(locked)
    log.info("a request was answered", extra={"facts": {"request": request.key, "outcome": outcome}})


def _remarks(request: LevelRequest, release: str) -> list[str]:
    """Hold a release against its offer: too few rows in a class are refused, odd ones remarked on."""
    offer, _signed = document_of(request.offer)
    node = offer.lattice.node(request.levels)
    classes = read_release(release, offer.lattice.attributes, file="release.csv")
    smallest = min(classes[SIZE], default=0)
    if smallest < offer.criterion(request.criterion).k:
        raise NotAllowed(_("The release has a class that is smaller than its criterion allows."))
    return tampering(offer, node, classes)


def _store(request: LevelRequest, release: str) -> None:
    """Write the release where only the server can read it."""
    path = request.release_path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_path(path) as draft:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as handle:
            handle.write(release)
    share(path)


def _locked(request: LevelRequest) -> LevelRequest:
    return LevelRequest.objects.select_for_update().select_related("offer").get(pk=request.pk)


def _check_open(request: LevelRequest) -> None:
    # One that was withdrawn while the provider answered has been logged there: the answer stands.
    if not request.is_open and request.state != RequestState.WITHDRAWN:
        raise NotAllowed(_("The request has an answer already."))
