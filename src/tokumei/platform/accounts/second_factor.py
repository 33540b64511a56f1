"""The second factor: six digits from an app that change every 30 seconds, and codes for when the phone is lost."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta

import qrcode
from django.db import transaction
from django_otp.plugins.otp_totp.models import TOTPDevice

from tokumei.platform.accounts.models import BackupCode, User
from tokumei.platform.accounts.throttle import allow

N_BACKUP_CODES = 10
TRIES = 10
TRIES_WITHIN = timedelta(minutes=15)
# Letters and digits that are not mistaken for each other.
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def is_on(user: User) -> bool:
    """Whether the user must give a code to log in."""
    return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def who_has_it(users: Iterable[User]) -> set[int]:
    """Return the ids of the users who must enter a code to log in."""
    numbers = [user.pk for user in users]
    return set(TOTPDevice.objects.filter(user__in=numbers, confirmed=True).values_list("user_id", flat=True))


def begin(user: User) -> TOTPDevice:
    """Create a device to set up, always with a new secret: whoever saw an earlier one knows nothing."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user, confirmed=False).delete()
        return TOTPDevice.objects.create(user=user, name="app", confirmed=False)


def begun(user: User, device: int | None) -> TOTPDevice | None:
    """Return the device that this session is setting up, if it still is."""
    return TOTPDevice.objects.filter(user=user, pk=device, confirmed=False).first()


def confirm(begun: TOTPDevice, code: str) -> list[str] | None:
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


def passes(user: User, code: str) -> bool:
    """Whether a code is right: of the app, each once, or one of the backup codes, which is used up by it."""
    allow("second_factor", str(user.pk), at_most=TRIES, within=TRIES_WITHIN)
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=True).first()
        if device is not None and _is_right(device, code):
            return True
        n_used, _ = BackupCode.objects.filter(user=user, digest=_digest(code)).delete()
        return n_used == 1


def switch_off(user: User) -> None:
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
    BackupCode.objects.bulk_create(BackupCode(user=user, digest=_digest(code)) for code in codes)
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def _digest(code: str) -> str:
    # No salt: with fifty random bits no table of digests can be made beforehand.
    plain = "".join(character for character in code.lower() if character.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()
