"""What many do at the same moment is bounded as what they do one after the other, on both databases."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone
from tests.platform.sites import Site, captain, enter_team, make_contest, make_person, upload

from tokumei.core.errors import InputError, NotAllowed, TokumeiError
from tokumei.platform.contests.models import CheckState, Contest, ContestDraft, FileCheck, RosterEntry
from tokumei.platform.contests.services import drafts, joining, steering, submitting
from tokumei.platform.teams import services as teams
from tokumei.platform.teams.models import Membership
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.services import begin_piece

N = 10
BROKE: Any = "broke off with another error"


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Do all of this at the same moment; give what each came to, an error of ours or what it gave."""
    gate, found = threading.Barrier(len(deeds)), [BROKE] * len(deeds)

    def do(number: int, deed: Callable[[], Any]) -> None:
        gate.wait()
        try:
            found[number] = deed()
        except TokumeiError as error:
            found[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=one) for one in enumerate(deeds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def n_done(found: list[Any]) -> int:
    assert BROKE not in found
    return sum(not isinstance(one, TokumeiError) for one in found)


def test_drafts_at_once_are_no_more_than_fit(both_databases: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_DRAFTS", 3)
    olga = make_person("olga", is_organizer=True)
    found = at_once(*[lambda: drafts.begin_draft(olga, {})] * N)
    assert n_done(found) == ContestDraft.objects.count() == 3


def test_two_files_sent_to_a_draft_at_once_leave_one_that_is_told_of(both_databases: str, site: Site) -> None:
    draft = drafts.begin_draft(make_person("olga", is_organizer=True), {"kind": "own-table"})
    contents = [f"a,b\n{number},{number}\n".encode() * 2000 for number in range(4)]

    def send(content: bytes) -> Callable[[], None]:
        own = ContestDraft.objects.get(pk=draft.pk)
        return lambda: drafts.store_file(own, SimpleUploadedFile("data.csv", content))

    assert n_done(at_once(*map(send, contents))) == 4
    draft.refresh_from_db()
    (lying,) = draft.folder.iterdir()
    assert hashlib.sha256(lying.read_bytes()).hexdigest() == draft.answers["file"]["sha256"]


def test_upload_to_a_draft_that_breaks_off_leaves_nothing(site: Site) -> None:
    draft = drafts.begin_draft(make_person("olga", is_organizer=True), {"kind": "own-table"})
    with pytest.raises(InputError, match="not empty"):
        drafts.store_file(draft, SimpleUploadedFile("data.csv", b""))
    assert list(draft.folder.iterdir()) == []


def test_pieces_of_work_at_once_are_no_more_than_fit(both_databases: str, site: Site, settings: Any) -> None:
    settings.WORKBENCH_PIECES = 2
    owner = make_person("pia")
    found = at_once(*[lambda: begin_piece(owner, sample="people")] * N)
    assert n_done(found) == Piece.objects.count() == 2


def test_teams_made_at_once_are_no_more_than_a_person_may_be_in(
    both_databases: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teams, "TEAMS_OF_A_USER", 2)
    owner = make_person("tom")

    def make(number: int) -> Callable[[], Any]:
        return lambda: teams.create_team(owner, slug=f"team-{number}", display_name=f"Team {number}")

    found = at_once(*map(make, range(N)))
    assert n_done(found) == Membership.objects.filter(user=owner).count() == 2


def test_checks_at_once_are_no_more_than_a_team_may_have(both_databases: str, site: Site) -> None:
    own = enter_team(make_contest(), "red")
    found = at_once(*[lambda: submitting.check_files(own, captain("red"), upload("R", "11 20 30 40 50 60"))] * N)
    assert n_done(found) == FileCheck.objects.filter(state=CheckState.WAITING).count() == submitting.CHECKS_AT_ONCE


def test_nobody_becomes_organizer_and_player_at_once(both_databases: str, site: Site) -> None:
    contest = make_contest()
    for number in range(4):
        user = make_person(f"double-{number}")
        team = teams.create_team(user, slug=f"double-{number}", display_name=f"Double {number}")
        at_once(
            lambda team=team, user=user: joining.join(contest, team, user),  # type: ignore[misc]
            lambda user=user: steering.add_co_organizer(contest, contest.organizer, user),  # type: ignore[misc]
        )
        plays = RosterEntry.objects.filter(contest=contest, user=user).exists()
        assert plays != contest.co_organizers.filter(pk=user.pk).exists()


def test_team_that_looked_before_attacks_opened_does_not_join_after(site: Site) -> None:
    contest = make_contest()
    late = make_person("late")
    team = teams.create_team(late, slug="late", display_name="Late")
    # Read by a request that was held up while the phase changed.
    seen = Contest.objects.get(pk=contest.pk)
    Contest.objects.update(attacks_open_at=timezone.now() - timedelta(minutes=1))
    with pytest.raises(NotAllowed, match="Attacks have begun"):
        joining.join(seen, team, late)
