"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API that programs talk to."""

    name = "tokumei.platform.api"
    label = "api"

    def ready(self) -> None:
        """Delete the tokens of an account together with it."""
        from tokumei.platform.accounts.deletion import BEFORE_DELETING
        from tokumei.platform.api.services import forget_tokens

        BEFORE_DELETING.append(forget_tokens)
