"""The app's name for Django."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import AppConfig

from tokumei.platform import metrics
from tokumei.platform.metrics import Gauge


class JobsConfig(AppConfig):
    """Jobs: evaluations that run beside the server."""

    name = "tokumei.platform.jobs"
    label = "jobs"

    def ready(self) -> None:
        """Let operators see how much work there is."""
        metrics.GAUGES += [_backlog, _submissions]


def _backlog() -> Iterator[Gauge]:
    from tokumei.platform.jobs.queue import backlog

    found = backlog()
    yield Gauge("evaluations_waiting", "Evaluations that nobody works on yet.", found.waiting)
    yield Gauge("evaluations_running", "Evaluations that are being worked on.", found.running)
    yield Gauge("evaluations_oldest_seconds", "How long the oldest of them has waited.", found.oldest_seconds)


def _submissions() -> Iterator[Gauge]:
    from django.db.models import Count

    from tokumei.platform.contests.models import State, Submission
    from tokumei.platform.jobs.presence import n_present

    counted = dict(Submission.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in State:
        yield Gauge(f"submissions_{state.value}", f"Submissions in the state {state.value}.", counted.get(state, 0))
    yield Gauge("workers", "Workers that showed themselves within the last half minute.", n_present())
