"""The audit logs of an offer: one for the public, one for the provider, chained line by line, their heads signed.

The public log tells of each answer only the digests of request and release, and whether it was served. The private
one also holds the quadrant, the joint nodes and their true k: it is what the provider learns from, and what the next
answer depends on, so that a log that was cut short would let differences through. The signed head beside each log
shows lines missing at its end; and since each answer tells the head of the public log, a user can show that a log
which the provider has changed and signed anew is not the one it was.

A disclosure tells the public what was given, to whom, by which standard, without the recipe.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tokumei.core.chain import START, ChainFile, Link
from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.text import Json, counted
from tokumei.data.files.disk import check_is_file
from tokumei.data.files.keys import PrivateKey, fingerprint
from tokumei.exchange.documents import Document, read_signed, sign
from tokumei.exchange.offer import Offer

HEAD, VERSION = "log-head", 1


@dataclass(frozen=True)
class LogHead:
    """How long a log is, and the hash of its last line."""

    number: int
    hash: str

    def as_dict(self) -> Json:
        """Return the head for JSON."""
        return {"number": self.number, "hash": self.hash}


@dataclass(frozen=True)
class AuditLog:
    """A log in its file, `NAME.jsonl`, with its head in `NAME.head.json`."""

    path: Path

    @property
    def head_path(self) -> Path:
        """Where the signed head is."""
        return self.path.with_suffix(".head.json")

    def start(self, key: PrivateKey, *, mode: int = 0o600) -> None:
        """Write an empty log."""
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8"):
            pass
        self._sign_head(None, key)

    def append(self, payload: Mapping[str, object], key: PrivateKey, *, links: list[Link]) -> LogHead:
        """Add a line to those that were read, see it onto the disk, and sign the new head; or leave all as it was."""
        return ChainFile(self.path).append(links, payload, lambda link: self._sign_head(link, key))

    def read(self, public: str) -> list[Link]:
        """Read the log and verify it by the provider's public key; PromiseBroken names the line that is wrong."""
        links = self.lines()
        signed = read_signed(self.head_path, HEAD, VERSION)
        if signed.key != public:
            raise PromiseBroken(f"{self.head_path.name}: signed by {fingerprint(signed.key)}, not by the provider.")
        fields = Document(signed.body, str(self.head_path))
        fields.choice("log", [self.path.name])
        check_reaches(links, LogHead(fields.whole("number"), fields.text("hash", most=64)), self.path.name)
        # One line more than told: the machine stopped between the line and its head. More were slipped in.
        if len(links) > fields.whole("number") + 1:
            raise PromiseBroken(f"{self.path.name}: has {counted(len(links), 'line')}, and its head tells of fewer.")
        return links

    def lines(self) -> list[Link]:
        """Read the lines and verify their chain, but not that none is missing at the end."""
        return ChainFile(check_is_file(self.path)).read()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the log, so that two processes do not answer at once and give out what neither would alone."""
        if not self.path.is_file():
            raise InputError.of("a log; 'tokumei exchange offer' starts it", file=self.path)
        with ChainFile(self.path).locked():
            yield

    def _sign_head(self, last: Link | None, key: PrivateKey) -> LogHead:
        head = LogHead(0, START) if last is None else LogHead(last.number, last.hash)
        sign(HEAD, VERSION, {"log": self.path.name, **head.as_dict()}, key).write(self.head_path)
        return head


def check_reaches(links: list[Link], head: LogHead, name: str) -> None:
    """Refuse a log that does not have a line that was told of, or has another in its place."""
    if head.number > len(links):
        raise PromiseBroken(
            f"{name}, line {head.number}: is missing at the end; there are {counted(len(links), 'line')}."
        )
    there = links[head.number - 1].hash if head.number else START
    if there != head.hash:
        raise PromiseBroken(f"{name}, line {head.number}: was changed; it was told of with another hash.")


@dataclass(frozen=True)
class Disclosed:
    """One release as the public is told of it; columns by how many groups they are told in.

    `key` is the short form of the recipient's; the name is their own word unless the offer lists it.
    """

    date: str
    recipient: str
    purpose: str
    standard: str
    k: int
    groups: dict[str, int]
    digest: str
    key: str = ""
    is_listed: bool = True

    @property
    def sentence(self) -> str:
        """The release in a sentence."""
        told = [f"{name} in {n} groups" for name, n in self.groups.items() if n > 1]
        what = ", ".join(told) or "the number of people only"
        who = self.recipient if self.is_listed else f"{self.recipient} (their own word, key {self.key})"
        return (
            f"{self.date}: {who} was given {what}, for: {self.purpose}. Every group that can be told "
            f"apart has at least {self.k} people ({self.standard})."
        )


def disclosed(offer: Offer, links: Sequence[Link]) -> list[Disclosed]:
    """Return what was given, from the provider's log."""
    out = []
    for says in (link.payload for link in links if link.payload.get("outcome") == "served"):
        levels = zip(offer.hierarchies, says["node"], strict=True)
        groups = {hierarchy.attribute: hierarchy.n_told_apart(level) for hierarchy, level in levels}
        criterion = offer.criterion(says["criterion"])
        standard = f"{criterion.name}, {criterion.source}"
        out.append(
            Disclosed(
                *(says["time"][:10], says["user"], says["purpose"], standard, criterion.k, groups, says["release"]),
                key=fingerprint(says["user_key"]),
                is_listed=offer.recipient(says["user_key"]) is not None,
            )
        )
    return out


def disclosure(offer: Offer, provider_key: str, links: Sequence[Link]) -> Json:
    """Return the disclosure for JSON."""
    given = disclosed(offer, links)
    return {
        "provider": offer.words.provider,
        "offer": offer.name,
        "signed_by": fingerprint(provider_key),
        "summary": offer.words.summary,
        "terms": offer.words.terms,
        "columns": [*offer.lattice.attributes, *offer.carried],
        "standards": [one.as_dict() for one in offer.criteria],
        "n_requests": sum(link.payload["what"] == "answer" for link in links),
        "given": [
            {
                "date": each.date,
                "recipient": each.recipient,
                "key": each.key,
                "is_listed": each.is_listed,
                "purpose": each.purpose,
                "standard": each.standard,
                "k": each.k,
                "groups": each.groups,
                "digest": each.digest,
            }
            for each in given
        ],
    }


def disclosure_text(offer: Offer, provider_key: str, links: Sequence[Link]) -> str:
    """Return the disclosure as a page of Markdown."""
    given = disclosed(offer, links)
    n_requests = sum(link.payload["what"] == "answer" for link in links)
    lines = [
        f"# {_plain(offer.name)}",
        "",
        _plain(offer.words.summary),
        "",
        f"Offered by {_plain(offer.words.provider)}, signed by the key {fingerprint(provider_key)}.",
        f"Terms: {_plain(offer.words.terms)}",
        "",
        f"## What was given: {len(given)} of {counted(n_requests, 'request')}",
        "",
        *(f"- {_plain(each.sentence)}" for each in given),
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Keep what users wrote from becoming markup or further lines."""
    flat = " ".join(text.split())
    return "".join(f"\\{mark}" if mark in r"\`*_[]<>#|!" else mark for mark in flat)
