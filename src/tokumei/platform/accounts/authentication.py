"""How people prove who they are: a name with a password, then a second factor; and how often anything may be tried.

    allow("sign_up", network_of(client_address(request)), at_most=20, within=timedelta(hours=1))

The second factor is six digits from an app that change every 30 seconds, or a backup code for when the phone is lost.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta

import qrcode
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connection, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from tokumei.platform.accounts.models import BackupCode, Deed, User
from tokumei.platform.messages import TooMany
from tokumei.platform.middleware import CompiledQuery, columns_of, made


def allow(kind: str, who: str, *, at_most: int, within: timedelta, said: str = "") -> None:
    """Note that somebody does something, or raise TooMany when they did it too often already."""
    now = timezone.now()
    with transaction.atomic():
        _wait_for_others(_digest_of_deed(kind, who))
        Deed.objects.filter(until__lt=now).delete()
        refuse_if_spent(kind, who, at_most=at_most, said=said)
        Deed.objects.create(digest=_digest_of_deed(kind, who), until=now + within)


def refuse_if_spent(kind: str, who: str, *, at_most: int, said: str = "") -> None:
    """Raise TooMany when somebody did something too often already; note nothing."""
    if Deed.objects.filter(digest=_digest_of_deed(kind, who), until__gte=timezone.now()).count() >= at_most:
        raise TooMany(said or _("That was tried too often. Please wait a while and try again."))


def alone(user: User) -> None:
    """Lock this user's counters until the transaction ends, so that concurrent requests cannot all find room."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _wait_for_others(digest: str) -> None:
    """Lock the counter until this attempt is noted, so that concurrent requests cannot all find room for one more."""
    # On SQLite, where a transaction that writes is alone, there is nothing to do.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(digest[:15], 16)])


def _digest_of_deed(kind: str, who: str) -> str:
    # Keyed, so that the table tells no addresses, not even to who tries all of them.
    return salted_hmac("tokumei.throttle", f"{kind}\0{who}", algorithm="sha256").hexdigest()


class Argon2(Argon2PasswordHasher):
    """Argon2id with 46 MiB and one pass, one of the settings that OWASP's cheat sheet on passwords holds for equal.

    Django's own take twice the memory and four times the time, and a contest's deadline brings everybody at once.
    """

    time_cost = 1
    memory_cost = 46 * 1024
    parallelism = 1


ACTIVE_USER = CompiledQuery(
    lambda user: User.objects.filter(pk=user, is_active=True).order_by().values_list(*columns_of(User)), int
)


class NameOrEmail(BaseBackend):
    """Logs in by user name or address; the work done is the same whether or not there is such a user."""

    def authenticate(
        self,
        request: HttpRequest | None,  # noqa: ARG002
        username: str | None = None,
        password: str | None = None,
        **_: object,
    ) -> User | None:
        """Return the user if the password is right and the account is open."""
        if username is None or password is None:
            return None
        user = User.objects.find_by_login(username)
        if user is None:
            # Hashing takes long enough to be measured from outside, so that it is done for nobody too.
            User().set_password(password)
            return None
        return user if user.check_password(password) and user.is_active else None

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None once the account is closed."""
        found = ACTIVE_USER(int(user_id))
        return made(User, found[0]) if found else None


def name_of_attempt(request: HttpRequest | None, credentials: dict[str, object] | None = None) -> str:
    """Name the account that an attempt to log in aims at, so that its name and its address share one count."""
    given = str((credentials or {}).get("username") or "")
    user = User.objects.find_by_login(given)
    return user.username if user is not None else given.strip().lower()[:255]


N_BACKUP_CODES = 10
TRIES = 10
TRIES_WITHIN = timedelta(minutes=15)
# Letters and digits that are not mistaken for each other.
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def has_second_factor(user: User) -> bool:
    """Whether the user must give a code to log in."""
    return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def who_has_second_factor(users: Iterable[User]) -> set[int]:
    """Return the ids of the users who must enter a code to log in."""
    numbers = [user.pk for user in users]
    return set(TOTPDevice.objects.filter(user__in=numbers, confirmed=True).values_list("user_id", flat=True))


def begin_second_factor(user: User) -> TOTPDevice:
    """Create a device to set up, always with a new secret: whoever saw an earlier one knows nothing."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user, confirmed=False).delete()
        return TOTPDevice.objects.create(user=user, name="app", confirmed=False)


def begun_second_factor(user: User, device: int | None) -> TOTPDevice | None:
    """Return the device that this session is setting up, if it still is."""
    return TOTPDevice.objects.filter(user=user, pk=device, confirmed=False).first()


def confirm_second_factor(begun: TOTPDevice, code: str) -> list[str] | None:
    """Switch the second factor on if the code is right, and give the backup codes; they are never shown again."""
    user: User = begun.user
    allow("second_factor", str(user.pk), at_most=TRIES, within=TRIES_WITHIN)
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update().filter(pk=begun.pk, confirmed=False).first()
        if device is None or not _is_right(device, code):
            return None
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        device.confirmed = True
        device.save()
        return _new_codes(user)


def renew_codes(user: User) -> list[str]:
    """Replace the backup codes; the old ones are void."""
    with transaction.atomic():
        return _new_codes(user)


def passes_second_factor(user: User, code: str) -> bool:
    """Whether a code is right: of the app, each once, or one of the backup codes, which is used up by it."""
    allow("second_factor", str(user.pk), at_most=TRIES, within=TRIES_WITHIN)
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=True).first()
        if device is not None and _is_right(device, code):
            return True
        n_used, _ = BackupCode.objects.filter(user=user, digest=_digest_of_code(code)).delete()
        return n_used == 1


def remove_second_factor(user: User) -> None:
    """Ask for no code any more."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user).delete()
        BackupCode.objects.filter(user=user).delete()


def secret_of(device: TOTPDevice) -> str:
    """Format the secret for typing into an app, in groups of four."""
    written = base64.b32encode(device.bin_key).decode("ascii").rstrip("=")
    return " ".join(written[start : start + 4] for start in range(0, len(written), 4))


def qr_of(device: TOTPDevice) -> tuple[int, str]:
    """Return the side and the SVG path of the QR code."""
    code = qrcode.QRCode(border=0, error_correction=qrcode.constants.ERROR_CORRECT_M)
    code.add_data(device.config_url)
    code.make(fit=True)
    return path_of(code.get_matrix())


def path_of(squares: Sequence[Sequence[bool]]) -> tuple[int, str]:
    """Draw the dark squares of a matrix as one path."""
    moves = [f"M{x} {y}h1v1h-1z" for y, row in enumerate(squares) for x, is_dark in enumerate(row) if is_dark]
    return len(squares), "".join(moves)


def _is_right(device: TOTPDevice, code: str) -> bool:
    digits = "".join(code.split())
    return digits.isascii() and digits.isdigit() and bool(device.verify_token(digits))


def _new_codes(user: User) -> list[str]:
    BackupCode.objects.filter(user=user).delete()
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(10)) for _ in range(N_BACKUP_CODES)]
    BackupCode.objects.bulk_create(BackupCode(user=user, digest=_digest_of_code(code)) for code in codes)
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def _digest_of_code(code: str) -> str:
    return token_digest("".join(character for character in code.lower() if character.isalnum()))


def token_digest(token: str) -> str:
    """Return by what a drawn text is known again, which is not kept itself."""
    # No salt: with fifty random bits or more no table of digests can be made beforehand.
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
