"""What is done between two phases: making a contest's folder, publishing the releases, closing.

A phase ends by the clock and the next begins when its files are there. Publishing waits until every release that came
in time is evaluated, closing until every guess is; then a job enters what counts in the contest folder by the same
functions as the command line, so that the folder of a closed contest can be replayed by anybody.
"""

from __future__ import annotations

import shutil
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from tokumei.core.errors import Fault
from tokumei.platform.contests.models import FINAL_STATES, Contest, Kind, Participation, State, Submission
from tokumei.platform.contests.services.editions import setting_of
from tokumei.platform.contests.services.work import Work
from tokumei.platform.jobs import reasons
from tokumei.platform.jobs.models import Evaluation, Task
from tokumei.platform.jobs.process import Answer
from tokumei.platform.jobs.queue import enqueue


def begin_due_work() -> None:
    """Begin to publish and to close the contests whose time has come; called every few seconds."""
    now = timezone.now()
    running = Contest.objects.filter(closed_at=None).exclude(prepared_at=None)
    for contest in running.filter(published_at=None, closes_at__lte=now):
        _begin(contest, Task.CLOSE if counting_releases(contest) == {} else Task.PUBLISH)
    for contest in running.filter(published_at=None, attacks_open_at__lte=now, closes_at__gt=now):
        _begin(contest, Task.PUBLISH)
    for contest in running.filter(closes_at__lte=now).exclude(published_at=None):
        _begin(contest, Task.CLOSE)


def _begin(contest: Contest, task: Task) -> None:
    """Make the job for the change of a phase, unless there is one or submissions are still being evaluated."""
    kind = Kind.RELEASE if task == Task.PUBLISH else Kind.GUESS
    with transaction.atomic():
        # Whoever submits holds one of these locks while looking at the clock: after this, nothing comes in late.
        list(Participation.objects.select_for_update().filter(contest=contest).values_list("pk", flat=True))
        if Evaluation.objects.filter(contest=contest, submission=None, task=task).exists():
            return
        if contest.submissions.filter(kind=kind).exclude(state__in=FINAL_STATES).exists():
            return
        if not counting_releases(contest):
            _end_empty(contest)
            return
        try:
            with transaction.atomic():
                evaluation = Evaluation.objects.create(contest=contest, task=task)
        except IntegrityError:
            # Another watcher was quicker.
            return
        transaction.on_commit(lambda: enqueue(evaluation.pk), robust=True)


def _end_empty(contest: Contest) -> None:
    """Tell the organizer that there is nothing to attack; a contest that stays so ends with its time."""
    now = timezone.now()
    if now >= contest.closes_at:
        Contest.objects.filter(pk=contest.pk).update(trouble=reasons.ENDED_EMPTY, closed_at=now)
    elif not contest.trouble:
        Contest.objects.filter(pk=contest.pk).update(trouble=reasons.NOTHING_RELEASED)


def counting_releases(contest: Contest, until: datetime | None = None) -> dict[int, Submission]:
    """Give the last scored release of each team that takes part, by the team's number."""
    scored = contest.submissions.filter(kind=Kind.RELEASE, state=State.SCORED).select_related("team")
    if until is not None:
        scored = scored.filter(at__lte=until)
    withdrawn = set(contest.participations.exclude(withdrawn_at=None).values_list("team_id", flat=True))
    return {one.team_id: one for one in scored.order_by("at", "pk") if one.team_id not in withdrawn}


def scored_guesses(contest: Contest) -> list[Submission]:
    """Give all guesses that were judged, in the order in which they came."""
    scored = contest.submissions.filter(kind=Kind.GUESS, state=State.SCORED)
    return list(scored.select_related("team", "target").order_by("at", "pk"))


def _ask_prepare(evaluation: Evaluation) -> dict[str, Any]:
    contest = evaluation.contest
    source = next((str(path) for path in contest.sources.glob("source.*")), None)
    return {
        "task": Task.PREPARE,
        "folder": str(contest.folder),
        "setting": setting_of(contest),
        "source": source,
    }


def _ask_publish(evaluation: Evaluation) -> dict[str, Any]:
    contest = evaluation.contest
    releases = sorted(counting_releases(contest).values(), key=lambda one: (one.at, one.pk))
    return {
        "task": Task.PUBLISH,
        "folder": str(contest.folder),
        "releases": [{"team": one.team.slug, "given": str(one.folder), "score": one.score} for one in releases],
    }


def _ask_close(evaluation: Evaluation) -> dict[str, Any]:
    contest = evaluation.contest
    guesses = [
        {
            "team": one.team.slug,
            "target": one.target.slug if one.target is not None else None,
            "knowledge": one.knowledge,
            "given": str(one.folder),
            "score": one.score,
        }
        for one in scored_guesses(contest)
    ]
    return {"task": Task.CLOSE, "folder": str(contest.folder), "guesses": guesses}


def _write_prepared(evaluation: Evaluation, _: dict[str, Any]) -> None:
    contest = evaluation.contest
    _say(contest, "", prepared_at=timezone.now())
    transaction.on_commit(lambda: shutil.rmtree(contest.sources, ignore_errors=True))


def _write_published(evaluation: Evaluation, result: dict[str, Any]) -> None:
    _write_if_same(evaluation, result, published_at=timezone.now())


def _write_closed(evaluation: Evaluation, result: dict[str, Any]) -> None:
    _write_if_same(evaluation, result, closed_at=timezone.now())


def _write_if_same(evaluation: Evaluation, result: dict[str, Any], **facts: Any) -> None:
    if result["differing"]:
        _say(evaluation.contest, reasons.OTHER_DIGITS, details="\n".join(result["differing"]))
    else:
        _say(evaluation.contest, "", **facts)


def _write_faults(evaluation: Evaluation, answer: Answer) -> None:
    _say(evaluation.contest, reasons.BAD_SOURCE, details="\n".join(_in_words(fault) for fault in answer.faults))


def _write_failure(evaluation: Evaluation, failure: str) -> None:
    failed = {
        Task.PREPARE: reasons.NOT_PREPARED,
        Task.PUBLISH: reasons.NOT_PUBLISHED,
        Task.CLOSE: reasons.NOT_CLOSED,
    }
    _say(evaluation.contest, failed[Task(evaluation.task)], details=failure)


def _say(contest: Contest, trouble: str, details: str = "", **facts: Any) -> None:
    Contest.objects.filter(pk=contest.pk).update(trouble=trouble, trouble_details=details, **facts)


def _in_words(fault: dict[str, Any]) -> str:
    return str(Fault(**fault))


PHASE_WORK: dict[str, Work] = {
    Task.PREPARE: Work(_ask_prepare, _write_prepared, _write_faults, _write_failure),
    Task.PUBLISH: Work(_ask_publish, _write_published, _write_faults, _write_failure),
    Task.CLOSE: Work(_ask_close, _write_closed, _write_faults, _write_failure),
}
