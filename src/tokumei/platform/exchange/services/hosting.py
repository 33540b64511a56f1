"""Offers whose table the platform hosts: making the desk, attacking it every night, and removing it for good.

Whoever runs the server could read such a table. For small teams; others keep theirs at home. Each night's job finds by
integer programs what all that is out of an offer proves, and shows it to its team. When an offer is removed, table,
desk and documents go, and what was told of it in the log stays as a tombstone.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Json, to_json
from tokumei.exchange.desk import DeskFolder, delete_permanently
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import ATTACK, Wish, at_desk, desk_key
from tokumei.platform.exchange.models import OPEN_STATES, OfferState, PublishedOffer, RequestState, exchange_folder
from tokumei.platform.exchange.services.desks import changing_folder, desk_of, leave, root_of, sources_of
from tokumei.platform.exchange.services.offers import check_slug, check_standard, note_desk, save_new, visible_offers
from tokumei.platform.files.shared import copy_of, has_store, local, share, unshare
from tokumei.platform.files.uploads import telling_full_disk, write_privately
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import EXCHANGE, Work, begin, begin_again, in_words
from tokumei.platform.messages import TooMany
from tokumei.platform.teams.models import Team

log = logging.getLogger("tokumei.exchange")
ATTACKS = "attack"
NIGHT = timedelta(hours=24)


def start_attacks() -> int:
    """Have every offer attacked that was not since last night, and give how many there are."""
    due = visible_offers().filter(Q(attacked=None) | Q(attacked__lt=timezone.now() - NIGHT))
    listed = list(due)
    for published in listed:
        # One job for each offer, which is done again every night.
        begin_again(begin(ATTACKS, published.pk))
    return len(listed)


def note_attack(published: PublishedOffer, found: Mapping[str, object]) -> None:
    """Keep what an attack found; empty where there were too many combinations of values, `trouble` where it failed."""
    now = timezone.now()
    PublishedOffer.objects.filter(pk=published.pk).update(attacked=now, attack=dict(found))
    published.refresh_from_db()
    if found.get("proven"):
        log.error("an offer proves a class below its k", extra={"facts": {"offer": published.slug}})


def _ask_attack(job: Job) -> dict[str, object]:
    published = _offer(job)
    given = [] if published.is_hosted else published.requests.filter(state=RequestState.SERVED).order_by("pk")
    released = [
        {"path": str(one.release_path), "levels": one.levels, "criterion": one.criterion}
        for one in given
        if one.release_path.is_file()
    ]
    return {"folder": str(published.folder), "released": released}


def _write_attack(job: Job, found: dict[str, object]) -> None:
    note_attack(_offer(job), found)


def _write_attack_faults(job: Job, answer: ChildAnswer) -> None:
    note_attack(_offer(job), {"trouble": to_json(answer.said)})


def _write_attack_failure(job: Job, failure: str) -> None:
    note_attack(_offer(job), {"trouble": in_words(failure)})


def _offer(job: Job) -> PublishedOffer:
    return PublishedOffer.objects.get(pk=int(job.subject))


ATTACK_WORK = Work(
    "tokumei.platform.exchange.desk_work:attack",
    EXCHANGE,
    ask=_ask_attack,
    write_result=_write_attack,
    write_faults=_write_attack_faults,
    write_failure=_write_attack_failure,
)


MAKE = "offer"
MAKING_AT_ONCE = 2
BYTES_OF_A_TEAM = 512 * 1024 * 1024
TABLE_ENDS = (".csv", ".parquet", ".xlsx")
MADE = (OfferState.OPEN, OfferState.CLOSED)


def host(
    user: User,
    team: Team,
    *,
    slug: str,
    wish: Wish,
    table: UploadedFile[bytes],
    hierarchies: Iterable[UploadedFile[bytes]],
) -> PublishedOffer:
    """Take a table and its hierarchies, and have the offer made."""
    check_slug(slug)
    check_standard(wish.terms().criteria)
    ending = Path(str(table.name)).suffix.lower()
    if ending not in TABLE_ENDS:
        raise InputError.of(_("a table in one of these kinds: %s") % ", ".join(TABLE_ENDS), file=str(table.name))
    published = PublishedOffer(
        slug=slug,
        team=team,
        by=user,
        name=wish.name,
        words=wish.name,
        state=OfferState.MAKING,
        is_hosted=True,
        wanted={**vars(wish), "table": f"table{ending}"},
    )
    incoming = published.table_place
    try:
        with telling_full_disk(), transaction.atomic():
            incoming.mkdir(parents=True, mode=0o700)
            (incoming / "hierarchies").mkdir(mode=0o700)
            _store(table, incoming / f"table{ending}")
            for each in hierarchies:
                _store(each, incoming / "hierarchies" / _file_name(str(each.name)))
            save_new(published)
            _check_quota(published)
            share(incoming)
            begin(MAKE, published.pk)
    except BaseException:
        shutil.rmtree(incoming, ignore_errors=True)
        raise
    return published


def _check_quota(published: PublishedOffer) -> None:
    """Refuse more than a team may have: tables that are being made, and bytes."""
    hosted = PublishedOffer.objects.filter(team=published.team_id, is_hosted=True)
    if hosted.filter(state=OfferState.MAKING).exclude(pk=published.pk).count() >= MAKING_AT_ONCE:
        raise TooMany(_("The team has %d offers that are being made. Wait until they are.") % MAKING_AT_ONCE)
    tables = [local(each.table_place) for each in hosted]
    n_bytes = sum(path.stat().st_size for each in tables for path in each.rglob("*") if path.is_file())
    if n_bytes > BYTES_OF_A_TEAM:
        raise TooMany(_("The team may host %s bytes of tables in all.") % f"{BYTES_OF_A_TEAM:,}")


def _ask_make(job: Job) -> dict[str, object]:
    published = _offer(job)
    wish = dict(published.wanted)
    table = wish.pop("table")
    # The desks of the same people are looked at, and may be closed.
    for each in PublishedOffer.objects.filter(team=published.team_id, is_hosted=True, state__in=MADE):
        copy_of(each.place, desk_of(each, job))
    return {
        "incoming": str(local(published.table_place)),
        "folder": str(desk_of(published, job)),
        "table": table,
        "wish": wish,
        "sources": str(copy_of(sources_of(published.team_id), _sources(published, job))),
        "root": str(root_of(job)),
    }


def _sources(published: PublishedOffer, job: Job) -> Path:
    return root_of(job) / sources_of(published.team_id).relative_to(exchange_folder())


def _write_made(job: Job, result: Json) -> None:
    published = _offer(job)
    desk = desk_of(published, job)
    # The sources first: of two offers of a team only one goes on from here.
    share(sources_of(published.team_id), _sources(published, job))
    for each in PublishedOffer.objects.filter(folder_key__in=result["closed"]).order_by("pk"):
        share(each.place, desk_of(each, job))
    share(published.place, desk)
    note_desk(published, result["desk"])
    note_attack(published, json.loads((desk / "private" / ATTACK).read_text(encoding="utf-8")))
    PublishedOffer.objects.filter(pk=int(job.subject)).update(state=OfferState.OPEN)
    leave(job)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    # What is wrong with a table may quote it: only its own team reads that.
    _give_up(job, answer.said)


def _write_failure(job: Job, failure: str) -> None:
    _give_up(job, in_words(failure))


def _give_up(job: Job, trouble: str) -> None:
    published = _offer(job)
    PublishedOffer.objects.filter(pk=published.pk).update(state=OfferState.FAILED, trouble=trouble)
    transaction.on_commit(lambda: remove_files(published))
    leave(job)


def remove_files(published: PublishedOffer) -> None:
    """Remove the desk of a hosted offer, and its table."""
    folder = published.place
    # With what an attempt that was killed left beside it.
    shutil.rmtree(folder.with_name(f".{folder.name}"), ignore_errors=True)
    for each in (folder, published.table_place):
        unshare(each)


MAKE_WORK = Work(
    "tokumei.platform.exchange.desk_work:make",
    EXCHANGE,
    ask=_ask_make,
    write_result=_write_made,
    write_faults=_write_faults,
    write_failure=_write_failure,
)


def _file_name(name: str) -> str:
    """Return the file name of a hierarchy: that of its column, which must be plain."""
    stem, ending = Path(name).stem, Path(name).suffix.lower()
    if ending != ".csv" or not stem or len(stem) > 100 or not stem.isprintable() or stem.startswith("."):
        raise InputError.of(_("a file named by its column, such as age.csv"), file=name)
    return f"{stem}.csv"


def _store(upload: UploadedFile[bytes], path: Path) -> None:
    """Write an upload where only the server can read it; two of one name are refused."""
    try:
        write_privately(upload.chunks(), path)
    except FileExistsError:
        raise InputError.of(_("each file once"), file=path.name) from None


KEPT = ("public.jsonl", "public.head.json")


def remove_offer(published: PublishedOffer, user: User, *, typed: str) -> None:
    """Remove an offer for good; who does it types its short name, since nothing brings it back.

    Releases stay with those to whom they were given, and the team's registry still knows the people by keyed hashes: a
    later offer of them is refused as before.
    """
    if typed.strip() != published.slug:
        raise NotAllowed(_("Type the short name of the offer: it is removed for good."))
    with transaction.atomic():
        locked = PublishedOffer.objects.select_for_update().get(pk=published.pk)
        if locked.state == OfferState.MAKING:
            raise NotAllowed(_("The offer is being made. Wait until it is."))
        if locked.state == OfferState.REMOVED:
            return
        with changing_folder(locked) as folder:
            told = _delete_permanently(locked, folder)
            if has_store():
                _remove_files(folder)
        open_requests = locked.requests.filter(state__in=OPEN_STATES)
        open_requests.update(state=RequestState.INVALID, problem=_("The offer was removed."), answered=timezone.now())
        for name, value in told.items():
            setattr(locked, name, value)
        locked.state, locked.removed = OfferState.REMOVED, timezone.now()
        locked.words, locked.trouble, locked.wanted, locked.attack = "", "", {}, {}
        locked.save()
        locked.trusted.all().delete()
    if not has_store():
        # Not before the row says so: what is gone cannot be brought back.
        _remove_files(locked.place)
    unshare(locked.table_place)
    if locked.table_place.is_dir():
        raise OSError(f"{locked.table_place} could not be removed")
    published.refresh_from_db()
    facts = {"offer": locked.slug, "by": user.pk, "log_lines": locked.log_lines, "log_hash": locked.log_hash}
    log.warning("an offer was removed for good", extra={"facts": facts})


def _delete_permanently(published: PublishedOffer, folder: Path) -> dict[str, object]:
    """End the logs of a hosted desk; that of a desk at home ends where it was last received."""
    if not published.is_hosted or not (folder / "private").is_dir():
        return {}
    with at_desk(folder):
        head = delete_permanently(DeskFolder(folder), desk_key(folder))
    return {"log_lines": head.number, "log_hash": head.hash}


def _remove_files(folder: Path) -> None:
    """Remove all but the public log; what cannot be removed is an error, since its owner counts on it."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in KEPT:
            path.unlink()
