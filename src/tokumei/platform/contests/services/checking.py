"""Checking files without handing them in: free, without a score, and no more often than a server can bear.

A check sees what everybody knows alone, so that it tells nothing that the kit does not tell on one's own machine.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.throttle import allow
from tokumei.platform.contests.converting import notes_of
from tokumei.platform.contests.models import (
    CheckState,
    FileCheck,
    Kind,
    Participation,
    Phase,
    Submission,
    new_submission_key,
)
from tokumei.platform.contests.services import submitting
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.files.shared import share, unshare
from tokumei.platform.files.uploads import size_limit, taking
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import begin
from tokumei.platform.jobs.work import CONTEST, Work
from tokumei.platform.teams.models import Team

CHECK = "check"
CHECKS_AN_HOUR = 60
CHECKS_AT_ONCE = 3
KEPT_FOR = timedelta(days=1)


def check_files(
    participation: Participation, user: User, uploads: submitting.Uploads, target: Team | None = None
) -> FileCheck:
    """Have files checked as a release, or as a guess at the target's; no attempt is counted."""
    contest = participation.contest
    is_open = contest.phase_at() in ((Phase.ANONYMIZE,) if target is None else (Phase.ATTACK,))
    if not is_open:
        raise NotAllowed(_("Files are checked while they could be handed in."))
    _check_waiting(participation)
    said = _("Your team may have %d files checked an hour.") % CHECKS_AN_HOUR
    who = f"{contest.pk} {participation.team_id}"
    allow("check", who, at_most=CHECKS_AN_HOUR, within=timedelta(hours=1), said=said)
    terms = terms_of(contest)
    roles = terms.release_files if target is None else terms.guess_files
    limit = size_limit(contest.folder / "public" / "data")
    with taking(new_submission_key(), uploads, roles, limit, takes_workbooks=True) as taken, transaction.atomic():
        Participation.objects.select_for_update().get(pk=participation.pk)
        # Looked at again under the lock: many may come at once.
        _check_waiting(participation)
        made = FileCheck(
            key=taken.key,
            files=taken.files,
            contest=contest,
            team=participation.team,
            by=user,
            kind=Kind.RELEASE if target is None else Kind.GUESS,
            target=target,
        )
        made.job = begin(CHECK, made.key)
        made.save(force_insert=True)
    return made


def _check_waiting(participation: Participation) -> None:
    waiting = participation.contest.checks.filter(team=participation.team, state=CheckState.WAITING)
    if waiting.count() >= CHECKS_AT_ONCE:
        raise NotAllowed(_("Your team has files being checked. Wait for them first."))


def find_check(user: User, key: str) -> FileCheck:
    """Find a check of one of the user's teams; any other is not there."""
    found = FileCheck.objects.filter(key=key, team__members=user)
    check = found.select_related("contest", "team", "target", "job", "by").first()
    if check is None:
        raise NotFound(_("There is no such check."))
    return check


def hand_in(check: FileCheck, participation: Participation, user: User, knowledge: str) -> Submission:
    """Hand in the files of a check as they were checked, converted ones included; this is an attempt."""
    if check.state != CheckState.PASSED or participation.team_id != check.team_id:
        raise NotAllowed(_("Only files that keep all rules are handed in from here."))
    opened: dict[str, UploadedFile[Any]] = {}
    try:
        for role, file in check.files.items():
            # A plain file reads, seeks and gives its chunks as an uploaded one does.
            opened[role] = cast("UploadedFile[Any]", File((check.folder / file["name"]).open("rb"), name=file["name"]))
        if check.target is None:
            return submitting.submit_release(participation, user, opened)
        return submitting.submit_guess(participation, user, check.target, knowledge, opened)
    except FileNotFoundError:
        raise NotFound(_("The files are gone: checks are kept for a day.")) from None
    finally:
        for one in opened.values():
            one.close()


def forget_checks() -> int:
    """Remove checks of yesterday with their files, and those whose job is lost; says how many."""
    old = FileCheck.objects.filter(at__lt=timezone.now() - KEPT_FOR)
    n_removed = 0
    for check in old:
        folder = check.folder
        check.delete()
        unshare(folder)
        n_removed += 1
    lost = FileCheck.objects.filter(job=None, state=CheckState.WAITING)
    lost.update(state=CheckState.FAILED)
    return n_removed


def _ask(job: Job) -> dict[str, Any]:
    check = FileCheck.objects.select_related("contest", "target").get(job=job)
    return {
        "folder": str(check.contest.folder),
        "given": str(check.folder),
        "target": check.target.slug if check.target is not None else None,
    }


def _end(job: Job, state: CheckState, **facts: Any) -> None:
    check = FileCheck.objects.get(job=job)
    notes = notes_of(check.folder)
    if notes:
        share(check.folder)
    FileCheck.objects.filter(pk=check.pk).update(state=state, notes=notes, **facts)


CHECK_WORK = Work(
    "tokumei.platform.contests.folder_work:check",
    CONTEST,
    ask=_ask,
    write_result=lambda job, _result: _end(job, CheckState.PASSED),
    write_faults=lambda job, answer: _end(
        job, CheckState.REFUSED, groups=list(answer.groups), n_faults=answer.n_faults
    ),
    write_failure=lambda job, _failure: _end(job, CheckState.FAILED),
)
