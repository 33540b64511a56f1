"""Everything that changes an account, from signing up to deleting it for good, and the letters that are sent for it.

Jobs send letters, which are written when they are sent, so that no link that lets somebody in lies in the database. A
letter whose process was killed before it could say that it was sent goes out again, under the same Message-ID.

Deleting an account removes all that tells of a person; a tombstone stays for records that point to it. Other apps add
to what log-in and sign-up lead to, and to what a deletion takes along:

    WELCOMES.append(name_of_invitation)      # match of an address → a sentence, or "" where it has none
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import Resolver404, ResolverMatch, resolve, reverse
from django.utils import timezone, translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Json, JsonView
from tokumei.platform.access import client_address, network_of
from tokumei.platform.accounts import authentication
from tokumei.platform.accounts.authentication import allow, refuse_if_spent
from tokumei.platform.accounts.models import User, normal_email
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import MAIL, Work, begin

log = logging.getLogger("tokumei.accounts")
LETTER = "letter"
VERIFYING = "tokumei.verifying"


def post_reset(user: User, origin: str) -> None:
    """Send a user the link that sets a new password.

    origin: scheme and host that the link leads to.
    """
    begin(LETTER, secrets.token_hex(16), what="reset", user=user.pk, origin=origin, language=translation.get_language())


def post_verification(user: User, origin: str) -> None:
    """Send a user the link that shows the address to be theirs."""
    begin(
        LETTER, secrets.token_hex(16), what="verify", user=user.pk, origin=origin, language=translation.get_language()
    )


def post_test(user: User, origin: str) -> None:
    """Send an admin a letter that only shows that mail works."""
    begin(LETTER, secrets.token_hex(16), what="test", user=user.pk, origin=origin, language=translation.get_language())


def _ask(job: Job) -> Json:
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


def _reset(user: User, payload: JsonView) -> tuple[str, str]:
    names = {"user": urlsafe_base64_encode(force_bytes(user.pk)), "token": default_token_generator.make_token(user)}
    words = {"user": user, "link": payload["origin"] + reverse("accounts:reset", kwargs=names)}
    return _("A new password for Tokumei"), render_to_string("accounts/reset_mail.txt", words)


def _verification(user: User, payload: JsonView) -> tuple[str, str]:
    token = signing.dumps([user.pk, user.email], salt=VERIFYING)
    words = {"user": user, "link": payload["origin"] + reverse("accounts:verify", kwargs={"token": token})}
    return _("Your address at Tokumei"), render_to_string("accounts/verify_mail.txt", words)


def _test(user: User, payload: JsonView) -> tuple[str, str]:
    words = {"user": user, "link": payload["origin"] + reverse("pages:server")}
    return _("A test letter from Tokumei"), render_to_string("accounts/test_mail.txt", words)


# Who writes which letter, from what the job remembers: the subject and the body. Other apps add theirs.
Writer = Callable[[User, Mapping[str, object]], tuple[str, str]]
WRITERS: dict[str, Writer] = {"reset": _reset, "verify": _verification, "test": _test}


def _mail_settings() -> dict[str, object]:
    names = [name for name in dir(settings) if name.startswith("EMAIL_")]
    return {name: getattr(settings, name) for name in names} | {"DEFAULT_CHARSET": "utf-8", "USE_TZ": True}


def _refused(job: Job, _answer: ChildAnswer) -> None:
    log.error("a letter could not be sent", extra={"facts": {"job": job.pk}})


def _failed(job: Job, failure: str) -> None:
    log.error("a letter could not be sent", extra={"facts": {"job": job.pk, "failure": failure}})


LETTER_WORK = Work(
    "tokumei.platform.accounts.post:send", MAIL, ask=_ask, write_faults=_refused, write_failure=_failed, seconds=60
)


BACKEND = "tokumei.platform.accounts.authentication.NameOrEmail"
HOUR = timedelta(hours=1)
VERIFIED_WITHIN = timedelta(days=3)
# Whole classes of students sign up from one address.
SIGN_UPS_AN_HOUR = 60
FAILED_LOGINS_AN_HOUR = 300
WRONG_PASSWORDS_AN_HOUR = 20
RESETS_AN_HOUR = 20
RESETS_OF_ONE_ACCOUNT_AN_HOUR = 3


def sign_up(request: HttpRequest, *, username: str, email: str, display_name: str, password: str) -> User:
    """Make an account and log in to it; its address counts once the link in a letter was followed."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, email, password, display_name=display_name, verified_at=None)
            post_verification(user, origin_of(request))
    except IntegrityError:
        # Somebody else took the name since the form looked.
        raise NotAllowed(_("This user name is taken.")) from None
    enter(request, user)
    return user


def throttle_sign_up(request: HttpRequest) -> None:
    """Limit sign-up attempts per address; counted before anything is looked up."""
    allow("sign_up", network_of(client_address(request)), at_most=SIGN_UPS_AN_HOUR, within=HOUR)


def ask_for_verification(request: HttpRequest, user: User) -> None:
    """Send the link that shows an address to be the user's, again."""
    allow("verification", str(user.pk), at_most=RESETS_OF_ONE_ACCOUNT_AN_HOUR, within=HOUR)
    post_verification(user, origin_of(request))


def verify_address(token: str) -> User | None:
    """Note that the address of a link is its user's; none when the link is wrong, too old, or somebody else's it is."""
    try:
        number, address = signing.loads(token, salt=VERIFYING, max_age=VERIFIED_WITHIN)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=number, email=address, is_active=True).first()
    if user is None:
        return None
    try:
        with transaction.atomic():
            user.verified_at = user.verified_at or timezone.now()
            user.save(update_fields=["verified_at"])
    except IntegrityError:
        return None
    return user


def end_sessions(user: User) -> None:
    """End all sessions of a user."""
    user.session_number += 1
    user.save(update_fields=["session_number"])


def end_other_sessions(request: HttpRequest, user: User) -> None:
    """End all sessions of a user but this one."""
    end_sessions(user)
    update_session_auth_hash(request, user)


def origin_of(request: HttpRequest) -> str:
    """Return the scheme and host by which the server was reached, for links in letters."""
    return f"{request.scheme}://{request.get_host()}"


def enter(request: HttpRequest, user: User) -> None:
    """Start the session of a user under a new key, so that a key planted before is worth nothing."""
    login(request, user, backend=BACKEND)


def change_password(request: HttpRequest, user: User, password: str) -> None:
    """Set a new password; all other sessions of the user end, this one goes on under a new key."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
    update_session_auth_hash(request, user)


def is_own_password(user: User, password: str) -> bool:
    """Whether a password is the user's; who found an open session may not try many."""
    refuse_if_spent("own_password", str(user.pk), at_most=WRONG_PASSWORDS_AN_HOUR)
    if user.check_password(password):
        return True
    allow("own_password", str(user.pk), at_most=WRONG_PASSWORDS_AN_HOUR, within=HOUR)
    return False


def change_profile(user: User, *, display_name: str, email: str, language: str, time_zone: str) -> None:
    """Change how a user is called, reached and spoken to."""
    address = normal_email(email)
    if address != user.email:
        user.verified_at = None
    user.display_name, user.email, user.language, user.time_zone = display_name, address, language, time_zone
    user.save(update_fields=["display_name", "email", "language", "time_zone", "verified_at"])


def choose_language(user: User, language: str) -> None:
    """Speak this language to the user from now on."""
    user.language = language
    user.save(update_fields=["language"])


def ask_for_reset(request: HttpRequest, email: str) -> None:
    """Send a link to set a new password, if there is an account; the answer is the same if there is none."""
    address = normal_email(email)
    allow("reset", network_of(client_address(request)), at_most=RESETS_AN_HOUR, within=HOUR)
    allow("reset_account", address, at_most=RESETS_OF_ONE_ACCOUNT_AN_HOUR, within=HOUR)
    # Who has shown the address to be theirs; where nobody has, whoever gave it last: the letter goes to it alone.
    known = User.objects.filter(email=address, is_active=True)
    user = known.order_by(F("verified_at").desc(nulls_last=True), "-pk").first()
    if user is not None:
        post_reset(user, origin_of(request))


def user_of_reset(user: str, token: str) -> User | None:
    """Return the user whose password a link may reset; None if the link is wrong, used or expired."""
    try:
        found = User.objects.filter(pk=int(urlsafe_base64_decode(user)), is_active=True).first()
    except (ValueError, OverflowError):
        return None
    return found if found is not None and default_token_generator.check_token(found, token) else None


def reset_password(user: User, password: str) -> None:
    """Set a new password by a link; all sessions of the user end."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])


def refuse_after_many_failures(request: HttpRequest) -> None:
    """Refuse to try further passwords from an address that tried many names; one name alone is locked by axes."""
    refuse_if_spent("login", network_of(client_address(request)), at_most=FAILED_LOGINS_AN_HOUR)


def note_failure(request: HttpRequest) -> None:
    """Count a wrong password against the address it came from."""
    allow("login", network_of(client_address(request)), at_most=FAILED_LOGINS_AN_HOUR, within=HOUR)


def change_rights(admin: User, user: User, do: str) -> None:
    """Change what somebody may, confirm their address or reset their second factor; oneself stays an admin."""
    changes: dict[str, dict[str, object]] = {
        "make_organizer": {"is_organizer": True},
        "unmake_organizer": {"is_organizer": False},
        "close": {"is_active": False},
        "open": {"is_active": True},
        "unmake_admin": {"is_superuser": False},
        "confirm": {"verified_at": user.verified_at or timezone.now()},
        "reset_second_factor": {},
    }
    is_own = user == admin and do in ("close", "unmake_admin", "reset_second_factor")
    if do not in changes or is_own or (do == "close" and user.is_superuser) or user.deleted_at is not None:
        raise NotAllowed(_("That change is not possible."))
    try:
        with transaction.atomic():
            for field, value in changes[do].items():
                setattr(user, field, value)
            user.save(update_fields=list(changes[do]))
            if do == "reset_second_factor":
                # Whoever holds a session of theirs must log in anew, by the password alone.
                authentication.remove_second_factor(user)
                end_sessions(user)
    except IntegrityError:
        raise NotAllowed(_("Somebody else has this address, and has confirmed it.")) from None
    log.warning("account changed by an admin", extra={"facts": {"account": user.pk, "by": admin.pk, "change": do}})


def find_user(username: str) -> User | None:
    """Find a user by name, whatever its case."""
    return User.objects.filter(username__iexact=username).first()


def make_user(
    username: str, *, email: str | None, password: str | None, is_admin: bool = False, is_organizer: bool = False
) -> User:
    """Make an account from the command line, or give rights to one that is there; rights are never taken here."""
    with transaction.atomic():
        user = find_user(username)
        if user is None:
            user = User(
                username=username, display_name=username, email=normal_email(email or ""), verified_at=timezone.now()
            )
            try:
                user.full_clean(exclude=["password"])
                validate_password(password or "", user)
            except ValidationError as error:
                raise InputError.of("; ".join(error.messages), column="NAME", value=username) from None
            user.set_password(password)
        user.is_superuser = user.is_superuser or is_admin
        user.is_organizer = user.is_organizer or is_organizer
        user.save()
    return user


# Asked in the order of the apps: each refuses with NotAllowed, or lets go of what it keeps of the person.
BEFORE_DELETING: list[Callable[[User], None]] = []


def delete_account(user: User) -> None:
    """Delete an account, all or nothing; its row stays, without name, address and password."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not others.exists():
            raise NotAllowed(_("The last admin cannot be deleted. Make somebody else an admin first."))
        for let_go in BEFORE_DELETING:
            let_go(user)
        authentication.remove_second_factor(user)
        for tries in (AccessAttempt, AccessLog, AccessFailureLog):
            tries.objects.filter(username__iexact=user.username).delete()
            tries.objects.filter(username__iexact=user.email).delete()
        # Drawn, so that nobody can have signed up by it, and so that it tells nothing.
        user.username = user.display_name = f"deleted-{secrets.token_hex(8)}"
        user.email, user.language, user.verified_at = "", "", None
        user.is_active = user.is_organizer = user.is_superuser = False
        user.session_number += 1
        user.deleted_at = timezone.now()
        user.set_unusable_password()
        user.save()
    log.warning("account deleted", extra={"facts": {"account": user.pk}})


WELCOMES: list[Callable[[ResolverMatch], str]] = []


def welcome_to(address: str) -> str:
    """Describe where a local address leads; empty for any other."""
    try:
        match = resolve(address.partition("?")[0])
    except Resolver404:
        return ""
    return next((said for welcome in WELCOMES if (said := welcome(match))), "")
