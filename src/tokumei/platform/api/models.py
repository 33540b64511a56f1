"""What programs show instead of a password."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

NAME_LENGTH = 60


class Scope(models.TextChoices):
    """What a token may do; each may do what those before it may."""

    READ = "read", _("Read")
    SUBMIT = "submit", _("Read and submit")
    ORGANIZE = "organize", _("Read, submit and organize")


class Token(models.Model):
    """A user's leave for one program; the token itself is shown once and kept as its hash alone."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=NAME_LENGTH)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.READ)
    created = models.DateTimeField(default=timezone.now, editable=False)
    expires = models.DateTimeField(null=True, blank=True)
    # To the day: enough to tell a forgotten token, and no diary of its user.
    last_used = models.DateField(null=True, blank=True)
    # A keyed hash that changes with the password: a new password voids the tokens made under the old one.
    password_mark = models.CharField(max_length=64)

    class Meta:
        ordering = ("-created", "-pk")

    def __str__(self) -> str:
        return f"token {self.pk}"

    def allows(self, scope: str) -> bool:
        """Whether the token may do what needs a scope."""
        return Scope.values.index(self.scope) >= Scope.values.index(scope)

    def is_over(self, now: datetime) -> bool:
        """Whether its time is up."""
        return self.expires is not None and self.expires <= now
