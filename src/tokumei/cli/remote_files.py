"""Files to and from a server: which file is which, how far an upload is, and names that are safe to write."""

from __future__ import annotations

import filecmp
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from tokumei.cli.remote_server import NotReached, Server, part
from tokumei.core.errors import InputError
from tokumei.core.progress import Bar, step
from tokumei.data.files.atomic import atomic_path

# No path, no hidden file, nothing that a shell or another system reads in its own way.
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
FOLDERS = {"data": "data", "knowledge": "knowledge", "release": "releases"}
ZIP = ".zip"


def by_role(roles: Sequence[dict[str, str]], files: Sequence[Path]) -> dict[str, Path]:
    """Match files to roles: a zip holds them all, else by their names, else by their order."""
    for file in files:
        if not file.is_file():
            raise InputError.of("a file that exists", file=file)
    if len(files) == 1 and files[0].suffix.lower() == ZIP:
        return {"zip": files[0]}
    if len(files) != len(roles):
        wanted = ", ".join(f"{role['file_name']} ({role['holds']})" for role in roles)
        raise InputError.of(f"one zip, or the files {wanted}", value=" ".join(map(str, files)))
    names = {file.name.removesuffix(".gz"): file for file in files}
    if names.keys() == {role["file_name"] for role in roles}:
        return {role["name"]: names[role["file_name"]] for role in roles}
    return {role["name"]: file for role, file in zip(roles, files, strict=True)}


def send(reached: Server, path: str, files: dict[str, Path]) -> dict[str, Any]:
    """Send files as a form does, and say how far it is."""
    n_bytes = sum(file.stat().st_size for file in files.values())
    with ExitStack() as stack:
        bar = stack.enter_context(step("uploading", n_bytes))
        parts = {
            name: (_sent_name(file), _Counted(stack.enter_context(file.open("rb")), bar))
            for name, file in files.items()
        }
        try:
            made: dict[str, Any] = reached.call("POST", path, files=parts)
        except NotReached as error:
            raise NotReached(f"{error} Whether it arrived is not known: see 'tokumei remote status'.") from None
    return made


def fetch_all(reached: Server, contest: str, to: Path | None, *, force: bool = False) -> list[Path]:
    """Fetch every file of a contest into a folder; each is there whole or not at all.

    A file that is there already stays if it is the same, and is replaced by another only with `force`.
    """
    folder = Path(_safe(contest)) if to is None else to
    listed = reached.get(f"/contests/{part(contest)}/files")
    wanted = {folder / _index(file): file for file in listed}
    if len(wanted) != len(listed):
        raise NotReached(f"{reached.url} lists two files under one name.")
    with step("downloading", sum(int(file["n_bytes"]) for file in listed)) as bar:
        for target, file in wanted.items():
            _fetch(reached, contest, file, target, bar, force=force)
    return list(wanted)


def _fetch(reached: Server, contest: str, file: dict[str, Any], target: Path, bar: Bar, *, force: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    query = {"team": file["team"]} if file["team"] else {}
    path = f"/contests/{part(contest)}/files/{part(file['kind'])}/{part(file['name'])}"
    n_bytes = 0
    with atomic_path(target) as draft:
        with reached.stream(path, **query) as chunks, draft.open("wb") as handle:
            for chunk in chunks:
                n_bytes += len(chunk)
                # Never more than was told, or a server could fill the disk.
                if n_bytes > int(file["n_bytes"]):
                    break
                handle.write(chunk)
                bar.advance(len(chunk))
        if n_bytes != int(file["n_bytes"]):
            raise NotReached(f"{reached.url} sent another number of bytes of {file['name']} than it told; try again.")
        if target.exists() and not force and not filecmp.cmp(draft, target, shallow=False):
            expected = "no other file than the server's, or --force to replace it"
            raise InputError.of(expected, file=target, value="another file of this name")


def _index(file: dict[str, Any]) -> Path:
    """Return the path for a file; names come from the server, so that none is used unchecked."""
    if file.get("kind") not in FOLDERS:
        raise InputError.of(f"a kind of file: {', '.join(FOLDERS)}", value=file.get("kind"))
    folder = Path(FOLDERS[file["kind"]])
    return (folder / _safe(file["team"]) if file["team"] else folder) / _safe(file["name"])


def _safe(name: Any) -> str:
    if not isinstance(name, str) or not SAFE_NAME.match(name):
        raise InputError.of("a name of letters, digits, dots, hyphens and underscores from the server", value=name)
    return name


def _sent_name(file: Path) -> str:
    # What a file is called on this machine is nobody's business; only how it is packed matters.
    return "file.zip" if file.suffix.lower() == ZIP else "file.csv"


class _Counted:
    """A file that tells a bar how much of it was read."""

    def __init__(self, handle: IO[bytes], bar: Bar) -> None:
        self._handle, self._bar = handle, bar

    def read(self, size: int = -1) -> bytes:
        chunk = self._handle.read(size)
        self._bar.advance(len(chunk))
        return chunk

    def fileno(self) -> int:
        return self._handle.fileno()
