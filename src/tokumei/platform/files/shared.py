"""Folders that every machine of a server sees.

On one machine they are folders of its disk, and nothing here does anything. Where TOKUMEI_STORE names an S3-compatible
store, a folder is one packed object there, named by its digest, and the disk of each machine has copies. The database
says which version counts, in the same transaction as what it says of the folder: no machine sees the one without the
other, and a process that froze and woke up late changes nothing. Objects are never written over.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import secrets
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from datetime import timedelta
from io import BufferedRandom
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import Storage, storages
from django.db import transaction
from django.utils import timezone

from tokumei.core.errors import PromiseBroken
from tokumei.platform.files.models import SharedFolder
from tokumei.platform.jobs.limits import ORPHAN_SECONDS

log = logging.getLogger("tokumei.store")
STORE = "shared"
BLOCK = 1024 * 1024
# A version may be replaced and removed while it is being fetched: then the next one is.
TRIES = 3


def has_store() -> bool:
    """Whether files are shared by a store rather than by a disk."""
    return STORE in settings.STORAGES


def share(folder: Path) -> None:
    """Let a folder as it is now be the version that counts, for all machines."""
    if not has_store():
        return
    name = _name(folder)
    with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed:
        version = _pack(folder, packed)
        if not _store().exists(_object(name, version)):
            packed.seek(0)
            _store().save(_object(name, version), File(packed))
    with transaction.atomic():
        known = SharedFolder.objects.select_for_update().filter(name=name).first()
        SharedFolder.objects.update_or_create(name=name, defaults={"version": version, "at": timezone.now()})
        if known is not None and known.version != version:
            transaction.on_commit(lambda: _delete(_object(name, known.version)))
    _note(folder, version)


def local(folder: Path) -> Path:
    """Give a folder of this machine with the version in it that counts; one that was never shared as it is."""
    if not has_store():
        return folder
    name = _name(folder)
    for is_last in (False,) * (TRIES - 1) + (True,):
        version = SharedFolder.objects.filter(name=name).values_list("version", flat=True).first()
        if version is None or (_noted(folder) == version and folder.is_dir()):
            return folder
        try:
            _fetch(folder, name, version)
        except FileNotFoundError:
            if _adopt(folder, name, version):
                return folder
            if is_last:
                raise
    return folder


def _adopt(folder: Path, name: str, version: str) -> bool:
    """Put the copy here into a store that lacks it, if it is the version that counts: a backup was put back."""
    if not folder.is_dir():
        return False
    with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed:
        if _pack(folder, packed) != version:
            return False
        packed.seek(0)
        _store().save(_object(name, version), File(packed))
    _note(folder, version)
    return True


def unshare(folder: Path) -> None:
    """Remove a folder, here and from the store; other machines' copies are of no use without their row."""
    shutil.rmtree(folder, ignore_errors=True)
    if has_store():
        _stamp(folder).unlink(missing_ok=True)
        known = SharedFolder.objects.filter(name=_name(folder)).first()
        if known is not None:
            known.delete()
            transaction.on_commit(lambda: _delete(_object(known.name, known.version)))


def sweep_shared(below: str, is_known: Callable[[str], bool]) -> int:
    """Remove folders of the store that nobody knows any more, as of uploads that broke off; says how many.

    is_known: whether the database knows of a folder's own name.
    """
    before = timezone.now() - timedelta(seconds=ORPHAN_SECONDS)
    rows = SharedFolder.objects.filter(name__startswith=f"{below}/", at__lt=before) if has_store() else []
    forgotten = [row.name for row in rows if not is_known(row.name.rpartition("/")[2])]
    for name in forgotten:
        unshare(Path(settings.MEDIA_ROOT) / name)
    return len(forgotten)


def fetch_all() -> None:
    """Bring every shared folder to this machine, as before a backup."""
    for name in SharedFolder.objects.values_list("name", flat=True) if has_store() else []:
        local(Path(settings.MEDIA_ROOT) / name)


def _store() -> Storage:
    return storages[STORE]


def _name(folder: Path) -> str:
    return folder.relative_to(settings.MEDIA_ROOT).as_posix()


def _object(name: str, version: str) -> str:
    return f"{name}/{version}.tar"


def _delete(name: str) -> None:
    try:
        _store().delete(name)
    except Exception:
        # It costs space, and nothing else.
        log.exception("an object could not be deleted")


def _stamp(folder: Path) -> Path:
    """Give the file beside a copy that says which version it is."""
    return folder.with_name(f".{folder.name}.version")


def _noted(folder: Path) -> str:
    try:
        return _stamp(folder).read_text("ascii")
    except FileNotFoundError:
        return ""


def _note(folder: Path, version: str) -> None:
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")
    draft.write_text(version, "ascii")
    draft.replace(_stamp(folder))


def _pack(folder: Path, packed: BufferedRandom) -> str:
    """Pack a folder, the same bytes for the same files, and give the digest."""
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            member = archive.gettarinfo(path, path.relative_to(folder).as_posix())
            # All of it is the server's alone; a backup that was put back packs to the same bytes.
            member.mtime = member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o700 if member.isdir() else 0o600
            if member.isreg():
                with path.open("rb") as content:
                    archive.addfile(member, content)
            elif member.isdir():
                archive.addfile(member)
    packed.seek(0)
    return hashlib.file_digest(packed, "sha256").hexdigest()


def _fetch(folder: Path, name: str, version: str) -> None:
    """Put a version from the store in the place of the copy here; one process of a machine at a time."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.fetching").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _noted(folder) == version and folder.is_dir():
            return
        with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed:
            with _store().open(_object(name, version)) as source:
                shutil.copyfileobj(source, packed, BLOCK)
            packed.seek(0)
            if hashlib.file_digest(packed, "sha256").hexdigest() != version:
                raise PromiseBroken(f"{name}: the store gives other bytes than were put there.")
            packed.seek(0)
            _unpack(packed, folder)
        _note(folder, version)


def _unpack(packed: BufferedRandom, folder: Path) -> None:
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    old = draft.with_name(f"{draft.name}.old")
    try:
        with tarfile.open(fileobj=packed, mode="r") as archive:
            archive.extractall(draft, filter="data")
        if folder.exists():
            # Whoever has a file of it open reads on.
            folder.rename(old)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
