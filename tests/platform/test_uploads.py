"""Files that teams hand in: hostile ones, and uploads that break off."""

from __future__ import annotations

import gzip
import io
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.test import RequestFactory
from tests.platform.sites import Site, captain, evaluated, make_contest, participation, upload, wait_until

from tokumei.contest.edition import FileRole
from tokumei.core.errors import InputError
from tokumei.platform.contests.models import State, Submission, new_submission_key
from tokumei.platform.contests.services.news import sweep_uploads
from tokumei.platform.contests.services.submitting import submit_release
from tokumei.platform.files import uploads
from tokumei.platform.files.incoming import UnnamedFileUploadHandler, uploads_of
from tokumei.platform.files.uploads import taking

ROWS = b"11\n20\n30\n40\n50\n60\n"
ROLES = (FileRole("A", "the rows", "行"), FileRole("F", "the map", "対応"))
LIMIT = 1000


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], **options: Any) -> UploadedFile[Any]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return SimpleUploadedFile("both.zip", packed.getvalue())


def link(name: str, target: bytes) -> tuple[zipfile.ZipInfo, bytes]:
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o120777 << 16
    return member, target


def take(given: dict[str, Any], roles: tuple[FileRole, ...] = ROLES) -> dict[str, bytes]:
    """Return what is on the disk after taking an upload."""
    with taking(new_submission_key(), given, roles, LIMIT) as taken:
        folder = uploads.uploads_folder() / taken.key
        return {file["name"]: (folder / file["name"]).read_bytes() for file in taken.files.values()}


def left_behind(site: Site) -> list[Path]:
    return [path for path in (site.folder / "files").rglob("*") if path != uploads.uploads_folder()]


def test_files_are_stored_by_their_roles_whatever_they_are_called(site: Site) -> None:
    given = {"A": SimpleUploadedFile("../../evil.sh", b"a\n"), "F": SimpleUploadedFile("x", b"f\n")}
    assert take(given) == {"A.csv": b"a\n", "F.csv": b"f\n"}


def test_zip_with_both_files_is_unpacked(site: Site) -> None:
    assert take({"zip": zipped(("F.csv", b"f\n"), ("A.csv", b"a\n"))}) == {"A.csv": b"a\n", "F.csv": b"f\n"}


def test_gzipped_file_stays_packed_under_a_name_that_tells(site: Site) -> None:
    packed = gzip.compress(b"a\n")
    given = {"A": SimpleUploadedFile("A.csv", packed), "F": SimpleUploadedFile("F.csv", b"f\n")}
    assert take(given) == {"A.csv.gz": packed, "F.csv": b"f\n"}


HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "a way up": lambda: {"zip": zipped(("A.csv", b"a"), ("../F.csv", b"f"))},
    "an absolute path": lambda: {"zip": zipped(("A.csv", b"a"), ("/tmp/F.csv", b"f"))},
    "a folder": lambda: {"zip": zipped(("A.csv", b"a"), ("x/F.csv", b"f"))},
    "a backslash": lambda: {"zip": zipped(("A.csv", b"a"), ("..\\F.csv", b"f"))},
    "one name twice": lambda: {"zip": zipped(("A.csv", b"a"), ("A.csv.gz", b"a"), ("F.csv", b"f"))},
    "a link": lambda: {"zip": zipped(("A.csv", b"a"), link("F.csv", b"/etc/passwd"))},
    "a stranger": lambda: {"zip": zipped(("A.csv", b"a"), ("F.csv", b"f"), ("more.csv", b""))},
    "one missing": lambda: {"zip": zipped(("A.csv", b"a"))},
    "none at all": dict,
    "an empty one": lambda: {"A": SimpleUploadedFile("A", b""), "F": SimpleUploadedFile("F", b"f")},
    "too large": lambda: {"A": SimpleUploadedFile("A", b"a" * 1001), "F": SimpleUploadedFile("F", b"f")},
    "half a zip": lambda: {"zip": SimpleUploadedFile("z", zipped(("A.csv", b"a"), ("F.csv", b"f")).read()[:60])},
    "a zip bomb": lambda: {
        "zip": zipped(("A.csv", b"a" * 10_000_000), ("F.csv", b"f"), compression=zipfile.ZIP_DEFLATED)
    },
    "other packing": lambda: {"zip": zipped(("A.csv", b"a"), ("F.csv", b"f"), compression=zipfile.ZIP_LZMA)},
    "a gzip bomb": lambda: {
        "A": SimpleUploadedFile("A", gzip.compress(b"a" * 10_000_000)[:900] or b""),
        "F": SimpleUploadedFile("F", b"f"),
    },
    "half a gzip": lambda: {
        "A": SimpleUploadedFile("A", gzip.compress(os.urandom(500))[:300]),
        "F": SimpleUploadedFile("F", b"f"),
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_upload_is_refused_without_a_trace(site: Site, name: str) -> None:
    with pytest.raises(InputError) as caught:
        take(HOSTILE[name]())
    assert left_behind(site) == []
    # Nobody learns where files lie here.
    assert str(site.folder) not in str(caught.value)


def test_name_with_a_nul_is_refused(site: Site) -> None:
    # Python cuts such a name when writing, so that the bytes are changed afterwards.
    packed = zipped(("A.csv", b"a"), ("F.csvXevil", b"f")).read().replace(b"F.csvXevil", b"F.csv\0evil")
    with pytest.raises(InputError, match="nothing else"):
        take({"zip": SimpleUploadedFile("z", packed)})
    assert left_behind(site) == []


def test_zip_that_lies_about_its_size_is_unpacked_to_the_limit(site: Site) -> None:
    packed = zipped(("A.csv", b"a" * 5000), ("F.csv", b"f"), compression=zipfile.ZIP_DEFLATED).read()
    lying = packed.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != packed
    with pytest.raises(InputError):
        take({"zip": SimpleUploadedFile("z", lying)})
    assert left_behind(site) == []


def test_limit_follows_the_size_of_the_data(tmp_path: Path) -> None:
    assert uploads.size_limit(tmp_path / "none") == 8 * 1024 * 1024
    (tmp_path / "T.csv").write_bytes(b"x" * 1_000_000)
    assert uploads.size_limit(tmp_path) == 20_000_000


def test_zip_is_scored_like_the_plain_file(site: Site) -> None:
    contest = make_contest("red")
    found = participation(contest, "red")
    for given in (SimpleUploadedFile("R.csv", ROWS), zipped(("R.csv", ROWS))):
        submission = evaluated(submit_release(found, captain("red"), {"file": given}))
        assert submission.state == State.SCORED
        assert submission.score is not None
        assert submission.score["utility"] == 0.01 / 6


def test_sweep_leaves_what_is_known_being_written_or_new(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = make_contest("red")
    known = submit_release(participation(contest, "red"), captain("red"), upload("R", "1 2 3 4 5 6"))
    orphan = uploads.uploads_folder() / ("0" * 24)
    orphan.mkdir()
    (orphan / "R.csv").write_bytes(ROWS)
    assert sweep_uploads() == 0
    monkeypatch.setattr(uploads, "ORPHAN_SECONDS", 0.0)
    with taking(new_submission_key(), {"A": SimpleUploadedFile("A", b"a")}, ROLES[:1], LIMIT):
        assert sweep_uploads() == 1
        assert len(list(uploads.uploads_folder().iterdir())) == 2
    assert not orphan.exists()
    assert known.folder.exists()


def test_process_killed_while_it_stores_leaves_what_the_sweep_removes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = make_contest("red")
    program = f"""
        import sys
        from tokumei.platform.start import configure
        configure()
        from django.core.files.uploadedfile import UploadedFile
        from tokumei.platform.accounts.models import User
        from tokumei.platform.contests.models import Participation
        from tokumei.platform.contests.services.submitting import submit_release

        class Endless(UploadedFile):
            def chunks(self, chunk_size=None):
                yield b"11\\n"
                print("half", flush=True)
                sys.stdin.read()

        found = Participation.objects.get(pk={participation(contest, "red").pk})
        import io
        submit_release(found, User.objects.get(pk={captain("red").pk}), {{"R": Endless(io.BytesIO(b"11"), "R.csv")}})
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=site.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        monkeypatch.setattr(uploads, "ORPHAN_SECONDS", 0.0)
        # It is being written: hands off.
        assert sweep_uploads() == 0
        process.kill()
    assert len(list(uploads.uploads_folder().iterdir())) == 1
    assert sweep_uploads() == 1
    assert list(uploads.uploads_folder().iterdir()) == []
    assert not Submission.objects.exists()


def test_web_process_killed_while_it_receives_leaves_nothing(site: Site) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    web = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "tokumei.platform.wsgi:application", "-b", f"127.0.0.1:{port}", "-w", "1"],
        env=site.environment,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        connection = wait_until(lambda: _connection(port))
        body = b'--x\r\nContent-Disposition: form-data; name="R"; filename="R.csv"\r\n\r\n' + b"11\n" * 500_000
        head = [
            "POST /login HTTP/1.1",
            "Host: localhost",
            # The body is looked at only when there is a cookie to compare its token with.
            f"Cookie: tokumei_csrf={'a' * 32}",
            "Content-Type: multipart/form-data; boundary=x",
            f"Content-Length: {2 * len(body)}",
        ]
        with connection:
            connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
            wait_until(lambda: _holds_unnamed_file(web.pid, site))
            os.killpg(web.pid, signal.SIGKILL)
    finally:
        if web.poll() is None:
            os.killpg(web.pid, signal.SIGKILL)
        web.wait()
    assert left_behind(site) == []


def test_upload_is_kept_in_a_file_without_a_name(site: Site) -> None:
    request = RequestFactory().post("/", {"R": SimpleUploadedFile("R.csv", ROWS)})
    request.upload_handlers = [UnnamedFileUploadHandler(request)]
    found = uploads_of(request)["R"]
    assert (found.name, found.size, found.read()) == ("R.csv", len(ROWS), ROWS)
    assert left_behind(site) == []
    found.close()


def _connection(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=5)
    except OSError:
        return None


def _holds_unnamed_file(pid: int, site: Site) -> bool:
    """Whether a child of a process has an open file among the server's that has bytes and no name."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        for handle in Path(f"/proc/{child}/fd").iterdir():
            try:
                target = str(handle.readlink())
                size = handle.stat().st_size
            except OSError:
                continue
            if target.startswith(str(site.folder / "files")) and target.endswith("(deleted)") and size > 0:
                return True
    time.sleep(0.05)
    return False
