"""Starting Django without a manage.py: the command line, the job processes and the web server all begin here.

What the settings work out from the environment comes first (data folder, key, database, mail, shared store), then the
log, one JSON object a line. The log holds nothing that anybody typed: a record has its message and whatever was passed
as `extra={"facts": {…}}`; of an exception it has the type and the places it went through, and not its message, which
may hold a cell of somebody's data. Nothing heavy is imported here before it is needed.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import stat
import sys
import traceback
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from tokumei.core.errors import InputError, MissingExtra
from tokumei.core.text import Json

KEY_FILE = "secret-key"
# Seconds that a writer waits for another on SQLite.
WAIT_FOR_LOCK = 20


def data_folder() -> Path:
    """Find the folder for everything the server keeps; it need not exist yet."""
    given = os.environ.get("TOKUMEI_DATA")
    if given:
        return Path(given).expanduser().resolve()
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "tokumei"


def secret_key(data: Path) -> str:
    """Return the key that signs sessions; empty, which Django refuses, before `create_data_folder` ran."""
    given = os.environ.get("TOKUMEI_SECRET_KEY")
    if given:
        return given
    file = data / KEY_FILE
    return file.read_text("ascii").strip() if file.is_file() else ""


def create_data_folder(data: Path) -> None:
    """Make the folder and the key in it where they are missing; both are for the owner's eyes only."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    _keep_to_owner(data, 0o700)
    if not os.access(data, os.W_OK | os.X_OK):
        raise InputError.of("a folder that may be written to", file=data)
    for name in ("files", "mail", "static"):
        (data / name).mkdir(mode=0o700, exist_ok=True)
    if (data / KEY_FILE).exists():
        _keep_to_owner(data / KEY_FILE, 0o600)
        return
    if os.environ.get("TOKUMEI_SECRET_KEY"):
        return
    draft = data / f".{KEY_FILE}.{secrets.token_hex(6)}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(64) + "\n")
    try:
        # A link, unlike a rename, leaves the key of another process that was quicker.
        (data / KEY_FILE).hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _keep_to_owner(path: Path, mode: int) -> None:
    """Take from others what they could read, and say so; refuse what cannot be taken from them."""
    if not stat.S_IMODE(path.stat().st_mode) & 0o077:
        return
    try:
        path.chmod(mode)
    except PermissionError:
        raise InputError.of("what only its owner can read: it holds every secret", file=path) from None
    print(f"{path} could be read by others; it is its owner's alone now.", file=sys.stderr)  # noqa: T201


def database(data: Path) -> Json:
    """Return Django's database settings from the address of the database."""
    address = os.environ.get("DATABASE_URL") or f"sqlite:///{data / 'tokumei.sqlite3'}"
    parts = urlsplit(address)
    if parts.scheme == "sqlite":
        return _sqlite(unquote(parts.path.removeprefix("/")))
    if parts.scheme in {"postgresql", "postgres"}:
        return _postgresql(parts)
    # The address may hold a password, so that only its beginning is shown.
    raise InputError.of("postgresql://… or sqlite:///…", column="DATABASE_URL", value=f"{parts.scheme}:…")


def shared_store() -> dict[str, object]:
    """Return Django's settings of the store that several machines share; none for one machine.

    The credentials are those that boto3 finds: variables of the environment, a file, or the machine's role.
    """
    address = os.environ.get("TOKUMEI_STORE")
    if not address:
        return {}
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.hostname:
        raise InputError.of("s3://bucket or s3://bucket/prefix", column="TOKUMEI_STORE", value=address)
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise MissingExtra("A store that machines share", "s3")
    options = {
        "bucket_name": parts.netloc,
        "location": parts.path.strip("/"),
        "endpoint_url": os.environ.get("TOKUMEI_STORE_URL") or None,
        "default_acl": None,
        # Names are digests: what is there is the same.
        "file_overwrite": True,
        "querystring_auth": True,
    }
    return {"shared": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}}


def mail(data: Path) -> Json:
    """Return Django's mail settings from the address of the mail server."""
    address = os.environ.get("TOKUMEI_MAIL") or "file:"
    parts = urlsplit(address)
    if parts.scheme == "console":
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    if parts.scheme == "file":
        return {
            "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "EMAIL_FILE_PATH": str(data / "mail"),
        }
    if parts.scheme in {"smtp", "smtps"} and parts.hostname:
        return {
            "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "EMAIL_HOST": parts.hostname,
            "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 587),
            "EMAIL_HOST_USER": unquote(parts.username or ""),
            "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
            "EMAIL_USE_SSL": parts.scheme == "smtps",
            "EMAIL_USE_TLS": parts.scheme == "smtp" and parts.username is not None,
            "EMAIL_TIMEOUT": 20,
        }
    raise InputError.of("smtp://…, smtps://…, console: or file:", column="TOKUMEI_MAIL", value=f"{parts.scheme}:…")


def _sqlite(path: str) -> dict[str, object]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(Path(path).resolve()),
        "CONN_MAX_AGE": 60,
        "OPTIONS": {
            # Taken at the start: a reader that becomes a writer midway would fail at once instead of waiting.
            "transaction_mode": "IMMEDIATE",
            "timeout": WAIT_FOR_LOCK,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000;",
        },
    }


def _postgresql(parts: SplitResult) -> dict[str, object]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        # Each connection is a thread's for long, and planning a query takes longer than answering it: it is planned
        # once, from the third time on that it is asked.
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 2},
    }


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the record."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        facts = getattr(record, "facts", None)
        if isinstance(facts, dict):
            line |= facts
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            line["at"] = [
                f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(error.__traceback__)
            ]
        return json.dumps(line, ensure_ascii=False, default=str)


def _message(record: logging.LogRecord) -> str:
    if record.name.startswith("tokumei"):
        return record.getMessage()
    if record.name.startswith("django.security"):
        # Its messages quote the request; the name of the logger says what was wrong with it.
        return "suspicious request"
    # Of other packages' messages only the form is kept: their arguments may be paths with tokens in them.
    return str(record.msg)


SETTINGS = "tokumei.platform.settings"
# What the extra `platform` installs.
NEEDED = ("argon2", "axes", "csp", "django", "django_otp", "gunicorn", "httpx", "ninja", "whitenoise")


def configure(data: Path | None = None) -> None:
    """Make Django ready to use, with its files in the given folder."""
    _find_settings(data)
    import django

    django.setup()


def configure_supervisor(data: Path | None = None) -> None:
    """Make the settings and the log ready, and no model: who only starts others is there at once and stays small."""
    _find_settings(data)
    from django.conf import settings
    from django.utils.log import configure_logging

    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)


def _find_settings(data: Path | None) -> None:
    """Set where the settings and the files are, for this process and its children."""
    if any(find_spec(module) is None for module in NEEDED):
        raise MissingExtra("The platform", "platform")

    # Whatever is written from here on is its owner's alone: the database, keys, truth and mail.
    os.umask(0o077)
    if data is not None:
        os.environ["TOKUMEI_DATA"] = str(data.expanduser().resolve())
    create_data_folder(data_folder())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS)


def prepare() -> None:
    """Bring the database up to date, forget old sessions, lay out the static files; `configure` comes first."""
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    call_command("clearsessions")
    call_command("collectstatic", interactive=False, verbosity=0)
