"""Starting Django without a manage.py: the command line, the job processes and the web server all begin here."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from tokumei.core.errors import MissingExtra

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
    from tokumei.platform.environment import create_data_folder, data_folder

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
