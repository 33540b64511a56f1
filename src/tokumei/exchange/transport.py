"""How requests reach a provider's desk and answers leave it; the table itself never does.

A transport is two small functions. One uses folders, which may be shared, synchronized or carried on a stick; the
other speaks HTTP with a platform. Both are driven by `serve`. What leaves this machine is signed or public: answers,
releases for who asked for them, the public log, revisions. A desk answers once, but may repeat itself: an answer that
was logged and then lost on its way is given again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from tokumei.core.errors import InputError, MissingExtra, NotAllowed, NotFound, TokumeiError
from tokumei.data.files.disk import write_text
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.answer import REFUSED
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.desk import ANSWER, DeskFolder, answer_request, check_request
from tokumei.exchange.desk import VERSION as ANSWER_VERSION
from tokumei.exchange.documents import Signed, parse_signed, sign
from tokumei.exchange.request import APPROVAL, REQUEST, VERSION, Approval, approval_of, read_approval, request_of
from tokumei.exchange.watch import REVISIONS

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


def repeat_answer(desk: DeskFolder, incoming: Incoming, key: PrivateKey) -> Outgoing | None:
    """Return the answer in the desk's logs, exactly as it was; None if there was none.

    For transports that know whose a request is: who copies somebody's request must not get their release.
    """
    try:
        request = parse_signed(incoming.text, REQUEST, VERSION)
    except TokumeiError:
        return None
    _, offered = desk.offer()
    private, public = desk.private_log.read(offered.key), desk.public_log.read(offered.key)
    link = next((each for each in private if each.payload.get("request") == request.digest), None)
    # The two logs tell the same, line by line; the public one may lack what a machine that stopped did not get to.
    if link is None or link.number > len(public):
        return None
    said = public[link.number - 1]
    digest = link.payload["release_file"]
    body = {
        "offer": request.body["offer"],
        "request": request.digest,
        "outcome": link.payload["outcome"],
        "message": REFUSED if link.payload["outcome"] == "refused" else "",
        "release": digest,
        "log": {"number": said.number, "hash": said.hash},
    }
    release = None
    if digest:
        release = desk.release_path(digest).read_text(encoding="utf-8")
    return Outgoing(incoming.name, sign(ANSWER, ANSWER_VERSION, body, key), release)


SECONDS = 60
# A name is printed and goes into addresses.
NAME = re.compile(r"[a-z0-9]{1,32}")
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# A page of requests is small; more is not from a platform.
LARGEST_ANSWER = 64 * 1024 * 1024
LARGEST_REFUSAL = 100_000


class ServerAway(TokumeiError):
    """The platform cannot be reached, or failed; what was not sent is sent when it is back."""


@dataclass(frozen=True)
class HttpTransport:
    """A platform as a transport; `token` is one of a member of the provider's team that may submit."""

    server: str
    token: str = field(repr=False)
    desk: DeskFolder
    key: PrivateKey

    def __post_init__(self) -> None:
        parts = urlsplit(self.server)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError.of("an address such as https://example.org", option="--server", value=self.server)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise NotAllowed("Releases and tokens go to other machines by https only.")

    def receive(self) -> list[Incoming]:
        """Return the waiting requests; what was answered already and got lost on its way is sent again."""
        self.publish()
        waiting = []
        for each in self._ask(f"{self._own}/pending")["requests"]:
            if not NAME.fullmatch(str(each["key"])):
                raise NotAllowed(f"{self.server} names a request as no platform does.")
            incoming = Incoming(str(each["key"]), str(each["document"]))
            again = repeat_answer(self.desk, incoming, self.key)
            waiting.append(incoming) if again is None else self.send(again)
        return waiting

    def approvals(self) -> list[tuple[Approval, Signed]]:
        """Return the platform's approvals; those that cannot be read have no say."""
        found = []
        for text in self._ask(f"{self._own}/pending")["approvals"]:
            try:
                signed = parse_signed(text, APPROVAL, VERSION)
                found.append((approval_of(signed), signed))
            except TokumeiError:
                continue
        return found

    def send(self, outgoing: Outgoing) -> None:
        """Send the log and then the answer, which tells the log's head."""
        self.publish()
        parts = {
            "answer": None if outgoing.answer is None else outgoing.answer.text(),
            "release": outgoing.release,
            "problem": outgoing.problem,
        }
        self._ask(f"{self._own}/answers/{quote(outgoing.name, safe='')}", parts)

    def publish(self) -> None:
        """Bring the platform's copy of what is public up to date: further revisions, and the log."""
        known = self._ask(self._own)
        revisions = sorted((self.desk.folder / REVISIONS).glob("*.json"))
        log, head = self.desk.public_log.path, self.desk.public_log.head_path
        parts: dict[str, str | None] = {
            f"revision-{path.stem}": path.read_text(encoding="utf-8") for path in revisions[known["revision"] :]
        }
        text = log.read_text(encoding="utf-8")
        if parts or text.count("\n") > known["log_lines"]:
            self._ask(f"{self._own}/log", parts | {"log": text, "head": head.read_text(encoding="utf-8")})

    @cached_property
    def _own(self) -> str:
        """The address of the desk's offer on the platform, found by the digest of one of its revisions."""
        digests = set(self.desk.digests().values())
        for each in self._ask("offers")["offers"]:
            if each["digest"] in digests:
                return f"offers/{quote(each['slug'], safe='')}"
        raise NotFound(f"{self.server} has no offer of this desk that the token's user may answer for: publish it.")

    def _ask(self, path: str, parts: Mapping[str, str | None] | None = None) -> Any:
        """Ask the platform; with parts, send them as the files of a form."""
        httpx = _httpx()
        files = {name: (name, text, "text/plain") for name, text in (parts or {}).items() if text is not None}
        method, given = ("GET", {}) if parts is None else ("POST", {"files": files})
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        address = f"{self.server.rstrip('/')}/api/v1/exchange/{path}"
        try:
            # Redirects are not followed: the token is for one server.
            with (
                httpx.Client(timeout=SECONDS, headers=headers, follow_redirects=False) as client,
                client.stream(method, address, **given) as answer,
            ):
                text = _read_at_most(answer, LARGEST_ANSWER if answer.is_success else LARGEST_REFUSAL)
                status, reason = answer.status_code, answer.reason_phrase
        except (httpx.HTTPError, ValueError) as error:
            raise ServerAway(f"{self.server} gives no answer ({error or type(error).__name__}).") from None
        if not 200 <= status < 300:
            raise _error_of(status, reason, text, self.server)
        try:
            return json.loads(text or b"null")
        except ValueError:
            raise ServerAway(f"{self.server} gives no answer that a program can read.") from None


def _read_at_most(answer: Any, most: int) -> bytes:
    """Read an answer; one that does not end is not from a platform."""
    read = bytearray()
    for part in answer.iter_bytes():
        read += part
        if len(read) > most:
            raise ValueError(f"more than {most:,} bytes")
    return bytes(read)


def read_token(path: Path) -> str:
    """Read a token from a file that only its owner can read."""
    if not path.is_file():
        raise InputError.of("a file with a token of the platform", file=path)
    if path.stat().st_mode & 0o077:
        raise NotAllowed(f"{path} can be read by others than its owner (chmod 600 makes it yours alone).")
    token = path.read_text(encoding="utf-8").strip()
    if not token.isascii() or not token.isprintable() or not token:
        raise InputError.of("a token of the platform, on one line", file=path)
    return token


def _error_of(status: int, reason: str, text: bytes, server: str) -> TokumeiError:
    """Return the error that an answer reports, in its own words."""
    try:
        said = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        said = reason or f"status {status}"
    # What a server says may not move the cursor of a terminal.
    said = "".join(letter if letter.isprintable() else " " for letter in said[:1000])
    if status >= 500 or status == 429:
        return ServerAway(f"{server} cannot answer now: {said}")
    kind: type[TokumeiError] = NotFound if status == 404 else NotAllowed
    return kind(f"{server}: {said}")


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingExtra("Answering on a platform", "exchange") from None
    return httpx
