"""A chain of lines in a file that two processes cannot both add to, and that a full disk leaves as it was."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tokumei.core.chain import Link, next_link, read_chain
from tokumei.core.errors import PromiseBroken

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
        with self.path.open("rb") as handle:
            # The file itself is locked: it is never replaced, and no other file is needed beside it.
            fcntl.flock(handle, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
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

    def append(self, links: list[Link], payload: Mapping[str, Any], write_head: Callable[[Link], Head]) -> Head:
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
