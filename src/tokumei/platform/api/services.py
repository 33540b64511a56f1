"""Tokens: making, finding and revoking them, logging in to get one, and finding the user who calls by one.

The caller is the user of the token in the header `Authorization: Bearer …`, and nobody else. The cookies of pages are
not looked at, so that no other site's page can make a browser call the API.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound, TokumeiError
from tokumei.platform.accounts import authentication
from tokumei.platform.accounts.authentication import token_digest
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import note_failure, refuse_after_many_failures
from tokumei.platform.api.models import Token

# Tells people and programs that look for lost secrets what it is.
PREFIX = "tokumei_"
TOKENS_OF_A_USER = 50


class NotLoggedIn(TokumeiError):
    """Nobody is logged in: the token or the password is missing, wrong or void; shown with the status 401."""


class CodeNeeded(NotLoggedIn):
    """The password is right, and a code of the second factor is needed too."""


def make_token(user: User, *, name: str, scope: str, days: int | None) -> tuple[Token, str]:
    """Make a token; it is given here and kept nowhere. Without days it works until it is revoked."""
    text = PREFIX + secrets.token_urlsafe(32)
    expires = None if days is None else timezone.now() + timedelta(days=days)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        own = Token.objects.filter(user=user)
        own.exclude(_is_good(user)).delete()
        if own.count() >= TOKENS_OF_A_USER:
            raise NotAllowed(_("You have too many tokens. Revoke some first."))
        made = Token.objects.create(
            user=user,
            name=name,
            digest=token_digest(text),
            scope=scope,
            expires=expires,
            password_mark=user.get_session_auth_hash(),
        )
    return made, text


def forget_tokens(user: User) -> None:
    """Delete the tokens of an account that is deleted."""
    Token.objects.filter(user=user).delete()


def token_of(text: str) -> Token | None:
    """Find a token that works, and note the day; revoked, expired, void and made-up ones are all the same."""
    token = Token.objects.filter(digest=token_digest(text), user__is_active=True).select_related("user").first()
    if token is None or token.is_over(timezone.now()) or token.password_mark != token.user.get_session_auth_hash():
        return None
    today = timezone.localdate()
    if token.last_used != today:
        Token.objects.filter(pk=token.pk).update(last_used=today)
    return token


def tokens_of(user: User) -> QuerySet[Token]:
    """Return the user's valid tokens, newest first."""
    return Token.objects.filter(_is_good(user), user=user)


def revoke(user: User, token: int) -> None:
    """Make a token void."""
    n_revoked, _by_model = Token.objects.filter(user=user, pk=token).delete()
    if not n_revoked:
        raise NotFound(_("There is no such token."))


def log_in(request: HttpRequest, *, username: str, password: str, code: str) -> User:
    """Find whose name, password and code these are, under the same limits as the page for it."""
    refuse_after_many_failures(request)
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        note_failure(request)
        raise NotLoggedIn(_("The name or the password is wrong."))
    if authentication.has_second_factor(user):
        if not code:
            raise CodeNeeded(_("This account asks for a code of the second factor, too."))
        if not authentication.passes_second_factor(user, code):
            note_failure(request)
            raise NotLoggedIn(_("The code is wrong, or was used before."))
    # What counts wrong passwords hears of the right one.
    user_logged_in.send(sender=User, request=request, user=user)
    return user


def _is_good(user: User) -> Q:
    is_in_time = Q(expires=None) | Q(expires__gt=timezone.now())
    return is_in_time & Q(password_mark=user.get_session_auth_hash())
