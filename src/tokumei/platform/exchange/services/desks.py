"""Changing the desk of an offer, on whichever machine, and reading what a desk at home sends.

Where machines share a store, a desk is changed as a copy, and the copy becomes the desk with the transaction that notes
what was changed. A page locks the offer first, and waits for its turn. A job works for minutes, and locks at its end:
if somebody changed the desk meanwhile, nothing of the work counts, and it is done again. On one machine the desk is
changed where it lies, under a lock of its file system.

What providers send from home is read in a limited process first: what takes too much there is never read here.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.exchange.desk import DeskFolder
from tokumei.platform.exchange.desk_work import at_desk
from tokumei.platform.exchange.models import PublishedOffer, exchange_folder
from tokumei.platform.files.shared import GIVEN_UP_SECONDS, copy_of, has_store, share
from tokumei.platform.jobs import process
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ORPHAN_SECONDS
from tokumei.platform.jobs.queue import in_words

log = logging.getLogger("tokumei.exchange")
# Somebody waits for it: what is honest takes a second or two.
SECONDS = 30.0
MEMORY_BYTES = 3 * 1024**3
# In memory a document is some thirty times its text: what is smaller than this is not worth a process.
SMALL = 64 * 1024


def read_offer_apart(offer_text: str, first_release: str) -> None:
    """Refuse an offer that takes too much to read; what else is wrong with it is left to whoever reads it then."""
    _apart("try_offer", {"offer": offer_text, "release": first_release}, len(offer_text) + len(first_release))


def verify_log_apart(folder: Path) -> None:
    """Refuse a public desk whose log takes too much to verify."""
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    _apart("try_log", {"folder": str(folder)}, n_bytes)


def _apart(function: str, asked: Mapping[str, object], n_bytes: int) -> None:
    if n_bytes <= SMALL:
        return
    answer = process.run(
        f"tokumei.platform.exchange.desk_work:{function}",
        asked,
        seconds=SECONDS,
        memory_bytes=MEMORY_BYTES,
        beat=lambda _progress: True,
        is_stopping=lambda: False,
    )
    if answer.failure:
        log.warning("what came from home was refused", extra={"facts": {"failure": answer.failure}})
        raise NotAllowed(_(in_words(answer.failure)))


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
