"""The second factor: codes of an app, backup codes, and what who has only the password can do."""

from __future__ import annotations

import base64
import re
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from tests.platform.conftest import PASSWORD, LogIn
from tests.platform.test_accounts import enter, is_logged_in

from tokumei.cli.commands import TOKUMEI
from tokumei.core.errors import InputError
from tokumei.platform.accounts import authentication, services
from tokumei.platform.accounts.models import BackupCode, Deed, User

pytestmark = pytest.mark.django_db


def code_of(user: User, steps: int = 0) -> str:
    device = TOTPDevice.objects.get(user=user)
    return f"{totp(device.bin_key, drift=steps):06d}"


def switch_on(client: Client, user: User) -> list[str]:
    key = secret_shown(client.post("/account/second-factor", {"current_password": PASSWORD}).content.decode())
    assert key is not None
    answer = client.post("/account/second-factor", {"code": f"{totp(key):06d}"})
    codes = re.findall(r"<li>([a-z2-9]{5}-[a-z2-9]{5})</li>", answer.content.decode())
    # As if some time had passed: a code is good once only.
    TOTPDevice.objects.filter(user=user).update(last_t=-1)
    return codes


def secret_shown(page: str) -> bytes | None:
    """Read the secret off the page for setting up, as an app's camera would."""
    secret = re.search(r"<code>([A-Z2-7 ]+)</code>", page)
    typed = "" if secret is None else secret[1].replace(" ", "")
    return base64.b32decode(typed + "=" * (-len(typed) % 8)) or None


def test_second_factor_once_on_asks_for_a_code(alice: User, log_in: LogIn) -> None:
    assert len(switch_on(log_in(alice), alice)) == 10
    visitor = Client()
    answer = enter(visitor, next="/teams/")
    assert urlsplit(answer["Location"]).path == "/login/code"
    assert not is_logged_in(visitor)
    code = code_of(alice)
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    assert "The code is wrong" in visitor.post("/login/code", {"code": wrong}).content.decode()
    assert not is_logged_in(visitor)
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    done = visitor.post("/login/code", {"code": f"{code[:3]} {code[3:]}", "next": "/teams/"})
    assert (done.status_code, done["Location"]) == (302, "/teams/")
    assert is_logged_in(visitor)
    # The same code a second time is refused.
    thief = Client()
    enter(thief)
    assert thief.post("/login/code", {"code": code}).status_code == 200
    assert not is_logged_in(thief)


def test_backup_codes_work_once_each_and_are_kept_as_digests(alice: User, log_in: LogIn) -> None:
    codes = switch_on(log_in(alice), alice)
    kept = str(list(BackupCode.objects.values_list("digest", flat=True)))
    assert not any(code in kept or code.replace("-", "") in kept for code in codes)
    for number, (code, expected) in enumerate([(codes[0].upper(), True), (codes[0], False), (codes[1], True)]):
        visitor = Client()
        enter(visitor)
        visitor.post("/login/code", {"code": code})
        assert is_logged_in(visitor) is expected, number
        TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)


def test_second_factor_cannot_be_tried_often(alice: User, log_in: LogIn, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = switch_on(log_in(alice), alice)
    monkeypatch.setattr(authentication, "TRIES", 3)
    Deed.objects.all().delete()
    visitor = Client()
    enter(visitor)
    answers = [visitor.post("/login/code", {"code": "000000"}).status_code for _ in range(4)]
    assert answers == [200, 200, 200, 429]
    assert visitor.post("/login/code", {"code": codes[0]}).status_code == 429
    assert not is_logged_in(visitor)


def test_code_page_without_a_password_before_leads_back(client: Client, alice: User, log_in: LogIn) -> None:
    switch_on(log_in(alice), alice)
    assert client.get("/login/code")["Location"] == "/login"
    assert client.post("/login/code", {"code": code_of(alice)})["Location"] == "/login"


def test_code_page_after_a_change_of_password_leads_back(client: Client, alice: User, log_in: LogIn) -> None:
    switch_on(log_in(alice), alice)
    enter(client)
    services.reset_password(alice, "changed meanwhile")
    assert client.post("/login/code", {"code": code_of(alice)})["Location"] == "/login"


def test_switching_the_second_factor_off_needs_the_password(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    switch_on(client, alice)
    assert client.post("/account/second-factor/off", {"current_password": "wrong"}).status_code == 200
    assert authentication.has_second_factor(alice)
    assert client.post("/account/second-factor/off", {"current_password": PASSWORD}).status_code == 302
    assert not authentication.has_second_factor(alice)
    assert BackupCode.objects.count() == 0
    assert enter(Client())["Location"] == "/"


def test_switching_on_needs_the_password_and_ends_other_sessions(alice: User, log_in: LogIn) -> None:
    other, client = log_in(alice), log_in(alice)
    for given in ({}, {"code": "000000"}, {"current_password": "wrong"}):
        answer = client.post("/account/second-factor", given)
        assert answer.status_code == (302 if "code" in given else 200)
        assert secret_shown(answer.content.decode()) is None
    assert not TOTPDevice.objects.exists()
    assert is_logged_in(other)
    switch_on(client, alice)
    assert authentication.has_second_factor(alice)
    assert is_logged_in(client)
    assert not is_logged_in(other)


def test_secret_that_a_passer_by_saw_is_worth_nothing(alice: User, log_in: LogIn) -> None:
    """Who finds an open session sees no secret; one that was begun elsewhere is not what the owner switches on."""
    passer_by, owner = log_in(alice), log_in(alice)
    assert secret_shown(passer_by.get("/account/second-factor").content.decode()) is None
    first = secret_shown(owner.post("/account/second-factor", {"current_password": PASSWORD}).content.decode())
    assert first is not None
    # The session that did not give the password can neither see nor confirm what the other one began.
    assert passer_by.post("/account/second-factor", {"code": f"{totp(first):06d}"}).status_code == 302
    assert not authentication.has_second_factor(alice)
    second = secret_shown(owner.post("/account/second-factor", {"current_password": PASSWORD}).content.decode())
    assert second not in (None, first)


def test_command_resets_the_second_factor_and_ends_sessions(
    alice: User, log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = log_in(alice)
    switch_on(client, alice)
    # The command's own set-up of Django is that of this process.
    monkeypatch.setattr("tokumei.platform.start.configure", lambda data: None)
    monkeypatch.setattr("tokumei.platform.start.prepare", lambda: None)
    runner = CliRunner()
    wrong = runner.invoke(TOKUMEI, ["user", "nobody", "--reset-two-factor"])
    assert isinstance(wrong.exception, InputError)
    assert authentication.has_second_factor(alice)
    done = runner.invoke(TOKUMEI, ["user", "ALICE", "--reset-two-factor"])
    assert done.exit_code == 0, done.output
    assert not authentication.has_second_factor(alice)
    assert BackupCode.objects.count() == 0
    assert not is_logged_in(client)
    assert enter(Client())["Location"] == "/"


def test_command_deletes_an_account_after_its_name_was_typed_again(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokumei.platform.start.configure", lambda data: None)
    monkeypatch.setattr("tokumei.platform.start.prepare", lambda: None)
    runner = CliRunner()
    assert isinstance(runner.invoke(TOKUMEI, ["user", "bob", "--delete"], input="alice\n").exception, InputError)
    assert isinstance(runner.invoke(TOKUMEI, ["user", "bob", "--delete", "--admin"]).exception, InputError)
    assert User.objects.get(pk=bob.pk).deleted_at is None
    assert runner.invoke(TOKUMEI, ["user", "bob", "--delete"], input="bob\n").exit_code == 0
    assert User.objects.get(pk=bob.pk).deleted_at is not None
    assert User.objects.get(pk=alice.pk).deleted_at is None
