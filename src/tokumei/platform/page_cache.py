"""A cache for one page: what several of its parts ask, the database is asked once.

Only while a page is read: a request that changes something always looks anew, and so does all that is no request.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

Found = TypeVar("Found")

_known: ContextVar[dict[tuple[object, ...], Any] | None] = ContextVar("known", default=None)


def find_once(name: tuple[object, ...], find: Callable[[], Found]) -> Found:
    """Return what was found under this name while this page was made, or find it."""
    known = _known.get()
    if known is None:
        return find()
    if name not in known:
        known[name] = find()
    found: Found = known[name]
    return found


def cache_while_reading(handle: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Cache what is found while a page is made; a middleware."""

    def cached(request: HttpRequest) -> HttpResponseBase:
        if request.method not in {"GET", "HEAD"}:
            return handle(request)
        token = _known.set({})
        try:
            return handle(request)
        finally:
            _known.reset(token)

    return cached
