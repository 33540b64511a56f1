"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig


class FilesConfig(AppConfig):
    """Files: what people send, and folders that several machines share."""

    name = "tokumei.platform.files"
    label = "files"

    def ready(self) -> None:
        """Register the sweep of outdated copies from the disk of each machine."""
        from tokumei.platform.files.shared import sweep_copies
        from tokumei.platform.jobs.queue import SWEEPS

        SWEEPS.append(sweep_copies)
