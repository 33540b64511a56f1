"""Changing the desk of an offer, by a page or by a job, on whichever machine: of two at once, only one counts.

Where machines share a store, a desk is changed as a copy, and the copy becomes the desk with the transaction that notes
what was changed. A page locks the offer first, and waits for its turn. A job works for minutes, and locks at its end:
if somebody changed the desk meanwhile, nothing of the work counts, and it is done again. On one machine the desk is
changed where it lies, under a lock of its file system.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction

from tokumei.exchange.desk import DeskFolder
from tokumei.platform.exchange.desk_work import at_desk
from tokumei.platform.exchange.models import PublishedOffer, exchange_folder
from tokumei.platform.files.packed import has_store
from tokumei.platform.files.shared import GIVEN_UP_SECONDS, copy_of, share
from tokumei.platform.jobs.limits import ORPHAN_SECONDS
from tokumei.platform.jobs.models import Job


@contextmanager
def changing_folder(published: PublishedOffer) -> Iterator[Path]:
    """Change the files of an offer, in one transaction with what the database says of them."""
    room = _rooms() / secrets.token_hex(6)
    try:
        with transaction.atomic():
            PublishedOffer.objects.select_for_update(no_key=True).get(pk=published.pk)
            folder = copy_of(published.place, room / published.folder_key)
            yield folder
            if folder.is_dir():
                share(published.place, folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)


@contextmanager
def changing_desk(published: PublishedOffer) -> Iterator[DeskFolder]:
    """Sit at the desk of a hosted offer alone, and publish what is changed."""
    with changing_folder(published) as folder, at_desk(folder) as desk:
        yield desk


def root_of(job: Job) -> Path:
    """Return the root of the exchange's folders for a job: each attempt has a room of its own."""
    return _rooms() / f"{job.pk}-{job.fence}" if has_store() else exchange_folder()


def desk_of(published: PublishedOffer, job: Job) -> Path:
    """Return the path at which a job finds or makes a desk."""
    return root_of(job) / published.place.relative_to(exchange_folder())


def sources_of(team: int) -> Path:
    """Return the path of a team's sources, with the key that recognizes them."""
    folder = exchange_folder() / "sources" / f"team-{team}"
    for beside in folder.parent.glob(f"{folder.name}.*"):
        # Servers before kept the key beside the folder.
        folder.mkdir(mode=0o700, exist_ok=True)
        beside.rename(folder / f"team{beside.suffix}")
    return folder


def leave(job: Job) -> None:
    """Clear the room of a job when its result counts."""
    if has_store():
        room = root_of(job)
        transaction.on_commit(lambda: shutil.rmtree(room, ignore_errors=True))


def sweep_rooms() -> int:
    """Clear the rooms of this machine in which nobody works any more, as after a process was killed; says how many."""
    rooms = list(_rooms().iterdir()) if _rooms().is_dir() else []
    empty = [room for room in rooms if not _is_used(room)]
    for room in empty:
        shutil.rmtree(room, ignore_errors=True)
    return len(empty)


def _is_used(room: Path) -> bool:
    job, _, fence = room.name.partition("-")
    age = time.time() - room.stat().st_mtime
    if not fence:
        # A page's, which takes seconds.
        return age < GIVEN_UP_SECONDS
    return age < ORPHAN_SECONDS or Job.objects.filter(pk=job, fence=fence, is_running=True, is_done=False).exists()


def _rooms() -> Path:
    return exchange_folder() / "rooms"
