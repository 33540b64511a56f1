"""Who a user is to providers, and asking for levels.

A request is signed by the key that signs for a user here, or is a document that they signed at home. A recipient's
criterion says how they are served.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.data.files.keys import PRIVATE, PrivateKey, read_private, write_keys
from tokumei.exchange.desk import revise
from tokumei.exchange.documents import Criterion, Signed, parse_signed
from tokumei.exchange.offer import Offer, admitted
from tokumei.exchange.offer import Recipient as Listed
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
from tokumei.platform.accounts.authentication import allow
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import desk_key, facts_of
from tokumei.platform.exchange.models import (
    OPEN_STATES,
    Fetched,
    LevelRequest,
    OfferState,
    PublishedOffer,
    Recipient,
    RequestState,
    Trust,
    Vote,
    exchange_folder,
)
from tokumei.platform.exchange.services.answering import start_answering, tell_request
from tokumei.platform.exchange.services.desks import changing_desk
from tokumei.platform.exchange.services.offers import check_standard, document_of, note_desk
from tokumei.platform.files.shared import local, share, unshare

TRUSTED_BY_AN_OFFER = 500
LIVE = (OfferState.MAKING, OfferState.OPEN)


def recipient_of(user: User) -> Recipient | None:
    """Return a user's profile for providers, if any."""
    return Recipient.objects.filter(user=user).first()


def introduce(user: User, *, organization: str, about: str = "") -> Recipient:
    """Note who a user is to providers; the first time, draw the key that signs for them here."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        known = recipient_of(user)
        if known is None:
            key = PrivateKey.fresh()
            known = Recipient(user=user, public_key=key.public)
            _key_file(known).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_keys(_key_file(known).with_suffix(""), key)
            share(_key_file(known))
        known.organization, known.about = organization, about
        known.save()
    return known


def forget_recipient(user: User) -> None:
    """Remove a deleted user's profile: open requests are withdrawn, the key is gone; own offers prevent it."""
    if PublishedOffer.objects.filter(by=user, team__closed__isnull=False, state__in=LIVE).exists():
        raise NotAllowed(_("You are the last of a team with an open offer. Close or delete the offer first."))
    LevelRequest.objects.filter(user=user, state__in=OPEN_STATES).update(state=RequestState.WITHDRAWN)
    known = recipient_of(user)
    if known is not None:
        # The row stays, since offers may list its public key.
        known.organization = known.about = ""
        known.save(update_fields=["organization", "about"])
        private = _key_file(known)
        transaction.on_commit(lambda: unshare(private))


def key_of(recipient: Recipient) -> PrivateKey:
    """Return the key that signs for a user; it proves which account asked, and no more."""
    return read_private(local(_key_file(recipient)))


def name_of(recipient: Recipient) -> str:
    """Return the asker's name for providers and the public; the user name identifies them on this platform."""
    return f"{recipient.organization} ({recipient.user.username})"


def criteria_for(published: PublishedOffer, user: User | None) -> list[Criterion]:
    """Return the criteria that serve a user, strictest first: by their listed key, if the offer lists it."""
    offer, _signed = document_of(published)
    known = None if user is None else recipient_of(user)
    return list(offer.criteria_for(None if known is None else known.public_key))


def name_for(offer: Offer, recipient: Recipient) -> str:
    """Return the name under which a user asks: the one listed with their key, if any."""
    listed = offer.recipient(recipient.public_key)
    return name_of(recipient) if listed is None else listed.name


def check_criterion(published: PublishedOffer, user: User, name: str) -> None:
    """Refuse a criterion that the provider does not serve this user by."""
    if name not in {one.name for one in criteria_for(published, user)}:
        raise NotAllowed(_("The provider does not serve you by this criterion."))


def trust(published: PublishedOffer, by: User, *, username: str, criterion: str) -> Trust:
    """List a user in a hosted offer by their key, with the criterion that they are served by."""
    offer: Offer = document_of(published)[0]
    offer.criterion(criterion)
    user = User.objects.filter(username__iexact=username, is_active=True).first()
    if user is None:
        raise NotFound(_("There is no such user."))
    known = recipient_of(user)
    if known is None:
        raise NotAllowed(_("This user has not said yet who they are to providers."))
    if published.trusted.count() >= TRUSTED_BY_AN_OFFER:
        raise NotAllowed(_("There are too many recipients."))
    if offer.recipient(known.public_key) is not None:
        raise NotAllowed(_("This user is listed already."))
    with transaction.atomic():
        made = Trust.objects.create(offer=published, user=user, criterion=criterion, by=by)
        _revise(published, [Listed(known.public_key, name_of(known), criterion)])
    return made


def distrust(published: PublishedOffer, trusted: int) -> None:
    """Serve a user by the strictest criterion again."""
    found = published.trusted.filter(pk=trusted).select_related("user__recipient").first()
    if found is None:
        raise NotFound(_("There is no such recipient."))
    with transaction.atomic():
        _revise(published, [], without=[found.user.recipient.public_key])
        found.delete()


def _revise(published: PublishedOffer, listed: list[Listed], without: Sequence[str] = ()) -> None:
    """Publish a revision of a hosted offer with other recipients; the formula stays."""
    if not published.is_hosted:
        raise NotAllowed(_("The offer is signed at home: list recipients there, by 'tokumei exchange admit'."))
    with changing_desk(published) as desk:
        offer, signed = desk.offer()
        revise(desk, admitted(offer, signed.digest, listed, without=without), desk_key(desk.folder))
        note_desk(published, facts_of(desk))


def _key_file(recipient: Recipient) -> Path:
    return exchange_folder() / "keys" / f"{recipient.key_name}{PRIVATE}"


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
