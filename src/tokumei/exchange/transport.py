"""How requests reach a provider's desk and answers leave it; the table itself never does.

A transport is two small functions. This one uses folders, which may be shared, synchronized or carried on a stick; the
platform's speaks HTTP. Both are driven by `serve`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tokumei.core.errors import TokumeiError
from tokumei.data.files.atomic import write_text
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.desk import DeskFolder, answer_request, check_request
from tokumei.exchange.documents import Signed, parse_signed
from tokumei.exchange.request import REQUEST, VERSION, Approval, read_approval, request_of

REQUEST_END, APPROVAL_END = ".request.json", ".approval.json"
ANSWER_END, RELEASE_END, PROBLEM_END = ".answer.json", ".release.csv", ".problem.txt"
LARGEST_REQUEST = 1024 * 1024


@dataclass(frozen=True)
class Incoming:
    """A request as it arrived: under which name, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Outgoing:
    """What goes back: a signed answer, with the release if there is one, or the problem with the request."""

    name: str
    answer: Signed | None
    release: str | None = None
    problem: str | None = None

    @property
    def outcome(self) -> str:
        """What became of the request, in a word."""
        return "invalid" if self.answer is None else str(self.answer.body["outcome"])


class Transport(Protocol):
    """Where requests come from and answers go to."""

    def receive(self) -> Iterable[Incoming]:
        """Return the requests that wait for an answer."""

    def approvals(self) -> Sequence[tuple[Approval, Signed]]:
        """Return all approvals that have arrived."""

    def send(self, outgoing: Outgoing) -> None:
        """Hand over an answer; a request that got one other than to wait is not received again."""


@dataclass(frozen=True)
class FolderTransport:
    """Requests and approvals are files in one folder, answers and releases files in another."""

    inbox: Path
    outbox: Path

    def receive(self) -> list[Incoming]:
        """Return the requests without an answer, in the order of their names."""
        found = []
        for path in sorted(self.inbox.glob(f"*{REQUEST_END}")):
            name = path.name.removesuffix(REQUEST_END)
            # A link could name a file that is not the user's to send.
            if path.is_symlink() or not path.is_file() or self.is_done(name):
                continue
            with path.open("rb") as handle:
                content = handle.read(LARGEST_REQUEST + 1)
            # What is too long is cut, and so no request any more.
            found.append(Incoming(name, content[:LARGEST_REQUEST].decode("utf-8", errors="replace")))
        return found

    def approvals(self) -> list[tuple[Approval, Signed]]:
        """Return the approvals that can be read; others have no say."""
        found = []
        for path in sorted(self.inbox.glob(f"*{APPROVAL_END}")):
            try:
                found.append(read_approval(path))
            except TokumeiError:
                continue
        return found

    def send(self, outgoing: Outgoing) -> None:
        """Write the release first and the answer last, so that who finds an answer finds all of it."""
        if outgoing.release is not None:
            write_text(self.outbox / f"{outgoing.name}{RELEASE_END}", outgoing.release)
        if outgoing.answer is not None:
            outgoing.answer.write(self.outbox / f"{outgoing.name}{ANSWER_END}")
        if outgoing.problem is not None:
            write_text(self.outbox / f"{outgoing.name}{PROBLEM_END}", outgoing.problem + "\n")

    def is_done(self, name: str) -> bool:
        """Whether a request has an answer other than to wait, or was told its problem."""
        if (self.outbox / f"{name}{PROBLEM_END}").exists():
            return True
        path = self.outbox / f"{name}{ANSWER_END}"
        return path.exists() and '"outcome":"waiting"' not in path.read_text(encoding="utf-8")


def serve(
    desk: DeskFolder,
    transport: Transport,
    key: PrivateKey,
    *,
    table: CountedTable | None = None,
    tell: Callable[[Outgoing], None] = lambda _: None,
) -> int:
    """Answer all requests that wait, one after the other, and give their number.

    A request that cannot be read or is not for this offer gets told why, which follows from the request alone.
    """
    counted = table or desk.table()
    n_answered = 0
    for incoming in transport.receive():
        answered = desk.answered()
        try:
            signed = parse_signed(incoming.text, REQUEST, VERSION, file=incoming.name)
            request = request_of(signed, file=incoming.name)
            check_request(desk, request, signed, answered)
        except TokumeiError as error:
            outgoing = Outgoing(incoming.name, None, problem=str(error))
        else:
            # What goes wrong from here on is the provider's own and none of the user's business: it is raised.
            answer, release = answer_request(
                *(desk, request, signed), key=key, table=counted, approvals=transport.approvals()
            )
            outgoing = Outgoing(incoming.name, answer, release)
        transport.send(outgoing)
        tell(outgoing)
        n_answered += 1
    return n_answered
