"""People and what belongs to them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from tokumei.platform.typed_text import DISPLAY_NAME_LENGTH, check_short_name


class Users(BaseUserManager["User"]):
    """Makes users and finds them."""

    def create_user(self, username: str, email: str, password: str | None = None, **facts: object) -> User:
        """Make a user; forms have checked the names. The address counts as theirs unless told otherwise."""
        facts.setdefault("display_name", username)
        facts.setdefault("verified_at", timezone.now())
        user = self.model(username=username, email=normal_email(email), **facts)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def find_by_login(self, login: str) -> User | None:
        """Find who logs in by this name or address; case does not matter."""
        login = login.strip()
        if "@" in login:
            return self.filter(email__iexact=login, verified_at__isnull=False).first()
        return self.filter(username__iexact=login).first()


class User(AbstractBaseUser):
    """Somebody with an account: a name to log in by, an address, and a name to be called by."""

    username = models.CharField(_("user name"), max_length=40, validators=[check_short_name])
    email = models.EmailField(_("email address"), max_length=254)
    display_name = models.CharField(_("display name"), max_length=DISPLAY_NAME_LENGTH)
    # Empty: whatever the browser asks for.
    language = models.CharField(max_length=10, blank=True, default="")
    # By which clock times are shown; the browser's where none is chosen.
    time_zone = models.CharField(max_length=64, blank=True, default="")
    is_active = models.BooleanField(default=True)
    is_organizer = models.BooleanField(default=False)
    is_superuser = models.BooleanField(default=False)
    # When the address was shown to be the user's: only then does it count, and keeps others from having it.
    verified_at = models.DateTimeField(null=True, blank=True)
    # Part of what sessions are signed with: another number ends them.
    session_number = models.PositiveIntegerField(default=0)
    # The row is a tombstone from then on: it holds nothing of the person.
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    joined = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[Users] = Users()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["email"]

    class Meta:
        constraints = (
            models.UniqueConstraint(Lower("username"), name="username_is_unique"),
            models.UniqueConstraint(
                Lower("email"), condition=models.Q(verified_at__isnull=False), name="verified_email_is_unique"
            ),
        )

    def __str__(self) -> str:
        return self.display_name

    def get_full_name(self) -> str:
        """Return the display name; password rules compare with it."""
        return self.display_name

    @property
    def is_verified(self) -> bool:
        """Whether the address is known to be the user's."""
        return self.verified_at is not None

    def get_session_auth_hash(self) -> str:
        """Return the hash a session must carry: it changes with the password and with the number of sessions."""
        return salted_hmac("tokumei.session", f"{self.password}{self.session_number}", algorithm="sha256").hexdigest()

    @property
    def may_organize(self) -> bool:
        """Whether the user may make contests."""
        return self.is_organizer or self.is_superuser


class BackupCode(models.Model):
    """A code that stands in once for the second factor; only its digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="backup_codes")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "digest"], name="backup_code_is_unique"),)

    def __str__(self) -> str:
        return f"backup code {self.pk}"


class Deed(models.Model):
    """Something that may be done only so often: a digest of what and who, and until when it counts."""

    digest = models.CharField(max_length=64, db_index=True)
    until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"deed {self.pk}"


def normal_email(email: str) -> str:
    """Write an address the one way it is kept: addresses that differ in case only are the same person's."""
    return email.strip().lower()
