"""How the web process waits for slow senders and readers without keeping anybody else waiting.

A few threads answer; they have the connections to the database. Many more, which cost next to nothing, wait for
requests to come in whole and for answers to go out, so that somebody who sends a byte a second holds one of those. What
comes too slowly to be meant is dropped.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TYPE_CHECKING, Any, cast

from django.conf import settings
from django.urls import get_resolver
from gunicorn.http.wsgi import FileWrapper
from gunicorn.workers.gthread import ThreadWorker

from tokumei.platform.files.incoming import FULL, IS_FULL, most_bytes

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

# Threads of one web process that answer, and those that wait for others. Python runs one at a time, so that more that
# answer would only make each other late: with four, pages of a hundred users took twice as long.
N_ANSWERING = 2
N_WAITING = 128
# Those that look at passwords, which takes long on purpose: everybody may log in at once and pages still come.
N_HASHING = 2
HASHING = ("/login", "/sign-up", "/reset", "/account", "/api/v1/tokens")
# Those that may wait for another process or a store: offers and logs are read apart, tables are brought here; and those
# that draw, and wait for each other.
N_FETCHING = 2
FETCHING = ("/exchange/", "/workbench/", "/api/v1/exchange/")
DRAWING = ".svg"
# Seconds after which a thread lets others run. Each statement of a page lets go and waits for its turn again behind all
# that came meanwhile: by Python's own 5 ms a page of twenty statements, or a log-in, waits longer than it works.
TURN_SECONDS = 0.001
# Seconds within which the head of a request comes; its body comes, and the answer goes, at the slowest pace that is
# waited for, after some seconds' grace.
HEAD_SECONDS = 20.0
BODY_SECONDS = 20.0
SLOWEST = 8 * 1024
BLOCK = 64 * 1024
# Larger bodies are kept in files without a name.
IN_MEMORY = 256 * 1024


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """Gunicorn's worker with threads, whose threads wait; a request is answered by others once it is here."""

    def init_process(self) -> None:
        """Make the threads that answer."""
        sys.setswitchinterval(TURN_SECONDS)
        self.answering = ThreadPoolExecutor(N_ANSWERING, thread_name_prefix="answering")
        self.hashing = ThreadPoolExecutor(N_HASHING, thread_name_prefix="hashing")
        self.fetching = ThreadPoolExecutor(N_FETCHING, thread_name_prefix="fetching")
        self.deadlines: dict[socket.socket, float] = {}
        self.deadlines_lock = threading.Lock()
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the application for the threads that answer."""
        super().load_wsgi()
        application: Callable[..., Iterable[bytes]] = self.wsgi

        def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            self._take_in(environ)
            answer = self._threads_for(environ).submit(application, environ, start_response).result()
            return self.given_out(answer, environ["gunicorn.socket"])

        self.wsgi: Callable[..., Iterable[bytes]] = call
        # The views are imported now, and not while the first visitor waits.
        _ = get_resolver().url_patterns
        # What was read until here stays: nobody waits while the garbage collector looks through all of it again.
        gc.collect()
        gc.freeze()

    def _threads_for(self, environ: WSGIEnvironment) -> ThreadPoolExecutor:
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] == "POST" and path.startswith(HASHING):
            return self.hashing
        return self.fetching if path.startswith(FETCHING) or path.endswith(DRAWING) else self.answering

    def handle(self, conn: Any) -> object:
        """Wait for a request and have it answered; its head must come in time."""
        self._allow(conn.sock, time.monotonic() + HEAD_SECONDS)
        try:
            return super().handle(conn)
        finally:
            self._allow(conn.sock, None)

    def murder_pending(self) -> None:
        """Drop what came too slowly; called about once a second."""
        super().murder_pending()
        now = time.monotonic()
        with self.deadlines_lock:
            late = [sock for sock, deadline in self.deadlines.items() if deadline < now]
        for sock in late:
            # Whoever waits for it finds that nothing more comes.
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _take_in(self, environ: WSGIEnvironment) -> None:
        """Wait for the body; one that says to be too large is left to the application, which reads none of it."""
        sock, given = environ["gunicorn.socket"], environ.get("CONTENT_LENGTH") or "0"
        n_bytes = int(given) if given.isascii() and given.isdigit() else 0
        if 0 < n_bytes <= most_bytes(environ.get("PATH_INFO", "")):
            environ["wsgi.input"] = self._received(environ, sock, n_bytes)
        self._allow(sock, None)

    def given_out(self, answer: Iterable[bytes], sock: socket.socket) -> Iterator[bytes]:
        """Yield an answer block by block; a client that reads too slowly is dropped."""
        started, n_bytes = time.monotonic(), 0
        try:
            for block in _blocks(answer):
                self._allow(sock, started + BODY_SECONDS + n_bytes / SLOWEST)
                yield block
                n_bytes += len(block)
        finally:
            if hasattr(answer, "close"):
                answer.close()

    def _received(self, environ: WSGIEnvironment, sock: socket.socket, n_bytes: int) -> IO[bytes]:
        started, source, left = time.monotonic(), environ["wsgi.input"], n_bytes
        # Whoever reads it lets it go.
        spooled = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(settings.MEDIA_ROOT))  # noqa: SIM115
        kept = cast("IO[bytes]", spooled)
        while left:
            self._allow(sock, started + BODY_SECONDS + (n_bytes - left) / SLOWEST)
            block = source.read(min(left, BLOCK))
            if not block:
                raise OSError(errno.ECONNRESET, "the sender went away")
            left -= len(block)
            try:
                kept.write(block)
            except OSError as error:
                if error.errno not in FULL:
                    raise
                # The rest is read and thrown away, so that the browser gets to see an answer.
                environ[IS_FULL], kept = True, io.BytesIO()
        kept.seek(0)
        return kept

    def _allow(self, sock: socket.socket, until: float | None) -> None:
        with self.deadlines_lock:
            if until is None:
                self.deadlines.pop(sock, None)
            else:
                self.deadlines[sock] = until


def _blocks(answer: Iterable[bytes]) -> Iterable[bytes]:
    """Read a file by larger blocks than those that Django asks for."""
    if isinstance(answer, FileWrapper):
        answer.blksize = BLOCK
    return answer
