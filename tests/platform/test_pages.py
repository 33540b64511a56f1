"""The pages that belong to no domain: home, errors, health, figures."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path
from tests.platform.conftest import LogIn

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.platform import metrics, urls
from tokumei.platform.access import access
from tokumei.platform.accounts.models import User
from tokumei.platform.messages import TooMany
from tokumei.platform.pages import apps
from tokumei.platform.pages.apps import NavLink, PageSection
from tokumei.platform.start import JsonLines

CANARY = "canary-c0ffee"
ERRORS: dict[str, Exception] = {
    "too-many": TooMany("Please wait."),
    "not-found": NotFound(CANARY),
    "not-allowed": NotAllowed("The rules <b>forbid</b> it."),
    "input": InputError.of("a number", column="age", value="x"),
    "suspicious": SuspiciousOperation(CANARY),
    "failed": ZeroDivisionError(CANARY),
}


@access("anyone", methods="GET POST")
def fails(request: HttpRequest, kind: str) -> HttpResponse:
    if kind == "reads":
        return HttpResponse(str(len(request.POST)))
    raise ERRORS[kind]


urlpatterns = [*urls.urlpatterns, path("fails/<str:kind>", fails)]
handler400, handler403, handler404, handler500 = urls.handler400, urls.handler403, urls.handler404, urls.handler500


@pytest.fixture
def failing(db: None, settings: Any) -> Client:
    settings.ROOT_URLCONF = __name__
    return Client(raise_request_exception=False)


@pytest.mark.django_db
def test_home_without_an_account_says_what_this_is_and_offers_one(client: Client) -> None:
    shown = client.get("/").content.decode()
    assert "somebody should have tried to find the people in it" in shown
    assert 'href="/sign-up"' in shown
    assert "Log out" not in shown


@pytest.mark.django_db
def test_home_shows_what_other_apps_put_there(
    client: Client, alice: User, log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = PageSection("pages/error.html", {"status": 1})
    monkeypatch.setattr(
        apps, "NAVIGATION", [NavLink("For users", "teams:mine", for_users=True), NavLink("All", "pages:home")]
    )
    monkeypatch.setattr("tokumei.platform.pages.views.HOME", [lambda request: section, lambda request: None])
    shown = client.get("/").content.decode()
    assert "For users" not in shown
    assert ">All</a>" in shown
    assert shown.count("error-status") == 1
    assert "For users" in log_in(alice).get("/").content.decode()


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("too-many", 429, "Please wait."),
        ("not-found", 404, "There is nothing here"),
        ("not-allowed", 403, "The rules &lt;b&gt;forbid&lt;/b&gt; it."),
        ("input", 400, "column age: found &#x27;x&#x27;, expected a number"),
        ("suspicious", 400, "The request was not understood"),
        ("failed", 500, "Something went wrong here"),
    ],
)
def test_error_becomes_the_page_of_its_status(
    failing: Client, caplog: pytest.LogCaptureFixture, kind: str, status: int, said: str
) -> None:
    answer = failing.get(f"/fails/{kind}")
    shown = answer.content.decode()
    assert answer.status_code == status
    assert said in shown
    assert CANARY not in shown
    assert "Traceback" not in shown
    assert CANARY not in "".join(JsonLines().format(record) for record in caplog.records)


@pytest.mark.parametrize(
    ("kind", "title"), [("failed", "サーバーでエラーが起きました"), ("suspicious", "リクエストを処理できませんでした")]
)
def test_error_page_speaks_the_visitors_language(failing: Client, kind: str, title: str) -> None:
    assert title in failing.get(f"/fails/{kind}", headers={"accept-language": "ja"}).content.decode()


def test_every_error_of_tokumei_has_a_status() -> None:
    from tokumei.platform.access import status_of

    assert [status_of(error) for error in ERRORS.values() if isinstance(error, TokumeiError)] == [429, 404, 403, 400]


def test_failure_is_logged_by_place_and_number_without_its_message(
    failing: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "tokumei"):
        answer = failing.get(f"/fails/failed?token={CANARY}")
    lines = [JsonLines().format(record) for record in caplog.records]
    assert CANARY not in "".join(lines)
    entries = [json.loads(line) for line in lines]
    (failure,) = [entry for entry in entries if entry["message"] == "failed"]
    assert failure["error"] == "ZeroDivisionError"
    assert failure["at"][-1].endswith("fails")
    assert failure["request"] == answer["X-Request-Id"]
    assert failure["request"] in answer.content.decode()


def test_log_line_of_another_package_drops_its_arguments_and_messages_of_errors() -> None:
    try:
        raise ValueError(CANARY)
    except ValueError:
        record = logging.LogRecord("django.x", logging.ERROR, "f", 1, "Bad: %s", (CANARY,), sys.exc_info())
    written = JsonLines().format(record)
    assert CANARY not in written
    assert json.loads(written)["message"] == "Bad: %s"


@pytest.mark.django_db
def test_request_is_logged_by_route_and_not_by_path(
    alice: User, log_in: LogIn, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "tokumei"):
        log_in(alice).get(f"/teams/join/{CANARY}?q={CANARY}")
    written = [JsonLines().format(record) for record in caplog.records]
    assert CANARY not in "".join(written)
    (entry,) = [json.loads(line) for line in written]
    assert (entry["method"], entry["route"], entry["status"]) == ("GET", "teams:join", 404)


def test_request_that_carries_too_much_is_refused_unread(failing: Client, settings: Any) -> None:
    settings.MAX_REQUEST_BYTES = 100
    answer = failing.post("/fails/reads", {"field": 200 * "x"})
    assert answer.status_code == 413
    assert "That is too large" in answer.content.decode()


def test_request_with_too_large_or_too_many_fields_is_refused(failing: Client, settings: Any) -> None:
    assert failing.post("/fails/reads", {"field": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)}).status_code == 413
    assert failing.post("/fails/reads", {f"field{n}": "x" for n in range(201)}).status_code == 413
    assert failing.post("/fails/reads", {f"field{n}": "x" for n in range(200)}).content == b"200"


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1@evil", "<script>"])
def test_request_for_another_host_is_refused(host: str) -> None:
    assert Client(raise_request_exception=False).get("/", headers={"host": host}).status_code == 400


@pytest.mark.django_db
def test_health_is_told_without_an_account(client: Client) -> None:
    answer = client.get("/health")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ok", "database": "ok", "disk": "ok", "space": "ok"},
    )


@pytest.mark.django_db
def test_health_with_a_disk_that_cannot_be_written_is_bad(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.DATA = tmp_path / "gone"
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["disk"]) == (503, "failed")


@pytest.mark.django_db
def test_health_with_a_database_that_is_gone_is_bad(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import DatabaseError

    class Gone:
        def cursor(self) -> None:
            raise DatabaseError(CANARY)

    monkeypatch.setattr("tokumei.platform.pages.views.connection", Gone())
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["database"]) == (503, "failed")
    assert CANARY not in answer.content.decode()


@pytest.mark.django_db
def test_figures_are_for_programs_on_this_machine(client: Client) -> None:
    assert client.get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.1").get("/metrics").status_code == 404
    # A proxy on this machine brings requests from anywhere.
    assert client.get("/metrics", headers={"x-forwarded-for": "127.0.0.1"}).status_code == 404


@pytest.mark.django_db
def test_figures_with_a_token_are_for_who_shows_it(settings: Any) -> None:
    settings.METRICS_TOKEN = "s3cret"
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 404
    assert (
        Client(REMOTE_ADDR="192.0.2.1").get("/metrics", headers={"authorization": "Bearer s3cret"}).status_code == 200
    )


@pytest.mark.django_db
def test_figures_count_requests_and_ask_the_apps(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "GAUGES", [lambda: [metrics.Gauge("jobs_waiting", "Jobs that wait.", 3)]])

    def n_not_found() -> float:
        found = re.search(r'tokumei_requests_total\{status="4xx"\} (\d+)', metrics.exposition())
        assert found is not None
        return float(found[1])

    before = n_not_found()
    client.get("/teams/join/x")
    client.get("/reset/x/y")
    assert n_not_found() == before + 1
    text = client.get("/metrics").content.decode()
    assert "# TYPE tokumei_jobs_waiting gauge\ntokumei_jobs_waiting 3\n" in text
    counts = [int(n) for n in re.findall(r"request_seconds_bucket\{.*\} (\d+)", text)]
    assert counts == sorted(counts)
    assert f"tokumei_request_seconds_count {counts[-1]}" in text


def test_address_of_the_browser_behind_a_proxy_is_the_proxys_word(rf: RequestFactory, settings: Any) -> None:
    from tokumei.platform.access import client_address, network_of

    request = rf.get("/", headers={"x-forwarded-for": "10.0.0.1, 192.0.2.9"})
    assert client_address(request) == "127.0.0.1"
    settings.IS_SECURE = True
    assert client_address(request) == "192.0.2.9"
    assert client_address(rf.get("/", headers={"x-forwarded-for": "<script>"})) == "0.0.0.0"
    assert network_of("2001:db8:1:2:3::4") == "2001:db8:1:2::/64"


def test_failure_outside_of_views_is_logged_too(
    failing: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: HttpRequest) -> dict[str, Any]:
        raise RuntimeError(CANARY)

    monkeypatch.setattr("django.contrib.sessions.middleware.SessionMiddleware.process_request", broken)
    answer = failing.get("/")
    assert answer.status_code == 500
    assert answer["Content-Security-Policy"]
    (entry,) = [json.loads(JsonLines().format(record)) for record in caplog.records if record.levelname == "ERROR"]
    assert (entry["message"], entry["request"]) == ("failed", answer["X-Request-Id"])
    assert CANARY not in str(entry)


def test_failure_of_the_error_page_itself_still_answers(failing: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **options: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr("tokumei.platform.access.render", broken)
    answer = failing.get("/fails/failed")
    assert (answer.status_code, answer["Content-Type"]) == (500, "text/plain; charset=utf-8")
    assert answer["X-Request-Id"] in answer.content.decode()
    assert CANARY not in answer.content.decode()
