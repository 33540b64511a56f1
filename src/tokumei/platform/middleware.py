"""What happens around every request: figures and the log, headers, the language, errors."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import add_never_cache_headers, patch_vary_headers

from tokumei.core.errors import TokumeiError
from tokumei.platform import metrics
from tokumei.platform.error_pages import bad_request, error_page, page_for, too_large
from tokumei.platform.files.incoming import IS_FULL, most_bytes

Handler = Callable[[HttpRequest], HttpResponseBase]

log = logging.getLogger("tokumei.requests")


def observe(handle: Handler) -> Handler:
    """Log every request by its route, without its path or query, which may hold tokens."""

    def observed(request: HttpRequest) -> HttpResponseBase:
        request.id = secrets.token_hex(8)  # type: ignore[attr-defined]
        started = time.perf_counter()
        response = handle(request)
        seconds = time.perf_counter() - started
        response["X-Request-Id"] = request.id  # type: ignore[attr-defined]
        match = request.resolver_match
        facts = {
            "request": request.id,  # type: ignore[attr-defined]
            "method": request.method,
            "route": match.view_name if match else "",
            "status": response.status_code,
            "ms": round(1000 * seconds, 1),
        }
        if match is not None:
            metrics.count_request(response.status_code, seconds)
            log.info("request", extra={"facts": facts})
        return response

    return observed


def add_headers(handle: Handler) -> Handler:
    """Add what browsers are told besides the content security policy, and keep pages out of caches."""

    def headed(request: HttpRequest) -> HttpResponseBase:
        response = handle(request)
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if "Cache-Control" not in response:
            # After logging out, going back must not show what was there.
            add_never_cache_headers(response)
        return response

    return headed


def speak_language(handle: Handler) -> Handler:
    """Speak the language that somebody chose in the settings, rather than the browser's."""

    def spoken(request: HttpRequest) -> HttpResponseBase:
        user = request.user
        if user.is_authenticated and user.language:
            translation.activate(user.language)
            request.LANGUAGE_CODE = translation.get_language()
        response = handle(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response

    return spoken


class ErrorsAsPages:
    """Turn errors that are meant for a user into pages."""

    def __init__(self, handle: Handler) -> None:
        self.handle = handle

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, unless it carries so much that its body is better not read."""
        if request.META.get(IS_FULL):
            return error_page(request, 507)
        return too_large(request) if _body_length(request) > most_bytes(request.path_info) else self.handle(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """Render the page of a user's error; None for errors of ours, which end as a 500."""
        if isinstance(error, (DataError, OverflowError)):
            # Somebody sent what no column takes: a NUL on PostgreSQL, a number with too many digits.
            log.warning("refused by the database", exc_info=True, extra={"facts": {"request": request.id}})  # type: ignore[attr-defined]
            return bad_request(request)
        return page_for(request, error) if isinstance(error, TokumeiError) else None


def log_failure(request: HttpRequest | None = None, **_: object) -> None:
    """Log an error that ends as a 500, wherever it happened; Django calls this while it handles the error."""
    log.error("failed", exc_info=True, extra={"facts": {"request": getattr(request, "id", "")}})


def _body_length(request: HttpRequest) -> int:
    given = request.META.get("CONTENT_LENGTH") or "0"
    return int(given) if given.isascii() and given.isdigit() else 0
