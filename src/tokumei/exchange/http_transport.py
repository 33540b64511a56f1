"""Requests come from a platform and answers go to it, by HTTP; the table and the private log stay at the desk.

What leaves this machine is signed or public: answers, releases for who asked for them, the public log, revisions.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.exchange.desk import DeskFolder
from tokumei.exchange.documents import Signed, parse_signed
from tokumei.exchange.keys import PrivateKey
from tokumei.exchange.public_desk import REVISIONS
from tokumei.exchange.repeating import repeat_answer
from tokumei.exchange.request import APPROVAL, VERSION, Approval, approval_of
from tokumei.exchange.transport import Incoming, Outgoing

SECONDS = 60
# A name is printed and goes into addresses.
NAME = re.compile(r"[a-z0-9]{1,32}")
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# A page of requests is small; more is not from a platform.
LARGEST_ANSWER = 64 * 1024 * 1024


class ServerAway(TokumeiError):
    """The platform cannot be reached, or failed; what was not sent is sent when it is back."""


class _NoRedirects(HTTPRedirectHandler):
    """Follows nothing: the token is for one server."""

    def redirect_request(self, *_given: Any) -> None:
        return None


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
        """Give the requests that wait; what was answered already and got lost on its way is sent again."""
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
        """Give the approvals that the platform has; those that cannot be read have no say."""
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
        # The scheme was looked at when this transport was made.
        request = Request(f"{self.server.rstrip('/')}/api/v1/exchange/{path}")  # noqa: S310
        request.add_header("Authorization", f"Bearer {self.token}")
        if parts is not None:
            mark = secrets.token_hex(16)
            request.data = _form({name: text for name, text in parts.items() if text is not None}, mark)
            request.add_header("Content-Type", f"multipart/form-data; boundary={mark}")
        try:
            with build_opener(_NoRedirects).open(request, timeout=SECONDS) as answer:
                return json.loads(answer.read(LARGEST_ANSWER) or b"null")
        except HTTPError as error:
            raise _error_of(error, self.server) from None
        except (URLError, HTTPException, TimeoutError, ConnectionError, ValueError) as error:
            raise ServerAway(f"{self.server} gives no answer ({getattr(error, 'reason', error)}).") from None


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


def _form(parts: Mapping[str, str], mark: str) -> bytes:
    """Give the files of a form as its body; the mark is random, so that no text can hold it."""
    lines: list[bytes] = []
    for name, text in parts.items():
        head = f'Content-Disposition: form-data; name="{name}"; filename="{name}"\r\nContent-Type: text/plain\r\n'
        lines += [f"--{mark}\r\n{head}\r\n".encode(), text.encode(), b"\r\n"]
    return b"".join([*lines, f"--{mark}--\r\n".encode()])


def _error_of(error: HTTPError, server: str) -> TokumeiError:
    """Give the error that an answer tells of, in its own words."""
    try:
        said = str(json.loads(error.read(100_000))["message"])
    except (ValueError, KeyError, TypeError, HTTPException):
        said = error.reason
    # What a server says may not move the cursor of a terminal.
    said = "".join(letter if letter.isprintable() else " " for letter in said[:1000])
    if error.code >= 500 or error.code == 429:
        return ServerAway(f"{server} cannot answer now: {said}")
    kind: type[TokumeiError] = NotFound if error.code == 404 else NotAllowed
    return kind(f"{server}: {said}")
