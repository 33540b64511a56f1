"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ContestsConfig(AppConfig):
    """Contests: their pages, submissions and scoreboards."""

    name = "tokumei.platform.contests"
    label = "contests"

    def ready(self) -> None:
        """Put the contests at the top of every page and on the home page."""
        from tokumei.platform.contests.views.reading import on_home
        from tokumei.platform.pages.slots import HOME, NAVIGATION, Entry

        NAVIGATION.insert(0, Entry(_("Contests"), "contests:list"))
        HOME.append(on_home)
