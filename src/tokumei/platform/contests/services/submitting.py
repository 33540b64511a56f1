"""Handing in releases and guesses, and how many attempts a team has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import OperationalError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.core.text import Text
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import (
    Contest,
    Kind,
    Participation,
    Phase,
    State,
    Submission,
    new_submission_key,
)
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.services.phase_work import counting_key, counting_releases
from tokumei.platform.errors import DiskFull
from tokumei.platform.files.uploads import size_limit, taking, telling_full_disk
from tokumei.platform.jobs.queue import begin
from tokumei.platform.teams.models import Team

Uploads = Mapping[str, "UploadedFile[Any]"]


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
