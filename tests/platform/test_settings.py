"""Settings: what the environment may say, and what holds when it says nothing."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from tokumei.core.errors import InputError, MissingExtra
from tokumei.platform import start
from tokumei.platform.start import create_data_folder, data_folder, database, mail, secret_key

SHOW = """
import json
from tokumei.platform import settings as s
names = ["DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "CSRF_TRUSTED_ORIGINS",
         "PASSWORD_HASHERS", "SECURE_HSTS_SECONDS", "SECURE_PROXY_SSL_HEADER", "SECURE_SSL_REDIRECT", "EMAIL_BACKEND",
         "LOG_LEVEL"]
print(json.dumps({name: getattr(s, name, None) for name in names}))
"""


def settings_with(tmp_path: Path, **environment: str) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOKUMEI_")}
    given = kept | {"TOKUMEI_DATA": str(tmp_path / "data")} | environment
    done = subprocess.run([sys.executable, "-c", SHOW], env=given, capture_output=True, text=True, check=True)
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def test_settings_without_an_environment_are_safe_and_write_nothing(tmp_path: Path) -> None:
    shown = settings_with(tmp_path)
    assert shown["DEBUG"] is False
    # Django refuses an empty key, so that nothing runs before the real one is made.
    assert shown["SECRET_KEY"] == ""
    assert shown["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert "Argon2" in shown["PASSWORD_HASHERS"][0]
    assert "filebased" in shown["EMAIL_BACKEND"]
    assert list(tmp_path.iterdir()) == []


def test_settings_behind_a_tls_proxy_are_strict(tmp_path: Path) -> None:
    shown = settings_with(tmp_path, TOKUMEI_SECURE="1", TOKUMEI_HOSTS="contest.example, www.example")
    assert shown["ALLOWED_HOSTS"] == ["contest.example", "www.example"]
    assert shown["CSRF_TRUSTED_ORIGINS"] == ["https://contest.example", "https://www.example"]
    assert shown["SESSION_COOKIE_SECURE"] is shown["CSRF_COOKIE_SECURE"] is shown["SECURE_SSL_REDIRECT"] is True
    assert shown["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600
    assert shown["SECURE_PROXY_SSL_HEADER"] == ["HTTP_X_FORWARDED_PROTO", "https"]


def test_data_folder_is_made_for_its_owner_with_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKUMEI_SECRET_KEY")
    folder = tmp_path / "deep" / "data"
    create_data_folder(folder)
    key = secret_key(folder)
    assert len(key) > 80
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "secret-key").stat().st_mode) == 0o600
    create_data_folder(folder)
    assert secret_key(folder) == key
    assert {path.name for path in folder.iterdir()} == {"files", "mail", "static", "secret-key"}


def test_data_folder_is_the_users_own_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TOKUMEI_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "tokumei"


def test_database_is_sqlite_that_waits_for_writers_by_default(tmp_path: Path) -> None:
    found = database(tmp_path)
    assert found["NAME"] == str(tmp_path / "tokumei.sqlite3")
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.django_db
def test_database_in_use_has_a_write_ahead_log_and_a_long_wait() -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (20_000,)
        cursor.execute("PRAGMA foreign_keys")
        assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql://ann:p%40ss@db.example:5433/tok", ("tok", "ann", "p@ss", "db.example", "5433")),
        ("postgres://ann@localhost/tok", ("tok", "ann", "", "localhost", "")),
    ],
)
def test_database_of_postgresql_is_read_from_its_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str, expected: tuple[str, ...]
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    found = database(tmp_path)
    assert tuple(found[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")) == expected


def test_database_of_another_kind_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://ann:secret@db/tok")
    with pytest.raises(InputError, match="DATABASE_URL") as caught:
        database(tmp_path)
    assert "secret" not in str(caught.value)


def test_mail_goes_where_its_address_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert mail(tmp_path)["EMAIL_FILE_PATH"] == str(tmp_path / "mail")
    monkeypatch.setenv("TOKUMEI_MAIL", "console:")
    assert "console" in mail(tmp_path)["EMAIL_BACKEND"]
    monkeypatch.setenv("TOKUMEI_MAIL", "smtp://me:p%3Ass@mail.example")
    found = mail(tmp_path)
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == ("mail.example", 587)
    assert (found["EMAIL_HOST_PASSWORD"], found["EMAIL_USE_TLS"]) == ("p:ss", True)
    monkeypatch.setenv("TOKUMEI_MAIL", "pigeon:secret")
    with pytest.raises(InputError) as caught:
        mail(tmp_path)
    assert "secret" not in str(caught.value)


def test_platform_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "NEEDED", ("django", "no_such_module"))
    with pytest.raises(MissingExtra, match=r"tokumei\[platform\]"):
        start.configure()


@pytest.mark.django_db
def test_models_and_migrations_agree() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_django_finds_nothing_wrong() -> None:
    call_command("check", fail_level="WARNING")
