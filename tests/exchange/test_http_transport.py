"""What a provider's process makes of a platform's answers, from a real server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.exchange.people import people
from tests.exchange.test_attacks import opened

from tokumei.core.errors import NotAllowed, NotFound, TokumeiError
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange import transport as transporting
from tokumei.exchange.transport import HttpTransport, Outgoing, ServerAway


class Platform:
    """A server that says what it is told to say, and remembers what it was sent."""

    def __init__(self) -> None:
        self.says: dict[str, tuple[int, bytes]] = {}
        self.sent: list[tuple[str, str, bytes]] = []
        self.location = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                outer.sent.append((self.path, self.headers.get("Authorization", ""), self.rfile.read(length)))
                status, body = outer.says.get(self.path.rpartition("/")[2], (404, b'{"message": "no such"}'))
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", outer.location)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer  # noqa: N815 - the names that the server looks for.

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def platform() -> Iterator[Platform]:
    made = Platform()
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def transport(platform: Platform, tmp_path: Path, key: PrivateKey) -> HttpTransport:
    desk = opened(tmp_path, people(200, 3), key).desk
    listed = {"offers": [{"digest": desk.offer()[1].digest, "slug": "people"}]}
    platform.says |= {
        "offers": (200, json.dumps(listed).encode()),
        "people": (200, json.dumps({"revision": 1, "log_lines": 0}).encode()),
        "log": (200, b"{}"),
        "pending": (200, b'{"requests": [], "approvals": ["nonsense"]}'),
    }
    return HttpTransport(platform.url, "secret", desk, key)


def test_log_and_problem_are_sent_as_files_of_a_form_with_the_token(
    platform: Platform, transport: HttpTransport
) -> None:
    platform.says["abc"] = (204, b"")
    assert transport.receive() == []
    assert transport.approvals() == []
    transport.send(Outgoing("abc", None, problem="日本語 ünd\r\n--x"))
    assert {authorization for _, authorization, _ in platform.sent} == {"Bearer secret"}
    path, _, body = platform.sent[-1]
    assert path == "/api/v1/exchange/offers/people/answers/abc"
    assert b'name="problem"; filename="problem"' in body
    assert "日本語 ünd\r\n--x".encode() in body
    assert any(path.endswith("/log") and b'name="head"' in body for path, _, body in platform.sent)


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (403, b'{"message": "not \\u001b[31myours"}', NotAllowed, "not  \\[31myours"),
        (404, b'{"message": "gone"}', NotFound, "gone"),
        (429, b'{"message": "too often"}', ServerAway, "cannot answer now: too often"),
        (500, b"<html>", ServerAway, "cannot answer now: Internal Server Error"),
        (200, b"<html>", ServerAway, "no answer that a program can read"),
        (200, b"[" * 3_000, ServerAway, r"more than 2,000 bytes|no answer"),
    ],
)
def test_each_answer_of_a_platform_becomes_one_error_in_its_own_words(
    platform: Platform,
    transport: HttpTransport,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
    kind: type[TokumeiError],
    said: str,
) -> None:
    monkeypatch.setattr(transporting, "LARGEST_ANSWER", 2_000)
    platform.says["pending"] = (status, body)
    with pytest.raises(kind, match=said):
        transport.approvals()


def test_the_token_does_not_follow_a_redirect(platform: Platform, transport: HttpTransport) -> None:
    other = Platform()
    platform.location = f"{other.url}/api/v1/exchange/offers"
    platform.says["pending"] = (302, b"")
    try:
        with pytest.raises(TokumeiError):
            transport.approvals()
        assert other.sent == []
    finally:
        other.server.server_close()


def test_a_platform_that_is_away_may_come_back(transport: HttpTransport, platform: Platform) -> None:
    platform.server.shutdown()
    platform.server.server_close()
    with pytest.raises(ServerAway, match="gives no answer"):
        transport.approvals()
