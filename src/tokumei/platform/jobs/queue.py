"""Putting work on the list, and finding what is to be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from tokumei.platform.jobs.limits import MOST_ATTEMPTS, STALE_SECONDS
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.work import WORK


def begin(kind: str, subject: object, **payload: Any) -> Job:
    """Have work done once the surrounding transaction is over; what was begun before is given as it stands."""
    found, _ = Job.objects.get_or_create(
        kind=kind, subject=str(subject), defaults={"queue": WORK[kind].queue, "payload": payload}
    )
    return found


def begin_again(job: Job) -> None:
    """Have a job that ended done once more, with all of its attempts."""
    Job.objects.filter(pk=job.pk, is_done=True).update(
        is_done=False, outcome="", reason="", n_attempts=0, due_at=None, finished_at=None, last_failure=""
    )


def is_free() -> Q:
    """Filter jobs that nobody works on: waiting, or held by a process without a sign of life."""
    stale = timezone.now() - timedelta(seconds=STALE_SECONDS)
    return Q(is_done=False) & (Q(is_running=False) | Q(beat_at__lt=stale))


def is_due() -> Q:
    """Filter jobs whose time has come."""
    return Q(due_at=None) | Q(due_at__lte=timezone.now())


def next_jobs(queues: Sequence[str], most: int = 5) -> list[int]:
    """List the oldest jobs that could be taken now."""
    waiting = Job.objects.filter(is_free(), is_due(), queue__in=queues, n_attempts__lt=MOST_ATTEMPTS)
    # A kind that nobody registered is no order.
    waiting = waiting.filter(kind__in=WORK)
    return list(waiting.order_by("pk").values_list("pk", flat=True)[:most])


def worn_out() -> list[int]:
    """List the jobs whose last attempt ended without a word."""
    return list(
        Job.objects.filter(is_free(), kind__in=WORK, n_attempts__gte=MOST_ATTEMPTS).values_list("pk", flat=True)
    )


@dataclass(frozen=True)
class Backlog:
    """How much work there is: jobs that wait and that run, and how long the oldest has waited."""

    waiting: int
    running: int
    oldest_seconds: float


def backlog(queue: str) -> Backlog:
    """Count what is to be done, for health and metrics."""
    undone = Job.objects.filter(is_done=False, queue=queue)
    oldest = undone.filter(is_running=False).order_by("created_at").values_list("created_at", flat=True).first()
    seconds = 0.0 if oldest is None else (timezone.now() - oldest).total_seconds()
    return Backlog(undone.filter(is_running=False).count(), undone.filter(is_running=True).count(), seconds)
