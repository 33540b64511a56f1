"""Putting a backup back where nothing is: every file is checked against the manifest before the server gets it."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import IO

from tokumei.core.errors import InputError, NotAllowed, PromiseBroken
from tokumei.core.progress import step
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path
from tokumei.platform.backup import (
    BLOCK,
    DATA,
    FILE_NAMES,
    FORMAT,
    KEY_VARIABLE,
    MANIFEST,
    SIGNATURE,
    Backup,
    Listed,
    check_can_restore,
    forget_jobs,
    is_signed,
    key_file,
    kind_of,
    restore_database,
)
from tokumei.platform.start import database

MOST_MANIFEST_BYTES = 256 * 1024 * 1024


def restore(backup: Path, data: Path, *, is_trusted: bool = False) -> Backup:
    """Put a backup into a new folder, and its database where DATABASE_URL says; all of it or nothing.

    The database goes last: should that fail, nothing else is there either. Work that was on the list is forgotten and
    made anew from what the database says of submissions, contests and offers: no row of a backup is taken for an order.

    is_trusted: take a backup that the key of this machine did not sign.
    """
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise NotAllowed(f"{data} is not empty; a backup is put where nothing is.")
    with atomic_path(data) as draft:
        draft.mkdir(mode=0o700)
        with step("files"), _telling_damage(backup):
            found = _unpack(backup, draft)
        manifest = _read_manifest(backup, draft)
        _verify(manifest, found)
        if not is_trusted:
            _check_signature(draft)
        kind = str(manifest["database"])
        place = database(data)
        check_can_restore(place, kind)
        copy = draft / FILE_NAMES[kind]
        _lay_out(draft, manifest["folders"])
        if kind_of(place) == "sqlite" and Path(place["NAME"]).parent == data.resolve():
            # Moved into its place together with everything else.
            place = place | {"NAME": str(draft / Path(place["NAME"]).name)}
        with step("database"):
            restore_database(place, copy)
            forget_jobs(place)
        copy.unlink(missing_ok=True)
    listed = [file for name, file in found.items() if name not in (MANIFEST, SIGNATURE)]
    return Backup(data, kind, len(listed), sum(file.n_bytes for file in listed))


def _check_signature(draft: Path) -> None:
    path = draft / SIGNATURE
    if not path.is_file() or not is_signed((draft / MANIFEST).read_bytes(), path.read_text("ascii", "replace").strip()):
        raise NotAllowed(
            f"The backup is not signed by this machine's key ({key_file()} or {KEY_VARIABLE}): "
            "bring the key, or say --trust if nobody else could have changed it."
        )


def _unpack(backup: Path, draft: Path) -> dict[str, Listed]:
    """Write the files of a backup into a folder, by names that cannot lead out of it; give what they are."""
    found: dict[str, Listed] = {}
    for name, file, time, mode in _members(backup):
        if not _is_plain(name) or name in found:
            raise InputError.of("a backup whose files have plain names, each once", file=backup, value=name)
        path = draft / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest, n_bytes = hashlib.sha256(), 0
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            while block := file.read(BLOCK):
                digest.update(block)
                n_bytes += len(block)
                target.write(block)
        path.chmod(mode & 0o644 | 0o600)
        os.utime(path, (time, time))
        found[name] = Listed(digest.hexdigest(), n_bytes)
    return found


def _members(backup: Path) -> Iterator[tuple[str, IO[bytes], float, int]]:
    """Yield every file of a backup: its name, content, time and mode; anything but files is refused."""
    if backup.is_dir():
        for path in sorted(backup.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise InputError.of("a backup of plain files", file=path)
            if path.is_file():
                with path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    yield path.relative_to(backup).as_posix(), file, status.st_mtime, status.st_mode
        return
    if not backup.is_file():
        raise InputError.of("a backup", file=backup)
    with tarfile.open(backup, "r:gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                raise InputError.of("a backup of plain files", file=backup, value=member.name)
            yield member.name, content, float(member.mtime), member.mode


@contextmanager
def _telling_damage(backup: Path) -> Iterator[None]:
    """Report a truncated or foreign archive in words."""
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError.of("a whole backup, as tokumei backup wrote it", file=backup) from None


def _is_plain(name: str) -> bool:
    """Whether a name stays in the folder: relative, without `..`, and written as we write names."""
    parts = PurePosixPath(name).parts
    is_ours = name in (MANIFEST, SIGNATURE, *FILE_NAMES.values()) or (len(parts) > 1 and parts[0] == DATA)
    is_tame = "\0" not in name and "\\" not in name and ".." not in parts and PurePosixPath(*parts).as_posix() == name
    return bool(parts) and is_ours and is_tame


def _read_manifest(backup: Path, draft: Path) -> Json:
    path = draft / MANIFEST
    if not path.is_file() or path.stat().st_size > MOST_MANIFEST_BYTES:
        raise InputError.of("a backup with its manifest", file=backup)
    try:
        manifest = dict(json.loads(path.read_bytes()))
        is_known = manifest["format"] == FORMAT and manifest["database"] in FILE_NAMES
        manifest["folders"] = [str(name) for name in manifest["folders"]]
        is_known = is_known and all(_is_plain(name) for name in manifest["folders"])
        manifest["files"] = {name: Listed(**file) for name, file in manifest["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        is_known = False
    if not is_known:
        raise InputError.of(f"a manifest of format {FORMAT}; a newer Tokumei may know this one", file=backup)
    return manifest


def _verify(manifest: Json, found: dict[str, Listed]) -> None:
    listed: dict[str, Listed] = manifest["files"]
    for name in sorted({*listed, *found} - {MANIFEST, SIGNATURE}):
        if name not in found:
            raise PromiseBroken(f"{name}: is missing from the backup.")
        if name not in listed:
            raise PromiseBroken(f"{name}: the manifest does not list it.")
        if asdict(listed[name]) != asdict(found[name]):
            raise PromiseBroken(f"{name}: is not what the manifest says.")
    if FILE_NAMES[manifest["database"]] not in found:
        raise PromiseBroken("The backup has no database.")


def _lay_out(draft: Path, folders: list[str]) -> None:
    """Turn the layout of the backup into that of a data folder."""
    for name in folders:
        (draft / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    (draft / MANIFEST).unlink()
    (draft / SIGNATURE).unlink(missing_ok=True)
    (draft / DATA).mkdir(exist_ok=True)
    # Under a name that no file of a data folder has.
    given = (draft / DATA).rename(draft / ".restored")
    for path in given.iterdir():
        shutil.move(path, draft / path.name)
    given.rmdir()
