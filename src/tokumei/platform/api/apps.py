"""The app's name for Django, and where apps above this one say what they put on the API."""

from __future__ import annotations

from django.apps import AppConfig

# Modules whose import puts operations on the router. Named, and imported with the API alone: it takes longer to build
# than all else, and a worker has no use for it.
OPERATIONS: list[str] = []


class ApiConfig(AppConfig):
    """The API that programs talk to."""

    name = "tokumei.platform.api"
    label = "api"

    def ready(self) -> None:
        """Delete the tokens of an account together with it."""
        from tokumei.platform.accounts.services import BEFORE_DELETING
        from tokumei.platform.api.services import forget_tokens

        BEFORE_DELETING.append(forget_tokens)
