"""Folders and files that machines share: what counts, what is overtaken, and what is swept away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.db import transaction
from tests.platform.sites import wait_until
from tests.platform.stores import Machines, machines  # noqa: F401 - a fixture.

from tokumei.cli.serve import _fetch_from_store
from tokumei.platform.files.models import SharedFolder
from tokumei.platform.files.shared import GIVEN_UP_SECONDS, copy_of, local, share, sweep_copies, sweep_shared, unshare
from tokumei.platform.jobs import running
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import Overtaken, begin, claim

pytestmark = pytest.mark.django_db(transaction=True)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def counting() -> set[str]:
    return {f"{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}


def test_file_and_parts_of_a_folder_are_shared_each_by_itself(machines: Machines) -> None:  # noqa: F811
    piece = machines.at("one") / "pieces" / "key"
    share(write(piece / "job.toml", "k = 3"))
    share(write(piece / "out" / "release.csv", "a").parent)
    second = machines.at("two") / "pieces" / "key"
    assert local(second) == second
    assert {path.name for path in second.iterdir() if not path.name.startswith(".")} == {"job.toml", "out"}
    share(write(second / "job.toml", "k = 5"))
    machines.at("one")
    assert (local(piece / "job.toml").read_text(), (piece / "out" / "release.csv").read_text()) == ("k = 5", "a")
    assert machines.objects() == counting()
    unshare(piece)
    assert not machines.objects()
    machines.at("two")
    assert sweep_copies() == 2
    assert not (second / "job.toml").exists()
    assert not (second / "out").exists()


def test_of_two_copies_of_one_version_only_the_first_counts(machines: Machines) -> None:  # noqa: F811
    folder = machines.at("one") / "desks" / "key"
    share(write(folder / "log", "1").parent)
    first = copy_of(folder, machines.folder / "room one" / "key")
    write(first / "log", "1 one")
    elsewhere = machines.at("two") / "desks" / "key"
    second = copy_of(elsewhere, machines.folder / "room two" / "key")
    write(second / "log", "1 two")
    machines.at("one")
    share(folder, first)
    machines.at("two")
    with pytest.raises(Overtaken):
        share(elsewhere, second)
    assert (local(elsewhere) / "log").read_text() == "1 one"
    assert machines.objects() == counting()


def test_of_two_that_make_the_same_folder_only_the_first_counts(
    machines: Machines,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = machines.at("one") / "desks" / "key"
    rooms = [copy_of(folder, machines.folder / room / "key") for room in ("a", "b")]
    for room in rooms:
        write(room / "log", room.parent.name)
    real = SharedFolder.objects.create

    def create(**facts: object) -> SharedFolder:
        # Between the look and the note, the other one comes.
        monkeypatch.setattr(SharedFolder.objects, "create", real)
        share(folder, rooms[0])
        return real(**facts)

    monkeypatch.setattr(SharedFolder.objects, "create", create)
    with pytest.raises(Overtaken):
        share(folder, rooms[1])


def test_copy_on_another_machine_follows_what_counts_without_being_looked_at(machines: Machines) -> None:  # noqa: F811
    folder = machines.at("one") / "desks" / "key"
    share(write(folder / "secret", "everything").parent)
    elsewhere = machines.at("two") / "desks" / "key"
    assert (local(elsewhere) / "secret").is_file()
    machines.at("one")
    copy = copy_of(folder, machines.folder / "room" / "key")
    (copy / "secret").rename(copy / "tombstone")
    share(folder, copy)
    machines.at("two")
    assert sweep_copies() == 0
    assert [path.name for path in elsewhere.iterdir()] == ["tombstone"]


def test_what_was_put_into_the_store_in_vain_is_swept_away_and_what_is_under_way_is_not(
    machines: Machines,  # noqa: F811
) -> None:
    folder = machines.at("one") / "tables" / "key"

    class Killed(Exception):
        pass

    def share_and_die() -> None:
        with transaction.atomic():
            share(write(folder / "table.csv", "a").parent)
            sweep_copies()
            raise Killed

    with pytest.raises(Killed):
        share_and_die()
    sweep_copies()
    assert folder.is_dir()
    assert len(machines.objects()) == 1
    for mark in (folder.parent.parent / ".sharing").iterdir():
        long_ago = mark.stat().st_mtime - GIVEN_UP_SECONDS - 1
        os.utime(mark, (long_ago, long_ago))
    sweep_copies()
    sweep_copies()
    assert not machines.objects()
    assert not folder.exists()


def test_backup_brings_all_but_pieces_of_work(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    first = machines.at("one")
    for name in ("contests/a", "exchange/offers/b", "workbench/c/out"):
        share(write(first / name / "file", "x").parent)
    second = machines.at("two")
    monkeypatch.setattr("tokumei.platform.start.configure", lambda: None)
    _fetch_from_store()
    found = {path.relative_to(second).as_posix() for path in second.rglob("file")}
    assert found == {"contests/a/file", "exchange/offers/b/file"}


def test_what_a_killed_process_was_unpacking_is_swept_away(machines: Machines) -> None:  # noqa: F811
    first = machines.at("one")
    left = [
        write(first / "exchange" / "offers" / name / "private", "x").parent for name in (".a.1.new", ".b.2.new.old")
    ]
    young = write(first / "exchange" / "offers" / ".c.3.new" / "private", "x").parent
    for folder in left:
        os.utime(folder, (0, 0))
    sweep_copies()
    assert not any(folder.exists() for folder in left)
    assert young.exists()


def test_job_shows_signs_of_life_while_its_files_are_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BEAT_SECONDS", 0.05)
    job = begin("offer", 1)
    held = claim(job.pk, "somebody")
    assert held is not None
    Job.objects.update(beat_at=None)
    with running._beating(held):
        wait_until(lambda: Job.objects.get().beat_at is not None, 20)


def test_parts_of_a_folder_that_nobody_knows_are_swept_from_the_store(machines: Machines) -> None:  # noqa: F811
    first = machines.at("one")
    for name in ("known", "other"):
        share(write(first / "workbench" / name / "job.toml", name))
    SharedFolder.objects.update(at="2026-01-01T00:00Z")
    assert sweep_shared("workbench", lambda key: key == "known") == 1
    assert [row.name for row in SharedFolder.objects.all()] == ["workbench/known/job.toml"]
    assert machines.objects() == counting()
