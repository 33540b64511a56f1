"""What is done between two phases: making a contest's folder, publishing the releases, closing.

A phase ends by the clock and the next begins when its files are there. Publishing waits until every release that came
in time is evaluated, closing until every guess is; then a job enters what counts, with its score, in the contest folder
by the same functions as the command line, so that the folder of a closed contest can be replayed by anybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from tokumei.core.text import Json
from tokumei.platform.contests.models import FINAL_STATES, Contest, Kind, Participation
from tokumei.platform.contests.services.rulebook import counting_releases, scored_guesses, setting_of
from tokumei.platform.files.shared import share, unshare
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import SECONDS, WHOLE_CONTEST_FACTOR, ChildAnswer
from tokumei.platform.jobs.queue import CONTEST, Work, begin, begin_again

REFUSED = _("It breaks the rules of the contest: see the faults. It counts as an attempt.")
TIMED_OUT = _("The evaluation took longer than is allowed, twice. It counts as an attempt.")
TOO_LARGE = _("The evaluation needed more memory than is allowed, twice. It counts as an attempt.")
DIED = _("The evaluation broke off three times. It counts as no attempt.")
FULL_DISK = _("The server has no space left. It counts as no attempt; please tell the organizer.")

# For the organizer of a contest.
NOT_PREPARED = _("The contest could not be prepared: the work broke off three times.")
NOT_PUBLISHED = _("The releases could not be published: the work broke off three times.")
NOT_CLOSED = _("The contest could not be closed: the work broke off three times.")
NOT_AMENDED = _("The ranking in the contest's folder could not be amended: the work broke off three times.")
NOT_PACKED = _("The contest could not be packed for downloading: the work broke off three times.")
BAD_SOURCE = _("The contest could not be prepared: its data file or setting cannot be used.")
CHANGED_SINCE = _("Scores or their files were changed after scoring; the details name them. Nothing was overwritten.")
NOTHING_RELEASED = _(
    "No team had a release that passed the check when attacks were to begin. Give the teams more time."
)
ENDED_EMPTY = _("The contest ended without a release that passed the check.")


# Beside the source of a contest: how it is read, where that is in a way of its own.
READING = "reading.json"
PREPARE, PUBLISH, CLOSE = PHASE_CHANGES = ("prepare", "publish", "close")
# What is done when somebody is disqualified, or readmitted, after the end.
AMEND = "amend"


def begin_due_work() -> None:
    """Begin to publish and to close the contests whose time has come; called every few seconds."""
    now = timezone.now()
    for contest in Contest.objects.filter(prepared_at=None, trouble=""):
        begin(PREPARE, contest.pk)
    running = Contest.objects.filter(closed_at=None).exclude(prepared_at=None)
    for contest in running.filter(published_at=None, closes_at__lte=now):
        _begin(contest, CLOSE if counting_releases(contest) == {} else PUBLISH)
    for contest in running.filter(published_at=None, attacks_open_at__lte=now, closes_at__gt=now):
        _begin(contest, PUBLISH)
    for contest in running.filter(closes_at__lte=now).exclude(published_at=None):
        _begin(contest, CLOSE)


def _begin(contest: Contest, change: str) -> None:
    """Make the job for the change of a phase, unless there is one or submissions are still being evaluated."""
    kind = Kind.RELEASE if change == PUBLISH else Kind.GUESS
    with transaction.atomic():
        # Whoever submits holds one of these locks while looking at the clock: after this, nothing comes in late.
        list(Participation.objects.select_for_update().filter(contest=contest).values_list("pk", flat=True))
        if phase_jobs(contest).filter(kind=change).exists():
            return
        if contest.submissions.filter(kind=kind).exclude(state__in=FINAL_STATES).exists():
            return
        if not counting_releases(contest):
            _end_empty(contest)
            return
        begin(change, contest.pk)


def phase_jobs(contest: Contest) -> QuerySet[Job]:
    """Return the jobs between the phases of a contest, begun or done."""
    return Job.objects.filter(kind__in=PHASE_CHANGES, subject=str(contest.pk))


def _end_empty(contest: Contest) -> None:
    """Notify the organizer that there is nothing to attack; a contest that stays empty ends with its time."""
    now = timezone.now()
    if now >= contest.closes_at:
        Contest.objects.filter(pk=contest.pk).update(trouble=ENDED_EMPTY, closed_at=now)
    elif not contest.trouble:
        Contest.objects.filter(pk=contest.pk).update(trouble=NOTHING_RELEASED)


def _ask_prepare(job: Job) -> dict[str, object]:
    contest = _contest(job)
    source = next((str(path) for path in contest.sources.glob("source.*")), None)
    return {
        "folder": str(contest.folder),
        "setting": setting_of(contest),
        "source": source,
        "reading": _reading_of(contest),
    }


def _reading_of(contest: Contest) -> dict[str, object]:
    """Return how the source of a contest is read, as stored beside it."""
    path = contest.sources / READING
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _ask_publish(job: Job) -> dict[str, object]:
    contest = _contest(job)
    releases = sorted(counting_releases(contest).values(), key=lambda one: (one.at, one.pk))
    return {
        "folder": str(contest.folder),
        "releases": [
            {"team": one.team.slug, "given": str(one.folder), "score": one.score, "seal": one.seal} for one in releases
        ],
    }


def _ask_close(job: Job) -> dict[str, object]:
    contest = _contest(job)
    guesses = [
        {
            "team": one.team.slug,
            "target": one.target.slug if one.target is not None else None,
            "knowledge": one.knowledge,
            "given": str(one.folder),
            "score": one.score,
            "seal": one.seal,
        }
        for one in scored_guesses(contest)
    ]
    return {"folder": str(contest.folder), "guesses": guesses, "disqualified": disqualified_teams(contest)}


def disqualified_teams(contest: Contest) -> dict[str, str]:
    """Return the reasons for disqualification by the teams' short names."""
    found = contest.participations.exclude(disqualified_at=None)
    return dict(found.values_list("team__slug", "disqualified_for"))


def begin_amending(contest: Contest) -> None:
    """Have the folder of a closed contest follow a change of who is disqualified."""
    # While it runs nothing happens here: it looks again when it is done.
    begin_again(begin(AMEND, contest.pk))


def _amend_if_changed(contest: Contest, result: dict[str, object]) -> None:
    """Go on where somebody was disqualified or readmitted meanwhile."""
    if disqualified_teams(contest) != result["disqualified"]:
        begin_amending(contest)


def _ask_amend(job: Job) -> dict[str, object]:
    contest = _contest(job)
    return {"folder": str(contest.folder), "disqualified": disqualified_teams(contest)}


def _write_amended(job: Job, result: dict[str, object]) -> None:
    contest = _contest(job)
    share(contest.folder)
    _say(contest, "", heads=contest.heads | {AMEND: result["head"]})
    begin_again(begin("export", job.subject))
    _amend_if_changed(contest, result)


def _write_prepared(job: Job, result: dict[str, object]) -> None:
    contest = _contest(job)
    share(contest.folder)
    _say(contest, "", prepared_at=timezone.now(), heads={PREPARE: result["head"]})
    begin("kit", job.subject)
    transaction.on_commit(lambda: unshare(contest.sources))


def _write_published(job: Job, result: dict[str, object]) -> None:
    _write_if_same(job, result, published_at=timezone.now())
    if not result["differing"]:
        begin_again(begin("kit", job.subject))


def _write_closed(job: Job, result: dict[str, object]) -> None:
    _write_if_same(job, result, closed_at=timezone.now(), key=result["key"])
    if not result["differing"]:
        begin("export", job.subject)
        _amend_if_changed(_contest(job), result)


def _write_if_same(job: Job, result: Json, **facts: Any) -> None:
    if result["differing"]:
        _say(_contest(job), CHANGED_SINCE, details="\n".join(result["differing"]))
    else:
        contest = _contest(job)
        share(contest.folder)
        _say(contest, "", heads=contest.heads | {job.kind: result["head"]}, **facts)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    _say(_contest(job), BAD_SOURCE, details=answer.said)


def _write_failure(job: Job, failure: str) -> None:
    failed = {PREPARE: NOT_PREPARED, PUBLISH: NOT_PUBLISHED, CLOSE: NOT_CLOSED, AMEND: NOT_AMENDED}
    _say(_contest(job), failed[job.kind], details=failure)


def _say(contest: Contest, trouble: str, details: str = "", **facts: object) -> None:
    Contest.objects.filter(pk=contest.pk).update(trouble=trouble, trouble_details=details, **facts)


def _contest(job: Job) -> Contest:
    return Contest.objects.get(pk=int(job.subject))


def _work(
    change: str, ask: Callable[[Job], dict[str, object]], write: Callable[[Job, dict[str, object]], None]
) -> Work:
    return Work(
        f"tokumei.platform.contests.folder_work:{change}",
        CONTEST,
        ask=ask,
        write_result=write,
        write_faults=_write_faults,
        write_failure=_write_failure,
        seconds=SECONDS * WHOLE_CONTEST_FACTOR,
    )


PHASE_WORK = {
    PREPARE: _work(PREPARE, _ask_prepare, _write_prepared),
    PUBLISH: _work(PUBLISH, _ask_publish, _write_published),
    CLOSE: _work(CLOSE, _ask_close, _write_closed),
    AMEND: _work(AMEND, _ask_amend, _write_amended),
}
