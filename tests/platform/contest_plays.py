"""Contests of the odd edition, played in this process, for the tests of pages."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.sites import SOURCE, add_editions, do_jobs, upload

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Participation, Phase, Submission
from tokumei.platform.contests.services import contests, joining, submitting
from tokumei.platform.contests.services.phase_work import begin_due_work, phase_jobs
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run_here
from tokumei.platform.teams.models import Team


@pytest.fixture(autouse=True)
def odd_edition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_editions(tmp_path, monkeypatch)


@pytest.fixture(name="people")
def everybody(
    alice: User, bob: User, mallory: User, make_user: MakeUser, organizer: User, admin: User
) -> dict[str, User | None]:
    """Everybody by what they are to a contest of `red-team` and `blue-team`."""
    return {
        "visitor": None,
        "captain": alice,
        "member": bob,
        "opponent": mallory,
        "outsider": make_user("carol"),
        "other organizer": make_user("oscar", is_organizer=True),
        "organizer": organizer,
        "admin": admin,
    }


def clients(people: dict[str, User | None], log_in: LogIn) -> dict[str, Client]:
    return {role: Client() if user is None else log_in(user) for role, user in people.items()}


def finish(job: Job | None) -> None:
    """Do a job by the same functions as a worker's child process."""
    assert job is not None
    assert run_here(job.pk)


def make_contest(organizer: User, *teams: tuple[Team, User], slug: str = "cup", **facts: Any) -> Contest:
    """Make an open contest of the odd edition with these teams in it."""
    now = timezone.now()
    given: dict[str, Any] = {
        "edition": "odd",
        "source": SimpleUploadedFile("D.csv", SOURCE),
        "opens_at": now - timedelta(hours=1),
        "attacks_open_at": now + timedelta(days=1),
        "closes_at": now + timedelta(days=2),
    } | facts
    contest = contests.create_contest(organizer, slug=slug, title="A <b>cup</b>", **given)
    finish(phase_jobs(contest).get(kind="prepare"))
    for team, captain in teams:
        token = None if contest.is_public else joining.invite(contest)[1]
        joining.join(contest, team, captain, token)
    contest.refresh_from_db()
    return contest


def participation(contest: Contest, team: Team) -> Participation:
    return contest.participations.select_related("team", "contest").get(team=team)


def release(contest: Contest, team: Team, user: User, rows: str = "11 20 30 40 50 60") -> Submission:
    made = submitting.submit_release(participation(contest, team), user, upload("R", rows))
    finish(made.job)
    made.refresh_from_db()
    return made


def guess(contest: Contest, team: Team, user: User, target: Team, rows: str = "0 1 2 3 4 5") -> Submission:
    made = submitting.submit_guess(participation(contest, team), user, target, "half", upload("G", rows))
    finish(made.job)
    made.refresh_from_db()
    return made


def move_to(contest: Contest, phase: Phase) -> Contest:
    """Let the contest be in a phase, with the work done that it begins with."""
    now = timezone.now()
    hours = {
        Phase.UPCOMING: (1, 2, 3),
        Phase.ANONYMIZE: (-1, 2, 3),
        Phase.ATTACK: (-2, -1, 3),
        Phase.CLOSED: (-3, -2, -1),
    }[phase]
    names = ("opens_at", "attacks_open_at", "closes_at")
    moments = {name: now + timedelta(hours=number) for name, number in zip(names, hours, strict=True)}
    Contest.objects.filter(pk=contest.pk).update(**moments)
    # A contest that closes at once is published first.
    for _ in range(2):
        begin_due_work()
        for job in phase_jobs(contest).filter(is_done=False):
            finish(job)
    do_jobs("contest")
    contest = Contest.objects.get(pk=contest.pk)
    assert contest.phase == phase
    return contest


@pytest.fixture(name="contest")
def open_contest(organizer: User, team: Team, alice: User, other_team: Team, mallory: User) -> Contest:
    """An open contest of both teams; red-team's release lost 0.01 / 6 of its use, an endless number."""
    made = make_contest(organizer, (team, alice), (other_team, mallory))
    release(made, team, alice)
    release(made, other_team, mallory, "60 60 60 60 60 60")
    return made


def status_of(client: Client, address: str) -> int:
    """Ask for a page or a file."""
    answer = client.get(address)
    read(answer)
    return answer.status_code


def read(answer: Any) -> bytes:
    """Return what was answered; a file is closed when all of it is read."""
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def text_of(answer: Any) -> str:
    """What a reader sees of a page."""
    return html.unescape(re.sub(r"<[^>]*>", " ", answer.content.decode()))
