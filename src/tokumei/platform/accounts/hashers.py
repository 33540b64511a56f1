"""How passwords are kept."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id with 46 MiB and one pass, one of the settings that OWASP's cheat sheet on passwords holds for equal.

    Django's own take twice the memory and four times the time, and a contest's deadline brings everybody at once.
    """

    time_cost = 1
    memory_cost = 46 * 1024
    parallelism = 1
