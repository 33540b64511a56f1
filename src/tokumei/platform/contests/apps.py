"""The app's name for Django."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from tokumei.platform import metrics
from tokumei.platform.metrics import Gauge


class ContestsConfig(AppConfig):
    """Contests: their pages, submissions and scoreboards."""

    name = "tokumei.platform.contests"
    label = "contests"

    def ready(self) -> None:
        """Put the contests at the top of every page and on the home page, and let their work be done."""
        from tokumei.platform.accounts.services import BEFORE_DELETING, WELCOMES
        from tokumei.platform.contests.reading_views import on_dashboard, on_home
        from tokumei.platform.contests.services.contests import refuse_while_organizing
        from tokumei.platform.contests.services.drafts import DRAFT_WORK, forget_drafts, forget_person
        from tokumei.platform.contests.services.joining import refuse_new_member, welcome_to_contest
        from tokumei.platform.contests.services.news import (
            SUBMISSION_WORK,
            begin_forgotten,
            deadlines_of,
            sweep_uploads,
            tell_phases,
        )
        from tokumei.platform.contests.services.phase_work import PHASE_WORK, begin_due_work
        from tokumei.platform.contests.services.showing import EXPORT, EXPORT_WORK, KIT, KIT_WORK
        from tokumei.platform.contests.services.submitting import CHECK, CHECK_WORK, forget_checks
        from tokumei.platform.jobs.queue import SWEEPS, WATCHES, register
        from tokumei.platform.notices.services import EVENTS
        from tokumei.platform.pages.apps import DASHBOARD, HOME, NAVIGATION, NavLink
        from tokumei.platform.teams.services import BEFORE_ACCEPTING

        NAVIGATION.insert(0, NavLink(_("Contests"), "contests:list"))
        HOME.append(on_home)
        BEFORE_ACCEPTING.append(refuse_new_member)
        BEFORE_DELETING.extend([refuse_while_organizing, forget_person])
        WELCOMES.append(welcome_to_contest)
        DASHBOARD.append(on_dashboard)
        for kind, work in (
            SUBMISSION_WORK | PHASE_WORK | DRAFT_WORK | {CHECK: CHECK_WORK, EXPORT: EXPORT_WORK, KIT: KIT_WORK}
        ).items():
            register(kind, work)
        WATCHES.extend([begin_due_work, begin_forgotten, tell_phases])
        EVENTS.append(deadlines_of)
        SWEEPS.extend([forget_checks, forget_drafts, sweep_uploads])
        metrics.GAUGES.append(_submissions)


def _submissions() -> Iterator[Gauge]:
    from django.db.models import Count

    from tokumei.platform.contests.models import State, Submission

    counted = dict(Submission.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in State:
        yield Gauge(f"submissions_{state.value}", f"Submissions in the state {state.value}.", counted.get(state, 0))
