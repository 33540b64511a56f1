"""What happens around every request: figures and the log, headers, language and clock, errors, a cache of queries.

Times are shown by the zone that somebody chose, else the browser's, else the server's; what the rules count by goes by
the server's clock for everybody. What several parts of a page ask, the database is asked once (`find_once`), and what
every page asks has its SQL written once, since Django takes longer to write it than a database to answer:

    OTHERS = CompiledQuery(lambda contest: Team.objects.filter(contest=contest).values_list("pk"), int)
    rows = OTHERS(contest.pk)

The queryset stays what is asked; a test holds each against its plain self.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from django.db import DEFAULT_DB_ALIAS, DataError, connections, models
from django.db.models.sql.compiler import SQLCompiler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import add_never_cache_headers, patch_vary_headers

from tokumei.core.errors import TokumeiError
from tokumei.platform import metrics
from tokumei.platform.access import bad_request, error_page, page_for, too_large
from tokumei.platform.files.incoming import IS_FULL, most_bytes

# Set by a script with the zone of the browser.
ZONE_COOKIE = "tokumei_zone"


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of all zones with a place, in order."""
    places = (zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/"))
    return *sorted(places), "UTC"


def keep_time(handle: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Show times by the clock of whoever asks."""

    def kept(request: HttpRequest) -> HttpResponseBase:
        user = request.user
        chosen = user.time_zone if user.is_authenticated else ""
        wanted = chosen or request.COOKIES.get(ZONE_COOKIE, "")
        # A name that is no zone may come from anybody, and is let go.
        with timezone.override(ZoneInfo(wanted) if wanted in time_zones() else None):
            return handle(request)

    return kept


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


Row = TypeVar("Row", bound=models.Model)

Value = int | str


@dataclass(frozen=True)
class _Statement:
    """SQL for one kind of database; `places` says which value stands where, or what stands there always."""

    sql: str
    places: tuple[tuple[int | None, Any], ...]
    compiler: SQLCompiler
    converters: dict[int, Any]


class CompiledQuery:
    """A queryset of rows of values, made by a function of numbers and texts."""

    def __init__(self, make: Callable[..., models.QuerySet[Any, Any]], *kinds: type[int] | type[str]) -> None:
        self.make, self.kinds = make, kinds
        self._statements: dict[str, _Statement] = {}

    def __call__(self, *values: Value) -> list[Sequence[Any]]:
        """Return the rows for these values."""
        connection = connections[DEFAULT_DB_ALIAS]
        statement = self._statements.get(connection.vendor)
        if statement is None:
            statement = self._statements[connection.vendor] = self._compile(connection)
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, [fixed if n is None else values[n] for n, fixed in statement.places])
            rows: list[Sequence[Any]] = cursor.fetchall()
        if not statement.converters:
            return rows
        return list(statement.compiler.apply_converters(rows, statement.converters))

    def _compile(self, connection: object) -> _Statement:
        # Values that no query of ours holds otherwise, to be found again among its parameters.
        marks: list[Value] = [
            2_000_000_011 + number if kind is int else f"the-value-{number}" for number, kind in enumerate(self.kinds)
        ]
        compiler = self.make(*marks).query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        places = tuple((marks.index(one), None) if one in marks else (None, one) for one in parameters)
        if {place for place, _ in places} - {None} != set(range(len(marks))):
            raise TypeError("a query does not hold each of its values")
        columns = [column for column, _, _ in compiler.select[: compiler.col_count]]
        return _Statement(sql, places, compiler, compiler.get_converters(columns))


def columns_of(model: type[models.Model], prefix: str = "") -> list[str]:
    """Name all columns of a model, for a queryset of values that rows are made from."""
    return [f"{prefix}{field.attname}" for field in model._meta.concrete_fields]


def made(model: type[Row], values: Sequence[object]) -> Row:
    """Make a row of a model from the values of its columns, as Django does."""
    return model.from_db(DEFAULT_DB_ALIAS, columns_of(model), values)


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
