"""How many notices wait, for the head of every page."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from tokumei.platform.notices.services import n_unread


def unread(request: HttpRequest) -> dict[str, object]:
    """Count the unread notices of who is logged in; only pages that show the number ask for it."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {"n_unread": SimpleLazyObject(lambda: n_unread(user))}
