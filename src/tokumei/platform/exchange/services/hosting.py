"""Offers whose table the platform hosts: the desk is a folder here, and a job sits at it.

Whoever runs the server could read such a table. For small teams; others keep theirs at home.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError
from tokumei.platform.accounts.models import User
from tokumei.platform.errors import TooMany
from tokumei.platform.exchange.desk_work import ATTACK, Wish
from tokumei.platform.exchange.models import OfferState, PublishedOffer, exchange_folder
from tokumei.platform.exchange.services.attacking import note_attack
from tokumei.platform.exchange.services.desks import desk_of, leave, root_of, sources_of
from tokumei.platform.exchange.services.offers import check_slug, check_standard, note_desk, save_new
from tokumei.platform.files.shared import copy_of, local, share, unshare
from tokumei.platform.files.uploads import telling_full_disk
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin
from tokumei.platform.jobs.reasons import in_words
from tokumei.platform.jobs.work import EXCHANGE, Work
from tokumei.platform.teams.models import Team

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
    table: UploadedFile[Any],
    hierarchies: Iterable[UploadedFile[Any]],
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


def _ask_make(job: Job) -> dict[str, Any]:
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


def _write_made(job: Job, result: dict[str, Any]) -> None:
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


def _offer(job: Job) -> PublishedOffer:
    return PublishedOffer.objects.get(pk=int(job.subject))


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


def _store(upload: UploadedFile[Any], path: Path) -> None:
    """Write an upload where only the server can read it; two of one name are refused."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError.of(_("each file once"), file=path.name) from None
    with os.fdopen(descriptor, "wb") as handle:
        for chunk in upload.chunks():
            handle.write(chunk)
        handle.flush()
        os.fsync(handle.fileno())
