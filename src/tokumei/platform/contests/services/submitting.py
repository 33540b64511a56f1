"""Handing in releases and guesses, how many attempts a team has, and checking files without handing them in.

Checks are free, without a score, and no more often than a server can bear. A check sees what everybody knows alone, so
that it tells nothing that the kit does not tell on one's own machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import OperationalError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.core.text import Json, Text
from tokumei.platform.accounts.authentication import allow
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import (
    CheckState,
    Contest,
    FileCheck,
    Kind,
    Participation,
    Phase,
    State,
    Submission,
    new_submission_key,
)
from tokumei.platform.contests.services.rulebook import counting_key, counting_releases, terms_of
from tokumei.platform.files.shared import share, unshare
from tokumei.platform.files.uploads import size_limit, taking, telling_full_disk
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import CONTEST, Work, begin
from tokumei.platform.messages import DiskFull
from tokumei.platform.teams.models import Team

Uploads = Mapping[str, "UploadedFile[bytes]"]


@dataclass(frozen=True)
class Attempts:
    """How many attempts are allowed and left: today, and in all (for guesses: at one release with one knowledge)."""

    today_allowed: int
    today_used: int
    in_all_allowed: int
    in_all_used: int

    @property
    def n_left(self) -> int:
        """How many more may be handed in now."""
        return max(0, min(self.today_allowed - self.today_used, self.in_all_allowed - self.in_all_used))


def submit_release(participation: Participation, user: User, uploads: Uploads) -> Submission:
    """Take a team's release and have it evaluated.

    uploads: the files by the names that the edition gives them, or one zip that holds them.
    """
    contest = participation.contest
    _check_phase(contest, Phase.ANONYMIZE)
    _check_attempts(release_attempts(participation))
    with (
        taking(new_submission_key(), uploads, terms_of(contest).release_files, size_limit(_data(contest))) as taken,
        _accepting(participation),
    ):
        _check_phase(contest, Phase.ANONYMIZE)
        _check_attempts(release_attempts(participation))
        submission = Submission(
            key=taken.key, files=taken.files, contest=contest, team=participation.team, by=user, kind=Kind.RELEASE
        )
        return _enter(submission, "score")


def submit_guess(
    participation: Participation, user: User, target: Team, knowledge: str, uploads: Uploads
) -> Submission:
    """Take a team's guess at another team's release and have it judged."""
    contest = participation.contest
    _check_phase(contest, Phase.ATTACK)
    _check_target(participation, user, target, knowledge)
    _check_attempts(guess_attempts(participation, target, knowledge))
    with (
        taking(new_submission_key(), uploads, terms_of(contest).guess_files, size_limit(_data(contest))) as taken,
        _accepting(participation),
    ):
        _check_phase(contest, Phase.ATTACK)
        _check_attempts(guess_attempts(participation, target, knowledge))
        submission = Submission(
            key=taken.key,
            files=taken.files,
            contest=contest,
            team=participation.team,
            by=user,
            kind=Kind.GUESS,
            target=target,
            knowledge=knowledge,
        )
        return _enter(submission, "judge")


def release_attempts(participation: Participation, now: datetime | None = None) -> Attempts:
    """Count a team's releases; those that failed by the platform's fault do not count, refused ones do."""
    contest = participation.contest
    made = _made(participation, Kind.RELEASE)
    used = made.aggregate(today=Count("pk", filter=Q(at__gte=_midnight(now))), ever=Count("pk"))
    return Attempts(contest.releases_a_day, used["today"], contest.releases_in_all, used["ever"])


def guess_attempts(participation: Participation, target: Team, knowledge: str, now: datetime | None = None) -> Attempts:
    """Count a team's guesses: all of today, and those at one release with one level of knowledge."""
    contest = participation.contest
    at_target = contest.submissions.filter(
        team=participation.team, kind=Kind.GUESS, target=target, knowledge=knowledge
    ).exclude(state=State.FAILED)
    return Attempts(
        contest.guesses_a_day,
        _made(participation, Kind.GUESS).filter(at__gte=_midnight(now)).count(),
        contest.guesses_on_one,
        at_target.count(),
    )


def guesses_left_today(participation: Participation) -> int:
    """Count how many guesses a team may still make today, at whichever release."""
    used = _made(participation, Kind.GUESS).filter(at__gte=_midnight(None)).count()
    return max(0, participation.contest.guesses_a_day - used)


def all_guess_attempts(participation: Participation) -> dict[tuple[int, str], Attempts]:
    """Count a team's guesses at every release with every level of knowledge, by the target's number and the level."""
    contest = participation.contest
    made = contest.submissions.filter(team=participation.team, kind=Kind.GUESS).exclude(state=State.FAILED)
    counted = made.order_by().values_list("target", "knowledge").annotate(n=Count("pk"))
    used = {(target, level): n for target, level, n in counted}
    n_today = _made(participation, Kind.GUESS).filter(at__gte=_midnight(None)).count()
    return {
        (team.pk, level): Attempts(
            contest.guesses_a_day, n_today, contest.guesses_on_one, used.get((team.pk, level), 0)
        )
        for team in targets(participation)
        for level in terms_of(contest).knowledge_files
    }


def targets(participation: Participation) -> list[Team]:
    """List the teams whose releases this team may attack, by short name."""
    contest = participation.contest
    if contest.published_at is None:
        return []
    found = [one.team for one in counting_releases(contest).values() if one.team_id != participation.team_id]
    return sorted(found, key=lambda team: team.slug)


def _made(participation: Participation, kind: Kind) -> QuerySet[Submission]:
    """Return the attempts that count."""
    made = Submission.objects.filter(contest=participation.contest_id, team=participation.team_id, kind=kind)
    return made.exclude(state=State.FAILED)


def _midnight(now: datetime | None) -> datetime:
    """Return the start of the day in the server's time zone, which the schedule uses."""
    # Whichever zone the page is shown in: who changed theirs would have another day of attempts.
    return timezone.localtime(now, timezone.get_default_timezone()).replace(hour=0, minute=0, second=0, microsecond=0)


def _data(contest: Contest) -> Path:
    return contest.folder / "public" / "data"


@contextmanager
def _accepting(participation: Participation) -> Iterator[None]:
    """Hold the lock of a team in a contest, under which attempts are counted and submissions entered."""
    try:
        with telling_full_disk(), transaction.atomic():
            # On SQLite the transaction itself is the lock: it begins by taking it.
            locked = Participation.objects.select_for_update().get(pk=participation.pk)
            if locked.withdrawn_at is not None:
                raise NotAllowed(_("Your team has left this contest."))
            if locked.disqualified_at is not None:
                raise NotAllowed(_("Your team is disqualified: nothing more is taken from it."))
            # The schedule may have changed since this request began.
            participation.contest.refresh_from_db()
            yield
    except OperationalError as error:
        if "full" in str(error) or getattr(error.__cause__, "sqlstate", None) == "53100":
            raise DiskFull(
                _("The server has no space left. Nothing was stored and no attempt was counted; try again later.")
            ) from None
        raise


def _enter(submission: Submission, kind: str) -> Submission:
    submission.at = timezone.now()
    submission.job = begin(kind, submission.key)
    submission.save(force_insert=True)
    return submission


def _check_phase(contest: Contest, phase: Phase) -> None:
    if contest.phase_at() != phase:
        if phase == Phase.ANONYMIZE:
            raise NotAllowed(_("Releases are accepted only while the contest is open for them."))
        raise NotAllowed(_("Guesses are accepted only while attacks are open."))


def _check_target(participation: Participation, user: User, target: Team, knowledge: str) -> None:
    if counting_key(participation.contest, participation.team_id) is None:
        raise NotAllowed(_("Only a team whose own release counts may attack."))
    if target not in targets(participation):
        raise NotFound(_("No other team with this name has published a release."))
    if target.memberships.filter(user=user).exists() or knows_truth(participation.contest, user, target):
        raise NotAllowed(_("You are or were in that team: whoever knows the truth cannot attack."))
    levels = terms_of(participation.contest).knowledge_files
    if knowledge not in levels:
        raise InputError.of(
            Text("a level of knowledge: {names}", names=", ".join(levels)), column="knowledge", value=knowledge
        )


def knows_truth(contest: Contest, user: User, target: Team) -> bool:
    """Whether somebody was ever in a team of a contest."""
    return contest.roster.filter(user=user, team=target).exists()


def _check_attempts(attempts: Attempts) -> None:
    if attempts.in_all_used >= attempts.in_all_allowed:
        raise NotAllowed(_("Your team has used all of its %d attempts.") % attempts.in_all_allowed)
    if attempts.today_used >= attempts.today_allowed:
        raise NotAllowed(
            _("Your team has used all of its %d attempts for today; there are new ones tomorrow.")
            % attempts.today_allowed
        )


CHECK = "check"
CHECKS_AN_HOUR = 60
CHECKS_AT_ONCE = 3
KEPT_FOR = timedelta(days=1)


def check_files(participation: Participation, user: User, uploads: Uploads, target: Team | None = None) -> FileCheck:
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
    opened: dict[str, UploadedFile[bytes]] = {}
    try:
        for role, file in check.files.items():
            # A plain file reads, seeks and gives its chunks as an uploaded one does.
            opened[role] = cast(
                "UploadedFile[bytes]", File((check.folder / file["name"]).open("rb"), name=file["name"])
            )
        if check.target is None:
            return submit_release(participation, user, opened)
        return submit_guess(participation, user, check.target, knowledge, opened)
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


def _ask(job: Job) -> Json:
    check = FileCheck.objects.select_related("contest", "team", "target").get(job=job)
    return {
        "folder": str(check.contest.folder),
        "given": str(check.folder),
        "team": check.team.slug,
        "target": check.target.slug if check.target is not None else None,
    }


def _end(job: Job, state: CheckState, **facts: object) -> None:
    # Editions and their checks take long to import, and no page needs them.
    from tokumei.platform.contests.folder_work import notes_of

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
