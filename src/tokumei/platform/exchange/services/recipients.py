"""Who a user is to providers, the key that signs for them here, and by which criterion they are served."""

from __future__ import annotations

from pathlib import Path

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.exchange.criteria import Criterion
from tokumei.exchange.keys import PRIVATE, PrivateKey, read_private, write_keys
from tokumei.exchange.offer import Offer
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.models import PublishedOffer, Recipient, Trust, exchange_folder
from tokumei.platform.exchange.services.offers import document_of

TRUSTED_BY_AN_OFFER = 500


def recipient_of(user: User) -> Recipient | None:
    """Give who a user is to providers, if they said so."""
    return Recipient.objects.filter(user=user).first()


def introduce(user: User, *, organization: str, about: str = "") -> Recipient:
    """Note who a user is to providers; the first time, draw the key that signs for them here."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        known = recipient_of(user)
        if known is None:
            key = PrivateKey.fresh()
            known = Recipient(user=user, public_key=key.public)
            _keys_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            write_keys(_keys_folder() / known.key_name, key)
        known.organization, known.about = organization, about
        known.save()
    return known


def key_of(recipient: Recipient) -> PrivateKey:
    """Give the key that signs for a user: it says that this account asked, and no more."""
    return read_private(_keys_folder() / f"{recipient.key_name}{PRIVATE}")


def name_of(recipient: Recipient) -> str:
    """Give who asks, as providers and the public read it; the user name tells who it is on this platform."""
    return f"{recipient.organization} ({recipient.user.username})"


def criteria_for(published: PublishedOffer, user: User | None) -> list[Criterion]:
    """Give the criteria that a user is served by, the strictest first."""
    offer, _signed = document_of(published)
    trusted = set()
    if user is not None:
        trusted = set(Trust.objects.filter(offer=published, user=user).values_list("criterion", flat=True))
    return [one for place, one in enumerate(offer.criteria) if place == 0 or one.name in trusted]


def check_criterion(published: PublishedOffer, user: User, name: str) -> None:
    """Refuse a criterion that the provider does not serve this user by."""
    if name not in {one.name for one in criteria_for(published, user)}:
        raise NotAllowed(_("The provider does not serve you by this criterion."))


def trust(published: PublishedOffer, by: User, *, username: str, criterion: str) -> Trust:
    """Serve a user by a criterion that is not everybody's."""
    offer: Offer = document_of(published)[0]
    offer.criterion(criterion)
    user = User.objects.filter(username__iexact=username, is_active=True).first()
    if user is None:
        raise NotFound(_("There is no such user."))
    if published.trusted.count() >= TRUSTED_BY_AN_OFFER:
        raise NotAllowed(_("There are too many recipients."))
    try:
        with transaction.atomic():
            return Trust.objects.create(offer=published, user=user, criterion=criterion, by=by)
    except IntegrityError:
        raise NotAllowed(_("This user is served by this criterion already.")) from None


def distrust(published: PublishedOffer, trusted: int) -> None:
    """Serve a user by the strictest criterion again."""
    n_deleted, _by_model = published.trusted.filter(pk=trusted).delete()
    if not n_deleted:
        raise NotFound(_("There is no such recipient."))


def _keys_folder() -> Path:
    return exchange_folder() / "keys"
