"""Tokens: how a program gets one, what it is good for, and when it is good for nothing."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from tests.platform.conftest import PASSWORD, LogIn
from tests.platform.hashers import QuickArgon2
from tests.platform.programs import Program, program_of, token_for
from tests.platform.sites import do_jobs

from tokumei.platform.accounts import authentication
from tokumei.platform.accounts.authentication import token_digest
from tokumei.platform.accounts.models import User
from tokumei.platform.api import bearer, services
from tokumei.platform.api.models import Token
from tokumei.platform.start import JsonLines

pytestmark = pytest.mark.django_db


def ask_for_token(username: str = "alice", password: str = PASSWORD, **more: Any) -> Any:
    return Program().call("POST", "/tokens", {"username": username, "password": password, "name": "laptop"} | more)


def whole_database() -> str:
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            rows.append(str(cursor.fetchall()))
    return "\n".join(rows)


def test_log_in_gives_a_token_that_works(alice: User) -> None:
    answer = ask_for_token()
    assert answer.status_code == 201
    given = answer.json()
    assert (given["name"], given["scope"]) == ("laptop", "submit")
    assert re.fullmatch(r"tokumei_[A-Za-z0-9_-]{43}", given["token"])
    me = Program(given["token"]).get("/me").json()
    assert (me["username"], me["token_name"], me["scope"]) == ("alice", "laptop", "submit")


def test_log_in_by_address_works_as_on_the_page(alice: User) -> None:
    assert ask_for_token("Alice@Example.com").status_code == 201


def test_log_in_of_nobody_and_by_a_wrong_password_look_alike(alice: User) -> None:
    wrong, nobody = ask_for_token(password="wrong"), ask_for_token("nobody")
    assert wrong.status_code == nobody.status_code == 401
    assert wrong.content == nobody.content
    assert wrong.json() == {"error": "NotLoggedIn", "message": "The name or the password is wrong."}


def test_log_in_of_nobody_does_the_same_work(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = []
    encode = QuickArgon2.encode

    def note(*given: Any) -> Any:
        hashed.append(given)
        return encode(*given)

    monkeypatch.setattr(QuickArgon2, "encode", note)
    ask_for_token("nobody")
    assert len(hashed) == 1


def test_tenth_wrong_password_locks_the_name_as_on_the_page(alice: User) -> None:
    statuses = [ask_for_token(password="wrong").status_code for _ in range(10)]
    assert statuses[:9] == [401] * 9
    locked = ask_for_token()
    assert locked.status_code == 429
    assert locked.json()["error"] == "TooMany"
    assert Token.objects.count() == 0


def test_right_password_takes_back_the_count_of_wrong_ones(alice: User) -> None:
    for _ in range(2):
        for _ in range(8):
            assert ask_for_token(password="wrong").status_code == 401
        assert ask_for_token().status_code == 201


def test_second_factor_is_asked_for_and_each_code_works_once(alice: User) -> None:
    device = TOTPDevice.objects.create(user=alice, name="app", confirmed=True)
    assert authentication.has_second_factor(alice)
    assert ask_for_token().json()["error"] == "CodeNeeded"
    assert ask_for_token(code="000000").status_code == 401
    # A wrong code makes the device wait a moment.
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    code = f"{totp(device.bin_key):06d}"
    assert ask_for_token(code=code).status_code == 201
    assert ask_for_token(code=code).status_code == 401


def test_closed_account_cannot_log_in_and_its_tokens_stop(alice: User) -> None:
    program = program_of(alice)
    User.objects.update(is_active=False)
    assert program.get("/me").status_code == 401
    assert ask_for_token().status_code == 401


@pytest.mark.parametrize("token", ["", "x", "tokumei_" + 43 * "A", "é", "a b c", 10_000 * "x"])
def test_request_without_a_token_that_works_is_401(alice: User, token: str) -> None:
    answer = Program(token).get("/me")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.json() == {"error": "NotLoggedIn", "message": "The token is missing, wrong, revoked or expired."}


def test_cookie_of_the_pages_opens_nothing(alice: User, log_in: LogIn) -> None:
    assert Program(client=log_in(alice)).get("/me").status_code == 401


def test_token_stops_when_it_expires(alice: User) -> None:
    program = program_of(alice)
    Token.objects.update(expires=timezone.now() + timedelta(seconds=5))
    assert program.get("/me").status_code == 200
    Token.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert program.get("/me").status_code == 401
    assert list(services.tokens_of(alice)) == []


def test_token_revokes_itself(alice: User) -> None:
    program, other = program_of(alice), program_of(alice)
    assert program.call("DELETE", "/tokens/current").status_code == 204
    assert program.get("/me").status_code == 401
    assert other.get("/me").status_code == 200


def test_change_of_the_password_voids_all_tokens(alice: User, log_in: LogIn) -> None:
    program = program_of(alice)
    new = {"current_password": PASSWORD, "password": "a brand new secret", "password_again": "a brand new secret"}
    assert log_in(alice).post("/account/password", new).status_code == 302
    assert program.get("/me").status_code == 401
    assert list(services.tokens_of(User.objects.get())) == []


def test_reset_of_the_password_voids_all_tokens(alice: User) -> None:
    program = program_of(alice)
    Client().post("/reset", {"email": "alice@example.com"})
    do_jobs("mail")
    (link,) = re.findall(r"http://testserver(/reset/\S+)", str(mail.outbox[0].body))
    Client().post(link, {"password": "a brand new secret", "password_again": "a brand new secret"})
    assert program.get("/me").status_code == 401


@pytest.mark.parametrize(
    ("scope", "statuses"), [("read", (200, 403, 403)), ("submit", (200, 404, 403)), ("organize", (200, 404, 404))]
)
def test_scope_says_what_a_token_may_do(alice: User, scope: str, statuses: tuple[int, ...]) -> None:
    program = program_of(alice, scope)
    announcement = {"title": "t", "text": "t"}
    answers = (
        program.get("/me"),
        program.call("POST", "/contests/nothing/withdraw"),
        program.call("POST", "/contests/nothing/announcements", announcement),
    )
    assert tuple(answer.status_code for answer in answers) == statuses


def test_changes_are_throttled_and_reading_is_not(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearer, "CHANGES_AN_HOUR", 2)
    program = program_of(alice)
    statuses = [program.call("POST", "/contests/nothing/withdraw").status_code for _ in range(3)]
    assert statuses == [404, 404, 429]
    assert program.get("/me").status_code == 200


def test_last_use_is_kept_to_the_day(alice: User) -> None:
    program = program_of(alice)
    program.get("/me")
    assert Token.objects.get().last_used == timezone.localdate()


def test_user_has_so_many_tokens_at_most(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "TOKENS_OF_A_USER", 2)
    old = [token_for(alice), token_for(alice)]
    assert ask_for_token().status_code == 403
    Token.objects.filter(digest=token_digest(old[0])).update(expires=timezone.now())
    assert ask_for_token().status_code == 201


def test_token_is_kept_nowhere_and_logged_nowhere(alice: User, caplog: pytest.LogCaptureFixture, log_in: LogIn) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(JsonLines())
    page = log_in(alice).post(
        "/account/tokens", {"name": "laptop", "scope": "submit", "days": "30", "current_password": PASSWORD}
    )
    (text,) = re.findall(r"tokumei_[A-Za-z0-9_-]{43}", page.content.decode())
    program = Program(text)
    answers = [program.get("/me"), program.get("/contests"), program.get("/contests/nothing"), program.get("/teams")]
    answers.append(log_in(alice).get("/account/tokens"))
    answers.append(Program(text + "x").get("/me"))
    secret = text.removeprefix("tokumei_")
    assert all(secret not in answer.content.decode() for answer in answers)
    assert all(secret not in str(answer.headers) for answer in answers)
    assert Token.objects.count() == 1
    assert secret not in whole_database()
    assert secret not in caplog.text
    assert "api:v1:me" in caplog.text


def test_password_is_in_no_answer_and_no_log(alice: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refused = Program().call("POST", "/tokens", {"username": "alice", "password": ["canary"], "name": "x"})
    assert refused.status_code == 400
    assert "canary" not in refused.content.decode()
    assert ask_for_token("alice", "canary").status_code == 401
    assert "canary" not in caplog.text


def test_page_makes_a_token_shows_it_once_and_revokes_it(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    given = {"name": "laptop", "scope": "read", "days": "", "current_password": PASSWORD}
    (text,) = re.findall(r"tokumei_[A-Za-z0-9_-]{43}", client.post("/account/tokens", given).content.decode())
    token = Token.objects.get()
    assert (token.name, token.scope, token.expires) == ("laptop", "read", None)
    listed = client.get("/account/tokens").content.decode()
    assert "laptop" in listed
    assert text not in listed
    assert client.post(f"/account/tokens/{token.pk}/revoke").status_code == 302
    assert Program(text).get("/me").status_code == 401


def test_page_asks_for_the_password_and_offers_organizing_to_organizers_alone(
    alice: User, organizer: User, log_in: LogIn
) -> None:
    given = {"name": "laptop", "scope": "organize", "days": "7", "current_password": PASSWORD}
    assert "tokumei_" not in log_in(alice).post("/account/tokens", given).content.decode()
    assert (
        "tokumei_" not in log_in(organizer).post("/account/tokens", given | {"current_password": "x"}).content.decode()
    )
    assert Token.objects.count() == 0
    assert "tokumei_" in log_in(organizer).post("/account/tokens", given).content.decode()


def test_token_of_another_is_not_there_to_revoke(alice: User, mallory: User, log_in: LogIn) -> None:
    token_for(alice)
    token = Token.objects.get()
    foreign = log_in(mallory).post(f"/account/tokens/{token.pk}/revoke")
    nothing = log_in(mallory).post("/account/tokens/999999/revoke")
    assert foreign.status_code == nothing.status_code == 404
    assert Token.objects.count() == 1


def test_guide_lists_every_operation_in_both_languages() -> None:
    schema = Client().get("/api/v1/openapi.json").json()
    english = Client().get("/account/api").content.decode()
    japanese = Client(headers={"Accept-Language": "ja"}).get("/account/api").content.decode()
    for path, methods in schema["paths"].items():
        for method in methods:
            line = f"{method.upper()} {path}"
            assert line in english
            assert line in japanese
    assert 'lang="ja"' in japanese


@pytest.mark.django_db(transaction=True)
def test_pages_in_a_browser_show_the_token_and_break_no_policy(page: Any, alice: User) -> None:
    page.goto("/login?next=/account/tokens")
    page.fill("#id_username", "alice")
    page.fill("#id_password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/account/tokens")
    page.fill("#id_name", "laptop")
    page.fill("#id_current_password", PASSWORD)
    page.click("text=Make the token")
    text = page.input_value("#token")
    assert services.token_of(text) is not None
    page.click("text=What programs can do")
    assert "/api/v1/contests/{slug}/releases" in page.inner_text("main")
    page.set_viewport_size({"width": 360, "height": 700})
    for path in ("/account/tokens", "/account/api"):
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width == 0, path
