"""Slow senders at the port itself, without a proxy before it: everybody else is served meanwhile."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from tests.platform.test_serving import Server, server  # noqa: F401 - a fixture.

N_SLOW = 100
HEAD = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
BEGINNINGS = {
    "a body": f"{HEAD}Content-Length: 1000\r\n\r\nusername=",
    "a head": HEAD,
    "nothing": "",
}


@contextmanager
def connections(url: str, said: str) -> Iterator[list[socket.socket]]:
    """Open many connections that say the beginning of something."""
    address = urlsplit(url)
    with ExitStack() as opened:
        made = []
        for _ in range(N_SLOW):
            made.append(opened.enter_context(socket.create_connection(("127.0.0.1", address.port or 80), 10)))
            made[-1].sendall(said.encode())
        yield made


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
