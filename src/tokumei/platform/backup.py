"""A backup: everything that a server cannot make again, as of one moment, in one file or folder.

| in the backup                        | is                                                      |
|--------------------------------------|---------------------------------------------------------|
| database.sqlite3 or database.dump    | the database                                            |
| data/…                               | the data folder: files of contests, submissions, keys   |
| manifest.json                        | versions, and the size and SHA-256 of every file above  |
| manifest.sig                         | the manifest signed, by a key that is not in the backup |

The server goes on meanwhile. Changes of phase wait until the database and the contests' folders are copied, so that
the two tell the same; submissions do not wait. A submission's files lie still once the database knows of them, and are
copied after it: those that came later are swept away by the restored server.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.files.atomic import atomic_path
from tokumei.platform.backup_key import sign
from tokumei.platform.contests.folder_work import alone
from tokumei.platform.database_copy import FILE_NAMES, copy_database, kind_of
from tokumei.platform.environment import data_folder, database

FORMAT = 1
MANIFEST, SIGNATURE, DATA = "manifest.json", "manifest.sig", "data"
# What the server makes again by itself, mail that was sent (its links let in who has them), and the workbench, whose
# files are promised to be deleted within a day.
LEFT_OUT = ("static", "mail", "workers", "files/figures", "files/workbench", "files/exchange/rooms")
BLOCK = 1024 * 1024


@dataclass(frozen=True)
class Backup:
    """What a backup holds: the kind of its database, and how many files and bytes there are."""

    out: Path
    database: str
    n_files: int
    n_bytes: int


@dataclass(frozen=True)
class Listed:
    """A file as the manifest lists it."""

    sha256: str
    n_bytes: int


# Takes a name in the backup, the open file, its size, its time and its mode.
Put = Callable[[str, IO[bytes], os.stat_result], Listed]


def back_up(out: Path) -> Backup:
    """Write a backup of the server whose folder the environment names to a new file or folder."""
    data = data_folder()
    if not data.is_dir():
        raise InputError.of("the folder of a server", file=data)
    if out.exists():
        raise InputError.of("a name that is free: a backup replaces nothing", file=out)
    if data in out.resolve().parents:
        raise InputError.of("a place outside the folder that is backed up", file=out)
    chosen = database(data)
    listed: dict[str, Listed] = {}
    with atomic_path(out) as draft, _writing(draft) as put:
        _put_all(data, chosen, put, listed)
        manifest = {
            "format": FORMAT,
            "tokumei": version("tokumei"),
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "database": kind_of(chosen),
            # A contest may have folders with nothing in them, which a copy of files alone would lose.
            "folders": _folders_below(data),
            "files": {name: asdict(file) for name, file in sorted(listed.items())},
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
        for name, content in ((MANIFEST, text), (SIGNATURE, sign(text).encode())):
            with tempfile.TemporaryFile() as file:
                file.write(content)
                file.flush()
                file.seek(0)
                put(name, file, os.fstat(file.fileno()))
    return Backup(out, kind_of(chosen), len(listed), sum(file.n_bytes for file in listed.values()))


def _put_all(data: Path, chosen: dict[str, Any], put: Put, listed: dict[str, Listed]) -> None:
    contests = data / "files" / "contests"
    with ExitStack() as held:
        for folder in sorted(contests.glob("[!.]*")):
            held.enter_context(alone(folder))
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / FILE_NAMES[kind_of(chosen)]
            with step("database"):
                copy_database(chosen, copy)
            _put_file(copy.name, copy, put, listed)
        _put_files(data, _files_below(contests), put, listed)
    known = {Path(chosen["NAME"]).name} if kind_of(chosen) == "sqlite" else set()
    rest = [path for path in _files_below(data) if contests not in path.parents and not _is_left_out(data, path, known)]
    _put_files(data, rest, put, listed)


def _put_files(data: Path, paths: list[Path], put: Put, listed: dict[str, Listed]) -> None:
    with step("files", len(paths)) as bar:
        for path in paths:
            _put_file(f"{DATA}/{path.relative_to(data).as_posix()}", path, put, listed)
            bar.advance()


def _put_file(name: str, path: Path, put: Put, listed: dict[str, Listed]) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        # Swept away since it was listed: the database does not know of it.
        return
    with os.fdopen(descriptor, "rb") as file:
        listed[name] = put(name, file, os.fstat(descriptor))


def _files_below(folder: Path) -> list[Path]:
    """List plain files; those that begin with a dot, or lie in such a folder, are being written or hold locks."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [Path(place) / name for name in sorted(files) if not name.startswith(".")]
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
    return found


def _folders_below(data: Path) -> list[str]:
    found = []
    for place, folders, _ in os.walk(data):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [f"{DATA}/{(Path(place) / name).relative_to(data).as_posix()}" for name in folders]
    return [name for name in found if not _is_below(name.removeprefix(f"{DATA}/"), LEFT_OUT)]


def _is_left_out(data: Path, path: Path, database_names: set[str]) -> bool:
    name = path.relative_to(data).as_posix()
    # SQLite keeps two files beside its own while it is in use.
    return _is_below(name, LEFT_OUT) or any(name == one or name.startswith(f"{one}-") for one in database_names)


def _is_below(name: str, folders: tuple[str, ...]) -> bool:
    return any(f"{name}/".startswith(f"{folder}/") for folder in folders)


@contextmanager
def _writing(out: Path) -> Iterator[Put]:
    """Open a folder, or an archive where the name ends so, readable by its owner alone."""
    if out.name.endswith((".tar.gz", ".tgz")):
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive:
            yield lambda name, source, status: _put_packed(archive, name, source, status)
    else:
        out.mkdir(mode=0o700)
        yield lambda name, source, status: _put_copy(out, name, source, status)


def _put_packed(archive: tarfile.TarFile, name: str, source: IO[bytes], status: os.stat_result) -> Listed:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = status.st_size, int(status.st_mtime), status.st_mode & 0o755
    reader = _Digesting(source, status.st_size)
    archive.addfile(member, reader)
    return reader.listed()


def _put_copy(out: Path, name: str, source: IO[bytes], status: os.stat_result) -> Listed:
    path = out / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    reader = _Digesting(source, status.st_size)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
        shutil.copyfileobj(reader, target, BLOCK)
    path.chmod(status.st_mode & 0o755)
    os.utime(path, (status.st_mtime, status.st_mtime))
    return reader.listed()


class _Digesting(io.RawIOBase):
    """Reads a file up to the size it had, and digests what was read."""

    def __init__(self, source: IO[bytes], size: int) -> None:
        super().__init__()
        self._source, self._left = source, size
        self._digest, self._n_bytes = hashlib.sha256(), 0

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        block = self._source.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(block)
        self._digest.update(block)
        self._n_bytes += len(block)
        return block

    def listed(self) -> Listed:
        """Return the file's entry for the manifest."""
        return Listed(self._digest.hexdigest(), self._n_bytes)
