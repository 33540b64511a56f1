"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    """Notices: an inbox, mail for those who want it, a calendar of deadlines."""

    name = "tokumei.platform.notices"
    label = "notices"

    def ready(self) -> None:
        """Register the mailing of notices, and delete those of a deleted account."""
        from tokumei.platform.accounts.services import BEFORE_DELETING, WRITERS
        from tokumei.platform.jobs.queue import SWEEPS
        from tokumei.platform.notices.services import forget, send_digests, write_digest, write_notice

        WRITERS.update(notice=write_notice, digest=write_digest)
        SWEEPS.append(send_digests)
        BEFORE_DELETING.append(forget)
