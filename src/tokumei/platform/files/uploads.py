"""Files that teams hand in: taken with care, whole or not at all.

A file is streamed into a folder of its own that this process holds a lock on, forced to the disk, and given its final
name before the database hears of it. What a process that died left behind is neither locked nor known to the database,
and is swept away. A zip is unpacked here, file by file; what is gzipped stays so, but is measured first.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError
from django.utils.translation import gettext as _

from tokumei.contest.edition import FileRole
from tokumei.core.errors import InputError
from tokumei.core.text import Json, Text
from tokumei.data.files.disk import GZIP_MAGIC, blocks
from tokumei.platform.files.incoming import FULL
from tokumei.platform.files.shared import share, unshare
from tokumei.platform.jobs.process import ORPHAN_SECONDS
from tokumei.platform.messages import DiskFull

log = logging.getLogger("tokumei.uploads")
BLOCK = 1024 * 1024
ZIP_MAGIC = b"PK\x03\x04"
WORKBOOK_MEMBER = "xl/workbook.xml"
# However small the data, files may be this large.
LEAST_LIMIT = 8 * 1024 * 1024
# A generalized cell may take many times the room of the value it stands for. There is no limit on how much smaller a
# file is when packed: a release of stars alone packs as well as any bomb, and is unpacked to this limit at most.
LIMIT_FACTOR = 20
PLAIN_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_MEMBERS = 20


@dataclass(frozen=True)
class Stored:
    """One file on the disk: its name there, its SHA-256 and its size."""

    name: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Taken:
    """What was handed in, by the names of the edition's files, in a folder named by the key."""

    key: str
    files: dict[str, Json]


def uploads_folder() -> Path:
    """Where the files of all submissions lie."""
    return Path(settings.MEDIA_ROOT) / "uploads"


def size_limit(data_folder: Path) -> int:
    """Return how many bytes a file may unpack to: enough for any release of this data."""
    sizes = [path.stat().st_size for path in data_folder.iterdir() if path.is_file()] if data_folder.is_dir() else []
    return max(LEAST_LIMIT, LIMIT_FACTOR * max(sizes, default=0))


@contextmanager
def taking(
    key: str,
    uploads: Mapping[str, UploadedFile[bytes]],
    roles: Sequence[FileRole],
    limit: int,
    *,
    takes_workbooks: bool = False,
) -> Iterator[Taken]:
    """Store what was handed in; it stays if the enclosed work succeeds, and is gone without a trace if not.

    takes_workbooks: whether an Excel workbook is stored as it is, to be converted, where it is a bad zip otherwise.
    """
    draft, final = uploads_folder() / f".{key}", uploads_folder() / key
    held = -1
    try:
        with telling_full_disk():
            uploads_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.mkdir(mode=0o700)
            held = os.open(draft, os.O_RDONLY | os.O_DIRECTORY)
            # Held until the database knows of the folder; a rename does not end it, a death does.
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stored = _store(uploads, roles, draft, limit, takes_workbooks=takes_workbooks)
            os.fsync(held)
            draft.rename(final)
            _flush(uploads_folder())
        share(final)
        yield Taken(key, {name: asdict(file) for name, file in stored.items()})
    except DatabaseError:
        # Whether the row is there is not known. If it is not, the files are swept away later.
        shutil.rmtree(draft, ignore_errors=True)
        raise
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        unshare(final)
        raise
    finally:
        if held >= 0:
            os.close(held)


@contextmanager
def telling_full_disk() -> Iterator[None]:
    """Report a full disk in words."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise DiskFull(
                _("The server has no space left. Nothing was stored and no attempt was counted; try again later.")
            ) from None
        raise


def sweep_orphans(is_known: Callable[[str], bool]) -> int:
    """Remove what uploads that broke off left behind; says how many.

    is_known: whether the database knows of a key.
    """
    if not uploads_folder().is_dir():
        return 0
    n_removed = 0
    for folder in uploads_folder().iterdir():
        if _is_orphan(folder, is_known):
            shutil.rmtree(folder, ignore_errors=True)
            n_removed += 1
    if n_removed:
        log.info("orphans removed", extra={"facts": {"uploads": n_removed}})
    return n_removed


def _is_orphan(folder: Path, is_known: Callable[[str], bool]) -> bool:
    try:
        if time.time() - folder.stat().st_mtime < ORPHAN_SECONDS:
            # So young that its process may not have locked it yet.
            return False
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return not is_known(folder.name)
    except BlockingIOError:
        return False
    finally:
        os.close(held)


def _store(
    uploads: Mapping[str, UploadedFile[bytes]],
    roles: Sequence[FileRole],
    folder: Path,
    limit: int,
    *,
    takes_workbooks: bool,
) -> dict[str, Stored]:
    given = list(uploads.values())
    if len(given) == 1 and _starts_with(given[0], ZIP_MAGIC) and not (takes_workbooks and _is_workbook(given[0])):
        return _store_zip(given[0], roles, folder, limit)
    stored = {}
    for role in roles:
        file = uploads.get(role.name)
        if file is None and len(roles) == len(given) == 1:
            # One file for one role may come under any name.
            file = given[0]
        if file is None:
            expected = Text("the file {file}: {what}", file=role.file_name, what=role.holds)
            raise InputError.of(expected, file=role.file_name)
        stored[role.name] = _store_file(file.chunks(BLOCK), role, folder, limit)
    return stored


def write_privately(chunks: Iterable[bytes], path: Path, *, most: int | None = None) -> tuple[int, str]:
    """Write what is sent to a new file that only the server can read; return its length and SHA-256."""
    n_bytes, digest = 0, hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        for chunk in chunks:
            n_bytes += len(chunk)
            if most is not None and n_bytes > most:
                raise InputError.of(Text("a file of at most {n:,} bytes", n=most), file=path.name, value="more")
            digest.update(chunk)
            handle.write(chunk)
        handle.flush()
        os.fsync(handle.fileno())
    return n_bytes, digest.hexdigest()


def _store_file(chunks: Iterator[bytes], role: FileRole, folder: Path, limit: int) -> Stored:
    """Write one file, its name made here and not by the sender."""
    path = folder / role.file_name
    n_bytes, digest = write_privately(chunks, path, most=limit)
    if n_bytes == 0:
        raise InputError.of("a file that is not empty", file=role.file_name)
    if _begins(path, GZIP_MAGIC):
        _measure_gzip(path, limit)
        path = path.rename(path.with_name(f"{path.name}.gz"))
    return Stored(path.name, digest, n_bytes)


def _measure_gzip(path: Path, limit: int) -> None:
    """Refuse what unpacks to too much, before anything reads it for good."""
    try:
        for _block in blocks(path, unpack_limit=limit):
            pass
    except InputError as error:
        raise InputError.of(error.faults[0].expected, file=path.name, value=error.faults[0].value) from None


def _store_zip(file: UploadedFile[bytes], roles: Sequence[FileRole], folder: Path, limit: int) -> dict[str, Stored]:
    """Unpack the files of the edition from a zip that holds them and nothing else."""
    try:
        with zipfile.ZipFile(cast("IO[bytes]", _InBlocks(file))) as archive:
            members = _members(archive, roles, limit)
            return {
                role.name: _store_file(_unpacked(archive, members[role.name], limit), role, folder, limit)
                for role in roles
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise InputError.of("a whole zip file without a password", file="zip") from None


def _is_workbook(file: UploadedFile[bytes]) -> bool:
    """Whether a zip is an Excel workbook, by the one member that every workbook has."""
    try:
        with zipfile.ZipFile(cast("IO[bytes]", _InBlocks(file))) as archive:
            return WORKBOOK_MEMBER in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return False
    finally:
        file.seek(0)


class _InBlocks:
    """A file that gives at most one block at a time: a zip's directory is read at once, and may list millions."""

    def __init__(self, file: UploadedFile[bytes]) -> None:
        # A Django file reads, seeks and tells like any other.
        self.seek, self.tell, self.seekable, self._read = file.seek, file.tell, file.seekable, file.read

    def read(self, n_bytes: int = -1) -> bytes:
        """Read a block; whoever wants more has a zip that is none of ours."""
        block = self._read(min(n_bytes, BLOCK + 1) if n_bytes >= 0 else BLOCK + 1)
        if len(block) > BLOCK:
            raise zipfile.BadZipFile
        return bytes(block)


def _members(archive: zipfile.ZipFile, roles: Sequence[FileRole], limit: int) -> dict[str, zipfile.ZipInfo]:
    """Find each role's file by its plain name; anything else in the zip is refused, hostile or not."""
    wanted = " and ".join(role.file_name for role in roles)
    if len(archive.infolist()) > MOST_MEMBERS:
        raise InputError.of(Text("a zip that holds {names} and nothing else", names=wanted), file="zip")
    names = {name: role.name for role in roles for name in (role.file_name, f"{role.file_name}.gz")}
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        # orig_filename is the name before Python cut it at a NUL and turned slashes.
        name = names.get(member.filename) if member.filename == member.orig_filename else None
        is_plain = not member.is_dir() and (member.external_attr >> 16) & 0o170000 in (0, 0o100000)
        is_plain = is_plain and member.compress_type in PLAIN_PACKING
        if name is None or name in found or not is_plain:
            raise InputError.of(
                Text("a zip that holds {names} and nothing else", names=wanted),
                file="zip",
                value=member.orig_filename[:100],
            )
        if member.file_size > limit:
            raise InputError.of(Text("at most {n:,} bytes when unpacked", n=limit), file=member.filename)
        found[name] = member
    for role in roles:
        if role.name not in found:
            raise InputError.of(
                Text("a zip that holds {names}", names=wanted), file="zip", value="no " + role.file_name
            )
    return found


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> Iterator[bytes]:
    """Read a member; how large it says it is may be a lie, so that what comes out is counted."""
    n_bytes = 0
    with archive.open(member) as handle:
        while chunk := handle.read(BLOCK):
            n_bytes += len(chunk)
            if n_bytes > limit:
                raise InputError.of(Text("at most {n:,} bytes when unpacked", n=limit), file=member.filename)
            yield chunk


def _starts_with(file: UploadedFile[bytes], magic: bytes) -> bool:
    file.seek(0)
    start = file.read(len(magic))
    file.seek(0)
    return bool(start == magic)


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as handle:
        return handle.read(len(magic)) == magic


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
