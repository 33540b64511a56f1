"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkbenchConfig(AppConfig):
    """The workbench: one's own data, from a file to a release."""

    name = "tokumei.platform.workbench"
    label = "workbench"

    def ready(self) -> None:
        """Put the workbench first at the top of every page, let its work be done, and its files be swept away."""
        from tokumei.platform.accounts.services import BEFORE_DELETING
        from tokumei.platform.jobs.queue import SWEEPS, register
        from tokumei.platform.pages.apps import NAVIGATION, NavLink
        from tokumei.platform.workbench import services

        NAVIGATION.insert(0, NavLink(_("Workbench"), "workbench:start"))
        for kind in services.JOBS:
            register(kind, services.work_of(kind.removeprefix("workbench-")))
        SWEEPS.append(services.sweep)
        BEFORE_DELETING.append(services.forget_person)
