"""A backup: everything that a server cannot make again, as of one moment, in one file or folder.

| in the backup                        | is                                                      |
|--------------------------------------|---------------------------------------------------------|
| database.sqlite3 or database.dump    | the database                                            |
| data/…                               | the data folder: files of contests, submissions, keys   |
| manifest.json                        | versions, and the size and SHA-256 of every file above  |
| manifest.sig                         | the manifest signed, by a key that is not in the backup |

The server keeps running meanwhile. Changes of phase wait until the database and the contests' folders are copied, so
that the two agree; submissions do not wait. A submission's files no longer change once the database knows of them, and
are copied after it: those that came later are swept away by the restored server.

The database is copied while in use, by SQLite's own copying or PostgreSQL's pg_dump; both give the state of one moment.
The signing key lies outside the data folder, so that no backup holds it.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

from tokumei.core.errors import InputError, NotAllowed, PromiseBroken, TokumeiError
from tokumei.core.progress import step
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path
from tokumei.platform.contests.folder_work import alone
from tokumei.platform.start import data_folder, database

KEY_VARIABLE = "TOKUMEI_BACKUP_KEY"


def key_file() -> Path:
    """Return the path of the key, unless the environment holds the key itself."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "tokumei" / "backup-key"


def sign(manifest: bytes) -> str:
    """Sign a manifest; the first time, the key is drawn."""
    return hmac.new(_known_key() or _new_key(), manifest, hashlib.sha256).hexdigest()


def is_signed(manifest: bytes, signature: str) -> bool:
    """Whether the key of this machine signed a manifest."""
    key = _known_key()
    return key is not None and hmac.compare_digest(hmac.new(key, manifest, hashlib.sha256).hexdigest(), signature)


def _known_key() -> bytes | None:
    given = os.environ.get(KEY_VARIABLE)
    if given:
        return given.encode()
    return key_file().read_bytes().strip() if key_file().is_file() else None


def _new_key() -> bytes:
    path, drawn = key_file(), secrets.token_urlsafe(48)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(drawn + "\n")
    except OSError:
        raise InputError.of("a key that backups are signed with", column=KEY_VARIABLE) from None
    return drawn.encode()


SQLITE, POSTGRESQL = "sqlite", "postgresql"
FILE_NAMES = {SQLITE: "database.sqlite3", POSTGRESQL: "database.dump"}
POSTGRESQL_PROGRAMS = Path("/usr/lib/postgresql")

# Django's settings of a database, as `environment.database` gives them.
Database = Json


class ToolFailed(TokumeiError):
    """A program of PostgreSQL is missing or failed."""


def kind_of(database: Database) -> str:
    """Return whether a database is SQLite or PostgreSQL."""
    return SQLITE if database["ENGINE"].endswith("sqlite3") else POSTGRESQL


def copy_database(database: Database, target: Path) -> None:
    """Write a copy of the database to a new file that its owner alone may read."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    if kind_of(database) == POSTGRESQL:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}", database=database)
        return
    source = Path(database["NAME"])
    if not source.is_file():
        raise InputError.of("the database of a server", file=source)
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
        # One file, with nothing left to be read from a second one.
        copy.execute("PRAGMA journal_mode=DELETE")
        if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise PromiseBroken("The copy of the database is damaged; so may the database be.")


def check_can_restore(database: Database, kind: str) -> None:
    """Refuse to put a copy where another database is, or into one of the other kind."""
    if kind_of(database) != kind:
        raise InputError.of(f"the address of a {kind} database, as in the backup", column="DATABASE_URL")
    if kind == SQLITE and Path(database["NAME"]).exists():
        raise NotAllowed(f"{database['NAME']} is there already; a backup is put where nothing is.")
    if kind == POSTGRESQL and _n_tables(database):
        raise NotAllowed(f"The database {database['NAME']} has tables already; a backup is put into an empty one.")


def restore_database(database: Database, copy: Path) -> None:
    """Put a copy into an empty database; SQLite's is moved to its place."""
    if kind_of(database) == SQLITE:
        shutil.move(copy, database["NAME"])
        return
    _run("pg_restore", "--no-owner", "--no-privileges", "--single-transaction", str(copy), database=database)


def forget_jobs(database: Database) -> None:
    """Drop every job that is not done from a database that was just put back."""
    orders = (
        "UPDATE contests_submission SET job_id = NULL WHERE job_id IN (SELECT id FROM jobs_job WHERE NOT is_done)",
        "DELETE FROM jobs_job WHERE NOT is_done",
    )
    if kind_of(database) == SQLITE:
        with closing(sqlite3.connect(database["NAME"])) as put_back, put_back:
            for order in orders:
                put_back.execute(order)
        return
    import psycopg

    place = {"host": database["HOST"], "port": database["PORT"], "user": database["USER"], "dbname": database["NAME"]}
    with psycopg.connect(**place, password=database["PASSWORD"]) as connection:
        for order in orders:
            connection.execute(order)


def _n_tables(database: Database) -> int:
    import psycopg

    place = {"host": database["HOST"], "port": database["PORT"], "user": database["USER"], "dbname": database["NAME"]}
    try:
        with psycopg.connect(**place, password=database["PASSWORD"]) as connection:
            found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    except psycopg.OperationalError:
        raise InputError.of("the address of a database that answers", column="DATABASE_URL") from None
    return 0 if found is None else int(found[0])


def _run(program: str, *arguments: str, database: Database) -> None:
    """Run a program of PostgreSQL; what it needs to connect goes by the environment, which others cannot read."""
    connection = {
        "PGHOST": database["HOST"],
        "PGPORT": database["PORT"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
    }
    known = {name: value for name, value in connection.items() if value}
    # pg_restore writes to its output unless it is told the name.
    named = [*arguments, f"--dbname={database['NAME']}"]
    done = subprocess.run([_find(program), *named], env=os.environ | known, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise ToolFailed(f"{program} failed: {done.stderr.strip()[-500:] or 'it does not say why'}")


def _find(program: str) -> str:
    """Find a program of PostgreSQL, the newest where Debian has several."""
    versions = sorted(POSTGRESQL_PROGRAMS.glob(f"*/bin/{program}"), key=lambda path: path.parts[-3].zfill(4))
    found = str(versions[-1]) if versions else shutil.which(program)
    if found is None:
        raise ToolFailed(f"{program} is not installed: it comes with PostgreSQL's client, in the server's version.")
    return found


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


def _put_all(data: Path, chosen: Json, put: Put, listed: dict[str, Listed]) -> None:
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
