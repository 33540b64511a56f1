"""What somebody may see of submissions and files, the data page at a glance, and what is packed for downloading.

Jobs pack a contest's kit and the folder of a closed contest: the kit's sample round anonymizes the data and attacks
them, which takes a while, and no page waits for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.contest.edition import FileRole, files_in
from tokumei.contest.folder import Contest as ContestFolder
from tokumei.contest.folder import open_contest
from tokumei.core.errors import NotAllowed, NotFound
from tokumei.core.text import Json
from tokumei.data.files.disk import read_bytes
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Participation, Phase, State, Submission
from tokumei.platform.contests.services import phase_work
from tokumei.platform.contests.services.rulebook import counting_releases, terms_of
from tokumei.platform.contests.services.scoreboard import rounded
from tokumei.platform.contests.services.visibility import in_band, is_organizer
from tokumei.platform.files.shared import local, share
from tokumei.platform.jobs.models import Job, Outcome
from tokumei.platform.jobs.process import SECONDS, WHOLE_CONTEST_FACTOR
from tokumei.platform.jobs.queue import CONTEST, WORKBENCH, Work, begin, begin_again
from tokumei.platform.messages import NotReady

# What sums up the score of a release or a guess.
SUMS = {"utility", "safety", "success"}


@dataclass(frozen=True)
class Shown:
    """A submission as somebody may see it.

    `score` is the whole of it for the organizer and after the end. Before that a team sees its release's score
    rounded, and of a guess how right it was, if the contest shows that at all. `is_score_hidden` tells that there is
    one which is not shown yet. `progress` has step, done and total while it is being evaluated.
    """

    submission: Submission
    score: Json | None
    is_score_hidden: bool
    progress: Json


@dataclass(frozen=True)
class Download:
    """A file that somebody may have: `kind` is data, own, knowledge or release; `team` and `level` say whose and which.

    A file of a team's own is drawn to be looked at and stays as long as `folder`, the contest that drew it.
    """

    kind: str
    role: FileRole
    path: Path
    team: str = ""
    level: str = ""
    folder: ContestFolder | None = None


def find_submission(user: User, key: str) -> Submission:
    """Find a submission of one of the user's teams, or of a contest they organize; any other is not there."""
    found = Submission.objects.filter(key=key).select_related("contest", "team", "target", "job", "by").first()
    if found is None or not (is_organizer(found.contest, user) or found.team.memberships.filter(user=user).exists()):
        raise NotFound(_("There is no such submission."))
    return found


def submissions_of(participation: Participation, kind: str | None = None) -> QuerySet[Submission]:
    """Return a team's submissions in a contest, newest first."""
    found = participation.contest.submissions.filter(team=participation.team_id)
    if kind is not None:
        found = found.filter(kind=kind)
    return found.select_related("team", "target", "job", "by")


def show(submission: Submission, viewer: User, *, in_a_list: bool = False) -> Shown:
    """Prepare a submission for a viewer who may see it.

    in_a_list: of its score what sums it up alone.
    """
    job = submission.job
    progress = dict(job.progress) if job is not None and not submission.is_final else {}
    score = submission.score
    if score is not None:
        told = {name: score[name] for name in SUMS & score.keys()} if in_a_list else score
        score = _shown_score(submission, told, viewer)
    return Shown(submission, score, submission.state == State.SCORED and score is None, progress)


def _shown_score(submission: Submission, score: Json, viewer: User) -> dict[str, object] | None:
    contest = submission.contest
    if contest.shows_results or is_organizer(contest, viewer):
        return score
    if submission.kind == Kind.RELEASE:
        return dict(rounded(score, contest.digits_shown))
    if not contest.shows_guess_scores:
        return None
    # A band alone: details count right guesses exactly, and a proof tells of single lines.
    return {"success": in_band(score["success"]), "details": {}, "is_proof": False}


def downloads(contest: Contest, viewer: User | None) -> list[Download]:
    """List the files that whoever may see the contest may have now: the data, and later what attackers get."""
    if not contest.folder.is_dir() or contest.prepared_at is None:
        return []
    is_open = contest.phase_at() != Phase.UPCOMING or is_organizer(contest, viewer)
    terms, public = terms_of(contest), contest.folder / "public"
    found = (
        [Download("data", role, path) for role, path in _files(public / "data", terms.data_files)] if is_open else []
    )
    if is_open and terms.own_files and viewer is not None:
        found += _own_downloads(contest, viewer, terms.own_files)
    if contest.published_at is None:
        return found
    for level, roles in terms.knowledge_files.items():
        found += [Download("knowledge", role, path, level=level) for role, path in _files(public / "knowledge", roles)]
    for release in sorted(counting_releases(contest).values(), key=lambda one: one.team.slug):
        team = release.team.slug
        files = _files(public / "releases" / team, terms.published_files)
        found += [Download("release", role, path, team=team) for role, path in files]
    return found


def _own_downloads(contest: Contest, viewer: User, roles: Sequence[FileRole]) -> list[Download]:
    """Draw the files that the viewer's team has alone."""
    taking_part = contest.participations.filter(team__memberships__user=viewer, withdrawn_at=None)
    team = taking_part.values_list("team__slug", flat=True).first()
    if team is None:
        return []
    folder = open_contest(contest.folder)
    found = folder.own_files(folder.season(), team)
    return [Download("own", role, found[role.name], folder=folder) for role in roles]


def find_download(contest: Contest, viewer: User | None, kind: str, name: str, team: str = "") -> Download:
    """Find one file that somebody may have; any other is not there."""
    for one in downloads(contest, viewer):
        if (one.kind, one.path.name, one.team) == (kind, name, team):
            return one
    raise NotFound(_("There is no such file."))


def submitted_file(submission: Submission, name: str) -> Path:
    """Find a file of a submission by its name on the disk."""
    names = {file["name"] for file in submission.files.values()}
    path = submission.folder / name
    if name not in names or not path.is_file():
        raise NotFound(_("There is no such file."))
    return path


def _files(folder: Path, roles: Any) -> list[tuple[FileRole, Path]]:
    found = files_in(folder, roles)
    return [(role, found[role.name]) for role in roles]


N_FIRST = 5
LONGEST_LINE = 200
# Larger files are not read for a page: their size alone is told.
LARGEST_READ = 64 * 1024 * 1024
# Seconds; the files of a contest do not change.
KEPT_FOR = 24 * 3600


@dataclass(frozen=True)
class Glance:
    """A file at a glance; lines and columns are missing where it is too large to be read for a page."""

    n_bytes: int
    n_lines: int | None
    n_columns: int | None
    first: tuple[str, ...]


def glance_at(path: Path) -> Glance:
    """Look at a file, once for all who see it."""
    status = path.stat()
    key = f"glance-{hash((str(path), status.st_size, status.st_mtime_ns))}"
    found: Glance | None = cache.get(key)
    if found is None:
        found = _look(path, status.st_size)
        cache.set(key, found, KEPT_FOR)
    return found


def _look(path: Path, n_bytes: int) -> Glance:
    if n_bytes > LARGEST_READ:
        return Glance(n_bytes, None, None, ())
    data = read_bytes(path)
    n_lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    lines = [line.decode("utf-8", "replace").rstrip("\r") for line in data.split(b"\n", N_FIRST)[:N_FIRST] if line]
    n_columns = lines[0].count(",") + 1 if lines else 0
    shown = (line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines)
    return Glance(n_bytes, n_lines, n_columns, tuple(shown))


def first_steps(contest: Contest) -> dict[str, object]:
    """Return the commands to start with, until something is handed in; they are run where the kit lies."""
    kit = contest.slug
    commands = [f"unzip {kit}-kit.zip -d {kit}", f"tokumei contest make-release {kit} --out my-release"]
    if contest.published_at is None:
        commands += [f"tokumei contest check {kit} my-release", f"tokumei contest score {kit} my-release"]
        target = f"{kit}/sample/published"
    else:
        del commands[1:]
        target = f"{kit}/releases/{min(one.team.slug for one in counting_releases(contest).values())}"
    level = next(iter(terms_of(contest).knowledge_files))
    chosen = f" --level {level}" if level else ""
    commands += [
        f"tokumei contest make-guess {kit} {target}{chosen} --out my-guess",
        f"tokumei contest check {kit} my-guess --published {target}",
    ]
    return {"commands": [] if contest.closed_at is not None else commands}


KIT = "kit"
TRIED_AGAIN_AFTER = timedelta(minutes=10)


def kit_file(contest: Contest, viewer: User | None) -> Path:
    """Return the current kit; only those who may have the data get it."""
    if not downloads(contest, viewer):
        raise NotFound(_("There is no such file."))
    if not has_kit(contest):
        raise NotReady(_("The kit is being packed. Try again in a moment."))
    return _packed_kit(contest)


def has_kit(contest: Contest) -> bool:
    """Whether the kit is packed; where it is lost, as after a backup was put back, it is made again."""
    if contest.prepared_at is None or _packed_kit(contest).is_file():
        return contest.prepared_at is not None
    job = begin(KIT, contest.pk)
    # One that is done packed less, or what it packed is lost; one that failed would fail again at every look.
    if job.outcome != Outcome.FAILED or (job.finished_at or timezone.now()) < timezone.now() - TRIED_AGAIN_AFTER:
        begin_again(job)
    return False


def _packed_kit(contest: Contest) -> Path:
    folder = local(Path(settings.MEDIA_ROOT) / "kits" / contest.folder_key)
    # With the first publication come the releases and what attackers know.
    return folder / ("data.zip" if contest.published_at is None else "attack.zip")


def _ask_kit(job: Job) -> dict[str, object]:
    contest = Contest.objects.get(pk=int(job.subject))
    return {"folder": str(contest.folder), "out": str(_packed_kit(contest))}


def _write_kit(job: Job, _result: dict[str, object]) -> None:
    """Leave it at the file, which is there by now, for every machine."""
    share(_packed_kit(Contest.objects.get(pk=int(job.subject))).parent)


# Of a kit that failed nothing is noted: who asks again has it tried again.
KIT_WORK = Work(
    "tokumei.platform.contests.folder_work:kit",
    # Those who wait for a score do not wait for a kit.
    WORKBENCH,
    ask=_ask_kit,
    write_result=_write_kit,
)


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


def _ask(job: Job) -> Json:
    contest = Contest.objects.get(pk=int(job.subject))
    return {"folder": str(contest.folder), "slug": contest.slug, "out": str(_packed(contest))}


def _write_packed(job: Job, _result: dict[str, object]) -> None:
    """Leave it at the file, which is there by now, for every machine."""
    share(_packed(Contest.objects.get(pk=int(job.subject))).parent)


def _write_failure(job: Job, failure: str) -> None:
    Contest.objects.filter(pk=int(job.subject)).update(trouble=phase_work.NOT_PACKED, trouble_details=failure)


# A folder of our own has no faults.
EXPORT_WORK = Work(
    "tokumei.platform.contests.folder_work:export",
    CONTEST,
    ask=_ask,
    write_result=_write_packed,
    write_failure=_write_failure,
    seconds=SECONDS * WHOLE_CONTEST_FACTOR,
)
