"""The bytes of an input file, read with care: gzip unpacked up to a limit, changes noticed."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.core.wording import counted

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
