"""Hundreds of requests leave nothing behind in a web process: no objects, no memory, no open files.

A quarter of an hour of a hundred users is `python -m benchmarks load --minutes 15`; this is the part of it that every
change is held against. Requests go the way of the server, since Django's client for tests keeps something of each.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import resource
from collections.abc import Callable
from functools import cache
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.wsgi import get_wsgi_application
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import odd_edition, open_contest, release  # noqa: F401 - fixtures among them.

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db

# Until caches of templates, routes and statements are full.
N_WARMING, N_ROUNDS = 5, 15
PAGES = (
    *("", "login", "sign-up", "contests/", "contests/cup", "contests/cup/rules", "contests/cup/data"),
    *("contests/cup/submissions", "contests/cup/submit", "contests/cup/targets", "contests/cup/questions"),
    *("contests/cup/scoreboard", "contests/cup/figures/standings.svg", "contests/cup/files/data/D.csv"),
    *("exchange/", "notices/", "teams/", "account", "help/faq", "workbench/", "no/such/page", "health"),
)


application = cache(get_wsgi_application)


class Visitor:
    """Somebody with cookies, who asks the application as the server does."""

    def __init__(self, cookies: SimpleCookie | None = None, address: str = "127.0.0.1") -> None:
        self.application = application()
        self.cookies = {name: one.value for name, one in (cookies or SimpleCookie()).items()}
        self.address = address

    def ask(self, path: str, body: bytes | None = None, kind: str = "application/x-www-form-urlencoded") -> int:
        """Ask for a page, or send a form; give the status."""
        environ: dict[str, Any] = {"PATH_INFO": f"/{path}", "REMOTE_ADDR": self.address, "SERVER_NAME": "testserver"}
        setup_testing_defaults(environ)
        environ |= {"HTTP_HOST": "testserver", "wsgi.input": io.BytesIO(body or b"")}
        environ["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None:
            environ |= {"REQUEST_METHOD": "POST", "CONTENT_TYPE": kind, "CONTENT_LENGTH": str(len(body))}
            environ["HTTP_X_CSRFTOKEN"] = self.cookies.get("tokumei_csrf", "")
        told: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], _: object = None) -> Callable[[bytes], object]:
            told.extend((status, headers))
            return told.append

        answer = self.application(environ, start)
        b"".join(answer)
        answer.close()
        for name, value in told[1]:
            if name == "Set-Cookie":
                self.cookies |= {key: one.value for key, one in SimpleCookie(value).items()}
        return int(told[0][:3])


def n_objects() -> int:
    """Count what is alive, but for statements that SQLite keeps ready, of which it has a bounded number."""
    return sum(type(one).__name__ not in {"Statement", "ReferenceType"} for one in gc.get_objects())


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024**2


def assert_steady(ask: Callable[[int], object]) -> None:
    """Do something some times, and then hold what there is against what there is after many more."""
    for number in range(N_WARMING):
        ask(number)
    gc.collect()
    before = n_objects(), megabytes(), descriptors()
    for number in range(N_ROUNDS):
        ask(N_WARMING + number)
    gc.collect()
    objects, memory, files = n_objects() - before[0], megabytes() - before[1], descriptors() - before[2]
    # A leak leaves something in each round; a cache that fills up slowly does not.
    assert objects < N_ROUNDS, f"{objects} objects"
    assert memory < 8, f"{memory:.1f} MB"
    assert files <= 0, f"{files} descriptors"


@pytest.fixture(autouse=True)
def no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is logged from being kept for the report of the test, and the test's connection from being closed."""
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda _: None)


def test_what_a_request_leaves_behind_is_noticed() -> None:
    kept: list[object] = []
    with pytest.raises(AssertionError, match="objects"):
        # Far more than one each, since objects of earlier tests may go in the meantime: one template is hundreds.
        assert_steady(lambda number: kept.append([[number] for _ in range(1000)]))
    files: list[int] = []
    with pytest.raises(AssertionError, match="15 descriptors"):
        assert_steady(lambda _: files.append(os.dup(0)))
    for each in files:
        os.close(each)


@pytest.mark.slow
def test_pages_leave_nothing_behind(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    release(contest, team, alice, "60 60 60 60 60 10")
    visitor = Visitor(log_in(alice).cookies)

    def read_all(_: int) -> None:
        for page in PAGES:
            assert visitor.ask(page) in {200, 302, 404}, page

    assert visitor.ask("contests/cup/submissions") == 200
    assert_steady(read_all)


def test_wrong_passwords_leave_nothing_behind(contest: Contest, alice: User) -> None:
    def come(number: int) -> None:
        visitor = Visitor(address=f"10.0.0.{number}")
        assert visitor.ask("login") == 200
        given = {"username": f"nobody-{number}", "password": "wrong"}
        assert visitor.ask("login", urlencode(given).encode()) == 200

    assert_steady(come)


def test_refused_uploads_leave_nothing_behind(contest: Contest, log_in: LogIn, alice: User, team: Team) -> None:
    visitor = Visitor(log_in(alice).cookies)
    assert visitor.ask("contests/cup/submit") == 200
    # More than is kept in memory.
    body = encode_multipart(BOUNDARY, {"wrong": SimpleUploadedFile("R.csv", b"1\n" * 800_000)})

    def send(_: int) -> None:
        assert visitor.ask("contests/cup/submit", body, MULTIPART_CONTENT) == 302

    assert_steady(send)
