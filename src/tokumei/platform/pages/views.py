"""The pages that belong to no domain: home, the choice of language, help, what operators look at, the admins' console.

Help is a guide, glossary, questions, installing, privacy, terms and contact, each in Markdown in both languages. The
console shows jobs, workers, failures with their reasons, disk, mail and quotas.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.core.paginator import Paginator
from django.db import DatabaseError, connection
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone, translation
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from tokumei.platform import metrics
from tokumei.platform.access import UserRequest, access, next_page, redirect_saying
from tokumei.platform.accounts import services
from tokumei.platform.accounts import services as accounts
from tokumei.platform.accounts.authentication import allow
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import origin_of
from tokumei.platform.files.incoming import free_bytes, is_space_low
from tokumei.platform.jobs import process
from tokumei.platform.jobs.models import Job, Outcome, WorkerSeen
from tokumei.platform.jobs.queue import QUEUES, backlog, begin_again
from tokumei.platform.pages.apps import DASHBOARD, HOME
from tokumei.platform.typed_text import to_html

FOLDER = Path(__file__).parent / "help"
PAGES = {
    "guide": gettext_lazy("Guide"),
    "glossary": gettext_lazy("Glossary"),
    "faq": gettext_lazy("Questions and answers"),
    "install": gettext_lazy("Install"),
    "privacy": gettext_lazy("Privacy"),
    "terms": gettext_lazy("Terms of use"),
    "contact": gettext_lazy("Contact"),
}
# What can be linked to on a page, in the order of its headings; of the glossary every word can.
ANCHORS: dict[str, tuple[str, ...]] = {
    "guide": ("play", "run", "anonymize", "share"),
    "faq": ("refused", "hidden-score", "counts", "trust", "second-factor", "mail"),
}
# Fields of forms, by the word of the glossary that their label needs.
FIELD_WORDS = {
    "edition": "edition",
    "releases_a_day": "release",
    "releases_in_all": "release",
    "guesses_a_day": "guess",
    "guesses_on_one": "guess",
    "attacks_open_at": "phase",
    "criteria": "criterion",
    "first_levels": "level",
    "hierarchies": "level",
}


@access("anyone")
def help_page(request: HttpRequest, page: str) -> HttpResponse:
    """Show one page of help."""
    if page not in PAGES:
        raise Http404
    text = to_html(text_of(page), 2, anchors_of(page))
    shown = {"name": page, "heading": PAGES[page], "text": text, "pages": PAGES}
    return render(request, "pages/help.html", shown)


def text_of(page: str) -> str:
    """Return the text of a page in the reader's language; English where there is none."""
    language = "ja" if (get_language() or "").startswith("ja") else "en"
    text = (FOLDER / f"{page}.{language}.md").read_text("utf-8")
    return text.replace("{contact}", settings.CONTACT)


@functools.cache
def anchors_of(page: str) -> tuple[str, ...]:
    """Name what can be linked to on a page."""
    if page != "glossary":
        return ANCHORS.get(page, ())
    words = re.findall(r"^\| ([^|]+?) \|", (FOLDER / "glossary.en.md").read_text("utf-8"), re.M)
    return tuple(word.replace(" ", "-") for word in words[1:])


def address_of(page: str, anchor: str = "") -> str:
    """Return the address of a place in the help; an unknown one fails when first shown."""
    if anchor and anchor not in anchors_of(page):
        raise ValueError(f"the page {page} of the help has no {anchor}")
    return reverse("pages:help", args=[page]) + (f"#{anchor}" if anchor else "")


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


log = logging.getLogger("tokumei.accounts")
JOBS_A_PAGE = 30
# Measuring a disk walks it: what was found is kept for some minutes.
MEASURED_FOR = 300
# Only what changes nothing in a contest or an offer: their own pages try that again, where they know what counts.
RETRIED_HERE = {services.LETTER, "export", "kit"}
STATES = {
    "failed": (gettext_lazy("Failed"), Q(outcome=Outcome.FAILED)),
    "refused": (gettext_lazy("Refused"), Q(outcome=Outcome.REFUSED)),
    "waiting": (gettext_lazy("Waiting"), Q(is_done=False, is_running=False)),
    "running": (gettext_lazy("Running"), Q(is_done=False, is_running=True)),
    "done": (gettext_lazy("Done"), Q(outcome=Outcome.DONE)),
}
QUEUE_NAMES = {
    "contest": gettext_lazy("Evaluations and phases"),
    "exchange": gettext_lazy("Exchange"),
    "mail": gettext_lazy("Letters"),
    "workbench": gettext_lazy("Workbench"),
}


@dataclass(frozen=True)
class Quota:
    """A limit of the server: what it limits, how much is allowed, in which unit, and the variable that sets it."""

    what: str
    value: float
    unit: str
    variable: str


@access("admin")
def server(request: UserRequest) -> HttpResponse:
    """Show how the server does."""
    state = request.GET.get("state", "failed")
    found = _jobs(state)
    page = Paginator(found, JOBS_A_PAGE).get_page(request.GET.get("page"))
    shown = {
        "page": page,
        "state": state,
        "states": [(name, says) for name, (says, _q) in STATES.items()],
        "workers": _workers(),
        "queues": [(QUEUE_NAMES[queue], backlog(queue)) for queue in QUEUES],
        "disk": _disk(),
        "mail": _mail(),
        "quotas": _quotas(),
        "people": _people(),
        "retried": RETRIED_HERE,
    }
    return render(request, "pages/server.html", shown)


@access("admin", methods="POST")
def retry(request: UserRequest, job: int) -> HttpResponse:
    """Try a failed letter or export again."""
    found = Job.objects.filter(pk=job, kind__in=RETRIED_HERE, outcome=Outcome.FAILED).first()
    if found is None:
        raise Http404
    begin_again(found)
    log.warning("job tried again", extra={"facts": {"job": found.pk, "by": request.user.pk}})
    return redirect_saying(request, _("It is tried again."), "pages:server")


@access("admin", methods="POST")
def try_mail(request: UserRequest) -> HttpResponse:
    """Send oneself a letter, to see whether mail works."""
    allow("test letter", str(request.user.pk), at_most=10, within=timedelta(hours=1))
    services.post_test(request.user, origin_of(request))
    return redirect_saying(request, _("A letter to your own address is on its way."), "pages:server")


def _jobs(state: str) -> QuerySet[Job]:
    wanted = STATES.get(state, STATES["failed"])[1]
    return Job.objects.filter(wanted).order_by("-pk")


def _workers() -> list[tuple[str, datetime, int]]:
    """List the workers that showed themselves, each with how many jobs it holds."""
    held: dict[str, int] = {}
    for worker in Job.objects.filter(is_done=False, is_running=True).values_list("worker", flat=True):
        held[worker.partition(":")[0]] = held.get(worker.partition(":")[0], 0) + 1
    return [
        (one.name, one.seen_at, held.get(one.name.partition(":")[0], 0)) for one in WorkerSeen.objects.order_by("name")
    ]


def _disk() -> dict[str, object]:
    """Return the space on the disk, and what takes it."""
    found = os.statvfs(settings.DATA)
    folders: list[tuple[str, int]] | None = cache.get("measured-folders")
    if folders is None:
        below = sorted(path for path in Path(settings.MEDIA_ROOT).glob("*") if path.is_dir())
        folders = [(path.name, _bytes_below(path)) for path in below]
        cache.set("measured-folders", folders, MEASURED_FOR)
    return {
        "free": free_bytes(),
        "total": found.f_blocks * found.f_frsize,
        "is_low": is_space_low(),
        "folders": folders,
    }


def _bytes_below(folder: Path) -> int:
    n_bytes = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            try:
                n_bytes += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - many files, walked as text.
            except FileNotFoundError:
                continue
    return n_bytes


def _mail() -> dict[str, object]:
    """Return how mail is sent, without its password, and how it went during the last day."""
    sent = Job.objects.filter(kind=services.LETTER, finished_at__gte=timezone.now() - timedelta(days=1))
    last = Job.objects.filter(kind=services.LETTER, outcome=Outcome.FAILED).order_by("-finished_at").first()
    backend = str(settings.EMAIL_BACKEND).rpartition(".")[0].rpartition(".")[2]
    return {
        "by": {"smtp": getattr(settings, "EMAIL_HOST", ""), "filebased": _("files in the data folder")}.get(
            backend, backend
        ),
        "sender": settings.DEFAULT_FROM_EMAIL,
        "n_sent": sent.filter(outcome=Outcome.DONE).count(),
        "n_failed": sent.filter(outcome=Outcome.FAILED).count(),
        "last_failure": last,
    }


def _quotas() -> list[Quota]:
    return [
        Quota(_("One request"), settings.MAX_REQUEST_BYTES, "bytes", "TOKUMEI_UPLOAD_BYTES"),
        Quota(_("One file on the workbench"), settings.WORKBENCH_BYTES, "bytes", "TOKUMEI_WORKBENCH_BYTES"),
        Quota(_("All files of one person there"), settings.WORKBENCH_QUOTA, "bytes", "TOKUMEI_WORKBENCH_QUOTA"),
        Quota(_("Pieces of work of one person"), settings.WORKBENCH_PIECES, "", "TOKUMEI_WORKBENCH_PIECES"),
        Quota(_("Hours until they are deleted"), settings.WORKBENCH_HOURS, "", "TOKUMEI_WORKBENCH_HOURS"),
        Quota(_("Seconds of one job"), process.SECONDS, "", "TOKUMEI_JOB_SECONDS"),
        Quota(_("Memory of one job"), process.MEMORY_BYTES, "bytes", "TOKUMEI_JOB_MEMORY_BYTES"),
        Quota(_("Evaluations at once"), settings.JOB_PROCESSES, "", "TOKUMEI_JOB_PROCESSES"),
    ]


def _people() -> dict[str, int]:
    known = User.objects.filter(deleted_at=None)
    return {
        "n": known.count(),
        "n_unverified": known.filter(verified_at=None).count(),
        "n_closed": known.filter(is_active=False).count(),
        "n_recent": known.filter(last_login__gte=timezone.now() - timedelta(days=30)).count(),
    }


app_name = "pages"
urlpatterns = [
    path("", home, name="home"),
    path("language", language, name="language"),
    path("health", health, name="health"),
    path("metrics", figures, name="metrics"),
    path("help/<str:page>", help_page, name="help"),
    path("server", server, name="server"),
    path("server/jobs/<int:job>/retry", retry, name="retry_job"),
    path("server/mail", try_mail, name="try_mail"),
]
