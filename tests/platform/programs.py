"""Programs that call the API, as tests use them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tokumei.platform.accounts.models import User
from tokumei.platform.api.services import make_token


def token_for(user: User, scope: str = "organize", days: int | None = 1) -> str:
    """Make a token."""
    return make_token(user, name="test", scope=scope, days=days)[1]


@dataclass
class Program:
    """A program with a token, or without one."""

    token: str = ""
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True))
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, data: Any = None, content_type: str = "application/json") -> Any:
        """Send a request below /api/v1."""
        headers = self.headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        return getattr(self.client, method.lower())(f"/api/v1{path}", data, content_type=content_type, headers=headers)

    def get(self, path: str, **query: Any) -> Any:
        """Read something."""
        headers = self.headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        return self.client.get(f"/api/v1{path}", query, headers=headers)

    def send(self, path: str, files: dict[str, Any]) -> Any:
        """Send files as a form does."""
        headers = self.headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        return self.client.post(f"/api/v1{path}", files, headers=headers)


def program_of(user: User, scope: str = "organize", **headers: str) -> Program:
    """Return a program with a user's token."""
    return Program(token_for(user, scope), headers=headers)
