"""Asking for levels: by the key that signs for a user here, or by a document that they signed at home."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.exchange.documents import Signed, parse_signed
from tokumei.exchange.request import (
    APPROVAL,
    REQUEST,
    VERSION,
    Approval,
    Request,
    approval_of,
    check_fits,
    make_request,
    request_of,
)
from tokumei.exchange.transport import LARGEST_REQUEST
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.throttle import allow
from tokumei.platform.exchange.models import (
    OPEN_STATES,
    Fetched,
    LevelRequest,
    OfferState,
    PublishedOffer,
    Recipient,
    RequestState,
    Vote,
)
from tokumei.platform.exchange.services.hosted_answers import start_answering
from tokumei.platform.exchange.services.news import tell_request
from tokumei.platform.exchange.services.offers import check_standard, document_of
from tokumei.platform.exchange.services.recipients import check_criterion, key_of, name_for, name_of, recipient_of

log = logging.getLogger("tokumei.exchange")
REQUESTS_A_DAY = 50
REQUESTS_A_MINUTE = 10
PURPOSE_LENGTH = 2_000


def ask(
    published: PublishedOffer, user: User, *, levels: dict[str, int], criterion: str | None, purpose: str
) -> LevelRequest:
    """Ask for levels, signed by the key that signs for the user here."""
    recipient = _introduced(user)
    offer, offered = document_of(published)
    wanted = offer.criterion(criterion).name
    check_criterion(published, user, wanted)
    made = make_request(
        *(offer, offered.digest, levels),
        signer=recipient.public_key,
        user=name_for(offer, recipient),
        purpose=purpose.strip(),
        criterion=wanted,
    )
    return _send(published, user, made, made.signed(key_of(recipient)), is_signed_here=True)


def ask_signed(published: PublishedOffer, user: User, text: str) -> LevelRequest:
    """Pass on a request that the user signed with a key of their own."""
    recipient = _introduced(user)
    if len(text) > LARGEST_REQUEST:
        raise InputError.of(_("a file of at most %s bytes") % f"{LARGEST_REQUEST:,}", file="request.json")
    signed = parse_signed(text, REQUEST, VERSION, file="request.json")
    request = request_of(signed, file="request.json")
    offer, offered = document_of(published)
    listed = offer.recipient(signed.key)
    if request.user != (name_of(recipient) if listed is None else listed.name):
        raise NotAllowed(_("The request must say that it is from: %s") % name_of(recipient))
    check_fits(request, signed.key, offer, {offered.digest})
    # The same check as at home: only what the offer allows, or leaves to the provider.
    make_request(
        *(offer, offered.digest, request.levels),
        signer=signed.key,
        user=request.user,
        purpose=request.purpose,
        criterion=request.criterion,
    )
    return _send(published, user, request, signed, is_signed_here=False)


def requests_of(user: User) -> QuerySet[LevelRequest]:
    """Return a user's requests, newest first."""
    return LevelRequest.objects.filter(user=user).select_related("offer", "offer__team")


def find_request(user: User, key: str) -> LevelRequest:
    """Find a request of a user's own."""
    found = requests_of(user).filter(key=key).first()
    if found is None:
        raise NotFound(_("There is no such request."))
    return found


def withdraw(request: LevelRequest) -> None:
    """Take a request back that has no answer yet."""
    changed = LevelRequest.objects.filter(pk=request.pk, state__in=OPEN_STATES).update(state=RequestState.WITHDRAWN)
    if not changed:
        raise NotAllowed(_("The request was answered already."))


def fetch_release(request: LevelRequest) -> Path:
    """Return the path of a release for who requested it, and note the download."""
    if request.state != RequestState.SERVED or not request.release_path.is_file():
        raise NotFound(_("There is no release."))
    Fetched.objects.create(request=request)
    log.info("a release was downloaded", extra={"facts": {"request": request.key}})
    return request.release_path


def may_vote(request: LevelRequest, user: User) -> bool:
    """Whether the offer names a user's key here among those who may agree; nobody agrees to a request of their own."""
    recipient = recipient_of(user)
    offer, _signed = document_of(request.offer)
    return recipient is not None and recipient.public_key in offer.approvers and request.user_id != user.pk


def vote(request: LevelRequest, user: User, *, is_approved: bool) -> Vote:
    """Agree to a request or not, signed by the key that signs for the user here."""
    recipient = recipient_of(user)
    if recipient is None or not may_vote(request, user):
        raise NotAllowed(_("The offer does not name you among those who agree to requests."))
    return _vote(request, user, Approval(request.digest, is_approved).signed(key_of(recipient)))


def vote_signed(request: LevelRequest, user: User, text: str) -> Vote:
    """Pass on what somebody signed with a key of their own that the offer names."""
    signed = parse_signed(text, APPROVAL, VERSION, file="approval.json")
    if approval_of(signed).request != request.digest:
        raise NotAllowed(_("The approval is of another request."))
    if signed.key not in document_of(request.offer)[0].approvers or request.user_id == user.pk:
        raise NotAllowed(_("The offer does not name this key among those who agree to requests."))
    return _vote(request, user, signed)


def _vote(request: LevelRequest, user: User, signed: Signed) -> Vote:
    with transaction.atomic():
        locked = LevelRequest.objects.select_for_update().get(pk=request.pk)
        if not locked.is_open:
            raise NotAllowed(_("The request was answered already."))
        try:
            with transaction.atomic():
                made = Vote.objects.create(
                    request=locked, by=user, is_approved=approval_of(signed).is_approved, document=signed.text()
                )
        except IntegrityError:
            raise NotAllowed(_("You said so already.")) from None
        start_answering(locked)
    return made


def _introduced(user: User) -> Recipient:
    recipient = recipient_of(user)
    if recipient is None:
        raise NotAllowed(_("Say first who you are to providers."))
    return recipient


def _send(
    published: PublishedOffer, user: User, request: Request, signed: Signed, *, is_signed_here: bool
) -> LevelRequest:
    if published.state != OfferState.OPEN:
        raise NotAllowed(_("The offer takes no more requests."))
    # The operator may have raised the standard since the offer was published.
    check_standard([document_of(published)[0].criterion(request.criterion)])
    if not request.purpose.strip() or len(request.purpose) > PURPOSE_LENGTH:
        raise InputError.of(_("a purpose of at most %s characters") % f"{PURPOSE_LENGTH:,}", column="purpose")
    said = _("You may ask %d times a minute and %d times a day. Please wait a while.") % (
        REQUESTS_A_MINUTE,
        REQUESTS_A_DAY,
    )
    allow("exchange minute", str(user.pk), at_most=REQUESTS_A_MINUTE, within=timedelta(minutes=1), said=said)
    allow("exchange request", str(user.pk), at_most=REQUESTS_A_DAY, within=timedelta(days=1), said=said)
    try:
        with transaction.atomic():
            made = LevelRequest.objects.create(
                offer=published,
                user=user,
                digest=signed.digest,
                document=signed.text(),
                recipient=request.user,
                purpose=request.purpose,
                criterion=request.criterion,
                levels=dict(request.levels),
                is_signed_here=is_signed_here,
                sent=timezone.now(),
            )
            start_answering(made)
            tell_request(made)
    except IntegrityError:
        raise NotAllowed(_("You asked for this before, for the same purpose; the answer stands.")) from None
    log.info("levels were asked for", extra={"facts": {"offer": published.slug, "request": made.key}})
    return made
