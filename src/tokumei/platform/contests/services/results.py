"""What becomes of a submission: its score, its faults, or that the platform failed."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from tokumei.platform.contests.models import State, Submission
from tokumei.platform.contests.services.work import Work
from tokumei.platform.jobs import reasons
from tokumei.platform.jobs.models import Evaluation, Task
from tokumei.platform.jobs.process import TIMEOUT, Answer


def _ask(evaluation: Evaluation) -> dict[str, Any]:
    submission = evaluation.submission
    if submission is None:
        raise TypeError("this work needs a submission")
    return {
        "task": evaluation.task,
        "folder": str(evaluation.contest.folder),
        "given": str(submission.folder),
        "target": submission.target.slug if submission.target is not None else None,
    }


def _write_score(evaluation: Evaluation, result: dict[str, Any]) -> None:
    _end(evaluation, State.SCORED, score=result)


def _write_faults(evaluation: Evaluation, answer: Answer) -> None:
    _end(evaluation, State.REFUSED, reasons.REFUSED, faults=list(answer.faults), n_faults=answer.n_faults)


def _write_failure(evaluation: Evaluation, failure: str) -> None:
    reason = {TIMEOUT: reasons.TIMED_OUT, "ENOSPC": reasons.FULL_DISK}.get(failure, reasons.DIED)
    _end(evaluation, State.FAILED, reason)


def _end(evaluation: Evaluation, state: State, reason: str = "", **facts: Any) -> None:
    Submission.objects.filter(evaluation=evaluation).update(
        state=state, reason=reason, finished_at=timezone.now(), **facts
    )


SUBMISSION_WORK: dict[str, Work] = {
    task: Work(_ask, _write_score, _write_faults, _write_failure) for task in (Task.SCORE, Task.JUDGE)
}
