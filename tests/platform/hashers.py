"""A password hasher that does not slow the tests down."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    """Argon2 with the least memory and time."""

    time_cost = 1
    memory_cost = 64
    parallelism = 1
