"""What becomes of a submission, from the upload to its final state."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from tests.platform.odd_edition import BROKEN, HUNGRY
from tests.platform.sites import (
    Site,
    captain,
    enter_team,
    evaluated,
    evaluated_apart,
    guess,
    make_contest,
    participation,
    release,
    upload,
)
from tests.platform.test_phases import end_anonymizing

from tokumei.core.errors import NotAllowed, NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import State, Submission
from tokumei.platform.contests.services import joining, phase_work, showing, submitting
from tokumei.platform.contests.services.visibility import in_band, visible_contests
from tokumei.platform.jobs import queue
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run


def test_release_that_keeps_the_rules_is_scored(site: Site) -> None:
    found = evaluated_apart(release(make_contest("red"), "red", "11 20 30 40 50 60"))
    # One of six numbers moved by 1 of 100.
    assert (found.state, found.reason) == (State.SCORED, "")
    assert found.score == {"details": {"moved": 0.01}, "utility": 0.01 / 6, "safety": None, "flags": []}


def test_release_that_breaks_a_rule_is_refused_with_lines(site: Site) -> None:
    found = evaluated_apart(release(make_contest("red"), "red", "11 20 x 40 50"))
    assert (found.state, found.reason, found.score, found.n_faults) == (State.REFUSED, phase_work.REFUSED, None, 2)
    rows, number = found.faults
    assert (rows["value"], rows["expected"]) == ("5", "as many rows as in D")
    # The file goes by the name that the team knows, not by where it lies.
    assert (number["file"], number["line"], number["value"]) == ("R.csv", 3, "x")


def test_fault_that_quotes_what_no_database_takes_is_kept(both_databases: str, site: Site) -> None:
    contest = make_contest("red")
    given = {"R": SimpleUploadedFile("R.csv", b"11\n2\x000\n30\n40\n50\n" + b"6" * 5000 + b"x\n")}
    found = evaluated(submitting.submit_release(participation(contest, "red"), captain("red"), given))
    assert (found.state, found.n_faults) == (State.REFUSED, 2)
    nul, long = found.faults
    assert (nul["line"], nul["value"]) == (2, "2␀0")
    assert (long["line"], len(long["value"])) == (6, 300)


def test_evaluation_that_breaks_three_times_fails_and_costs_no_attempt(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.0)
    contest = make_contest("red")
    found = release(contest, "red", f"{BROKEN} 20 30 40 50 60")
    assert submitting.release_attempts(participation(contest, "red")).in_all_used == 1
    for state in (State.RUNNING, State.RUNNING, State.FAILED):
        assert evaluated(found).state == state
    assert (found.reason, found.score) == (phase_work.DIED, None)
    assert submitting.release_attempts(participation(contest, "red")).in_all_used == 0
    # The kind of the failure and nothing of its message, which quotes what attackers are to know later.
    assert Job.objects.get(submission=found).last_failure == "ValueError"


def test_evaluation_that_wants_too_much_memory_twice_costs_an_attempt(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.0)
    found = release(make_contest("red"), "red", f"{HUNGRY} 20 30 40 50 60")
    for _ in range(2):
        evaluated_apart(found)
    assert (found.state, found.reason) == (State.REFUSED, phase_work.TOO_LARGE)
    assert Job.objects.get(submission=found).last_failure == "MemoryError"


def test_evaluation_done_twice_changes_nothing(site: Site) -> None:
    found = evaluated(release(make_contest("red"), "red"))
    before = Submission.objects.filter(pk=found.pk).values().get()
    run(Job.objects.get(submission=found).pk)
    assert Submission.objects.filter(pk=found.pk).values().get() == before
    assert Job.objects.get(submission=found).n_attempts == 1


def test_release_outside_its_phase_is_refused_without_a_trace(site: Site) -> None:
    now = timezone.now()
    contest = make_contest("red", opens_at=now + timedelta(hours=1))
    with pytest.raises(NotAllowed, match="only while"):
        release(contest, "red")
    assert not Submission.objects.exists()
    assert not (site.folder / "files" / "uploads").exists()


def test_team_that_left_cannot_submit(site: Site) -> None:
    contest = make_contest("red")
    found = participation(contest, "red")
    joining.withdraw(participation(contest, "red"))
    with pytest.raises(NotAllowed, match="left"):
        submitting.submit_release(found, captain("red"), upload("R", "1 2 3 4 5 6"))
    assert not Submission.objects.exists()


def test_submission_is_shown_rounded_to_its_team_and_exactly_to_the_organizer(site: Site) -> None:
    contest = make_contest("red")
    found = evaluated(release(contest, "red", "11 20 30 40 50 60"))
    shown = showing.show(found, captain("red")).score
    assert shown == {"details": {"moved": 0.01}, "utility": 0.002, "safety": None, "flags": []}
    assert showing.show(found, contest.organizer).score == found.score


def test_guess_score_hides_its_details_and_all_of_it_where_the_contest_says_so(site: Site) -> None:
    contest = make_contest("red", "blue")
    for name in ("red", "blue"):
        evaluated(release(contest, name))
    contest = end_anonymizing(contest)
    found = evaluated(guess(contest, "red", "blue"))
    assert found.state == State.SCORED
    assert found.score is not None
    found.contest.shows_guess_scores = True
    # The exact count of right guesses would undo the band.
    assert showing.show(found, captain("red")).score == {
        "success": in_band(found.score["success"]),
        "details": {},
        "is_proof": False,
    }
    found.contest.shows_guess_scores = False
    hidden = showing.show(found, captain("red"))
    assert (hidden.score, hidden.is_score_hidden) == (None, True)
    assert showing.show(found, contest.organizer).score == found.score


def test_guess_at_an_own_unknown_or_known_release_is_refused(site: Site) -> None:
    contest = make_contest("red", "blue", "green")
    for name in ("red", "blue"):
        evaluated(release(contest, name))
    contest = end_anonymizing(contest)
    for target in ("red", "green"):
        with pytest.raises(NotFound):
            guess(contest, "red", target)
    spy = captain("red")
    participation(contest, "blue").team.memberships.create(user=spy)
    with pytest.raises(NotAllowed, match="knows the truth"):
        guess(contest, "red", "blue")
    with pytest.raises(Exception, match="level of knowledge"):
        guess(contest, "blue", "red", knowledge="none")


def test_submission_of_another_team_is_not_there(site: Site) -> None:
    contest = make_contest("red", "blue")
    found = release(contest, "red")
    assert showing.find_submission(captain("red"), found.key) == found
    assert showing.find_submission(contest.organizer, found.key) == found
    for user in (captain("blue"), captain("red")):
        with pytest.raises(NotFound):
            showing.find_submission(user, "0" * 24)
    with pytest.raises(NotFound):
        showing.find_submission(captain("blue"), found.key)


def test_job_holds_names_alone(site: Site) -> None:
    contest = make_contest("red")
    found = release(contest, "red")
    assert list(Job.objects.order_by("pk").values_list("kind", "subject", "payload")) == [
        ("prepare", str(contest.pk), {}),
        ("kit", str(contest.pk), {}),
        ("score", found.key, {}),
    ]


def test_team_joins_once_with_people_who_know_no_truth(site: Site) -> None:
    contest = make_contest("red")
    team = participation(contest, "red").team
    with pytest.raises(NotAllowed, match="captain"):
        joining.join(contest, team, contest.organizer)
    enter_team(contest, "blue")
    participation(contest, "blue").team.memberships.create(user=captain("red"))
    joining.withdraw(participation(contest, "blue"))
    with pytest.raises(NotAllowed, match="another team"):
        joining.join(contest, participation(contest, "blue").team, captain("blue"))


def test_private_contest_is_joined_by_an_invitation_that_is_used_up(site: Site) -> None:
    contest = make_contest(is_public=False)
    made, token = joining.invite(contest, note="for red")
    assert token not in json.dumps({name: str(value) for name, value in vars(made).items()})
    with pytest.raises(NotFound):
        enter_team(contest, "red")
    red = User.objects.get(username="red-captain")
    team = red.teams.get()
    assert contest not in visible_contests(red)
    joining.join(contest, team, red, token)
    assert contest in visible_contests(red)
    with pytest.raises(NotFound):
        joining.invitation_of(token)
    # A team that was let in once may leave and come back.
    joining.withdraw(participation(contest, "red"))
    joining.join(contest, team, red)
    assert joining.participation_of(contest, red) == participation(contest, "red")
