"""One desk on two machines: whoever is second begins anew, and nothing that does not count is ever seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.platform.conftest import MakeUser
from tests.platform.offers import host
from tests.platform.sites import do_jobs
from tests.platform.stores import Machines, machines  # noqa: F401 - a fixture.

from tokumei.core.errors import NotAllowed
from tokumei.exchange.desk import DeskFolder
from tokumei.exchange.sources import check_not_retired
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.models import LevelRequest, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.services import desks, hosting, looking, requesting
from tokumei.platform.files.models import SharedFolder
from tokumei.platform.files.shared import sweep_copies
from tokumei.platform.jobs import child, running
from tokumei.platform.jobs.models import Job
from tokumei.platform.teams import services as teams

pytestmark = pytest.mark.django_db(transaction=True)
LEVELS = {"age": 1, "sex": 0, "town": 2}


@pytest.fixture
def alice(machines: Machines, make_user: MakeUser) -> User:  # noqa: F811
    """The provider."""
    return make_user("alice")


@pytest.fixture
def carol(machines: Machines, make_user: MakeUser) -> User:  # noqa: F811
    """Who asks; her key was drawn on the first machine."""
    made = make_user("carol")
    requesting.introduce(made, organization="A university")
    return made


@pytest.fixture
def hosted(alice: User) -> PublishedOffer:
    """An offer that was made on the first machine."""
    return host(alice, teams.create_team(alice, slug="red-team", display_name="Red Team"))


def ask(offer: PublishedOffer, user: User) -> LevelRequest:
    return requesting.ask(offer, user, levels=LEVELS, criterion=None, purpose="a study")


def version(offer: PublishedOffer) -> str:
    return SharedFolder.objects.get(name__endswith=f"offers/{offer.folder_key}").version


@pytest.fixture
def after_work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Let something happen once, between the work of the next job and its result."""

    def arrange(happens: Callable[[], object]) -> None:
        real = child.call

        def call(function: str, asked: Any) -> Any:
            done = real(function, asked)
            monkeypatch.setattr(running, "call", real)
            happens()
            return done

        monkeypatch.setattr(running, "call", call)

    return arrange


def logged(offer: PublishedOffer) -> list[str]:
    return [line.payload["what"] for line in DeskFolder(offer.folder).public_log.lines()]


def test_offer_of_one_machine_is_asked_answered_and_downloaded_on_another(
    machines: Machines,  # noqa: F811
    hosted: PublishedOffer,
    carol: User,
) -> None:
    machines.at("two")
    asked = ask(hosted, carol)
    machines.at("three")
    do_jobs("exchange")
    asked.refresh_from_db()
    assert asked.state == RequestState.SERVED
    machines.at("one")
    assert requesting.fetch_release(asked).read_text().startswith("age,sex,town,n_rows")
    hosted.refresh_from_db()
    assert looking.audit(hosted).fault == ""
    assert machines.objects() == {f"{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}
    # Nobody works any more, and nothing of the work is left.
    assert not list(machines.folder.glob("*/files/exchange/rooms/*"))


def test_revisions_on_two_machines_follow_each_other(
    machines: Machines,  # noqa: F811
    hosted: PublishedOffer,
    alice: User,
    carol: User,
) -> None:
    criterion = "own"
    requesting.trust(hosted, alice, username="carol", criterion=criterion)
    machines.at("two")
    requesting.introduce(alice, organization="A shop")
    requesting.trust(hosted, alice, username="alice", criterion=criterion)
    machines.at("one")
    hosted.refresh_from_db()
    assert (hosted.revision, logged(hosted)) == (3, ["offer"] * 3)
    assert len(DeskFolder(hosted.folder).offer()[0].recipients) == 2


def test_answer_at_a_desk_that_was_revised_meanwhile_is_made_again(
    machines: Machines,  # noqa: F811
    hosted: PublishedOffer,
    alice: User,
    carol: User,
    after_work: Any,
) -> None:
    asked = ask(hosted, carol)
    machines.at("two")

    def revise_elsewhere() -> None:
        machines.at("one")
        requesting.trust(hosted, alice, username="carol", criterion="own")
        assert logged(hosted) == ["offer", "offer"]
        machines.at("two")

    after_work(revise_elsewhere)
    do_jobs("exchange")
    asked.refresh_from_db()
    assert asked.state == RequestState.SERVED
    # That somebody was quicker is no attempt.
    assert Job.objects.get(kind="answer").n_attempts == 1
    assert logged(hosted) == ["offer", "offer", "answer"]
    hosted.refresh_from_db()
    assert looking.audit(hosted).fault == ""


def test_process_that_froze_and_woke_up_late_changes_nothing(
    machines: Machines,  # noqa: F811
    hosted: PublishedOffer,
    carol: User,
    after_work: Any,
) -> None:
    asked, before = ask(hosted, carol), version(hosted)
    # Meanwhile another process took the job over.
    after_work(lambda: Job.objects.filter(kind="answer").update(fence=99))
    running.run_here(Job.objects.get(kind="answer").pk)
    asked.refresh_from_db()
    assert (asked.state, version(hosted), logged(hosted)) == (RequestState.SENT, before, ["offer"])


def test_process_that_is_killed_leaves_a_room_that_is_swept_and_a_desk_as_it_was(
    machines: Machines,  # noqa: F811
    hosted: PublishedOffer,
    carol: User,
    after_work: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = ask(hosted, carol)

    def die() -> None:
        raise KeyboardInterrupt

    after_work(die)
    with pytest.raises(KeyboardInterrupt):
        running.run_here(Job.objects.get(kind="answer").pk)
    monkeypatch.setattr(desks, "ORPHAN_SECONDS", 0)
    assert logged(hosted) == ["offer"]
    assert desks.sweep_rooms() == 1
    machines.at("two")
    do_jobs("exchange")
    asked.refresh_from_db()
    assert (asked.state, logged(hosted)) == (RequestState.SERVED, ["offer", "answer"])


def test_same_people_offered_on_two_machines_at_once_are_offered_once(
    machines: Machines,  # noqa: F811
    alice: User,
    after_work: Any,
) -> None:
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")

    def offer_elsewhere() -> None:
        machines.at("two")
        host(alice, team, slug="second", other_people=False)
        machines.at("one")

    after_work(offer_elsewhere)
    first = host(alice, team, slug="first", other_people=False)
    second = PublishedOffer.objects.get(slug="second")
    assert (first.state, second.state) == (OfferState.FAILED, OfferState.OPEN)
    assert "already" in first.trouble


def test_formula_offered_anew_closes_the_desk_before_it_on_all_machines(
    machines: Machines,  # noqa: F811
    alice: User,
) -> None:
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")
    told = {"other_people": False, "first_levels": None, "epsilon": 1.0}
    first = host(alice, team, slug="first", **told)
    machines.at("two")
    second = host(alice, team, slug="second", **told)
    assert (first.state, second.state) == (OfferState.OPEN, OfferState.OPEN)
    machines.at("one")
    with pytest.raises(NotAllowed, match="closed"):
        check_not_retired(first.folder)
    check_not_retired(second.folder)


def test_offer_that_is_removed_leaves_its_log_alone_in_the_store_and_on_every_disk(
    machines: Machines,  # noqa: F811
    hosted: PublishedOffer,
    alice: User,
) -> None:
    for machine in ("one", "two"):
        machines.at(machine)
        assert (hosted.folder / "private").is_dir()
    hosting.remove_offer(hosted, alice, typed="hosted")
    machines.at("one")
    sweep_copies()
    assert sorted(path.name for path in hosted.place.iterdir()) == ["public.head.json", "public.jsonl"]
    assert not hosted.table_place.exists()
    assert not SharedFolder.objects.filter(name__startswith="exchange/tables").exists()
    assert machines.objects() == {f"{row.name}/{row.version}.tar" for row in SharedFolder.objects.all()}
    assert looking.audit(hosted).lines[-1].payload["what"] == "removed"


def test_key_of_a_team_beside_its_sources_is_brought_in(machines: Machines) -> None:  # noqa: F811
    beside = machines.at("one") / "exchange" / "sources" / "team-7.key"
    beside.parent.mkdir(parents=True)
    beside.write_text("the key")
    assert (desks.sources_of(7) / "team.key").read_text() == "the key"
    assert not beside.exists()
