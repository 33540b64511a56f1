"""The folder of a closed contest as one zip file, packed by a job."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.platform.accounts.models import User
from tokumei.platform.contests import reasons
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.errors import NotReady
from tokumei.platform.files.shared import local, share
from tokumei.platform.jobs.limits import SECONDS, WHOLE_CONTEST_FACTOR
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.process import ChildAnswer
from tokumei.platform.jobs.queue import begin, begin_again
from tokumei.platform.jobs.work import CONTEST, Work

EXPORT = "export"


def export_folder(contest: Contest, viewer: User | None = None) -> IO[bytes]:
    """Return a closed contest as one open file, with key and truths, so that anybody can replay it."""
    if contest.closed_at is None or not contest.folder.is_dir():
        raise NotAllowed(_("The folder of a contest can be downloaded when the contest is over."))
    if not contest.shows_results and not is_organizer(contest, viewer):
        raise NotAllowed(_("The results are held back for now."))
    try:
        return _packed(contest).open("rb")
    except FileNotFoundError:
        job = begin(EXPORT, contest.pk)
        if job.outcome == Outcome.FAILED:
            begin_again(job)
        raise NotReady(_("The contest is being packed. Try again in a moment.")) from None


def _packed(contest: Contest) -> Path:
    return local(Path(settings.MEDIA_ROOT) / "exports" / contest.folder_key) / "whole.zip"


def _ask(job: Job) -> dict[str, Any]:
    contest = Contest.objects.get(pk=int(job.subject))
    return {"folder": str(contest.folder), "slug": contest.slug, "out": str(_packed(contest))}


def _write_packed(job: Job, _result: dict[str, Any]) -> None:
    """Leave it at the file, which is there by now, for every machine."""
    share(_packed(Contest.objects.get(pk=int(job.subject))).parent)


def _write_nothing(job: Job, _answer: ChildAnswer) -> None:
    """Leave it at that: a folder of our own has no faults."""


def _write_failure(job: Job, failure: str) -> None:
    Contest.objects.filter(pk=int(job.subject)).update(trouble=reasons.NOT_PACKED, trouble_details=failure)


EXPORT_WORK = Work(
    "tokumei.platform.contests.folder_work:export",
    CONTEST,
    ask=_ask,
    write_result=_write_packed,
    write_faults=_write_nothing,
    write_failure=_write_failure,
    seconds=SECONDS * WHOLE_CONTEST_FACTOR,
)
