"""A chain of lines that are only ever added, each bound to the one before by its hash.

A line is one JSON object in one spelling, with its number, the hash of the line before, and its payload. Changing,
removing or moving a line breaks the chain at that place. Lines missing at the end break nothing: whoever must notice
them keeps the head, that is, the number and the hash of the last line, where the chain's keeper cannot change it.

`ChainFile` keeps a chain in a file that two processes cannot both add to, and that a full disk leaves as it was.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tokumei.core.errors import PromiseBroken
from tokumei.core.locks import held
from tokumei.core.text import JsonView

START = "0" * 64


@dataclass(frozen=True)
class Link:
    """One line of a chain: its number from 1, the hash of the line before, and its payload."""

    number: int
    previous_hash: str
    payload: JsonView

    @property
    def line(self) -> str:
        """The line as it is written, without its end."""
        return canonical({"number": self.number, "previous_hash": self.previous_hash, "payload": dict(self.payload)})

    @property
    def hash(self) -> str:
        """What the next line is bound to."""
        return digest_of(self.line.encode())


def canonical(value: object) -> str:
    """Spell a value as JSON in the one way that hashes and signatures rely on; numbers must be finite."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def spelled_alike(value: object) -> object:
    """Return a value with whole numbers as integers: a database may return 1e16 as 10000000000000000, and -0.0 as 0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: spelled_alike(part) for name, part in value.items()}
    return [spelled_alike(part) for part in value] if isinstance(value, (list, tuple)) else value


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def next_link(links: Sequence[Link], payload: Mapping[str, object]) -> Link:
    """Return the next link of a chain with this payload."""
    return Link(len(links) + 1, links[-1].hash if links else START, payload)


def read_chain(text: str, name: str, known: Sequence[Link] = ()) -> list[Link]:
    """Read the lines of a chain; the first that was changed, is missing or was moved is a PromiseBroken that names it.

    A last line without its end is what a broken write left, and was never said to be done: it is left out.
    known: lines read before, which the text goes on from.
    """
    links = list(known)
    for number, line in enumerate(text.split("\n")[:-1], start=len(links) + 1):
        link = _read_link(line)
        if link is None or link.line != line:
            raise PromiseBroken(f"{name}, line {number}: is not as it was written.")
        if link.number != number:
            raise PromiseBroken(f"{name}, line {number}: is number {link.number}; a line is missing, new or moved.")
        if link.previous_hash != (links[-1].hash if links else START):
            raise PromiseBroken(f"{name}, line {number}: does not follow from the line before; one was changed.")
        links.append(link)
    return links


def _read_link(line: str) -> Link | None:
    try:
        shape = json.loads(line)
        link = Link(shape["number"], shape["previous_hash"], shape["payload"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return link if isinstance(link.payload, dict) else None


Head = TypeVar("Head")

# The bytes and lines of each file as this process read it last. A long season reads its log at every step, and the
# lines that stand there unchanged, byte for byte, need no second verification.
_read_before: dict[Path, tuple[bytes, list[Link]]] = {}


@dataclass(frozen=True)
class ChainFile:
    """A chain in its file; whoever keeps it says how its head is written."""

    path: Path

    @contextmanager
    def locked(self, *, is_shared: bool = False) -> Iterator[None]:
        """Hold the file, so that nobody else adds to it; shared, so that a line is whole or not there yet."""
        # The file itself is locked: it is never replaced.
        with held(self.path, is_shared=is_shared):
            yield

    def read(self) -> list[Link]:
        """Read the whole lines and verify them; PromiseBroken names the first that is not as it was written."""
        whole = _whole_lines(self.path.read_bytes())
        before, known = _read_before.get(self.path.resolve(), (b"", []))
        if not whole.startswith(before):
            before, known = b"", []
        try:
            links = read_chain(whole[len(before) :].decode(), self.path.name, known)
        except UnicodeDecodeError as error:
            number = len(known) + whole[len(before) :][: error.start].count(b"\n") + 1
            raise PromiseBroken(f"{self.path.name}, line {number}: is not as it was written.") from None
        _read_before[self.path.resolve()] = (whole, links)
        return list(links)

    def append(self, links: list[Link], payload: Mapping[str, object], write_head: Callable[[Link], Head]) -> Head:
        """Add a line to those that were read, see it onto the disk, and write the new head.

        Where any of that fails, as on a full disk, the file is as it was.
        """
        link = next_link(links, payload)
        written = link.line.encode() + b"\n"
        # Not buffered: what a full disk refuses must not be tried again when the file is closed.
        with self.path.open("r+b", buffering=0) as handle:
            # What a broken write left after the last whole line was never said to be done.
            n_bytes = len(_whole_lines(self.path.read_bytes()))
            try:
                handle.truncate(n_bytes)
                handle.seek(n_bytes)
                if handle.write(written) != len(written):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                os.fsync(handle.fileno())
                head = write_head(link)
            except BaseException:
                handle.truncate(n_bytes)
                raise
        links.append(link)
        return head


def _whole_lines(written: bytes) -> bytes:
    return written[: written.rfind(b"\n") + 1]
