"""Whole servers for tests: a real database, real files, real worker processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from tokumei.contest.edition import EDITIONS
from tokumei.contest.log import read_log
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Participation, Submission
from tokumei.platform.contests.services import contests, joining, submitting
from tokumei.platform.contests.services.phase_work import PHASE_WORK, phase_jobs
from tokumei.platform.jobs import process
from tokumei.platform.jobs.child import Refused, call, failure_of, faults_of
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer, answer_of
from tokumei.platform.jobs.queue import claim, next_jobs
from tokumei.platform.jobs.running import run, run_here
from tokumei.platform.start import database
from tokumei.platform.teams import services as teams

ROOT = Path(__file__).resolve().parents[2]
ODD = "tests.platform.odd_edition:Odd"
GROUP = "tokumei.contest.editions"
# What the data of every contest here is: n0,10 … n5,60.
SOURCE = "".join(f"n{row},{10 * row + 10}\n" for row in range(6)).encode()
QUICK = {"TOKUMEI_JOB_STALE_SECONDS": "5", "TOKUMEI_JOB_RETRY_SECONDS": "0.3", "TOKUMEI_JOB_NICENESS": "0"}
# What `tokumei worker` does, for some of the queues.
WORKER = """
import signal
from tokumei.platform.start import configure_supervisor
configure_supervisor()
from tokumei.platform.processes import Told, job_processes, keep
told = Told().by(signal.SIGTERM, signal.SIGINT)
keep(job_processes({processes}, {queues}), told)
"""
# Seconds.
BETWEEN_LOOKS = 0.05


@dataclass
class Site:
    """A server's database and files; this process is connected to them."""

    folder: Path
    environment: dict[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_worker(
        self, processes: int = 1, queues: Sequence[str] | None = (), **variables: str
    ) -> subprocess.Popen[bytes]:
        """Start a worker in a group of its own; it is killed at the end of the test.

        queues: beside evaluations, what it does; None is all, by the command. Each costs a process that starts Django.
        """
        program = ["-c", WORKER.format(processes=processes, queues=tuple(queues or ()))]
        command = ["-m", "tokumei", "worker", "--processes", str(processes)] if queues is None else program
        with (self.folder / "worker.log").open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, *command],
                env=self.environment | QUICK | variables,
                stdin=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self.workers.append(worker)
        return worker

    def log(self) -> str:
        """What the workers logged."""
        return (self.folder / "worker.log").read_text()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def both_databases(request: pytest.FixtureRequest) -> str:
    """Run a test on SQLite and on PostgreSQL."""
    return str(request.param)


@pytest.fixture
def site(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    django_db_blocker: Any,
) -> Iterator[Site]:
    """A fresh server: on SQLite, or on what `both_databases` says where a test asks for that."""
    kind = request.getfixturevalue("both_databases") if "both_databases" in request.fixturenames else "sqlite"
    folder = tmp_path_factory.mktemp("site")
    is_sqlite = kind == "sqlite"
    url = f"sqlite:///{folder / 'db.sqlite3'}" if is_sqlite else request.getfixturevalue("postgres_database")
    add_editions(folder, monkeypatch)
    monkeypatch.setenv("DATABASE_URL", url)
    settings.MEDIA_ROOT = folder / "files"
    settings.MEDIA_ROOT.mkdir()
    environment = dict(os.environ) | {"TOKUMEI_DATA": str(folder), "TOKUMEI_SECRET_KEY": "only-for-tests"}
    # Real processes have the real settings.
    del environment["DJANGO_SETTINGS_MODULE"]
    made = Site(folder, environment)
    with django_db_blocker.unblock(), migrated(url, tmp_path_factory) if is_sqlite else connected_to(url):
        try:
            yield made
        finally:
            for worker in made.workers:
                end_group(worker)


@pytest.fixture
def postgres_database(
    postgres_engine: str, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any
) -> Iterator[str]:
    """A fresh database of the server's tables on PostgreSQL."""
    import psycopg

    base, _, _ = postgres_engine.rpartition("/")
    marker = tmp_path_factory.getbasetemp() / "postgres-template"
    with psycopg.connect(postgres_engine, autocommit=True) as admin:
        if not marker.exists():
            admin.execute("CREATE DATABASE tokumei_template")
            with django_db_blocker.unblock(), connected_to(f"{base}/tokumei_template"):
                call_command("migrate", interactive=False, verbosity=0)
            marker.touch()
        name = f"tokumei_{time.time_ns()}"
        admin.execute(f"CREATE DATABASE {name} TEMPLATE tokumei_template")
        yield f"{base}/{name}"
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def migrated(url: str, factory: pytest.TempPathFactory) -> Iterator[None]:
    """Connect to a new file of SQLite with the server's tables, made once and copied, for all processes of tests."""
    file, base = Path(url.removeprefix("sqlite:///")), factory.getbasetemp()
    # Each process of several has a folder within one.
    template = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "template.sqlite3"
    # Asked once, since another process may make it meanwhile.
    is_made = template.exists()
    if is_made:
        shutil.copy(template, file)
    with connected_to(url):
        if not is_made:
            call_command("migrate", interactive=False, verbosity=0)
            connections["default"].close()
            draft = base / "draft.sqlite3"
            shutil.copy(file, draft)
            draft.replace(template)
        yield


@contextmanager
def connected_to(url: str) -> Iterator[None]:
    """Let this process, all of its threads, use another database for a while."""
    before, given = connections.settings["default"], os.environ.get("DATABASE_URL")
    os.environ["DATABASE_URL"] = url
    connection = connections["default"]
    connections.settings["default"] = connections.configure_settings({"default": database(Path())})["default"]
    del connections["default"]
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = before
        connections["default"] = connection
        if given is None:
            del os.environ["DATABASE_URL"]
        else:
            os.environ["DATABASE_URL"] = given


def add_editions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the tests' editions as a package would: for this process and for all that it starts."""
    info = folder / "packages" / "odd_editions-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-editions\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nodd = {ODD}\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(info.parent), str(ROOT), str(ROOT / "src")]))
    monkeypatch.setitem(EDITIONS._found, "odd", EntryPoint("odd", ODD, GROUP))


def make_contest(*team_names: str, slug: str = "cup", is_prepared: bool = True, **facts: Any) -> Contest:
    """Make a contest of the odd edition that is open, with these teams in it."""
    organizer = User.objects.filter(username="olga").first() or make_person("olga", is_organizer=True)
    now = timezone.now()
    given: dict[str, Any] = {
        "edition": "odd",
        "source": SimpleUploadedFile("D.csv", SOURCE),
        "opens_at": now - timedelta(hours=1),
        "attacks_open_at": now + timedelta(days=1),
        "closes_at": now + timedelta(days=2),
        "releases_a_day": 20,
    } | facts
    contest = contests.create_contest(organizer, slug=slug, title="A cup", **given)
    if is_prepared:
        _prepare(contest, is_usual=not facts.keys() & {"edition", "options", "source"})
        contest.refresh_from_db()
    for name in team_names:
        enter_team(contest, name)
    return contest


def _prepare(contest: Contest, *, is_usual: bool) -> None:
    """Have the folder made by the job; the usual one once in a run of tests, and copied from then on."""
    job = phase_jobs(contest).get().pk
    kept = Path(django_settings.MEDIA_ROOT).parents[1] / "prepared"
    if not is_usual or not kept.exists():
        run_at_once(job)
        if is_usual:
            shutil.copytree(contest.folder, kept)
        return
    shutil.copytree(kept, contest.folder)
    held = claim(job, "a copy")
    assert held is not None
    head = read_log(kept)[-1].hash
    held.finish(lambda row: PHASE_WORK["prepare"].write_result(row, {"head": head}))


def make_person(name: str, **facts: Any) -> User:
    """Make a user."""
    return User.objects.create_user(name, f"{name}@example.com", None, **facts)


def enter_team(contest: Contest, name: str) -> Participation:
    """Make a team of one, the captain `NAME-captain`, and enter it."""
    user = make_person(f"{name}-captain")
    team = teams.create_team(user, slug=name, display_name=name.title())
    return joining.join(contest, team, user)


def captain(name: str) -> User:
    """Return a team's captain."""
    return User.objects.get(username=f"{name}-captain")


def participation(contest: Contest, name: str) -> Participation:
    """Return a team's participation."""
    return contest.participations.select_related("team", "contest").get(team__slug=name)


def release(contest: Contest, name: str, rows: str = "11 20 30 40 50 60") -> Submission:
    """Hand in a release for a team: one number a row."""
    found = participation(contest, name)
    return submitting.submit_release(found, captain(name), upload("R", rows))


def guess(contest: Contest, name: str, target: str, rows: str = "0 1 2 3 4 5", knowledge: str = "all") -> Submission:
    """Hand in a team's guess at another team's release."""
    found, other = participation(contest, name), participation(contest, target).team
    return submitting.submit_guess(found, captain(name), other, knowledge, upload("G", rows))


def upload(role: str, rows: str) -> dict[str, Any]:
    """Return the upload of one file, a word a row."""
    return {role: SimpleUploadedFile(f"{role}.csv", "".join(f"{row}\n" for row in rows.split()).encode())}


def evaluated(submission: Submission) -> Submission:
    """Evaluate a submission in this process, and give it as it is then."""
    run_at_once(Job.objects.get(submission=submission).pk)
    submission.refresh_from_db()
    return submission


def evaluated_apart(submission: Submission) -> Submission:
    """Evaluate a submission in its limited process, where that is what is tested, and give it as it is then."""
    run(Job.objects.get(submission=submission).pk)
    submission.refresh_from_db()
    return submission


def run_at_once(job: int) -> bool:
    """Do a job as a worker does, but for its limited process: that takes as long to start as most tests take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "run", work_here)
        return run(job)


def work_here(function: str, asked: Mapping[str, Any], **_: Any) -> ChildAnswer:
    """Do the work of a job in this process, on what can be written as JSON, and answer as its own process would."""
    before = os.umask(0o077)
    try:
        told = {"result": call(function, json.loads(json.dumps(asked)))}
    except Refused as refused:
        told = faults_of(refused.error)
    except Exception as error:  # noqa: BLE001 - its kind is told.
        told = {"failure": failure_of(error)}
    finally:
        os.umask(before)
    return answer_of(json.loads(json.dumps(told, ensure_ascii=False, allow_nan=False)))


def do_jobs(queue: str) -> None:
    """Do all that waits in a queue, in this process."""
    while jobs := next_jobs([queue]):
        for job in jobs:
            run_here(job)


def wait_until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Wait until something is so; what it gives then.

    Looks are counted, not seconds: on a machine that has much else to do they take longer, as does what is waited for.
    """
    for _ in range(int(seconds / BETWEEN_LOOKS)):
        found = condition()
        if found:
            return found
        time.sleep(BETWEEN_LOOKS)
    raise AssertionError("it did not happen in time")


def wait_final(submission: Submission, seconds: float = 120) -> Submission:
    """Wait until nothing more happens to a submission."""

    def is_final() -> bool:
        submission.refresh_from_db()
        return submission.is_final

    wait_until(is_final, seconds)
    return submission


def pid_of_worker(submission: Submission) -> int:
    """Return the process that evaluates a submission."""
    return int(Job.objects.get(submission=submission).worker.rpartition(":")[2])


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in listed]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started, at once as when a machine stops."""
    found = [process.pid] if process.poll() is None else []
    for pid in found:
        with suppress(OSError):
            found += children_of(pid)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def facts(submission: Submission) -> Mapping[str, Any]:
    """What a submission's result consists of, but for when."""
    return {"state": submission.state, "score": submission.score, "reason": submission.reason}
