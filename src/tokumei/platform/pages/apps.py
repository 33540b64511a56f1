"""The app's name for Django, and what it listens to."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.signals import got_request_exception


class PagesConfig(AppConfig):
    """Pages that belong to no domain: home, language, errors, health."""

    name = "tokumei.platform.pages"
    label = "pages"

    def ready(self) -> None:
        """Have every failure logged, and the space on the disk told."""
        from tokumei.platform.files.space import free_bytes
        from tokumei.platform.metrics import GAUGES, Gauge
        from tokumei.platform.middleware import log_failure

        GAUGES.append(lambda: [Gauge("disk_free_bytes", "Bytes that can still be written.", free_bytes())])
        got_request_exception.connect(log_failure, dispatch_uid="log_failure")
