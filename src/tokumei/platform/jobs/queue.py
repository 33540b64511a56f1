"""Telling the queue that there is work, and finding what it forgot.

The queue is django-q2's table. A message holds the number of an evaluation and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.tasks import async_task

from tokumei.platform.jobs.limits import MOST_ATTEMPTS, REQUEUE_SECONDS, STALE_SECONDS
from tokumei.platform.jobs.models import Evaluation

FUNCTION = "tokumei.platform.jobs.evaluate.evaluate"
# With more messages than this waiting, none was lost: the workers are busy.
LONG_QUEUE = 50


def enqueue(evaluation: int) -> None:
    """Tell the queue of an evaluation, once its row is there for all to see."""
    Evaluation.objects.filter(pk=evaluation).update(queued_at=timezone.now())
    async_task(FUNCTION, evaluation, save=False)


def requeue_forgotten() -> int:
    """Tell the queue again of evaluations that are due and that nobody works on."""
    if get_broker().queue_size() > LONG_QUEUE:
        return 0
    now = timezone.now()
    is_idle = Q(is_running=False) | Q(beat_at__lt=now - timedelta(seconds=STALE_SECONDS))
    is_due = Q(due_at=None) | Q(due_at__lte=now)
    is_untold = Q(queued_at=None) | Q(queued_at__lt=now - timedelta(seconds=REQUEUE_SECONDS))
    waiting = Evaluation.objects.filter(is_idle, is_due, is_untold, is_done=False, n_attempts__lt=MOST_ATTEMPTS)
    n_told = 0
    for evaluation in waiting.order_by("pk")[:LONG_QUEUE]:
        # Whoever changes the time first tells the queue: there may be several watchers.
        if Evaluation.objects.filter(pk=evaluation.pk, queued_at=evaluation.queued_at).update(queued_at=now):
            async_task(FUNCTION, evaluation.pk, save=False)
            n_told += 1
    return n_told


@dataclass(frozen=True)
class Backlog:
    """How much work there is: evaluations that wait and that run, and how long the oldest has waited."""

    waiting: int
    running: int
    oldest_seconds: float


def backlog() -> Backlog:
    """Count what is to be done, for health and metrics."""
    undone = Evaluation.objects.filter(is_done=False)
    oldest = undone.filter(is_running=False).order_by("created_at").values_list("created_at", flat=True).first()
    seconds = 0.0 if oldest is None else (timezone.now() - oldest).total_seconds()
    return Backlog(undone.filter(is_running=False).count(), undone.filter(is_running=True).count(), seconds)


def worn_out() -> list[int]:
    """List the evaluations whose last attempt ended without a word."""
    stale = timezone.now() - timedelta(seconds=STALE_SECONDS)
    is_idle = Q(is_running=False) | Q(beat_at__lt=stale)
    return list(
        Evaluation.objects.filter(is_idle, is_done=False, n_attempts__gte=MOST_ATTEMPTS).values_list("pk", flat=True)
    )
