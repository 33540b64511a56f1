"""The log of a contest: every step that was taken, in a file whose lines cannot be changed unnoticed.

The log is a chain of steps (`core/chain.py`) in a file that two processes cannot both add to. `head.json` beside the
log tells how many lines there are and the hash of the last, so that lines missing at the end are noticed too; whoever
publishes the head now and then can show later that nothing before it was changed. No line holds a time: the same key
and the same files give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tokumei.core.chain import ChainFile, Link, canonical
from tokumei.core.errors import NotFound, PromiseBroken
from tokumei.core.text import JsonView, counted
from tokumei.data.files.disk import write_text

LOG, HEAD = "log.jsonl", "head.json"


@dataclass(frozen=True)
class LogLine:
    """One step of a contest: its number from 1, what was done, the facts, and the hash that the next is bound to."""

    number: int
    step: str
    facts: JsonView
    hash: str

    @classmethod
    def of(cls, link: Link) -> LogLine:
        """Read a step from a line of the chain."""
        step, facts = link.payload.get("step"), link.payload.get("facts")
        if not isinstance(step, str) or not isinstance(facts, dict):
            raise PromiseBroken(f"{LOG}, line {link.number}: is no step of a contest.")
        return cls(link.number, step, facts, link.hash)


class Log:
    """The lines of a log while nobody else can add to it."""

    def __init__(self, folder: Path, links: list[Link]) -> None:
        self._folder = folder
        self._links = links
        self.lines = [LogLine.of(link) for link in links]

    def append(self, step: str, facts: Mapping[str, object]) -> LogLine:
        """Add a line and see it onto the disk before saying so; where that fails, the log is as it was."""
        payload = {"step": step, "facts": dict(facts)}
        line = _file(self._folder).append(self._links, payload, lambda link: _write_head(self._folder, link))
        self.lines.append(line)
        return line


def start_log(folder: Path, facts: Mapping[str, object]) -> None:
    """Write the log of a new contest, with its first line."""
    (folder / LOG).touch()
    Log(folder, []).append("prepare", facts)


@contextmanager
def locked_log(folder: Path) -> Iterator[Log]:
    """Hold the log so that no other process adds to it; it is read and its chain verified anew."""
    _check_exists(folder)
    with _file(folder).locked():
        yield Log(folder, _read_links(folder))


def read_log(folder: Path) -> list[LogLine]:
    """Read the log of a contest; a changed, missing or moved line is named."""
    _check_exists(folder)
    with _file(folder).locked(is_shared=True):
        return [LogLine.of(link) for link in _read_links(folder)]


def _file(folder: Path) -> ChainFile:
    return ChainFile(folder / LOG)


def _check_exists(folder: Path) -> None:
    if not (folder / LOG).is_file():
        raise NotFound(f"{folder} is no contest: it has no {LOG}. 'tokumei contest prepare' makes one.")


def _read_links(folder: Path) -> list[Link]:
    """Read the whole lines of a log, as many as its head tells of."""
    links = _file(folder).read()
    _check_head(folder, links)
    return links


def _write_head(folder: Path, link: Link) -> LogLine:
    write_text(folder / HEAD, canonical({"hash": link.hash, "number": link.number}) + "\n")
    return LogLine.of(link)


def _check_head(folder: Path, links: list[Link]) -> None:
    try:
        head = json.loads((folder / HEAD).read_bytes())
        number, told = int(head["number"]), str(head["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        raise PromiseBroken(f"{HEAD}: is missing or not as it was written.") from None
    if number > len(links):
        raise PromiseBroken(f"{LOG}, line {number}: is missing at the end; {HEAD} tells of {counted(number, 'line')}.")
    # One line more than told: the machine stopped between the line and the head. The next line brings it up to date.
    if number < max(1, len(links) - 1):
        raise PromiseBroken(f"{HEAD}: tells of {counted(number, 'line')}, {LOG} has {len(links)}.")
    if links[number - 1].hash != told:
        raise PromiseBroken(f"{LOG}, line {number}: was changed; {HEAD} tells another hash.")
