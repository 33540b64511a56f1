"""A disk without space: a clear message, and nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import RequestFactory
from tests.platform.sites import Site, captain, evaluated, make_contest, participation, release, upload
from tests.platform.test_phases import end_anonymizing

from tokumei.platform.contests.models import Phase, State, Submission
from tokumei.platform.contests.services import contests, phase_work
from tokumei.platform.contests.services.submitting import release_attempts, submit_release
from tokumei.platform.files.incoming import UnnamedFileUploadHandler, uploads_of
from tokumei.platform.files.uploads import uploads_folder
from tokumei.platform.jobs import queue
from tokumei.platform.messages import DiskFull

SIZE = 2 * 1024 * 1024
LARGE = b"11\n" * SIZE


@pytest.fixture
def small_disk(site: Site) -> Iterator[Path]:
    """The server's files on a file system of two megabytes; skips where none can be mounted."""
    files = site.folder / "files"
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small file system")
    options = ["-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(files)]
    if subprocess.run([mount, *options], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield files
    finally:
        subprocess.run(["umount", "-l", str(files)], check=True)


def fill(folder: Path) -> Path:
    """Leave not a byte."""
    blocker = folder / "blocker"
    with blocker.open("wb", buffering=0) as handle:
        try:
            while True:
                handle.write(bytes(4096))
        except OSError:
            pass
    return blocker


def test_upload_to_a_full_disk_is_told_and_leaves_nothing(site: Site, small_disk: Path) -> None:
    contest = make_contest("red")
    blocker = fill(small_disk)
    found = participation(contest, "red")
    for given in (upload("R", "1 2 3 4 5 6"), {"R": SimpleUploadedFile("R.csv", LARGE)}):
        with pytest.raises(DiskFull, match="no space left"):
            submit_release(found, captain("red"), given)
    assert not Submission.objects.exists()
    assert release_attempts(found).in_all_used == 0
    assert not uploads_folder().exists() or list(uploads_folder().iterdir()) == []
    blocker.unlink()
    assert evaluated(release(contest, "red")).state == State.SCORED


def test_request_that_finds_no_space_is_told(site: Site, small_disk: Path) -> None:
    request = RequestFactory().post("/", {"R": SimpleUploadedFile("R.csv", LARGE), "note": "kept"})
    request.upload_handlers = [UnnamedFileUploadHandler(request)]
    with pytest.raises(DiskFull, match="no space left"):
        uploads_of(request)


def test_publishing_on_a_full_disk_loses_nothing(site: Site, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.0)
    contest = make_contest("red")
    evaluated(release(contest, "red"))
    blocker = fill(small_disk)
    for _ in range(3):
        contest = end_anonymizing(contest)
    assert (contest.phase, contest.trouble) == (Phase.PUBLISHING, phase_work.NOT_PUBLISHED)
    assert contest.trouble_details == "ENOSPC"
    blocker.unlink()
    contests.retry_work(contest)
    contest = end_anonymizing(contest)
    assert (contest.phase, contest.trouble) == (Phase.ATTACK, "")


def test_file_larger_than_the_system_allows_is_told_like_a_full_disk(site: Site) -> None:
    contest = make_contest("red")
    found = participation(contest, "red")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * 1024 * 1024, before[1]))
    try:
        with pytest.raises(DiskFull, match="no space left"):
            submit_release(found, captain("red"), {"R": SimpleUploadedFile("R.csv", LARGE)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not Submission.objects.exists()
    assert list(uploads_folder().iterdir()) == []
