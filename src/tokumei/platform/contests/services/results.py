"""What becomes of a submission: its score, its faults, or that the platform failed."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from tokumei.platform.contests import reasons
from tokumei.platform.contests.models import FileCheck, Kind, State, Submission
from tokumei.platform.contests.services.news import tell_result
from tokumei.platform.files.shared import sweep_shared
from tokumei.platform.files.uploads import sweep_orphans
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import TIMEOUT, ChildAnswer
from tokumei.platform.jobs.queue import begin
from tokumei.platform.jobs.reasons import FULL, is_at_its_limit
from tokumei.platform.jobs.work import CONTEST, Work


def sweep_uploads() -> int:
    """Remove the files of submissions that broke off; says how many."""

    def is_known(key: str) -> bool:
        return Submission.objects.filter(key=key).exists() or FileCheck.objects.filter(key=key).exists()

    return sweep_orphans(is_known) + sweep_shared("uploads", is_known)


def begin_forgotten() -> None:
    """Begin the evaluations of submissions that have none, as after a backup was put back."""
    for submission in Submission.objects.filter(job=None, state__in=(State.WAITING, State.RUNNING)):
        kind = "score" if submission.kind == Kind.RELEASE else "judge"
        Submission.objects.filter(pk=submission.pk).update(job=begin(kind, submission.key), state=State.WAITING)


def _begin(job: Job) -> None:
    Submission.objects.filter(job=job, state=State.WAITING).update(state=State.RUNNING)


def _ask(job: Job) -> dict[str, Any]:
    submission = Submission.objects.select_related("contest", "team", "target").get(job=job)
    return {
        "folder": str(submission.contest.folder),
        "given": str(submission.folder),
        "target": submission.target.slug if submission.target is not None else None,
    }


def _write_score(job: Job, result: dict[str, Any]) -> None:
    _end(job, State.SCORED, score=result)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    _end(job, State.REFUSED, reasons.REFUSED, faults=list(answer.faults), n_faults=answer.n_faults)


def _write_failure(job: Job, failure: str) -> None:
    if is_at_its_limit(failure):
        # The file did this, not the server: without an attempt counted, a team could keep it busy for ever.
        _end(job, State.REFUSED, reasons.TIMED_OUT if failure == TIMEOUT else reasons.TOO_LARGE)
        return
    _end(job, State.FAILED, reasons.FULL_DISK if failure in FULL else reasons.DIED)


def _end(job: Job, state: State, reason: str = "", **facts: Any) -> None:
    Submission.objects.filter(job=job).update(state=state, reason=reason, finished_at=timezone.now(), **facts)
    for submission in Submission.objects.filter(job=job).select_related("contest", "team", "target"):
        tell_result(submission)


SUBMISSION_WORK = {
    kind: Work(
        f"tokumei.platform.contests.folder_work:{kind}",
        CONTEST,
        ask=_ask,
        write_result=_write_score,
        write_faults=_write_faults,
        write_failure=_write_failure,
        begin=_begin,
    )
    for kind in ("score", "judge")
}
