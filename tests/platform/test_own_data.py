"""Where teams have data of their own, each sees its own alone, and is checked and scored by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    finish,
    make_contest,
    move_to,
    odd_edition,
    open_contest,
    participation,
)

from tokumei.contest.edition import files_in
from tokumei.contest.folder import open_contest as open_folder
from tokumei.core.errors import NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Phase, State, Submission
from tokumei.platform.contests.services import showing, submitting
from tokumei.platform.contests.services.rulebook import edition_of
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db
OPTIONS = {"n_rows": 60, "n_people": 200}


def test_team_sees_its_own_data_alone_and_plays_by_them(
    organizer: User, team: Team, alice: User, other_team: Team, mallory: User, tmp_path: Path, log_in: LogIn
) -> None:
    entered = ((team, alice), (other_team, mallory))
    contest = make_contest(organizer, *entered, edition="pwscup2025", options=OPTIONS, source=None)
    edition, own = edition_of(contest), {}
    for one, user in entered:
        (found,) = [each for each in showing.downloads(contest, user) if each.kind == "own"]
        own[one.slug] = found.path.read_bytes()
        page = log_in(user).get(f"/contests/{contest.slug}/data").content.decode()
        assert "What your team alone gets" in page
        sent = log_in(user).get(f"/contests/{contest.slug}/files/own/B.csv")
        assert b"".join(sent.streaming_content) == own[one.slug]  # type: ignore[attr-defined]
    assert len(set(own.values())) == 2
    for nobody in (None, organizer):
        assert [each for each in showing.downloads(contest, nobody) if each.kind == "own"] == []
        with pytest.raises(NotFound):
            showing.find_download(contest, nobody, "own", "B.csv")
    for one, user in entered:
        (tmp_path / "B.csv").write_bytes(own[one.slug])
        edition.anonymize("noise", {"B": tmp_path / "B.csv"}, tmp_path, seed=1)
        given = {
            name: SimpleUploadedFile(path.name, path.read_bytes())
            for name, path in files_in(tmp_path, edition.terms.release_files).items()
        }
        submission = submitting.submit_release(participation(contest, one), user, given)
        finish(submission.job)
        submission.refresh_from_db()
        assert (submission.state, submission.faults) == (State.SCORED, [])
        knowledge = open_folder(contest.folder).path("secret", "knowledge", "A.csv")
        right = edition.score(
            {"B": tmp_path / "B.csv"}, {"A": knowledge}, files_in(tmp_path, edition.terms.release_files)
        )
        assert submission.score is not None
        assert submission.score["details"] == right.details
    contest = move_to(contest, Phase.ATTACK)
    marks = (contest.folder / "secret" / "truth" / other_team.slug / "Z.csv").read_bytes()
    given = {"F": SimpleUploadedFile("F.csv", marks)}
    finish(submitting.submit_guess(participation(contest, team), alice, other_team, "", given).job)
    guess = Submission.objects.get(kind="guess")
    assert guess.score is not None
    assert guess.score["success"] == 1
