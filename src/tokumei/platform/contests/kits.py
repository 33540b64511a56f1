"""The kit of a contest as a file to download: made by a job when there is more to put into it.

Its sample round anonymizes the contest's data and attacks them, which takes a while: no page waits for that.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.showing import downloads
from tokumei.platform.errors import NotReady
from tokumei.platform.files.shared import local, share
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin, begin_again
from tokumei.platform.jobs.work import WORKBENCH, Work

KIT = "kit"
TRIED_AGAIN_AFTER = timedelta(minutes=10)


def kit_file(contest: Contest, viewer: User | None) -> Path:
    """Return the current kit; only those who may have the data get it."""
    if not downloads(contest, viewer):
        raise NotFound(_("There is no such file."))
    if not has_kit(contest):
        raise NotReady(_("The kit is being packed. Try again in a moment."))
    return _packed(contest)


def has_kit(contest: Contest) -> bool:
    """Whether the kit is packed; where it is lost, as after a backup was put back, it is made again."""
    if contest.prepared_at is None or _packed(contest).is_file():
        return contest.prepared_at is not None
    job = begin(KIT, contest.pk)
    # One that is done packed less, or what it packed is lost; one that failed would fail again at every look.
    if job.outcome != Outcome.FAILED or (job.finished_at or timezone.now()) < timezone.now() - TRIED_AGAIN_AFTER:
        begin_again(job)
    return False


def _packed(contest: Contest) -> Path:
    folder = local(Path(settings.MEDIA_ROOT) / "kits" / contest.folder_key)
    # With the first publication come the releases and what attackers know.
    return folder / ("data.zip" if contest.published_at is None else "attack.zip")


def _ask(job: Job) -> dict[str, Any]:
    contest = Contest.objects.get(pk=int(job.subject))
    return {"folder": str(contest.folder), "out": str(_packed(contest))}


def _write_packed(job: Job, _result: dict[str, Any]) -> None:
    """Leave it at the file, which is there by now, for every machine."""
    share(_packed(Contest.objects.get(pk=int(job.subject))).parent)


def _write_nothing(job: Job, _answer: ChildAnswer | str) -> None:
    """Leave it at that: who asks again has it tried again."""


KIT_WORK = Work(
    "tokumei.platform.contests.folder_work:kit",
    # Those who wait for a score do not wait for a kit.
    WORKBENCH,
    ask=_ask,
    write_result=_write_packed,
    write_faults=_write_nothing,
    write_failure=_write_nothing,
)
