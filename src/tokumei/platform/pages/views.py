"""The home page, the choice of language, and what operators look at."""

from __future__ import annotations

import os
import secrets

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import translation

from tokumei.platform import metrics
from tokumei.platform.access import access
from tokumei.platform.accounts import services as accounts
from tokumei.platform.addresses import next_page
from tokumei.platform.files.space import is_space_low
from tokumei.platform.pages.slots import DASHBOARD, HOME


@access("anyone")
def home(request: HttpRequest) -> HttpResponse:
    """Show what this is, and list what is going on."""
    if settings.IS_STUDIO:
        return redirect("workbench:start")
    slots = {"dashboard": DASHBOARD if request.user.is_authenticated else [], "sections": HOME}
    shown = {name: [one for make in makers if (one := make(request)) is not None] for name, makers in slots.items()}
    return render(request, "pages/home.html", shown)


@access("anyone", methods="POST")
def language(request: HttpRequest) -> HttpResponse:
    """Change the language, for the browser and for the account."""
    chosen = request.POST.get("language", "")
    response = redirect(next_page(request))
    if chosen in dict(settings.LANGUAGES):
        if request.user.is_authenticated:
            accounts.choose_language(request.user, chosen)
        translation.activate(chosen)
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            chosen,
            max_age=settings.SESSION_COOKIE_AGE * 26,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Lax",
        )
    return response


@access("anyone")
def health(request: HttpRequest) -> HttpResponse:
    """Report whether the server works: the database answers, the disk is writable and has space left.

    A server that is low on space still works, and says so: the status is 200 and the word is "warning".
    """
    shown = {"database": _word(_database_answers()), "disk": _word(_disk_is_writable())}
    is_well = "failed" not in shown.values()
    shown["space"] = "low" if is_well and is_space_low() else _word(is_well)
    status = "failed" if not is_well else "warning" if shown["space"] == "low" else "ok"
    return JsonResponse({"status": status} | shown, status=200 if is_well else 503)


def _word(is_ok: bool) -> str:
    return "ok" if is_ok else "failed"


@access("operator")
def figures(request: HttpRequest) -> HttpResponse:
    """Serve the server's metrics."""
    return HttpResponse(metrics.exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError:
        return False


def _disk_is_writable() -> bool:
    probe = settings.DATA / f".health-{secrets.token_hex(6)}"
    try:
        with os.fdopen(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(b"ok")
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True
