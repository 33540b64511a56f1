"""A folder as one object of a store, named by its digest, and the copies of it on the disk of a machine.

What has an ending is one file, and packed alike. Beside a copy lies a small file that says which version it is.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import secrets
import shutil
import tarfile
import tempfile
from io import BufferedRandom
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import Storage, storages

from tokumei.core.errors import PromiseBroken

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


def delete(name: str) -> None:
    """Delete an object; what cannot be deleted is told to the operator."""
    try:
        store().delete(name)
    except Exception:
        # It costs space, and nothing else.
        log.exception("an object could not be deleted")


def _stamp(folder: Path) -> Path:
    """Return the file beside a copy that names its version."""
    return folder.with_name(f".{folder.name}{VERSION}")


def noted(folder: Path) -> str:
    """Return the version of a copy; empty where nobody noted it."""
    try:
        return _stamp(folder).read_text("ascii")
    except FileNotFoundError:
        return ""


def note(folder: Path, version: str) -> None:
    """Note which version a copy is."""
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")
    draft.write_text(version, "ascii")
    draft.replace(_stamp(folder))


def _is_file(folder: Path) -> bool:
    return bool(folder.suffix)


def put(folder: Path, packed: BufferedRandom, version: str) -> None:
    """Put a packed folder into the store; what is there already is the same."""
    if not store().exists(object_of(name_of(folder), version)):
        packed.seek(0)
        store().save(object_of(name_of(folder), version), File(packed))


def remove(folder: Path) -> None:
    """Remove a copy, with the note of its version."""
    if _is_file(folder):
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    _stamp(folder).unlink(missing_ok=True)


def pack(folder: Path, packed: BufferedRandom) -> str:
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


def fetch(folder: Path, name: str, version: str) -> None:
    """Put a version from the store in the place of the copy here; one process of a machine at a time."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.fetching").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if noted(folder) == version and folder.exists():
            return
        with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT) as packed:
            with store().open(object_of(name, version)) as source:
                shutil.copyfileobj(source, packed, BLOCK)
            packed.seek(0)
            if hashlib.file_digest(packed, "sha256").hexdigest() != version:
                raise PromiseBroken(f"{name}: the store gives other bytes than were put there.")
            packed.seek(0)
            _unpack(packed, folder)
        note(folder, version)


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
