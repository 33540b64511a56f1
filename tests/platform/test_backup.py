"""Backups of running servers, put back elsewhere; and files that only claim to be backups."""

from __future__ import annotations

import io
import json
import sqlite3
import stat
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.platform.sites import Site, connected_to, evaluated, make_contest, release, wait_final, wait_until

from tokumei.core.errors import InputError, NotAllowed, PromiseBroken, TokumeiError
from tokumei.platform import backup
from tokumei.platform.backup import ToolFailed, back_up
from tokumei.platform.contests.folder_work import alone
from tokumei.platform.contests.models import Contest, State, Submission
from tokumei.platform.contests.services.news import begin_forgotten
from tokumei.platform.contests.services.scoreboard import standings
from tokumei.platform.jobs.models import Job
from tokumei.platform.restore import restore

Change = Callable[[dict[str, bytes]], None]


@pytest.fixture(autouse=True)
def backup_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sign backups with a key of the tests."""
    monkeypatch.setenv("TOKUMEI_BACKUP_KEY", "only for tests")


@pytest.fixture
def served(site: Site, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Site:
    """A site that the environment names, as an operator's shell does."""
    monkeypatch.setenv("TOKUMEI_DATA", str(site.folder))
    settings.DATA = site.folder
    return site


@pytest.fixture
def new_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database of the same kind."""
    if "both_databases" not in request.fixturenames or request.getfixturevalue("both_databases") == "sqlite":
        yield f"sqlite:///{tmp_path / 'restored' / 'db.sqlite3'}"
        return
    import psycopg

    base = request.getfixturevalue("postgres_engine")
    with psycopg.connect(base, autocommit=True) as admin:
        admin.execute("CREATE DATABASE tokumei_restored")
        yield f"{base.rpartition('/')[0]}/tokumei_restored"
        admin.execute("DROP DATABASE tokumei_restored WITH (FORCE)")


@pytest.mark.slow
def test_running_server_restored_elsewhere_has_the_same_scoreboard_and_goes_on(
    both_databases: str,
    served: Site,
    new_address: str,
    tmp_path: Path,
    settings: Any,
) -> None:
    contest = make_contest("red", "blue")
    served.start_worker()
    for team, rows in (("red", "11 20 30 40 50 60"), ("blue", "10 29 30 40 50 61")):
        wait_final(release(contest, team, rows))
    before, files = standings(contest, None), [one.files for one in contest.submissions.all()]
    assert [line.team for line in before.lines] == ["red", "blue"]
    made = back_up(tmp_path / ("backup" if both_databases == "sqlite" else "backup.tar.gz"))
    assert stat.S_IMODE(made.out.stat().st_mode) == (0o700 if made.out.is_dir() else 0o600)
    with connected_to(new_address):
        restore(made.out, tmp_path / "restored")
        settings.MEDIA_ROOT = tmp_path / "restored" / "files"
        found = Contest.objects.get(slug="cup")
        assert standings(found, None) == before
        assert [one.files for one in found.submissions.all()] == files
        # The files are there: another release is checked and scored against them.
        assert evaluated(release(found, "red", "12 20 30 40 50 60")).state == State.SCORED


def test_restored_folder_is_the_one_that_was_backed_up(served: Site, new_address: str, tmp_path: Path) -> None:
    contest = make_contest("red")
    release(contest, "red")
    for name in ("static", "mail", "files/figures"):
        (served.folder / name).mkdir(exist_ok=True)
        (served.folder / name / "left-out").write_text("x")
    back_up(tmp_path / "backup.tar.gz")
    with connected_to(new_address):
        restore(tmp_path / "backup.tar.gz", tmp_path / "restored")

    def listed(folder: Path) -> set[str]:
        names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        left_out = ("static", "mail", "files/figures", "workers", "db.sqlite3-")
        return {name for name in names if not name.startswith(left_out) and "/." not in f"/{name}"}

    assert listed(tmp_path / "restored") == listed(served.folder)


def test_submissions_that_come_meanwhile_have_their_files_in_the_backup(served: Site, tmp_path: Path) -> None:
    contest = make_contest("red", releases_a_day=200, releases_in_all=200)
    stop = threading.Event()

    def hand_in() -> None:
        from django.db import connection

        while not stop.is_set():
            release(contest, "red")
        connection.close()

    thread = threading.Thread(target=hand_in)
    thread.start()
    try:
        wait_until(Submission.objects.exists)
        for number in range(3):
            back_up(tmp_path / str(number))
    finally:
        stop.set()
        thread.join()
    counts = []
    for number in range(3):
        with sqlite3.connect(tmp_path / str(number) / "database.sqlite3") as copy:
            keys = [key for (key,) in copy.execute("SELECT key FROM contests_submission")]
        copy.close()
        assert all((tmp_path / str(number) / "data/files/uploads" / key / "R.csv").is_file() for key in keys)
        counts.append(len(keys))
    assert counts == sorted(counts)
    assert counts[0] > 0


def test_backup_waits_for_a_change_of_phase(served: Site, tmp_path: Path) -> None:
    contest = make_contest("red")
    thread = threading.Thread(target=back_up, args=(tmp_path / "backup",))
    with alone(contest.folder):
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
    thread.join(30)
    assert (tmp_path / "backup" / "manifest.json").is_file()


def test_backup_replaces_nothing_and_lies_outside(served: Site, tmp_path: Path) -> None:
    (tmp_path / "there.tar.gz").write_text("mine")
    with pytest.raises(InputError, match="replaces nothing"):
        back_up(tmp_path / "there.tar.gz")
    assert (tmp_path / "there.tar.gz").read_text() == "mine"
    with pytest.raises(InputError, match="outside"):
        back_up(served.folder / "backup.tar.gz")


def test_backup_of_no_server_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKUMEI_DATA", str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="folder of a server"):
        back_up(tmp_path / "backup.tar.gz")
    assert list(tmp_path.iterdir()) == []


def test_postgresql_without_its_programs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Site) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://tokumei:secret@localhost/tokumei")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(backup, "POSTGRESQL_PROGRAMS", tmp_path)
    with pytest.raises(ToolFailed, match="pg_dump is not installed"):
        back_up(tmp_path / "backup.tar.gz")
    assert list(tmp_path.iterdir()) == []


def packed(path: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return path


@pytest.fixture
def members(served: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of a real backup, to be tampered with."""
    (served.folder / "secret-key").write_text("key")
    back_up(tmp_path / "real.tar.gz")
    monkeypatch.setenv("DATABASE_URL", "")
    with tarfile.open(tmp_path / "real.tar.gz") as archive:
        found = {member.name: archive.extractfile(member) for member in archive}
        return {name: content.read() for name, content in found.items() if content is not None}


def _change_byte(files: dict[str, bytes]) -> None:
    files["data/secret-key"] = b"kez"


def _drop_file(files: dict[str, bytes]) -> None:
    del files["data/secret-key"]


def _add_file(files: dict[str, bytes]) -> None:
    files["data/more"] = b""


def _lead_out(files: dict[str, bytes]) -> None:
    files["data/../../out"] = b"x"


def _lead_to_root(files: dict[str, bytes]) -> None:
    files["/tmp/out"] = b"x"


def _add_backslash(files: dict[str, bytes]) -> None:
    files["data/a\\b"] = b"x"


def _drop_manifest(files: dict[str, bytes]) -> None:
    del files["manifest.json"]


def _change_manifest(files: dict[str, bytes]) -> None:
    files["manifest.json"] = b"[]"


def _lead_out_by_folder(files: dict[str, bytes]) -> None:
    files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | {"folders": ["data/../../out"]}).encode()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (_change_byte, PromiseBroken),
        (_drop_file, PromiseBroken),
        (_add_file, PromiseBroken),
        (_lead_out, InputError),
        (_lead_to_root, InputError),
        (_add_backslash, InputError),
        (_drop_manifest, InputError),
        (_change_manifest, InputError),
        (_lead_out_by_folder, InputError),
    ],
)
def test_tampered_backup_is_refused_and_leaves_nothing(
    members: dict[str, bytes], tmp_path: Path, change: Change, error: type[TokumeiError]
) -> None:
    change(members)
    with pytest.raises(error):
        restore(packed(tmp_path / "changed.tar.gz", members), tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed.tar.gz", "real.tar.gz"]


def test_untouched_members_are_restored(members: dict[str, bytes], tmp_path: Path) -> None:
    restore(packed(tmp_path / "same.tar.gz", members), tmp_path / "new")
    assert (tmp_path / "new" / "secret-key").read_text() == "key"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_links_in_a_backup_are_refused(members: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="plain files"):
        restore(packed(tmp_path / "links.tar.gz", members, {"data/link": "/etc/passwd"}), tmp_path / "new")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="plain files"):
        restore(tmp_path / "folder", tmp_path / "new")


def test_broken_off_backup_is_refused(members: dict[str, bytes], tmp_path: Path) -> None:
    whole = packed(tmp_path / "whole.tar.gz", members).read_bytes()
    for content in (whole[: len(whole) // 2], b"no backup", b""):
        (tmp_path / "half.tar.gz").write_bytes(content)
        with pytest.raises(InputError):
            restore(tmp_path / "half.tar.gz", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_folder_or_database_in_use_is_refused(
    members: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "file").touch()
    with pytest.raises(NotAllowed, match="not empty"):
        restore(tmp_path / "real.tar.gz", tmp_path / "new")
    (tmp_path / "db.sqlite3").touch()
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'db.sqlite3'}")
    with pytest.raises(NotAllowed, match="there already"):
        restore(tmp_path / "real.tar.gz", tmp_path / "other")
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/tokumei")
    with pytest.raises(InputError, match="sqlite database"):
        restore(tmp_path / "real.tar.gz", tmp_path / "other")


def test_job_that_somebody_planted_in_a_backup_is_forgotten(
    both_databases: str, served: Site, new_address: str, tmp_path: Path
) -> None:
    found = release(make_contest("red"), "red")
    Job.objects.create(kind="os.system", subject="touch /tmp/owned", queue="contest", payload={"code": "evil"})
    back_up(tmp_path / "backup.tar.gz")
    with connected_to(new_address):
        restore(tmp_path / "backup.tar.gz", tmp_path / "restored")
        assert not Job.objects.filter(is_done=False).exists()
        begin_forgotten()
        assert list(Job.objects.filter(is_done=False).values_list("kind", "subject")) == [("score", found.key)]


def test_backup_that_another_key_signed_needs_trust(
    served: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(tmp_path / "backup.tar.gz")
    monkeypatch.setenv("DATABASE_URL", "")
    monkeypatch.setenv("TOKUMEI_BACKUP_KEY", "somebody else's")
    with pytest.raises(NotAllowed, match="not signed"):
        restore(tmp_path / "backup.tar.gz", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    restore(tmp_path / "backup.tar.gz", tmp_path / "restored", is_trusted=True)
