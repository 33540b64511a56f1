"""The app's name for Django, and its place on shared pages."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from tokumei.platform.metrics import GAUGES, Gauge
from tokumei.platform.pages.apps import NAVIGATION, NavLink


class TeamsConfig(AppConfig):
    """Teams: members, captains, invitations."""

    name = "tokumei.platform.teams"
    label = "teams"

    def ready(self) -> None:
        """Add the link to one's teams, and the figures."""
        from tokumei.platform.accounts.services import BEFORE_DELETING, WELCOMES
        from tokumei.platform.teams.services import leave_all, welcome_to_team

        NAVIGATION.append(NavLink(_("Teams"), "teams:mine", for_users=True))
        BEFORE_DELETING.append(leave_all)
        WELCOMES.append(welcome_to_team)
        GAUGES.append(_figures)


def _figures() -> Iterator[Gauge]:
    from tokumei.platform.teams.models import Team

    yield Gauge("teams", "Teams that are open.", Team.objects.filter(closed=None).count())
