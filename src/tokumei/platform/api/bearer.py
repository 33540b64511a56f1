"""Who may call the API: the bearer of a token of a scope. Apart from the services, since Ninja takes long to import."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer

from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts.authentication import allow
from tokumei.platform.api.models import Scope, Token
from tokumei.platform.api.services import token_of

CHANGES_AN_HOUR = 600


class ApiRequest(HttpRequest):
    """A request with a token that works, for the annotations of operations."""

    auth: Token


class Bearer(HttpBearer):
    """Lets in who shows a token of at least a scope."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Token | None:  # noqa: ARG002 - ninja passes it.
        """Return the token if it is valid; a missing scope is refused before anything is looked up."""
        found = token_of(token)
        if found is None:
            return None
        if not found.allows(self.scope):
            raise NotAllowed(_("This token may not do that; it was made for: %s.") % found.get_scope_display())
        if self.scope != Scope.READ:
            allow("api", str(found.user_id), at_most=CHANGES_AN_HOUR, within=timedelta(hours=1))
        return found


READ, SUBMIT, ORGANIZE = Bearer(Scope.READ), Bearer(Scope.SUBMIT), Bearer(Scope.ORGANIZE)
