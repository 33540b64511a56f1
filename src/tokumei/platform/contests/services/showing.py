"""What somebody may see of submissions and files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from tokumei.contest.edition import FileRole, files_in
from tokumei.core.errors import NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Kind, Participation, Phase, State, Submission
from tokumei.platform.contests.services.bands import in_band
from tokumei.platform.contests.services.contests import is_organizer
from tokumei.platform.contests.services.editions import terms_of
from tokumei.platform.contests.services.phase_work import counting_releases
from tokumei.platform.contests.services.scoreboard import rounded

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
    score: dict[str, Any] | None
    is_score_hidden: bool
    progress: dict[str, Any]


@dataclass(frozen=True)
class Download:
    """A file that somebody may have: `kind` is data, knowledge or release; `team` and `level` tell whose and which."""

    kind: str
    role: FileRole
    path: Path
    team: str = ""
    level: str = ""


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


def _shown_score(submission: Submission, score: dict[str, Any], viewer: User) -> dict[str, Any] | None:
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
    if contest.published_at is None:
        return found
    for level, roles in terms.knowledge_files.items():
        found += [Download("knowledge", role, path, level=level) for role, path in _files(public / "knowledge", roles)]
    for release in sorted(counting_releases(contest).values(), key=lambda one: one.team.slug):
        team = release.team.slug
        files = _files(public / "releases" / team, terms.published_files)
        found += [Download("release", role, path, team=team) for role, path in files]
    return found


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
