"""Folders that every machine of a server sees.

On one machine they are folders of its disk, and nothing here does anything. Where TOKUMEI_STORE names an S3-compatible
store, a folder is one packed object there, named by its digest, and the disk of each machine has copies; beside a copy
lies a small file that says which version it is. The database says which version counts, in the same transaction as what
it says of the folder: no machine sees the one without the other, and a process that froze and woke up late changes
nothing. Objects are never written over.

What has an ending is one file, and shared alike. A folder may be shared in parts, each by itself. One that several
processes may want to change is changed as a copy: whoever is second has a copy of what does not count any more, is told
so, and begins anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import secrets
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta
from functools import partial
from io import BufferedRandom
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import Storage, storages
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from tokumei.core.errors import PromiseBroken
from tokumei.platform.files.models import SharedFolder
from tokumei.platform.jobs.process import ORPHAN_SECONDS
from tokumei.platform.jobs.queue import Overtaken

log = logging.getLogger("tokumei.store")
STORE = "shared"
BLOCK = 1024 * 1024
# How the names end of the note of a version, and of a folder that is being unpacked.
VERSION, DRAFT = ".version", ".new"


def has_store() -> bool:
    """Whether files are shared by a store rather than by a disk."""
    return STORE in settings.STORAGES


def store() -> Storage:
    """Return the store."""
    return storages[STORE]


def name_of(folder: Path) -> str:
    """Name a folder alike on all machines: by its place below the files of the server."""
    return folder.relative_to(settings.MEDIA_ROOT).as_posix()


def object_of(name: str, version: str) -> str:
    """Name the object of one version."""
    return f"{name}/{version}.tar"


def _delete_object(name: str) -> None:
    """Delete an object; what cannot be deleted is told to the operator."""
    try:
        store().delete(name)
    except Exception:
        # It costs space, and nothing else.
        log.exception("an object could not be deleted")


def _stamp(folder: Path) -> Path:
    """Return the file beside a copy that names its version."""
    return folder.with_name(f".{folder.name}{VERSION}")


def _noted_version(folder: Path) -> str:
    """Return the version of a copy; empty where nobody noted it."""
    try:
        return _stamp(folder).read_text("ascii")
    except FileNotFoundError:
        return ""


def _note_version(folder: Path, version: str) -> None:
    """Note which version a copy is."""
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")
    draft.write_text(version, "ascii")
    draft.replace(_stamp(folder))


def _is_file(folder: Path) -> bool:
    return bool(folder.suffix)


def _put_object(folder: Path, packed: BufferedRandom, version: str) -> None:
    """Put a packed folder into the store; what is there already is the same."""
    if not store().exists(object_of(name_of(folder), version)):
        packed.seek(0)
        store().save(object_of(name_of(folder), version), File(packed))


def _remove_copy(folder: Path) -> None:
    """Remove a copy, with the note of its version."""
    if _is_file(folder):
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    _stamp(folder).unlink(missing_ok=True)


def _pack(folder: Path, packed: BufferedRandom) -> str:
    """Pack a folder or a file, the same bytes for the same files, and give the digest."""
    top, paths = (folder.parent, [folder]) if _is_file(folder) else (folder, sorted(folder.rglob("*")))
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            member = archive.gettarinfo(path, path.relative_to(top).as_posix())
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


def _fetch_object(folder: Path, name: str, version: str) -> None:
    """Put a version from the store in the place of the copy here; one process of a machine at a time."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.fetching").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _noted_version(folder) == version and folder.exists():
            return
        with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed:
            with store().open(object_of(name, version)) as source:
                shutil.copyfileobj(source, packed, BLOCK)
            packed.seek(0)
            if hashlib.file_digest(packed, "sha256").hexdigest() != version:
                raise PromiseBroken(f"{name}: the store gives other bytes than were put there.")
            packed.seek(0)
            _unpack(packed, folder)
        _note_version(folder, version)


def _unpack(packed: BufferedRandom, folder: Path) -> None:
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=DRAFT, dir=folder.parent))
    old = draft.with_name(f"{draft.name}.old")
    try:
        with tarfile.open(fileobj=packed, mode="r") as archive:
            archive.extractall(draft, filter="data")
        if _is_file(folder):
            (draft / folder.name).replace(folder)
            return
        if folder.exists():
            # Whoever has a file of it open reads on.
            folder.rename(old)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


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
        version = _pack(copy or folder, packed)
        known = SharedFolder.objects.select_for_update().filter(name=name).first()
        before = "" if known is None else known.version
        if copy is not None and before != _noted_version(copy):
            raise Overtaken(name)
        # Until it counts, this says what to remove from the store if it never does.
        mark = _mark(folder, version)
        _put_object(folder, packed, version)
        _count(name, version, is_new=copy is not None and known is None)
        if before not in ("", version):
            transaction.on_commit(lambda: _delete_object(object_of(name, before)))
        transaction.on_commit(lambda: mark.unlink(missing_ok=True))
    if copy is None:
        _note_version(folder, version)


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
            _fetch_object(at, name, version)
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
        if _noted_version(folder) == version and folder.exists():
            return
        try:
            _fetch_object(folder, name, version)
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
        if _pack(folder, packed) != version:
            return False
        _put_object(folder, packed, version)
    _note_version(folder, version)
    return True


def unshare(folder: Path) -> None:
    """Remove a folder with all its parts, here and from the store; other machines sweep their copies away."""
    _remove_copy(folder)
    if has_store():
        name = name_of(folder)
        for known in SharedFolder.objects.filter(Q(name=name) | Q(name__startswith=f"{name}/")):
            known.delete()
            transaction.on_commit(partial(_delete_object, object_of(known.name, known.version)))


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
            _remove_copy(folder)
            n_removed += 1
        elif _noted_version(folder) != known[name]:
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
                    _delete_object(object_of(name, version))
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
