"""The app's name for Django, and its figures for operators."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import AppConfig

from tokumei.platform.metrics import GAUGES, Gauge


class AccountsConfig(AppConfig):
    """People: signing up and in, passwords, second factors, settings."""

    name = "tokumei.platform.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Add the figures, and let letters be sent."""
        from tokumei.platform.accounts.services import LETTER, LETTER_WORK
        from tokumei.platform.jobs.queue import register

        GAUGES.append(_figures)
        register(LETTER, LETTER_WORK)


def _figures() -> Iterator[Gauge]:
    from tokumei.platform.accounts.models import User

    yield Gauge("users", "Accounts that are open.", User.objects.filter(is_active=True).count())
