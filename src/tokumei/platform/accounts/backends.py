"""How a name and a password are held against the database."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.http import HttpRequest

from tokumei.platform.accounts.models import User
from tokumei.platform.compiled import CompiledQuery, columns_of, made

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
        **_: Any,
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


def name_of_attempt(request: HttpRequest | None, credentials: dict[str, Any] | None = None) -> str:
    """Name the account that an attempt to log in aims at, so that its name and its address share one count."""
    given = str((credentials or {}).get("username") or "")
    user = User.objects.find_by_login(given)
    return user.username if user is not None else given.strip().lower()[:255]
