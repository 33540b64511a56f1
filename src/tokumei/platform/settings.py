"""Django's settings, from the environment; importing them writes nothing.

| variable              | is                                                           | otherwise                 |
|-----------------------|--------------------------------------------------------------|---------------------------|
| TOKUMEI_DATA          | the folder for the database, files, keys and mail            | ~/.local/share/tokumei    |
| DATABASE_URL          | postgresql://user:password@host:port/name, or sqlite:///path | SQLite in the data folder |
| TOKUMEI_SECRET_KEY    | what sessions and links are signed with                      | a file in the data folder |
| TOKUMEI_HOSTS         | the names the server goes by, with commas                    | this machine only         |
| TOKUMEI_SECURE        | 1 behind a proxy that speaks TLS and sets X-Forwarded-*      | plain HTTP                |
| TOKUMEI_METRICS_TOKEN | what a program that reads /metrics must show                 | loopback only             |
| TOKUMEI_MAIL          | smtp://user:password@host:port, smtps://…, console: or file: | files in the data folder  |
| TOKUMEI_MAIL_FROM     | the sender of mail                                           | tokumei@localhost         |
| TOKUMEI_CONTACT       | the address of the operators, on the page of help            | the sender of mail        |
| TOKUMEI_TIME_ZONE     | the zone that times are shown in                             | Asia/Tokyo                |
| TOKUMEI_JOB_PROCESSES | how many evaluations run at once beside one server           | 2                         |
| TOKUMEI_LOG_LEVEL     | INFO logs every request, WARNING what went wrong             | by where the log goes     |
| TOKUMEI_BACKUP_KEY    | what backups are signed with; in none of them                | ~/.config/tokumei/backup-key |
| TOKUMEI_UPLOAD_BYTES  | the most bytes a request may carry                           | 64 MiB                    |
| TOKUMEI_WORKBENCH_BYTES   | the most bytes of a file on the workbench                | 256 MiB                   |
| TOKUMEI_WORKBENCH_QUOTA   | the most bytes of all files of one person there          | 1 GiB                     |
| TOKUMEI_WORKBENCH_PIECES  | the most pieces of work of one person there              | 20                        |
| TOKUMEI_WORKBENCH_HOURS   | after how many hours they are deleted                    | 24                        |
| TOKUMEI_WORKBENCH_SECONDS | how long one job of the workbench may take               | 1800                      |
| TOKUMEI_STORE         | s3://bucket/prefix, for servers on several machines          | the data folder's disk    |
| TOKUMEI_STORE_URL     | the address of a store that is not Amazon's                  | Amazon's                  |
| TOKUMEI_EXCHANGE_K    | the least k that an offer's criteria may ask for             | 3                         |
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from tokumei.platform.start import data_folder, database, mail, secret_key, shared_store

HERE = Path(__file__).resolve().parent
DATA = data_folder()
IS_SECURE = os.environ.get("TOKUMEI_SECURE", "") in {"1", "true", "yes"}

DEBUG = False
SECRET_KEY = secret_key(DATA)
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
HOSTS = [host.strip() for host in os.environ.get("TOKUMEI_HOSTS", "").split(",") if host.strip()]
ALLOWED_HOSTS = HOSTS or LOOPBACK
# User names are unique whatever their case, by a constraint that this check does not see.
SILENCED_SYSTEM_CHECKS = ["auth.W004"]
ROOT_URLCONF = "tokumei.platform.urls"
WSGI_APPLICATION = "tokumei.platform.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": database(DATA)}

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "tokumei.platform.pages",
    "tokumei.platform.accounts",
    "tokumei.platform.notices",
    "tokumei.platform.teams",
    "tokumei.platform.contests",
    "tokumei.platform.jobs",
    "tokumei.platform.files",
    "tokumei.platform.exchange",
    "tokumei.platform.workbench",
    "tokumei.platform.api",
]

MIDDLEWARE = [
    "tokumei.platform.middleware.observe",
    "tokumei.platform.middleware.add_headers",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "tokumei.platform.middleware.speak_language",
    "tokumei.platform.middleware.keep_time",
    "tokumei.platform.middleware.cache_while_reading",
    "django.contrib.messages.middleware.MessageMiddleware",
    "tokumei.platform.middleware.ErrorsAsPages",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [HERE / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "tokumei.platform.pages.apps.navigation",
                "tokumei.platform.notices.services.unread",
            ],
            # Filters stand beside the words that they show.
            "libraries": {
                "contest_words": "tokumei.platform.contests.words",
                "exchange_words": "tokumei.platform.exchange.trying",
                "workbench_words": "tokumei.platform.workbench.words",
            },
            "builtins": ["django.templatetags.i18n", "django.templatetags.static", "tokumei.platform.pages.tags"],
        },
    }
]

# People and sessions.
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "tokumei.platform.accounts.authentication.NameOrEmail",
]
PASSWORD_HASHERS = [
    "tokumei.platform.accounts.authentication.Argon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("username", "display_name", "email")},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
OTP_TOTP_ISSUER = "Tokumei"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "pages:home"
PASSWORD_RESET_TIMEOUT = int(timedelta(hours=2).total_seconds())
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SESSION_COOKIE_NAME = "tokumei_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = IS_SECURE
CSRF_COOKIE_NAME = "tokumei_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = IS_SECURE
CSRF_FAILURE_VIEW = "tokumei.platform.access.csrf_failed"
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in HOSTS] if IS_SECURE else []

# A person who mistypes ten times waits a quarter of an hour; the same name from elsewhere is not locked out by that.
AXES_FAILURE_LIMIT = 10
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "tokumei.platform.access.client_address"
AXES_USERNAME_CALLABLE = "tokumei.platform.accounts.authentication.name_of_attempt"
AXES_LOCKOUT_CALLABLE = "tokumei.platform.access.locked_out"

# What the browser may do with a page: nothing that does not come from here.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
if IS_SECURE:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds())
    SECURE_REDIRECT_EXEMPT = [r"^(health|metrics)$"]
    SECURE_SSL_REDIRECT = True
METRICS_TOKEN = os.environ.get("TOKUMEI_METRICS_TOKEN", "")

# Files that people send.
MAX_REQUEST_BYTES = int(os.environ.get("TOKUMEI_UPLOAD_BYTES", 64 * 1024 * 1024))
# The workbench: what one file may have, what all of a person's may, and how long they stay.
WORKBENCH_BYTES = int(os.environ.get("TOKUMEI_WORKBENCH_BYTES", 256 * 1024 * 1024))
WORKBENCH_QUOTA = int(os.environ.get("TOKUMEI_WORKBENCH_QUOTA", 1024 * 1024 * 1024))
WORKBENCH_PIECES = int(os.environ.get("TOKUMEI_WORKBENCH_PIECES", "20"))
WORKBENCH_HOURS = float(os.environ.get("TOKUMEI_WORKBENCH_HOURS", "24"))
WORKBENCH_SECONDS = float(os.environ.get("TOKUMEI_WORKBENCH_SECONDS", "1800"))
# On one's own machine, for one person, by `tokumei studio`.
IS_STUDIO = os.environ.get("TOKUMEI_STUDIO", "") == "1"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 20
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Unnamed files: a process that is killed while it receives leaves none behind.
FILE_UPLOAD_HANDLERS = ["tokumei.platform.files.incoming.UnnamedFileUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
MEDIA_ROOT = DATA / "files"

# Files that the server sends.
STATIC_URL = "/static/"
STATIC_ROOT = DATA / "static"
STATICFILES_DIRS = [HERE / "static"]
# Only ours: what other packages bring is not used, and some of it breaks the policy above.
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
} | shared_store()

# Languages and time.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]
LANGUAGE_COOKIE_NAME = "tokumei_language"
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = IS_SECURE
LOCALE_PATHS = [HERE / "locale"]
USE_I18N = True
USE_TZ = True
# The operator's standard: no provider's criterion goes below it.
EXCHANGE_LEAST_K = int(os.environ.get("TOKUMEI_EXCHANGE_K", "3"))
TIME_ZONE = os.environ.get("TOKUMEI_TIME_ZONE", "Asia/Tokyo")

# Mail.
DEFAULT_FROM_EMAIL = os.environ.get("TOKUMEI_MAIL_FROM", "tokumei@localhost")
CONTACT = os.environ.get("TOKUMEI_CONTACT") or DEFAULT_FROM_EMAIL
globals().update(mail(DATA))

# Jobs: how many evaluations run at once beside one server.
JOB_PROCESSES = int(os.environ.get("TOKUMEI_JOB_PROCESSES", "2"))
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# On a terminal somebody looks for what went wrong; a file or a collector of logs takes every request.
LOG_LEVEL = os.environ.get("TOKUMEI_LOG_LEVEL", "WARNING" if sys.stderr.isatty() else "INFO").upper()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "tokumei.platform.start.JsonLines"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "tokumei": {"level": LOG_LEVEL},
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        # Every request is logged once, by our own middleware and without its path.
        "django.request": {"level": "CRITICAL", "propagate": True},
        "axes": {"level": "ERROR"},
    },
}
