"""Moving the times of a demo's contest, so that a demo started again after days looks as on its first day."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from tokumei.platform.contests.models import Contest
from tokumei.platform.demo.script import Script

CONTEST_TIMES = (
    "opens_at",
    "attacks_open_at",
    "closes_at",
    "prepared_at",
    "published_at",
    "closed_at",
    "board_frozen_at",
)


def bring_up_to_date(contest: Contest, script: Script) -> None:
    """Move everything that happened in a contest by whole days, so that it opened as long ago as the script says."""
    age = timezone.now() + script.opens - contest.opens_at
    if age >= timedelta(days=1):
        move(contest, timedelta(days=age.days))


@transaction.atomic
def move(contest: Contest, by: timedelta) -> None:
    """Move every time of a contest; those that have not come stay empty."""
    Contest.objects.filter(pk=contest.pk).update(**{name: F(name) + by for name in CONTEST_TIMES})
    contest.submissions.update(at=F("at") + by, finished_at=F("finished_at") + by)
    contest.announcements.update(at=F("at") + by)
    contest.refresh_from_db()
