"""Everything that changes an account."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone
from django.utils.http import urlsafe_base64_decode
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed
from tokumei.platform.accounts import second_factor
from tokumei.platform.accounts.letters import VERIFYING, post_reset, post_verification
from tokumei.platform.accounts.models import User, normal_email
from tokumei.platform.accounts.throttle import allow, refuse_if_spent
from tokumei.platform.addresses import client_address, network_of

log = logging.getLogger("tokumei.accounts")
BACKEND = "tokumei.platform.accounts.backends.NameOrEmail"
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
                second_factor.switch_off(user)
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
