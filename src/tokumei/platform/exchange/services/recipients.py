"""Who a user is to providers, the key that signs for them here, and by which criterion they are served."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.data.files.keys import PRIVATE, PrivateKey, read_private, write_keys
from tokumei.exchange.admitting import admitted
from tokumei.exchange.criteria import Criterion
from tokumei.exchange.desk import revise
from tokumei.exchange.offer import Offer
from tokumei.exchange.offer import Recipient as Listed
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import desk_key, facts_of
from tokumei.platform.exchange.models import (
    OPEN_STATES,
    LevelRequest,
    OfferState,
    PublishedOffer,
    Recipient,
    RequestState,
    Trust,
    exchange_folder,
)
from tokumei.platform.exchange.services.desks import changing_desk
from tokumei.platform.exchange.services.offers import document_of, note_desk
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
