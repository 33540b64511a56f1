"""What the server remembers of a piece of work: whose it is and until when.

Everything that tells of the data lies in the folder, the name of the file too, so that no copy of the database has it.
"""

from __future__ import annotations

import math
import secrets
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import ngettext

from tokumei.platform.files.shared import local

KINDS = ("table", "history")
# What is longer is told in days.
HOURS_AS_DAYS = 36


def new_key() -> str:
    """Draw a name that nobody can guess."""
    return secrets.token_hex(20)


def end_of_life() -> datetime:
    """Return when a piece of work that begins now is deleted."""
    return timezone.now() + timedelta(hours=settings.WORKBENCH_HOURS)


def workbench_folder() -> Path:
    """Where all pieces of work lie; backups leave it out."""
    return Path(settings.MEDIA_ROOT) / "workbench"


class Piece(models.Model):
    """One file of one person, and all that is made of it."""

    key = models.CharField(max_length=40, unique=True, default=new_key, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="pieces")
    kind = models.CharField(max_length=10, choices=[(kind, kind) for kind in KINDS])
    n_bytes = models.PositiveBigIntegerField(default=0)
    created = models.DateTimeField(default=timezone.now, editable=False)
    expires = models.DateTimeField(default=end_of_life)

    class Meta:
        ordering = ("-created", "-pk")

    def __str__(self) -> str:
        return f"piece {self.pk}"

    @property
    def place(self) -> Path:
        """Where its files lie, on whichever machine, for the server's eyes only."""
        return workbench_folder() / self.key

    @property
    def folder(self) -> Path:
        """Its files as they stand, on this machine."""
        return local(self.place)

    @property
    def time_left(self) -> str:
        """How long it is kept from now on, in words."""
        hours = max(0.0, (self.expires - timezone.now()).total_seconds() / 3600)
        if hours < HOURS_AS_DAYS:
            return ngettext("in %(n)d hour", "in %(n)d hours", math.ceil(hours)) % {"n": math.ceil(hours)}
        return ngettext("in %(n)d day", "in %(n)d days", round(hours / 24)) % {"n": round(hours / 24)}

    @property
    def is_here(self) -> bool:
        """Whether there are files; after a backup was put back there are none."""
        try:
            return self.folder.is_dir()
        except FileNotFoundError:
            return False
