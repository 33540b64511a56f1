"""A chain of lines that are only ever added, each bound to the one before by its hash.

A line is one JSON object in one spelling, with its number, the hash of the line before, and its payload. Changing,
removing or moving a line breaks the chain at that place. Lines missing at the end break nothing: whoever must notice
them keeps the head, that is, the number and the hash of the last line, where the chain's keeper cannot change it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokumei.core.errors import PromiseBroken

START = "0" * 64


@dataclass(frozen=True)
class Link:
    """One line of a chain: its number from 1, the hash of the line before, and its payload."""

    number: int
    previous_hash: str
    payload: Mapping[str, Any]

    @property
    def line(self) -> str:
        """The line as it is written, without its end."""
        return canonical({"number": self.number, "previous_hash": self.previous_hash, "payload": dict(self.payload)})

    @property
    def hash(self) -> str:
        """What the next line is bound to."""
        return digest_of(self.line.encode())


def canonical(value: Any) -> str:
    """Spell a value as JSON in the one way that hashes and signatures rely on; numbers must be finite."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def next_link(links: Sequence[Link], payload: Mapping[str, Any]) -> Link:
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
