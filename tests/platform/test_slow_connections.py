"""Slow senders and slow readers at the port itself, without a proxy before it: everybody else is served meanwhile."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gunicorn.workers.gthread import ThreadWorker
from tests.platform.test_serving import Server, server  # noqa: F401 - a fixture.

from tokumei.platform import web_worker
from tokumei.platform.web_worker import PatientWorker

N_SLOW = 100
HEAD = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
BEGINNINGS = {
    "a body": f"{HEAD}Content-Length: 1000\r\n\r\nusername=",
    "a head": HEAD,
    "nothing": "",
}


# More than the buffers of a connection hold, so that whoever sends it waits for whoever reads it.
LARGE = 24 * 1024 * 1024


@contextmanager
def connections(url: str, said: str, n_buffered: int | None = None) -> Iterator[list[socket.socket]]:
    """Open many connections that say the beginning of something."""
    address = urlsplit(url)
    with ExitStack() as opened:
        made = []
        for _ in range(N_SLOW):
            each = opened.enter_context(socket.socket())
            if n_buffered is not None:
                each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, n_buffered)
            each.settimeout(90)
            each.connect(("127.0.0.1", address.port or 80))
            each.sendall(said.encode())
            made.append(each)
        yield made


@pytest.mark.thorough
def test_hundred_that_send_slowly_do_not_stop_the_server(server: Server) -> None:  # noqa: F811
    for what, said in BEGINNINGS.items():
        with connections(server.url, said) as slow:
            for _ in range(2):
                for each in slow if said else []:
                    each.sendall(b"x")
                for _ in range(3):
                    assert server.get("/health")[0] == 200, what
                time.sleep(0.3)
    assert server.get("/")[0] == 200


@pytest.fixture
def large_file(tmp_path: Path) -> None:
    """Lay a large file where the server, once it starts, finds what it sends to everybody."""
    folder = tmp_path / "data" / "static"
    folder.mkdir(mode=0o700, parents=True)
    folder.parent.chmod(0o700)
    (folder / "large.bin").write_bytes(bytes(LARGE))


@pytest.mark.thorough
def test_hundred_that_read_slowly_do_not_stop_the_server(large_file: None, server: Server) -> None:  # noqa: F811
    asked = "GET /static/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connections(server.url, asked, n_buffered=4096) as slow:
        for _ in range(3):
            for each in slow:
                assert each.recv(64)
            for _ in range(3):
                assert server.get("/health")[0] == 200
        # Who reads on gets all of it.
        n_bytes = 0
        while n_bytes < LARGE:
            n_bytes += len(slow[0].recv(1 << 20))
    assert server.get("/")[0] == 200


@pytest.mark.parametrize("is_reading", [False, True])
def test_who_takes_an_answer_too_slowly_is_dropped(is_reading: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = PatientWorker.__new__(PatientWorker)
    worker.deadlines, worker.deadlines_lock = {}, threading.Lock()
    monkeypatch.setattr(ThreadWorker, "murder_pending", lambda self: None, raising=False)
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    ours, theirs = socket.socketpair()
    with ours, theirs:
        # A block each ten seconds is slower than 8 KiB a second, and two blocks are quicker.
        pace = 2 if is_reading else 1
        blocks = worker.given_out([bytes(web_worker.BLOCK // 2)] * 12, ours)
        for _ in blocks:
            clock[0] += 10.0 / pace
            worker.murder_pending()
        assert _is_over(theirs) is not is_reading


def _is_over(sock: socket.socket) -> bool:
    """Whether the other end was shut down."""
    try:
        return sock.recv(1, socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False


@pytest.mark.parametrize("path", ["/login", "/exchange/publish", "/workbench/begin"])
def test_what_takes_long_has_threads_of_its_own(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.setswitchinterval", lambda _: None)
    worker = PatientWorker.__new__(PatientWorker)
    worker.deadlines, worker.deadlines_lock = {}, threading.Lock()
    monkeypatch.setattr(ThreadWorker, "init_process", lambda self: None)
    monkeypatch.setattr(ThreadWorker, "load_wsgi", lambda self: None, raising=False)
    all_are_here = threading.Event()

    def application(environ: dict[str, str], start_response: object) -> list[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            all_are_here.wait(60)
        return [b"a page"]

    worker.wsgi = application
    worker.init_process()
    worker.load_wsgi()
    ours, theirs = socket.socketpair()
    with ours, theirs, ThreadPoolExecutor(20) as visitors:

        def ask(method: str, path: str) -> bytes:
            return b"".join(worker.wsgi({"REQUEST_METHOD": method, "PATH_INFO": path, "gunicorn.socket": ours}, None))

        posts = [visitors.submit(ask, "POST", path) for _ in range(10)]
        # All of them wait, and a page comes.
        assert ask("GET", "/contests/") == b"a page"
        assert not any(each.done() for each in posts)
        all_are_here.set()
        assert [each.result(60) for each in posts] == [b"a page"] * 10
