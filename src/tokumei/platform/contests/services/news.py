"""What is told of a contest: results, notices, and the log of its organizers.

A notice says no more than the pages show to who gets it, and none holds a score. Who attacks is told by name or number
only where the scoreboard shows it to everybody by then: otherwise attacks are told of together, when the results are
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as translated
from django.utils.translation import gettext_noop as _

from tokumei.core.text import Json
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import (
    Announcement,
    Contest,
    FileCheck,
    Kind,
    OrganizerAction,
    Question,
    State,
    Submission,
)
from tokumei.platform.contests.services import phase_work
from tokumei.platform.contests.services.visibility import is_organizer, seen_by, visible_contests
from tokumei.platform.files.shared import sweep_shared
from tokumei.platform.files.uploads import sweep_orphans
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import TIMEOUT, ChildAnswer
from tokumei.platform.jobs.queue import CONTEST, FULL, Work, begin, is_at_its_limit
from tokumei.platform.notices.models import NoticeKind
from tokumei.platform.notices.services import Event, has_unread, notify
from tokumei.platform.teams.models import Team


def record(contest: Contest, by: User | None, what: str, **details: object) -> OrganizerAction:
    """Note what somebody did; called in the transaction that does it."""
    return OrganizerAction.objects.create(contest=contest, by=by, what=what, details=_plain(details))


def record_changes(
    contest: Contest, by: User | None, what: str, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    """Note what was changed, as it was and as it is; nothing where all stayed as it was."""
    changed = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    if changed:
        record(contest, by, what, **changed)


def _plain(value: object) -> object:
    """Write moments as text, so that the row holds plain values alone."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


DAY = timedelta(days=1)


def players_of(contest: Contest) -> list[User]:
    """List everybody in a team that takes part."""
    taking_part = contest.participations.filter(withdrawn_at=None).values_list("team", flat=True)
    return list(User.objects.filter(teams__in=taking_part).distinct())


def organizers_of(contest: Contest) -> list[User]:
    """List who runs a contest."""
    return [contest.organizer, *contest.co_organizers.all()]


def tell_announcement(made: Announcement) -> None:
    """Notify the players of an announcement."""
    notify(
        players_of(made.contest),
        NoticeKind.ANNOUNCEMENT,
        _("An announcement in %(contest)s: %(title)s"),
        link=_page(made.contest),
        text=made.text,
        text_ja=made.text_ja,
        contest=made.contest.title,
        title=made.title,
    )


def tell_message(contest: Contest, teams: list[Team], text: str) -> None:
    """Send a message of the organizers to some teams."""
    people = list(User.objects.filter(teams__in=teams).distinct())
    says = _("A message from the organizers of %(contest)s")
    notify(people, NoticeKind.ANNOUNCEMENT, says, link=_page(contest), text=text, contest=contest.title)


def tell_result(submission: Submission) -> None:
    """Notify a team of a score, refusal or failure; organizers hear of failures, too."""
    contest, members = submission.contest, list(submission.team.members.all())
    link = reverse("contests:submission", args=[submission.key])
    facts = {"contest": contest.title}
    if submission.state == State.SCORED:
        is_release = submission.kind == Kind.RELEASE
        says = _("Your release in %(contest)s is scored") if is_release else _("Your guess in %(contest)s is judged")
        notify(members, NoticeKind.SCORE, says, link=link, **facts)
        if not is_release:
            _tell_attacked(submission)
    elif submission.state == State.REFUSED:
        notify(members, NoticeKind.FAILURE, _("Your submission in %(contest)s was refused"), link=link, **facts)
    elif submission.state == State.FAILED:
        says = _("An evaluation in %(contest)s failed; no attempt was counted")
        notify([*members, *organizers_of(contest)], NoticeKind.FAILURE, says, link=link, **facts)


def _tell_attacked(guess: Submission) -> None:
    """Notify a team of an attack at once, where attackers are public; once until somebody looks."""
    contest, seen = guess.contest, seen_by(guess.contest, None)
    if guess.target is None or seen.is_hidden or seen.until is not None or not (seen.has_bands or seen.has_attacks):
        return
    link = reverse("contests:scoreboard", args=[contest.slug])
    fresh = [one for one in guess.target.members.all() if not has_unread(one, NoticeKind.ATTACK, link)]
    notify(fresh, NoticeKind.ATTACK, _("Your release in %(contest)s was attacked"), link=link, contest=contest.title)


def _tell_all_attacks(contest: Contest) -> None:
    """Notify each team, when results are shown, how often it was attacked and by how many."""
    scored = contest.submissions.filter(kind=Kind.GUESS, state=State.SCORED)
    counted = scored.order_by().values_list("target").annotate(Count("pk"), Count("team", distinct=True))
    for target, n, n_teams in counted:
        notify(
            User.objects.filter(teams=target),
            NoticeKind.ATTACK,
            _("Attacks on your release in %(contest)s: %(n)d, by so many teams: %(teams)d"),
            link=reverse("contests:scoreboard", args=[contest.slug]),
            contest=contest.title,
            n=n,
            teams=n_teams,
        )


def tell_question(question: Question) -> None:
    """Notify the organizers of a question."""
    contest = question.contest
    link = reverse("contests:questions", args=[contest.slug])
    says = _("A question about %(contest)s")
    notify(organizers_of(contest), NoticeKind.REQUEST, says, link=link, text=question.text, contest=contest.title)


def tell_answer(question: Question) -> None:
    """Notify the asker of an answer."""
    link = reverse("contests:questions", args=[question.contest.slug])
    says = _("Your question about %(contest)s is answered")
    notify([question.by], NoticeKind.ANSWER, says, link=link, text=question.answer, contest=question.contest.title)


def tell_phases() -> None:
    """Notify teams of phases that began, ended or soon will; called every few seconds, each is sent once."""
    now = timezone.now()
    for contest in Contest.objects.exclude(prepared_at=None).filter(closes_at__gte=now - 30 * DAY):
        fresh = [(name, says) for name, says in _due(contest, now) if name not in contest.told]
        if fresh:
            _tell_phases(contest, fresh)


def _tell_phases(contest: Contest, fresh: list[tuple[str, str]]) -> None:
    with transaction.atomic():
        locked = Contest.objects.select_for_update().get(pk=contest.pk)
        still = [(name, says) for name, says in fresh if name not in locked.told]
        Contest.objects.filter(pk=contest.pk).update(told=[*locked.told, *(name for name, _says in still)])
        for name, says in still:
            if not says:
                continue
            people = players_of(locked) + (organizers_of(locked) if name != "soon" else [])
            notify(people, NoticeKind.PHASE, says, link=_page(locked), contest=locked.title)
            if name == "results":
                _tell_all_attacks(locked)


def _due(contest: Contest, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the due events by name, with their sentences; events long past are noted without one."""
    passed = {
        "opened": (contest.opens_at, _("%(contest)s is open: releases can be handed in")),
        "attacks": (contest.published_at, _("The releases of %(contest)s are published: attacks have begun")),
        "closed": (contest.closed_at if contest.is_held else None, _("%(contest)s is over; the results follow")),
        "results": (contest.closed_at if contest.shows_results else None, _("The results of %(contest)s are there")),
        "releases-soon": (
            contest.attacks_open_at - DAY,
            _("Releases in %(contest)s can be handed in for one more day"),
        ),
        "guesses-soon": (contest.closes_at - DAY, _("%(contest)s closes within a day: hand your guesses in")),
    }
    for name, (moment, says) in passed.items():
        if moment is None or moment > now:
            continue
        is_reminder = name.endswith("-soon")
        # A contest that is shorter than a day needs no reminder of its end, and one that ended neither.
        ends = contest.attacks_open_at if name == "releases-soon" else contest.closes_at
        begins = contest.opens_at if name == "releases-soon" else contest.attacks_open_at
        is_void = is_reminder and (ends <= now or ends - begins <= 2 * DAY)
        is_old = now - moment > DAY and name != "results"
        yield name, "" if is_void or is_old else says


def deadlines_of(user: User) -> Iterator[Event]:
    """Yield the deadlines of a user's contests for their calendar."""
    for contest in visible_contests(user).filter(closes_at__gte=timezone.now() - 30 * DAY):
        plays = contest.participations.filter(team__members=user, withdrawn_at=None).exists()
        if not plays and (user.is_superuser or not is_organizer(contest, user)):
            continue
        moments = (
            ("opens", contest.opens_at, translated("%(contest)s opens")),
            ("attacks", contest.attacks_open_at, translated("%(contest)s: releases are due, attacks begin")),
            ("closes", contest.closes_at, translated("%(contest)s closes: guesses are due")),
        )
        for name, at, says in moments:
            yield Event(f"{contest.slug}-{name}", says % {"contest": contest.title}, at, _page(contest))


def _page(contest: Contest) -> str:
    return reverse("contests:contest", args=[contest.slug])


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


def _ask(job: Job) -> Json:
    submission = Submission.objects.select_related("contest", "team", "target").get(job=job)
    return {
        "folder": str(submission.contest.folder),
        "given": str(submission.folder),
        "team": submission.team.slug,
        "target": submission.target.slug if submission.target is not None else None,
    }


def _write_score(job: Job, result: Json) -> None:
    _end(job, State.SCORED, **result)


def _write_faults(job: Job, answer: ChildAnswer) -> None:
    _end(job, State.REFUSED, phase_work.REFUSED, faults=list(answer.faults), n_faults=answer.n_faults)


def _write_failure(job: Job, failure: str) -> None:
    if is_at_its_limit(failure):
        # The file did this, not the server: without an attempt counted, a team could keep it busy for ever.
        _end(job, State.REFUSED, phase_work.TIMED_OUT if failure == TIMEOUT else phase_work.TOO_LARGE)
        return
    _end(job, State.FAILED, phase_work.FULL_DISK if failure in FULL else phase_work.DIED)


def _end(job: Job, state: State, reason: str = "", **facts: object) -> None:
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
