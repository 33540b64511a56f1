"""How many files one must read to follow a job: those of which a function runs, without what runs while importing.

Each walk runs in a process of its own; the work of the platform's jobs is done there, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from benchmarks.measure import Figure, run_command

if TYPE_CHECKING:
    from tokumei.platform.jobs.process import ChildAnswer

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "src" / "tokumei") + os.sep
IMPORTING = "<frozen importlib._bootstrap>"
BACKEND = "tokumei.platform.accounts.authentication.NameOrEmail"
PAGES = ("", "hierarchies", "risk", "protect", "see", "take-home")
# Files that a job may pass, by its walk.
GOALS = {"table": 30, "history": 22, "submission": 45, "studio": 90}
PEOPLE = "name,sex,age,town,illness\n" + "".join(
    f"p{n},{'fm'[n % 2]},{20 + n % 50},{('Nara', 'Kobe')[n // 50]},{('flu', 'cold', 'asthma')[n % 3]}\n"
    for n in range(100)
)


def run() -> list[Figure]:
    figures = []
    for name, goal in GOALS.items():
        command = [sys.executable, "-m", "benchmarks.walks", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        found = json.loads(done.stdout.splitlines()[-1])
        figures.append(Figure(f"files passed: {name}", len(found), "files", goal, ", ".join(_by_room(found))))
    with tempfile.TemporaryDirectory() as folder:
        work = f"{_people(Path(folder))!r}"
        table = f"import tokumei as tk; tk.anonymize(tk.Table({work}, ['sex', 'age', 'town']), k=2)"
        for name, code in (("import tokumei", "import tokumei"), ("import, then a small table", table)):
            seconds = min(run_command([sys.executable, "-c", code]) for _ in range(5))
            figures.append(Figure(name, seconds, "s"))
    return figures


def _by_room(files: list[str]) -> list[str]:
    rooms = [file.partition("/")[0] for file in files]
    return [f"{room} {rooms.count(room)}" for room in sorted(set(rooms))]


@contextmanager
def traced() -> Iterator[set[str]]:
    """Collect the files of which a function runs, but for what runs while a module is imported."""
    files: set[str] = set()
    known: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or code in known or not code.co_filename.startswith(PACKAGE):
            return
        above: FrameType | None = frame
        while above is not None:
            if above.f_code.co_filename == IMPORTING:
                return
            above = above.f_back
        known.add(code)
        files.add(code.co_filename.removeprefix(PACKAGE))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _people(folder: Path) -> str:
    path = folder / "people.csv"
    path.write_text(PEOPLE)
    return str(path)


def _command(*words: str) -> None:
    from tokumei.cli.main import main

    with suppress(SystemExit):
        main(words)


def walk_table(folder: Path) -> set[str]:
    """`tokumei anonymize table`."""
    with traced() as files:
        _command(
            "anonymize", "table", _people(folder), "--qi", "sex,age,town", "--k", "2", "--out", f"{folder}/out.csv"
        )
    assert (folder / "out.csv").exists()
    return files


def walk_history(folder: Path) -> set[str]:
    """`tokumei attack history --truth`, on a release that another command made."""
    from tokumei.data.made_retail import make_retail

    history, release, truth, known = (f"{folder}/{name}.csv" for name in ("T", "S", "F", "K"))
    make_retail(40, seed=1).write_csv(history)
    made = ("--method", "pseudonyms", "--set", "lifetime=1", "--seed", "1", "--out", f"{folder}/A.csv")
    _command("anonymize", "history", history, *made, "--published", release, "--truth", truth)
    _command("data", "draw-knowledge", history, "--share", "25", "--out", known)
    told = ("--knowledge", known, "--release", release, "--out", f"{folder}/Fh.csv", "--truth", truth)
    with traced() as files:
        _command("attack", "history", "s1", *told)
    assert (folder / "Fh.csv").exists()
    return files


@contextmanager
def _site() -> Iterator[None]:
    """Use the platform of the tests, with an empty database, and do the work of its jobs in this process."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.platform.settings"
    import django

    django.setup()
    from django.test.utils import get_runner, setup_test_environment

    from tokumei.platform.jobs import process

    setup_test_environment()
    from django.conf import settings

    runner = get_runner(settings)(verbosity=0)
    made = runner.setup_databases()
    before, process.run = process.run, _work_here
    try:
        yield
    finally:
        process.run = before
        runner.teardown_databases(made)


def _work_here(function: str, asked: object, **_: object) -> ChildAnswer:
    from tests.platform.sites import work_here

    return work_here(function, asked)  # type: ignore[arg-type]


def walk_submission(folder: Path) -> set[str]:
    """A release from its upload to the scoreboard, in a contest of the tests' small edition."""
    with _site():
        import pytest
        from django.test import Client
        from tests.platform.sites import add_editions, captain, make_contest, run_at_once, upload

        from tokumei.platform.jobs.models import Job

        with pytest.MonkeyPatch.context() as patch:
            add_editions(folder, patch)
            contest = make_contest("red")
            client = Client()
            client.force_login(captain("red"), backend=BACKEND)
            with traced() as files:
                client.post(f"/contests/{contest.slug}/submit", upload("R", "11 20 30 40 50 60"))
                run_at_once(Job.objects.get(submission=contest.submissions.get()).pk)
                shown = client.get(f"/contests/{contest.slug}/scoreboard").content.decode()
    assert "Red" in shown
    return files


def walk_studio(_folder: Path) -> set[str]:
    """A table from its upload to the pages of its release."""
    with _site():
        from django.core.files.uploadedfile import SimpleUploadedFile
        from django.test import Client
        from tests.platform.workbench_plays import do_jobs

        from tokumei.platform.accounts.models import User

        client = Client()
        client.force_login(User.objects.create_user("ann", "ann@example.com", None), backend=BACKEND)
        roles = ("identifier", *["quasi-identifier"] * 3, "sensitive")
        with traced() as files:
            sent = {"file": SimpleUploadedFile("people.csv", PEOPLE.encode()), "kind": "table"}
            piece = client.post("/workbench/new", sent)["location"]
            do_jobs()
            client.post(piece, {f"r{place}": role for place, role in enumerate(roles)})
            do_jobs()
            client.post(f"{piece}protect", {"k": "2", "suppress": "5", "method": "optimal", "run": "1"})
            do_jobs()
            pages = [
                client.get(f"{piece}{below}") for below in ("", "hierarchies", "risk", "protect", "see", "take-home")
            ]
        assert all(page.status_code == 200 for page in pages)
        assert b"release.csv" in pages[-1].content
    return files


WALKS: dict[str, Callable[[Path], set[str]]] = {
    "table": walk_table,
    "history": walk_history,
    "submission": walk_submission,
    "studio": walk_studio,
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(sorted(WALKS[sys.argv[1]](Path(name)))))
