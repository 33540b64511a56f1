"""What an offer tells: its audit, the disclosure, the watch over all offers, what its provider learns."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.chain import Link
from tokumei.core.errors import NotAllowed, TokumeiError
from tokumei.data.files.keys import HEADER, fingerprint
from tokumei.exchange.answer import CountedNode, Lesson, answers_until_tightening, lesson, steepened, table_c, tightened
from tokumei.exchange.audit_log import Disclosed, LogHead, check_reaches
from tokumei.exchange.desk import DeskFolder, commitment, revise
from tokumei.exchange.documents import Criterion, read_json
from tokumei.exchange.offer import Offer
from tokumei.exchange.watch import PUBLIC_FILES, REVISIONS, copies, partners, rows_of_first_release, verify_public
from tokumei.platform.exchange.desk_work import desk_key, facts_of
from tokumei.platform.exchange.models import LevelRequest, PublishedOffer, RequestState
from tokumei.platform.exchange.services.desks import changing_desk
from tokumei.platform.exchange.services.offers import (
    KEPT_BYTES,
    TIMES_IN_MEMORY,
    document_of,
    note_desk,
    visible_offers,
)
from tokumei.platform.exchange.trying import criterion_name, source_in_words

# Offers are compared in pairs.
MOST_WATCHED = 120


@dataclass(frozen=True)
class OfferAudit:
    """The public log of an offer, and what is wrong with it; `fault` is empty if nothing is."""

    lines: Sequence[Link]
    fault: str
    has_log: bool
    signed_by: str


def audit(published: PublishedOffer) -> OfferAudit:
    """Verify all that is public of an offer, and that it is still what the platform and its users were told."""
    if not DeskFolder(published.folder).public_log.path.is_file():
        return OfferAudit((), "", False, fingerprint(published.public_key))
    answers = published.requests.exclude(answer="").order_by("pk").values_list("answer", flat=True)
    told = [read_json(text)["body"]["log"] for text in answers]
    heads = [LogHead(each["number"], each["hash"]) for each in told if each is not None]
    heads.append(LogHead(published.log_lines, published.log_hash))
    return _verified(published.folder, _stamp(published.folder), tuple(heads), fingerprint(published.public_key))


@lru_cache(maxsize=32)
def _verified(folder: Path, _stamp: object, heads: tuple[LogHead, ...], signed_by: str) -> OfferAudit:
    """Verify files, once for as long as none of them is touched."""
    log = DeskFolder(folder).public_log
    try:
        # Of an offer that was removed there is nothing but the log.
        if (folder / "offer.json").is_file():
            verify_public(folder)
        lines = tuple(log.lines())
        for head in heads:
            check_reaches(list(lines), head, log.path.name)
    except TokumeiError as error:
        return OfferAudit((), str(error), True, signed_by)
    return OfferAudit(lines, "", True, signed_by)


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return a stamp that changes with any of the public files."""
    files = [*(folder / name for name in PUBLIC_FILES), *sorted((folder / REVISIONS).glob("*.json"))]
    stats = [(path.name, path.stat()) for path in files if path.is_file()]
    return tuple((name, stat.st_ctime_ns, stat.st_size) for name, stat in stats)


def pack_public(published: PublishedOffer) -> IO[bytes]:
    """Pack what is public of an offer, to be verified by anybody."""
    # Closed by the response that sends it.
    packed = tempfile.TemporaryFile()  # noqa: SIM115
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in PUBLIC_FILES:
            if (published.folder / name).is_file():
                archive.write(published.folder / name, name)
        for path in sorted((published.folder / REVISIONS).glob("*.json")):
            archive.write(path, f"{REVISIONS}/{path.name}")
        archive.writestr("provider.pub", f"{HEADER}{published.public_key}\n")
    packed.seek(0)
    return packed


def disclosed(published: PublishedOffer) -> list[Disclosed]:
    """Return the releases given through this platform, oldest first."""
    offer, _signed = document_of(published)
    found = []
    for request in published.requests.filter(state=RequestState.SERVED).order_by("answered", "pk"):
        node = offer.lattice.node(request.levels)
        groups = {
            hierarchy.attribute: len(hierarchy.levels[level])
            for hierarchy, level in zip(offer.hierarchies, node, strict=True)
        }
        criterion = offer.criterion(request.criterion)
        day = timezone.localtime(request.answered).date().isoformat() if request.answered else ""
        standard = f"{criterion_name(criterion)}, {source_in_words(criterion)}"
        told = _told(request)
        found.append(Disclosed(*(day, request.recipient, request.purpose, standard, criterion.k, groups, told)))
    return found


def _told(request: LevelRequest) -> str:
    """Describe a release as the public log does."""
    return commitment(str(read_json(request.document)["body"]["nonce"]), request.release_digest)


def n_served_elsewhere(published: PublishedOffer) -> int:
    """Return how many releases the log lists that did not come through this platform."""
    found = audit(published)
    here = set(published.requests.values_list("digest", flat=True))
    return sum(
        link.payload.get("outcome") == "served" and link.payload.get("request") not in here for link in found.lines
    )


@dataclass(frozen=True)
class Watched:
    """What was found in looking over all offers."""

    copies: Sequence[tuple[PublishedOffer, PublishedOffer]]
    partners: Sequence[tuple[PublishedOffer, PublishedOffer, float]]
    odd: Sequence[LevelRequest]
    n_offers: int


def watch() -> Watched:
    """Look over the newest offers: copies, partners for joint studies, and releases that are odd."""
    listed = _that_fit(list(visible_offers()[:MOST_WATCHED]))[::-1]
    same, alike = _compare(tuple((each.pk, each.digest) for each in listed))
    by_pk = {each.pk: each for each in listed}
    odd = LevelRequest.objects.filter(offer__in=listed, state=RequestState.SERVED).exclude(remarks=[])
    return Watched(
        [(by_pk[one], by_pk[other]) for one, other in same],
        [(by_pk[one], by_pk[other], likeness) for one, other, likeness in alike],
        list(odd.select_related("offer")[:50]),
        len(listed),
    )


def _that_fit(listed: list[PublishedOffer]) -> list[PublishedOffer]:
    """Return the newest offers that fit into memory together."""
    kept: list[PublishedOffer] = []
    n_bytes = 0
    for each in listed:
        path = each.folder / REVISIONS / f"{each.revision:04}.json"
        n_bytes += path.stat().st_size if path.is_file() else 0
        if n_bytes * TIMES_IN_MEMORY > KEPT_BYTES and kept:
            break
        kept.append(each)
    return kept


@lru_cache(maxsize=4)
def _compare(
    listed: tuple[tuple[int, str], ...],
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int, float], ...]]:
    """Compare offers in pairs, once for as long as they stay the same."""
    keys = [pk for pk, _digest in listed]
    by_pk = PublishedOffer.objects.in_bulk(keys)
    offers = [document_of(by_pk[pk])[0] for pk in keys]
    first = [
        rows_of_first_release(offer, by_pk[pk].folder / "first-release.csv")
        for pk, offer in zip(keys, offers, strict=True)
    ]
    same = tuple((keys[pair.first], keys[pair.second]) for pair in copies(offers, first))
    alike = tuple((keys[pair.first], keys[pair.second], pair.likeness) for pair in partners(offers, first))
    return same, alike


def release_rows(text: str, most: int = 20) -> tuple[list[str], list[list[str]], int]:
    """Return the header and first lines of a release for a page, and the number of lines."""
    import csv

    rows: list[Any] = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1 : most + 1], len(rows) - 1


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
