"""Playing a contest of the demo by the same services as people use; what is played already is left as it is.

Jobs are done here, by the same functions as in a worker's process, which saves starting twenty of them. Where a worker
has one in hand already, its result is waited for.
"""

from __future__ import annotations

import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from tokumei.contest.edition import Files, files_in
from tokumei.core.errors import InputError
from tokumei.core.progress import Bar, step
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Participation, Phase, Submission
from tokumei.platform.contests.services import contests, joining, submitting
from tokumei.platform.contests.services.phase_work import CLOSE, PREPARE, PUBLISH, begin_due_work, phase_jobs
from tokumei.platform.contests.services.rulebook import edition_of
from tokumei.platform.demo.script import ORGANIZER, SIDES, Script, ScriptedGuess, ScriptedRelease
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import STALE_SECONDS, Interrupted
from tokumei.platform.jobs.running import run_here, stopping
from tokumei.platform.teams.models import Team

# Longer than a worker that died keeps an evaluation.
PATIENCE_SECONDS = 4 * STALE_SECONDS
# While its releases are handed in, a contest is open whatever the script says.
STAYS_OPEN = timedelta(hours=6)


def play(script: Script, slug: str) -> Contest:
    """Play a contest up to the phase of its script, from wherever it stands."""
    n_steps = 2 + len(script.releases) + len(script.guesses)
    with step(f"demo: {slug}", n_steps) as bar:
        contest = make(script, slug)
        bar.advance()
        if contest.published_at is None:
            _play_releases(script, contest, bar)
        if script.phase != Phase.ANONYMIZE:
            _change_phase(contest, PUBLISH, attacks_open_at=timezone.now() + script.attacks_open)
            if contest.closed_at is None:
                _play_guesses(script, contest, bar)
        if script.phase == Phase.CLOSED:
            _change_phase(contest, CLOSE, closes_at=timezone.now() + script.closes)
        _date_changes(contest)
    return contest


def make(script: Script, slug: str) -> Contest:
    """Make the contest with its data and its teams, unless it is there."""
    now = timezone.now()
    contest = Contest.objects.filter(slug=slug).first()
    if contest is None:
        contest = contests.create_contest(
            User.objects.get(username=ORGANIZER),
            slug=slug,
            title=script.title,
            edition=script.edition,
            options=script.options,
            opens_at=now + script.opens,
            attacks_open_at=now + max(script.attacks_open, STAYS_OPEN),
            closes_at=now + max(script.closes, 2 * STAYS_OPEN),
            shows_guess_scores=True,
        )
    _finish(phase_jobs(contest).get(kind=PREPARE))
    contest.refresh_from_db()
    for side in SIDES:
        team = Team.objects.get(slug=side.slug)
        if not contest.participations.filter(team=team).exists() and side.slug in _sides_of(script):
            joining.join(contest, team, User.objects.get(username=side.members[0].name))
    for title, text in script.announcements.items():
        if not contest.announcements.filter(title=title).exists():
            contests.announce(contest, title=title, text=text)
    return contest


def _sides_of(script: Script) -> set[str]:
    return {release.team for release in script.releases} | {guess.team for guess in script.guesses}


def _play_releases(script: Script, contest: Contest, bar: Bar) -> None:
    for number, move in enumerate(script.releases):
        earlier = sum(other.team == move.team for other in script.releases[:number])
        found = _participation(contest, move.team)
        handed_in = list(contest.submissions.filter(team=found.team, kind=Kind.RELEASE).order_by("at", "pk"))
        made = handed_in[earlier] if len(handed_in) > earlier else _release(found, move, number)
        _finish(made.job)
        bar.advance()
    ends_at = min(timezone.now(), timezone.now() + script.attacks_open)
    _spread(contest, Kind.RELEASE, contest.opens_at, ends_at)


def _release(found: Participation, move: ScriptedRelease, seed: int) -> Submission:
    contest = found.contest
    edition = edition_of(contest)
    with tempfile.TemporaryDirectory() as folder:
        edition.anonymize(move.anonymizer, _data(contest), Path(folder), seed=seed)
        made = files_in(Path(folder), edition.terms.release_files)
        uploads = {name: _upload(path, is_spoilt=move.is_spoilt) for name, path in made.items()}
    return submitting.submit_release(found, _captain(move.team), uploads)


def _play_guesses(script: Script, contest: Contest, bar: Bar) -> None:
    for number, move in enumerate(script.guesses):
        found = _participation(contest, move.team)
        known = contest.submissions.filter(
            kind=Kind.GUESS, team=found.team, target__slug=move.target, knowledge=move.knowledge
        )
        made = known.order_by("at", "pk").first() or _guess(found, move, number)
        _finish(made.job)
        bar.advance()
    ends_at = min(timezone.now(), timezone.now() + script.closes)
    _spread(contest, Kind.GUESS, contest.attacks_open_at, ends_at)


def _guess(found: Participation, move: ScriptedGuess, seed: int) -> Submission:
    contest = found.contest
    edition = edition_of(contest)
    public = contest.folder / "public"
    knowledge = files_in(public / "knowledge", edition.terms.knowledge_files[move.knowledge])
    published = files_in(public / "releases" / move.target, edition.terms.published_files)
    with tempfile.TemporaryDirectory() as folder:
        edition.attack(move.attack, _data(contest), knowledge, published, Path(folder), seed=seed)
        made = files_in(Path(folder), edition.terms.guess_files)
        uploads = {name: _upload(path) for name, path in made.items()}
    target = Team.objects.get(slug=move.target)
    return submitting.submit_guess(found, _captain(move.team), target, move.knowledge, uploads)


def _change_phase(contest: Contest, change: str, **schedule: datetime) -> None:
    """Move a phase's time into the past, and do the work that it begins with."""
    if (contest.published_at if change == PUBLISH else contest.closed_at) is None:
        Contest.objects.filter(pk=contest.pk).update(**schedule)
        begin_due_work()
        _finish(phase_jobs(contest).get(kind=change))
    contest.refresh_from_db()


def _finish(job: Job | None) -> None:
    """Do a job, or wait for who does it."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while job is not None and not job.is_done:
        if stopping.is_set():
            # The process ends; the next start goes on from here.
            raise Interrupted
        if not run_here(job.pk):
            if time.monotonic() > give_up:
                raise InputError.of("a job that ends; see the log", option="--demo", value=job.kind)
            time.sleep(0.2)
        job.refresh_from_db()


def _spread(contest: Contest, kind: Kind, starts_at: datetime, ends_at: datetime) -> None:
    """Spread submissions handed in within a minute over the days of their phase, in their order."""
    made = list(contest.submissions.filter(kind=kind).order_by("at", "pk"))
    for number, one in enumerate(made, 1):
        at = starts_at + (ends_at - starts_at) * number / (len(made) + 1)
        finished_at = at + timedelta(seconds=2)
        Submission.objects.filter(pk=one.pk).update(at=at, finished_at=finished_at)


def _date_changes(contest: Contest) -> None:
    """Date the work between two phases to when its time had come."""
    a_minute = timedelta(minutes=1)
    moments = {
        "prepared_at": contest.opens_at - a_minute,
        "published_at": contest.attacks_open_at + a_minute,
        "closed_at": contest.closes_at + a_minute,
    }
    known = {name: moment for name, moment in moments.items() if getattr(contest, name) is not None}
    Contest.objects.filter(pk=contest.pk).update(**known)
    contest.announcements.update(at=contest.attacks_open_at if contest.published_at else contest.opens_at)
    contest.refresh_from_db()


def _upload(path: Path, *, is_spoilt: bool = False) -> SimpleUploadedFile:
    content = path.read_bytes()
    if is_spoilt:
        lines = content.splitlines(keepends=True)
        # Two slips of the kind that people make.
        for number in (2, 4):
            cells = lines[number].split(b",", 2)
            cells[1 if len(cells) > 2 else 0] = b"???"
            lines[number] = b",".join(cells).rstrip(b"\r\n") + b"\n"
        content = b"".join(lines)
    return SimpleUploadedFile(path.name, content)


def _participation(contest: Contest, team: str) -> Participation:
    return contest.participations.select_related("team", "contest").get(team__slug=team)


def _captain(team: str) -> User:
    name = next(side.members[0].name for side in SIDES if side.slug == team)
    return User.objects.get(username=name)


def _data(contest: Contest) -> Files:
    return files_in(contest.folder / "public" / "data", edition_of(contest).terms.data_files)
