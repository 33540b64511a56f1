"""The app's name for Django."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import AppConfig

from tokumei.platform import metrics
from tokumei.platform.metrics import Gauge

# What operators know the queue of evaluations by.
NAMES = {"contest": "evaluations", "exchange": "exchange_jobs", "mail": "letters", "workbench": "workbench_jobs"}


class JobsConfig(AppConfig):
    """Jobs: the work that runs beside the pages."""

    name = "tokumei.platform.jobs"
    label = "jobs"

    def ready(self) -> None:
        """Register the amount of work for operators."""
        metrics.GAUGES.append(_backlog)


def _backlog() -> Iterator[Gauge]:
    from tokumei.platform.jobs.queue import backlog
    from tokumei.platform.jobs.running import n_present

    for queue, name in NAMES.items():
        found = backlog(queue)
        yield Gauge(f"{name}_waiting", f"Jobs of the queue {queue} that nobody works on yet.", found.waiting)
        yield Gauge(f"{name}_running", f"Jobs of the queue {queue} that are being worked on.", found.running)
        yield Gauge(f"{name}_oldest_seconds", "How long the oldest of them has waited.", found.oldest_seconds)
    yield Gauge("workers", "Workers that showed themselves within the last half minute.", n_present())
