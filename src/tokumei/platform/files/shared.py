"""Folders that every machine of a server sees.

On one machine they are folders of its disk, and nothing here does anything. Where TOKUMEI_STORE names an S3-compatible
store, a folder is one packed object there, named by its digest, and the disk of each machine has copies. The database
says which version counts, in the same transaction as what it says of the folder: no machine sees the one without the
other, and a process that froze and woke up late changes nothing. Objects are never written over.

What has an ending is one file, and shared alike. A folder may be shared in parts, each by itself. One that several
processes may want to change is changed as a copy: whoever is second has a copy of what does not count any more, is told
so, and begins anew.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from tokumei.platform.files.models import SharedFolder
from tokumei.platform.files.packed import (
    DRAFT,
    VERSION,
    delete,
    fetch,
    has_store,
    name_of,
    note,
    noted,
    object_of,
    pack,
    put,
    remove,
)
from tokumei.platform.jobs.limits import ORPHAN_SECONDS
from tokumei.platform.jobs.work import Overtaken

# A version may be replaced and removed while it is being fetched: then the next one is.
TRIES = 3
# What is being shared for so long was given up: the largest file takes minutes.
GIVEN_UP_SECONDS = 60 * ORPHAN_SECONDS
# How deep below the files of the server something is shared.
DEPTHS = ("*", "*/*", "*/*/*")


def share(folder: Path, copy: Path | None = None) -> None:
    """Publish the current state of a folder as the version that counts for all machines.

    copy: what `copy_of` gave, to take the folder's place; Overtaken tells that the folder was changed meanwhile.
    """
    if not has_store():
        return
    name = name_of(folder)
    with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed, transaction.atomic():
        version = pack(copy or folder, packed)
        known = SharedFolder.objects.select_for_update().filter(name=name).first()
        before = "" if known is None else known.version
        if copy is not None and before != noted(copy):
            raise Overtaken(name)
        # Until it counts, this says what to remove from the store if it never does.
        mark = _mark(folder, version)
        put(folder, packed, version)
        _count(name, version, is_new=copy is not None and known is None)
        if before not in ("", version):
            transaction.on_commit(lambda: delete(object_of(name, before)))
        transaction.on_commit(lambda: mark.unlink(missing_ok=True))
    if copy is None:
        note(folder, version)


def _count(name: str, version: str, *, is_new: bool) -> None:
    now = timezone.now()
    if not is_new:
        SharedFolder.objects.update_or_create(name=name, defaults={"version": version, "at": now})
        return
    try:
        with transaction.atomic():
            SharedFolder.objects.create(name=name, version=version, at=now)
    except IntegrityError:
        raise Overtaken(name) from None


def local(folder: Path) -> Path:
    """Return this machine's folder at the version that counts; one never shared as it is."""
    if has_store():
        name = name_of(folder)
        rows = SharedFolder.objects.filter(Q(name=name) | Q(name__startswith=f"{name}/"))
        for part, version in rows.values_list("name", "version"):
            _bring(Path(settings.MEDIA_ROOT) / part, part, version)
    return folder


def is_shared(folder: Path) -> bool:
    """Whether a version of a folder counts for all machines."""
    return has_store() and _counting(name_of(folder)) is not None


def copy_of(folder: Path, at: Path) -> Path:
    """Return a copy of the version that counts for one process to change; without a store, the folder itself."""
    if not has_store():
        return folder
    name = name_of(folder)
    for is_last in (False,) * (TRIES - 1) + (True,):
        version = _counting(name)
        if version is None:
            if folder.is_dir():
                shutil.copytree(folder, at)
            return at
        try:
            fetch(at, name, version)
        except FileNotFoundError:
            # As after a backup was put back: the copy of this machine may be it.
            local(folder)
            if is_last:
                raise
        else:
            break
    return at


def _bring(folder: Path, name: str, version: str) -> None:
    """Put the version that counts in the place of the copy here, if that is another."""
    for is_last in (False,) * (TRIES - 1) + (True,):
        if noted(folder) == version and folder.exists():
            return
        try:
            fetch(folder, name, version)
        except FileNotFoundError:
            if _adopt(folder, version):
                return
            newer = _counting(name)
            if newer is None:
                return
            version = newer
            if is_last:
                raise


def _counting(name: str) -> str | None:
    return SharedFolder.objects.filter(name=name).values_list("version", flat=True).first()


def _adopt(folder: Path, version: str) -> bool:
    """Put the copy here into a store that lacks it, if it is the version that counts: a backup was put back."""
    if not folder.exists():
        return False
    with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed:
        if pack(folder, packed) != version:
            return False
        put(folder, packed, version)
    note(folder, version)
    return True


def unshare(folder: Path) -> None:
    """Remove a folder with all its parts, here and from the store; other machines sweep their copies away."""
    remove(folder)
    if has_store():
        name = name_of(folder)
        for known in SharedFolder.objects.filter(Q(name=name) | Q(name__startswith=f"{name}/")):
            known.delete()
            transaction.on_commit(partial(delete, object_of(known.name, known.version)))


def sweep_copies() -> int:
    """Bring this disk up to date: copies of what is gone go, too, and so does what was put into the store in vain."""
    if not has_store():
        return 0
    root = Path(settings.MEDIA_ROOT)
    # In this order: a mark goes when its row is there to be seen.
    stamps = [path for depth in DEPTHS for path in root.glob(f"{depth}/.*{VERSION}")]
    shared_now = _marked()
    known = dict(SharedFolder.objects.values_list("name", "version"))
    n_removed = 0
    for stamp in stamps:
        folder = stamp.with_name(stamp.name[1 : -len(VERSION)])
        name = name_of(folder)
        if name in shared_now:
            continue
        if name not in known:
            remove(folder)
            n_removed += 1
        elif noted(folder) != known[name]:
            _bring(folder, name, known[name])
    for draft in [path for depth in DEPTHS for path in root.glob(f"{depth}/.*{DRAFT}*")]:
        if _age(draft) > GIVEN_UP_SECONDS:
            shutil.rmtree(draft, ignore_errors=True)
    return n_removed


def _marked() -> set[str]:
    """Name what is being shared from here, and remove from the store what was given up."""
    found = set()
    for mark in _marks().glob("*"):
        # It goes when what is shared counts.
        with suppress(FileNotFoundError):
            version, _, name = mark.read_text("utf-8").partition(" ")
            found.add(name)
            if _age(mark) > GIVEN_UP_SECONDS:
                if name and _counting(name) != version:
                    delete(object_of(name, version))
                mark.unlink()
    return found


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def sweep_shared(below: str, is_known: Callable[[str], bool]) -> int:
    """Remove folders of the store that nobody knows any more, as of uploads that broke off; says how many.

    is_known: whether the database knows of a folder's own name.
    """
    before = timezone.now() - timedelta(seconds=ORPHAN_SECONDS)
    rows = SharedFolder.objects.filter(name__startswith=f"{below}/", at__lt=before) if has_store() else []
    keys = {row.name.removeprefix(f"{below}/").partition("/")[0] for row in rows}
    forgotten = [key for key in keys if not is_known(key)]
    for key in forgotten:
        unshare(Path(settings.MEDIA_ROOT) / below / key)
    return len(forgotten)


def fetch_all(*, but: Collection[str] = ()) -> None:
    """Bring every shared folder to this machine, as before a backup, but for what lies below some."""
    for name in SharedFolder.objects.values_list("name", flat=True) if has_store() else []:
        if not any(name.startswith(f"{each}/") for each in but):
            local(Path(settings.MEDIA_ROOT) / name)


def _marks() -> Path:
    return Path(settings.MEDIA_ROOT) / ".sharing"


def _mark(folder: Path, version: str) -> Path:
    """Note what is about to be put into the store for a folder."""
    _marks().mkdir(mode=0o700, exist_ok=True)
    mark = _marks() / secrets.token_hex(6)
    mark.write_text(f"{version} {name_of(folder)}", "utf-8")
    return mark
