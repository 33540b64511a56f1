"""Which version of a shared folder counts."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class SharedFolder(models.Model):
    """A folder in the store: its place below the files of the server, and the digest of the version that counts."""

    name = models.CharField(max_length=200, unique=True)
    version = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
