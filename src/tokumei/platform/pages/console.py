"""The admins' console: jobs, workers, failures with their reasons, disk, mail and quotas."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.cache import cache
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.platform.access import UserRequest, access
from tokumei.platform.accounts import letters
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import origin_of
from tokumei.platform.accounts.throttle import allow
from tokumei.platform.files.space import free_bytes, is_space_low
from tokumei.platform.jobs import limits
from tokumei.platform.jobs.models import Job, Outcome, WorkerSeen
from tokumei.platform.jobs.queue import backlog, begin_again
from tokumei.platform.jobs.work import QUEUES

log = logging.getLogger("tokumei.accounts")
JOBS_A_PAGE = 30
# Measuring a disk walks it: what was found is kept for some minutes.
MEASURED_FOR = 300
# Only what changes nothing in a contest or an offer: their own pages try that again, where they know what counts.
RETRIED_HERE = {letters.KIND, "export", "kit"}
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
    messages.success(request, _("It is tried again."))
    return redirect("pages:server")


@access("admin", methods="POST")
def try_mail(request: UserRequest) -> HttpResponse:
    """Send oneself a letter, to see whether mail works."""
    allow("test letter", str(request.user.pk), at_most=10, within=timedelta(hours=1))
    letters.post_test(request.user, origin_of(request))
    messages.success(request, _("A letter to your own address is on its way."))
    return redirect("pages:server")


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
    sent = Job.objects.filter(kind=letters.KIND, finished_at__gte=timezone.now() - timedelta(days=1))
    last = Job.objects.filter(kind=letters.KIND, outcome=Outcome.FAILED).order_by("-finished_at").first()
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
        Quota(_("Seconds of one job"), limits.SECONDS, "", "TOKUMEI_JOB_SECONDS"),
        Quota(_("Memory of one job"), limits.MEMORY_BYTES, "bytes", "TOKUMEI_JOB_MEMORY_BYTES"),
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
