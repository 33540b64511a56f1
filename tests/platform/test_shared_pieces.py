"""One piece of work on several machines: begun at one, worked on at another, shown by a third, and gone from all."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.stores import Machines, machines  # noqa: F401 - a fixture.
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

from tokumei.core.errors import NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.files.models import SharedFolder
from tokumei.platform.files.shared import sweep_copies
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import WORK
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench import looking, services
from tokumei.platform.workbench.models import Piece
from tokumei.tasks import audit_table

pytestmark = pytest.mark.django_db(transaction=True)
GOAL = {"k": "2", "suppress": "0", "method": "optimal"}


@pytest.fixture
def alice(machines: Machines, make_user: MakeUser) -> User:  # noqa: F811
    """Who works."""
    return make_user("alice")


def page(log_in: LogIn, piece: Piece, below: str = "") -> str:
    answer = log_in(piece.owner).get(f"/workbench/{piece.key}/{below}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_piece_is_begun_worked_on_edited_and_taken_home_on_different_machines(
    machines: Machines,  # noqa: F811
    alice: User,
    log_in: LogIn,
) -> None:
    piece = services.begin_piece(alice, upload=SimpleUploadedFile("people.csv", PEOPLE), kind="table")
    machines.at("two")
    do_jobs()
    machines.at("three")
    assert "role-quasi-identifier" in page(log_in, piece)
    assert log_in(alice).post(f"/workbench/{piece.key}/protect", GOAL).status_code == 302
    machines.at("two")
    do_jobs()
    machines.at("one")
    sent = log_in(alice).get(f"/workbench/{piece.key}/files/release.csv")
    assert sent.status_code == 200
    assert len(b"".join(sent).splitlines()) > 2
    assert machines.objects() == {f"{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}

    services.delete_piece(piece)
    assert not machines.objects()
    assert not piece.place.exists()
    for machine in ("two", "three"):
        machines.at(machine)
        assert piece.place.is_dir()
        sweep_copies()
        # Longer than an upload takes that has no row yet.
        os.utime(piece.place, (0, 0))
        services.sweep()
        assert not piece.place.exists()


def test_hierarchies_are_shown_and_edited_elsewhere_while_a_look_goes_on(
    machines: Machines,  # noqa: F811
    alice: User,
    log_in: LogIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = audit_table.attack_as_it_stands
    seen: dict[str, Any] = {}

    def attack(table: Any) -> Any:
        job = Job.objects.get(kind=services.LOOK)
        WORK[services.LOOK].during(job)
        machines.at("three")
        seen["busy"] = (services.busy_job(piece), services.busy_job(piece, whole=True))
        seen["page"] = page(log_in, piece, "hierarchies")
        services.edit(piece, lambda found: found.setdefault("requirements", {}).update(k=7))
        machines.at("two")
        return real(table)

    monkeypatch.setattr(looking, "attack_as_it_stands", attack)
    piece = services.begin_piece(alice, upload=SimpleUploadedFile("people.csv", PEOPLE), kind="table")
    machines.at("two")
    do_jobs()
    assert seen["busy"][0] is None
    assert seen["busy"][1].kind == services.LOOK
    assert 'name="column"' in seen["page"]
    # What the person decided meanwhile stays, and what was found comes to it.
    machines.at("one")
    assert files.job_of(piece.folder)["requirements"]["k"] == 7
    assert "attacks" in files.read(piece.folder, files.RISK)


def test_file_that_is_wrong_is_told_on_every_machine_until_it_is_looked_at_again(
    machines: Machines,  # noqa: F811
    alice: User,
    log_in: LogIn,
) -> None:
    piece = begin(alice, b"a,b\n1\n")
    machines.at("two")
    assert "people.csv" in page(log_in, piece)
    name = files.faults_file(services.LOOK)
    assert (piece.place / name).is_file()
    machines.at("one")
    services.start(piece, services.LOOK)
    machines.at("two")
    sweep_copies()
    assert not (piece.place / name).exists()


def test_process_that_died_is_told_by_a_machine_whose_copies_are_old_and_these_do_not_count(
    machines: Machines,  # noqa: F811
    alice: User,
) -> None:
    piece = begin(alice)
    machines.at("two")
    services.edit(piece, lambda found: found.setdefault("requirements", {}).update(k=4))
    before = dict(SharedFolder.objects.values_list("name", "version"))
    job = Job.objects.get(kind=services.LOOK)
    machines.at("three")
    WORK[services.LOOK].write_failure(job, "the process died")
    assert dict(SharedFolder.objects.values_list("name", "version")) == before


def test_piece_of_a_backup_that_was_put_back_is_not_there(machines: Machines, alice: User) -> None:  # noqa: F811
    piece = begin(alice)
    shutil.rmtree(machines.folder / "store")
    machines.at("two")
    with pytest.raises(NotFound):
        services.find_piece(alice, piece.key)


def test_sample_that_one_machine_made_is_on_the_others(machines: Machines, alice: User) -> None:  # noqa: F811
    piece = services.begin_piece(alice, sample="purchases")
    do_jobs()
    machines.at("two")
    assert files.data_file(piece.folder).is_file()


def test_long_name_of_a_file_is_cut_to_what_file_systems_take(machines: Machines, alice: User) -> None:  # noqa: F811
    piece = begin(alice, name="あ" * 120 + ".csv")
    machines.at("two")
    assert files.data_file(piece.folder).is_file()
