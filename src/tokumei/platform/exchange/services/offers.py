"""Finding and publishing offers: the documents are checked here, and their files kept as the provider made them.

Offers in memory are bounded by bytes: what was not asked for longest goes first.
"""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound, PromiseBroken
from tokumei.data.files.disk import write_text
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.audit_log import HEAD
from tokumei.exchange.desk import DeskFolder
from tokumei.exchange.documents import Criterion, Signed, parse_signed
from tokumei.exchange.offer import KIND, VERSION, Offer, offer_of, read_offer
from tokumei.exchange.offering import read_release
from tokumei.exchange.watch import REVISIONS, check_first_release, verify_public
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import MOST_ATTRIBUTES, MOST_LABELS, words_of
from tokumei.platform.exchange.models import OfferState, PublishedOffer
from tokumei.platform.exchange.services.desks import changing_folder, read_offer_apart, verify_log_apart
from tokumei.platform.files.shared import share
from tokumei.platform.files.uploads import telling_full_disk
from tokumei.platform.messages import TooMany
from tokumei.platform.teams.models import Team

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Keeps values as long as their sizes fit; one that is too large for all of it is never kept."""

    def __init__(self, *, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], tuple[Value, int]]) -> Value:
        """Return a cached value, or make and keep it with its size."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        # Made without the lock: others need not wait for it, and two who make it at once make the same.
        value, size = make()
        with self._lock:
            if key not in self._kept and size <= self.most_bytes:
                self._kept[key] = value, size
                self.n_bytes += size
            while self.n_bytes > self.most_bytes:
                _, (_, freed) = self._kept.popitem(last=False)
                self.n_bytes -= freed
        return value

    def __len__(self) -> int:
        return len(self._kept)


LARGEST_OFFER = 4 * 1024 * 1024
# An offer in memory is so many times its document; all that are kept take so much at most.
TIMES_IN_MEMORY = 30
KEPT_BYTES = 128 * 1024 * 1024
LARGEST_RELEASE = 32 * 1024 * 1024
LARGEST_LOG = 32 * 1024 * 1024
OFFERS_OF_A_TEAM = 50
OFFERS_A_DAY = 20
A_DAY = timedelta(days=1)
# What a revision may change of an offer.
CHANGING = frozenset({"revision", "previous", "predictor", "slope", "vetted", "lots", "recipients"})
# Addresses of pages, which an offer cannot have.
TAKEN = frozenset({"watch", "requests", "offers", "profile", "key", "new"})


# Read once for many visitors; the digest tells one revision from the next.
_kept = BoundedCache[str, tuple[Offer, Signed]](most_bytes=KEPT_BYTES)


def document_of(published: PublishedOffer) -> tuple[Offer, Signed]:
    """Return the text of an offer, and its signature."""
    if published.state == OfferState.REMOVED:
        raise NotFound(_("The offer was removed."))

    def read() -> tuple[tuple[Offer, Signed], int]:
        path = published.folder / REVISIONS / f"{published.revision:04}.json"
        offer, signed = read_offer(path)
        if signed.digest != published.digest:
            raise PromiseBroken("The offer is not the one that was published.")
        return (offer, signed), path.stat().st_size * TIMES_IN_MEMORY

    return _kept.get(published.digest, read)


def visible_offers(search: str = "") -> QuerySet[PublishedOffer]:
    """Return the public offers that have all the words."""
    found = PublishedOffer.objects.filter(state__in=[OfferState.OPEN, OfferState.CLOSED]).select_related("team")
    for word in search.split()[:10]:
        found = found.filter(Q(words__icontains=word) | Q(team__display_name__icontains=word))
    return found


def find_offer(slug: str) -> PublishedOffer:
    """Find an offer that everybody may see."""
    found = visible_offers().filter(slug=slug).first()
    if found is None:
        raise NotFound(_("There is no such offer."))
    return found


def offers_of(user: User) -> QuerySet[PublishedOffer]:
    """Return the offers of a user's teams in any state."""
    teams = Team.objects.filter(memberships__user=user, closed=None)
    return PublishedOffer.objects.filter(team__in=teams).select_related("team", "by")


def find_logged_offer(slug: str) -> PublishedOffer:
    """Find an offer whose log everybody may see: also one that was removed."""
    states = [OfferState.OPEN, OfferState.CLOSED, OfferState.REMOVED]
    found = PublishedOffer.objects.filter(state__in=states, slug=slug).select_related("team").first()
    if found is None:
        raise NotFound(_("There is no such offer."))
    return found


def find_own_offer(user: User, slug: str) -> PublishedOffer:
    """Find an offer of one of a user's teams."""
    found = offers_of(user).filter(slug=slug).first()
    if found is None:
        raise NotFound(_("There is no such offer."))
    return found


def text_of(upload: UploadedFile[bytes] | None, name: str, most: int) -> str:
    """Read an uploaded text."""
    if upload is None:
        raise InputError.of(_("this file"), file=name)
    if upload.size is None or upload.size > most:
        raise InputError.of(_("a file of at most %s bytes") % f"{most:,}", file=name)
    try:
        return str(upload.read().decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError.of(_("text in UTF-8"), file=name) from None


def publish(
    user: User, team: Team, *, slug: str, offer_text: str, first_release: str, log: str = "", head: str = ""
) -> PublishedOffer:
    """Publish an offer that its provider made and signed at home; the table is not here and never comes."""
    read_offer_apart(offer_text, first_release)
    signed = parse_signed(offer_text, KIND, VERSION, file="offer.json")
    _check_labels(signed)
    offer = check_usable(offer_of(signed, file="offer.json"))
    check_first_release(offer, first_release.encode())
    smallest = min(read_release(first_release, offer.lattice.attributes, file="first-release.csv")[SIZE], default=0)
    if smallest < offer.k_p:
        raise NotAllowed(_("The first release has a class of fewer than %s rows.") % offer.k_p)
    if offer.revision != 1 or offer.previous:
        raise NotAllowed(_("Publish the first revision of an offer; later ones come from its desk."))
    published = _new(user, team, slug=slug, offer=offer, signed=signed)
    folder = published.place
    try:
        with telling_full_disk(), transaction.atomic():
            (folder / REVISIONS).mkdir(parents=True, mode=0o700)
            for name in ("offer.json", f"{REVISIONS}/0001.json"):
                write_text(folder / name, signed.text())
            write_text(folder / "first-release.csv", first_release)
            save_new(published)
            share(folder)
            if log:
                receive_log(published, log=log, head=head)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return published


def _check_labels(signed: Signed) -> None:
    """Refuse more labels than pages and memory have room for, before any hierarchy is made of them."""
    attributes = signed.body.get("attributes")
    levels = [
        level.get("labels")
        for each in (attributes if isinstance(attributes, list) else [])
        if isinstance(each, dict) and isinstance(each.get("levels"), list)
        for level in each["levels"]
        if isinstance(level, dict)
    ]
    n_labels = sum(len(labels) for labels in levels if isinstance(labels, list))
    if n_labels > MOST_LABELS:
        raise InputError.of(_("at most %s labels in all") % f"{MOST_LABELS:,}", column="attributes", value=n_labels)


def check_usable(offer: Offer) -> Offer:
    """Refuse an offer that the pages could not show."""
    if len(offer.hierarchies) > MOST_ATTRIBUTES:
        raise InputError.of(_("at most %s columns with levels") % MOST_ATTRIBUTES, column="attributes")
    if not offer.name.strip():
        raise InputError.of(_("a name"), column="name")
    check_standard(offer.criteria)
    return offer


def check_standard(criteria: Iterable[Criterion]) -> None:
    """Refuse criteria below the operator's standard, which holds for the whole platform."""
    for one in criteria:
        if one.k < settings.EXCHANGE_LEAST_K:
            told = {"name": one.name, "k": one.k, "least": settings.EXCHANGE_LEAST_K}
            raise NotAllowed(
                _("The criterion %(name)s asks for k = %(k)s; on this platform it must be %(least)s or more.") % told
            )


def receive_log(published: PublishedOffer, *, log: str, head: str, revisions: dict[int, str] | None = None) -> None:
    """Take the public log as the provider's process sends it, with further revisions of the offer.

    The new log must go on from the old one: lines that were told of once stay.
    """
    with telling_full_disk(), changing_folder(published) as folder:
        locked = PublishedOffer.objects.get(pk=published.pk)
        signed_head = parse_signed(head, HEAD, 1, file="public.head.json")
        if signed_head.key != locked.public_key:
            raise NotAllowed(_("The log is not signed by the offer's key."))
        draft = folder / f".draft-{locked.revision}"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            shutil.copytree(folder / REVISIONS, draft / REVISIONS)
            shutil.copy(folder / "first-release.csv", draft / "first-release.csv")
            for text in (revisions or {}).values():
                read_offer_apart(text, "")
            newest = _add_revisions(locked, draft, revisions or {})
            for name, text in (("public.jsonl", log), ("public.head.json", head)):
                (draft / name).write_text(text, encoding="utf-8", newline="")
            verify_log_apart(draft)
            verify_public(draft)
            lines = DeskFolder(draft).public_log.lines()
            if len(lines) < locked.log_lines or (
                locked.log_lines and lines[locked.log_lines - 1].hash != locked.log_hash
            ):
                raise NotAllowed(_("The log does not go on from the one that was received before."))
            for path in sorted(draft.rglob("*")):
                if path.is_file():
                    path.replace(folder / path.relative_to(draft))
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        locked.log_lines, locked.log_hash = len(lines), lines[-1].hash
        locked.revision, locked.digest = newest
        locked.save(update_fields=["log_lines", "log_hash", "revision", "digest"])
    published.refresh_from_db()


def _add_revisions(published: PublishedOffer, draft: Path, revisions: dict[int, str]) -> tuple[int, str]:
    """Write further revisions beside the ones there are; only what may change of an offer has changed."""
    before, signed = document_of(published)
    for number in sorted(revisions):
        after = parse_signed(revisions[number], KIND, VERSION, file=f"{number:04}.json")
        _check_labels(after)
        offer = check_usable(offer_of(after))
        if number != before.revision + 1 or offer.revision != number or offer.previous != signed.digest:
            raise NotAllowed(_("A revision follows on the offer as it stands."))
        if after.key != published.public_key or _fixed(offer) != _fixed(before):
            raise NotAllowed(_("A revision is signed by the same key and changes formula and recipients alone."))
        (draft / REVISIONS / f"{number:04}.json").write_text(after.text(), encoding="utf-8", newline="")
        before, signed = offer, after
    (draft / "offer.json").write_text(signed.text(), encoding="utf-8", newline="")
    return before.revision, signed.digest


def _fixed(offer: Offer) -> dict[str, object]:
    body = offer.body()
    return {name: body[name] for name in body if name not in CHANGING}


def note_desk(published: PublishedOffer, facts: Mapping[str, object]) -> None:
    """Note what the desk of a hosted offer has published by now; an older word than the last changes nothing."""
    PublishedOffer.objects.filter(pk=published.pk, log_lines__lte=facts["log_lines"]).update(**facts)
    published.refresh_from_db()


def close(published: PublishedOffer, *, is_open: bool) -> None:
    """Take no more requests, or take them again."""
    if not published.is_published:
        raise NotAllowed(_("The offer is not published."))
    published.state = OfferState.OPEN if is_open else OfferState.CLOSED
    published.save(update_fields=["state"])


def check_slug(slug: str) -> None:
    """Refuse a short name that is an address of a page."""
    if slug in TAKEN:
        raise NotAllowed(_("This name cannot be used."))


def _new(user: User, team: Team, *, slug: str, offer: Offer, signed: Signed) -> PublishedOffer:
    check_slug(slug)
    return PublishedOffer(
        slug=slug,
        team=team,
        by=user,
        name=offer.name,
        words=words_of(offer),
        digest=signed.digest,
        public_key=signed.key,
        revision=offer.revision,
    )


def save_new(published: PublishedOffer) -> None:
    """Note a new offer, unless its team has too many or it is known already."""
    Team.objects.select_for_update().get(pk=published.team_id)
    kept = PublishedOffer.objects.filter(team=published.team_id).exclude(state=OfferState.REMOVED)
    if kept.count() >= OFFERS_OF_A_TEAM:
        raise TooMany(_("The team has %d offers, and may have no more. Remove one for good first.") % OFFERS_OF_A_TEAM)
    if PublishedOffer.objects.filter(by=published.by, created__gt=timezone.now() - A_DAY).count() >= OFFERS_A_DAY:
        raise TooMany(_("You may make %d offers a day.") % OFFERS_A_DAY)
    if published.digest and PublishedOffer.objects.filter(digest=published.digest).exists():
        raise NotAllowed(_("This offer is published already."))
    try:
        with transaction.atomic():
            published.save()
    except IntegrityError:
        raise NotAllowed(_("An offer has this short name already.")) from None
