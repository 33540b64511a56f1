"""The settings of the platform's tests: the real ones, with files in a folder that goes away."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_folder = Path(tempfile.mkdtemp(prefix="tokumei-tests-"))
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
for _name in list(os.environ):
    if _name.startswith("TOKUMEI_") and _name != "TOKUMEI_DEBUG":
        del os.environ[_name]
os.environ["TOKUMEI_DATA"] = str(_folder)
os.environ["TOKUMEI_SECRET_KEY"] = "only-for-tests"
# Tests that run beside each other are no pages: their jobs stand back for nobody.
os.environ["TOKUMEI_JOB_NICENESS"] = "0"
# Set to the address of a PostgreSQL server, it runs the same tests there.
os.environ["DATABASE_URL"] = os.environ.get("PLATFORM_TEST_DATABASE", "")

from tokumei.platform.start import create_data_folder  # noqa: E402

create_data_folder(_folder)

from tokumei.platform.settings import *  # noqa: E402, F403
from tokumei.platform.settings import DATABASES, STORAGES  # noqa: E402

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# A file, since the live server's threads and the test share it.
if not os.environ["DATABASE_URL"]:
    DATABASES["default"]["TEST"] = {"NAME": str(_folder / "test.sqlite3")}
# The least work that Argon2 does; what is tested is that it is done.
PASSWORD_HASHERS = ["tests.platform.hashers.QuickArgon2", "django.contrib.auth.hashers.PBKDF2PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
