"""Files on disk: bytes that are read with care, and writing that never leaves half a file behind.

Gzip is unpacked up to a limit, and a file that changes while it is read is noticed.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.text import Text, counted

# Small enough that what is found out of a block stays near the processor.
BLOCK = 1024 * 1024
# Enough for the largest contest file many times over, and less than the memory of any machine in use.
UNPACK_LIMIT = 2 * 1024**3
GZIP_MAGIC = b"\x1f\x8b"


def is_gzip(path: Path) -> bool:
    """Whether a file is gzipped, by its first bytes, since a name can lie."""
    with path.open("rb") as handle:
        return handle.read(2) == GZIP_MAGIC


def is_folder(path: Path | str) -> bool:
    """Whether a path is a folder's; one that cannot be looked at is none."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def check_is_file(path: Path | str) -> Path:
    """Return the path of a readable file, or raise what is wrong with it."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError.of("a file, not a folder", file=path)
        if not path.exists():
            raise InputError.of("a file that exists", file=path)
        # A pipe or a device may never end.
        if not path.is_file():
            raise InputError.of("a regular file", file=path)
    except OSError as error:
        raise InputError.of(Text("a file that can be opened ({why})", why=error.strerror), file=path) from None
    if not os.access(path, os.R_OK):
        raise InputError.of("a file that may be read", file=path)
    return path


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Refuse a file that another process writes to while it is being read."""
    before = _fingerprint(path)
    yield
    if _fingerprint(path) != before:
        raise InputError.of("a file that does not change while it is read", file=path)


def blocks(path: Path, *, unpack_limit: int = UNPACK_LIMIT) -> Iterator[bytes]:
    """Read a file block by block, unpacking gzip on the way."""
    with unchanged(path):
        if is_gzip(path):
            yield from _unpacked(path, unpack_limit)
            return
        with path.open("rb") as handle:
            while block := handle.read(BLOCK):
                yield block


def read_bytes(path: Path, *, unpack_limit: int = UNPACK_LIMIT) -> bytes:
    """Read a whole file, unpacking gzip up to the limit."""
    return b"".join(blocks(path, unpack_limit=unpack_limit))


def _unpacked(path: Path, limit: int) -> Iterator[bytes]:
    n_unpacked = 0
    try:
        with gzip.open(path) as handle:
            while block := handle.read(BLOCK):
                n_unpacked += len(block)
                if n_unpacked > limit:
                    raise InputError.of(
                        Text("at most {n:,} bytes when unpacked", n=limit),
                        file=path,
                        value=Text("{bytes} so far", bytes=counted(n_unpacked, "byte")),
                    )
                yield block
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError.of(Text("a whole gzip file ({why})", why=error), file=path) from None


def _fingerprint(path: Path) -> tuple[int, int, int] | None:
    """Return size, time and identity of a file; None when it is gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


REMOVAL_TRIES = 10


@contextmanager
def atomic_path(target: Path | str) -> Iterator[Path]:
    """Yield a path near the target to write to; it takes the target's place only if all went well.

    The path may become a file or a folder. It has the target's name, since writers look at suffixes, in a folder of its
    own: a writer that failed may go on in the background, and must find nowhere left to leave a file. A folder takes
    the place of a folder and a file that of a file, so that a slip of the pen costs no folder.
    """
    target = Path(target)
    check_can_write(target)
    own_folder = draft_folder(target)
    own_folder.mkdir(mode=0o700)
    draft = own_folder / target.name
    try:
        yield draft
        keep_private(draft, target)
        flush_to_disk(draft)
        if target.is_dir():
            _replace_folder(draft, target)
        else:
            draft.replace(target)
    except Exception as error:
        if (told := _about_disk(error, target)) is None:
            raise
        raise told from None
    finally:
        remove_folder(own_folder)


def _about_disk(error: Exception, target: Path) -> OSError | None:
    """Name the file that a disk had no room for: Polars tells neither its name nor, always, that it was the disk."""
    is_full = f"os error {errno.ENOSPC}" in str(error) or getattr(error, "errno", None) == errno.ENOSPC
    if is_full:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
    if isinstance(error, OSError) and error.filename is None:
        return OSError(error.errno or errno.EIO, error.strerror or str(error), str(target))
    return None


def write_text(target: Path | str, text: str) -> None:
    """Write a text file atomically, in UTF-8 with the line ends as given."""
    with atomic_path(target) as draft:
        draft.write_bytes(text.encode("utf-8"))


def remove_folder(folder: Path) -> None:
    """Remove a folder, again if a file came into it meanwhile."""
    for _ in range(REMOVAL_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def keep_private(draft: Path, target: Path, *, is_secret: bool = False) -> None:
    """Restrict a file to the readers of the one that it replaces, and a secret one to its owner."""
    if not draft.is_file():
        return
    mode = stat.S_IMODE(draft.stat().st_mode)
    if target.is_file():
        mode &= stat.S_IMODE(target.stat().st_mode) | stat.S_IRUSR | stat.S_IWUSR
    draft.chmod(mode & 0o600 if is_secret else mode)


def draft_folder(target: Path) -> Path:
    """Return the name of a hidden folder beside a target that no other process uses."""
    return target.with_name(f".{secrets.token_hex(6)}.{target.name}")


def check_can_write(target: Path) -> None:
    """Check that a file could be made there."""
    if not target.parent.is_dir():
        raise InputError.of("a folder that exists", file=target.parent)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError.of("a folder that may be written to", file=target.parent)
    if not target.name:
        raise InputError.of("the name of a file", file=target)


def _replace_folder(draft: Path, target: Path) -> None:
    """Move the old folder aside, the new one in, and only then delete the old one."""
    if not draft.is_dir():
        raise InputError.of("the name of a file, not of a folder that exists", file=target)
    old = draft_folder(target)
    target.replace(old)
    try:
        draft.replace(target)
    except OSError:
        old.replace(target)
        raise
    shutil.rmtree(old)


def flush_to_disk(path: Path) -> None:
    """Force the bytes out before the rename, so that a power cut cannot leave an empty file under the name."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and bytes of all files in a folder."""
    digest = hashlib.sha256()
    listed = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for one in listed:
        if path.is_dir():
            digest.update(f"{one.relative_to(path)}\0".encode())
        with one.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
