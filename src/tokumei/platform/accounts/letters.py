"""Letters that jobs send: written when they are sent, so that no link that lets somebody in lies in the database.

A letter whose process was killed before it could say that it was sent goes out again, under the same Message-ID.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from tokumei.platform.accounts.models import User
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin
from tokumei.platform.jobs.work import MAIL, Work

log = logging.getLogger("tokumei.accounts")
KIND = "letter"
VERIFYING = "tokumei.verifying"


def post_reset(user: User, origin: str) -> None:
    """Send a user the link that sets a new password.

    origin: scheme and host that the link leads to.
    """
    begin(KIND, secrets.token_hex(16), what="reset", user=user.pk, origin=origin, language=translation.get_language())


def post_verification(user: User, origin: str) -> None:
    """Send a user the link that shows the address to be theirs."""
    begin(KIND, secrets.token_hex(16), what="verify", user=user.pk, origin=origin, language=translation.get_language())


def post_test(user: User, origin: str) -> None:
    """Send an admin a letter that only shows that mail works."""
    begin(KIND, secrets.token_hex(16), what="test", user=user.pk, origin=origin, language=translation.get_language())


def _ask(job: Job) -> dict[str, Any]:
    user = User.objects.get(pk=job.payload["user"])
    with translation.override(user.language or job.payload["language"]):
        subject, body = WRITERS[job.payload["what"]](user, job.payload)
    return {
        "settings": _mail_settings(),
        "sender": settings.DEFAULT_FROM_EMAIL,
        "id": f"<{job.subject}@{settings.DEFAULT_FROM_EMAIL.rpartition('@')[2]}>",
        "to": user.email,
        "subject": subject,
        "body": body,
    }


def _reset(user: User, payload: Mapping[str, Any]) -> tuple[str, str]:
    names = {"user": urlsafe_base64_encode(force_bytes(user.pk)), "token": default_token_generator.make_token(user)}
    words = {"user": user, "link": payload["origin"] + reverse("accounts:reset", kwargs=names)}
    return _("A new password for Tokumei"), render_to_string("accounts/reset_mail.txt", words)


def _verification(user: User, payload: Mapping[str, Any]) -> tuple[str, str]:
    token = signing.dumps([user.pk, user.email], salt=VERIFYING)
    words = {"user": user, "link": payload["origin"] + reverse("accounts:verify", kwargs={"token": token})}
    return _("Your address at Tokumei"), render_to_string("accounts/verify_mail.txt", words)


def _test(user: User, payload: Mapping[str, Any]) -> tuple[str, str]:
    words = {"user": user, "link": payload["origin"] + reverse("pages:server")}
    return _("A test letter from Tokumei"), render_to_string("accounts/test_mail.txt", words)


# Who writes which letter, from what the job remembers: the subject and the body. Other apps add theirs.
Writer = Callable[[User, Mapping[str, Any]], tuple[str, str]]
WRITERS: dict[str, Writer] = {"reset": _reset, "verify": _verification, "test": _test}


def _mail_settings() -> dict[str, Any]:
    names = [name for name in dir(settings) if name.startswith("EMAIL_")]
    return {name: getattr(settings, name) for name in names} | {"DEFAULT_CHARSET": "utf-8", "USE_TZ": True}


def _sent(job: Job, _result: dict[str, Any]) -> None:
    """Leave it at the letter."""


def _refused(job: Job, _answer: ChildAnswer) -> None:
    log.error("a letter could not be sent", extra={"facts": {"job": job.pk}})


def _failed(job: Job, failure: str) -> None:
    log.error("a letter could not be sent", extra={"facts": {"job": job.pk, "failure": failure}})


LETTER_WORK = Work(
    "tokumei.platform.accounts.post:send",
    MAIL,
    ask=_ask,
    write_result=_sent,
    write_faults=_refused,
    write_failure=_failed,
    seconds=60,
)
