"""The log of a contest: a chain of steps (`core/chain.py`) in a file that two processes cannot both add to.

`head.json` beside the log tells how many lines there are and the hash of the last, so that lines missing at the end are
noticed too; whoever publishes the head now and then can show later that nothing before it was changed. No line holds a
time: the same key and the same files give the same bytes.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokumei.core.chain import Link, canonical, next_link, read_chain
from tokumei.core.errors import NotFound, PromiseBroken
from tokumei.data.files.atomic import write_text

LOG, HEAD = "log.jsonl", "head.json"


@dataclass(frozen=True)
class Line:
    """One step of a contest: its number from 1, what was done, the facts, and the hash that the next is bound to."""

    number: int
    step: str
    facts: Mapping[str, Any]
    hash: str

    @classmethod
    def of(cls, link: Link) -> Line:
        """Read a step from a line of the chain."""
        step, facts = link.says.get("step"), link.says.get("facts")
        if not isinstance(step, str) or not isinstance(facts, dict):
            raise PromiseBroken(f"{LOG}, line {link.number}: is no step of a contest.")
        return cls(link.number, step, facts, link.hash)


class Log:
    """The lines of a log while nobody else can add to it."""

    def __init__(self, folder: Path, links: list[Link], n_bytes: int) -> None:
        self._folder = folder
        self._links = links
        self._n_bytes = n_bytes
        self.lines = [Line.of(link) for link in links]

    def append(self, step: str, facts: Mapping[str, Any]) -> Line:
        """Add a line and see it onto the disk before saying so; where that fails, the log is as it was."""
        link = next_link(self._links, {"step": step, "facts": dict(facts)})
        written = link.line.encode() + b"\n"
        # Not buffered: what a full disk refuses must not be tried again when the file is closed.
        with (self._folder / LOG).open("r+b", buffering=0) as handle:
            try:
                # What a broken write left after the last whole line was never said to be done.
                handle.truncate(self._n_bytes)
                handle.seek(self._n_bytes)
                if handle.write(written) != len(written):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder / LOG))
                os.fsync(handle.fileno())
                _write_head(self._folder, link)
            except BaseException:
                handle.truncate(self._n_bytes)
                raise
        self._n_bytes += len(written)
        self._links.append(link)
        self.lines.append(Line.of(link))
        return self.lines[-1]


def start_log(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the log of a new contest, with its first line."""
    (folder / LOG).touch()
    Log(folder, [], 0).append("prepare", facts)


@contextmanager
def locked_log(folder: Path) -> Iterator[Log]:
    """Hold the log so that no other process adds to it; it is read and its chain verified anew."""
    _check_exists(folder)
    with (folder / LOG).open("rb") as handle:
        # The log itself is locked: it is never replaced, and the folder holds nothing that has no meaning.
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield Log(folder, *_read_links(folder))


def read_log(folder: Path) -> list[Line]:
    """Read the log of a contest; a changed, missing or moved line is named."""
    _check_exists(folder)
    with (folder / LOG).open("rb") as handle:
        # Shared: a line that another process writes is whole, or not there yet.
        fcntl.flock(handle, fcntl.LOCK_SH)
        return [Line.of(link) for link in _read_links(folder)[0]]


def _check_exists(folder: Path) -> None:
    if not (folder / LOG).is_file():
        raise NotFound(f"{folder} is no contest: it has no {LOG}. 'tokumei contest prepare' makes one.")


# The bytes and lines of each log as this process read it last. A long season reads its log at every step, and the
# lines that stand there unchanged, byte for byte, need no second verification.
_read_before: dict[Path, tuple[bytes, list[Link]]] = {}


def _read_links(folder: Path) -> tuple[list[Link], int]:
    """Read the whole lines of a log, and how many bytes they are."""
    written = (folder / LOG).read_bytes()
    whole = written[: written.rfind(b"\n") + 1]
    before, known = _read_before.get(folder.resolve(), (b"", []))
    if not whole.startswith(before):
        before, known = b"", []
    try:
        links = read_chain(whole[len(before) :].decode(), LOG, known)
    except UnicodeDecodeError as error:
        number = len(known) + whole[len(before) :][: error.start].count(b"\n") + 1
        raise PromiseBroken(f"{LOG}, line {number}: is not as it was written.") from None
    _read_before[folder.resolve()] = (whole, links)
    _check_head(folder, links)
    return list(links), len(whole)


def _write_head(folder: Path, link: Link) -> None:
    write_text(folder / HEAD, canonical({"hash": link.hash, "number": link.number}) + "\n")


def _check_head(folder: Path, links: list[Link]) -> None:
    try:
        head = json.loads((folder / HEAD).read_bytes())
        number, told = int(head["number"]), str(head["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        raise PromiseBroken(f"{HEAD}: is missing or not as it was written.") from None
    if number > len(links):
        raise PromiseBroken(f"{LOG}, line {number}: is missing at the end; {HEAD} tells of {number} lines.")
    # One line more than told: the machine stopped between the line and the head. The next line brings it up to date.
    if number < max(1, len(links) - 1):
        raise PromiseBroken(f"{HEAD}: tells of {number} lines, {LOG} has {len(links)}.")
    if links[number - 1].hash != told:
        raise PromiseBroken(f"{LOG}, line {number}: was changed; {HEAD} tells another hash.")
