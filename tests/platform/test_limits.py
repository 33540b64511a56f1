"""Limits on attempts, with many at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connections
from django.utils import timezone
from tests.platform.sites import Site, captain, evaluated, guess, make_contest, participation, release, upload
from tests.platform.test_phases import end_anonymizing

from tokumei.core.errors import NotAllowed
from tokumei.platform.contests.models import Participation, State, Submission
from tokumei.platform.contests.services.submitting import guess_attempts, release_attempts, submit_release
from tokumei.platform.jobs.models import Job

N_PARALLEL = 50


def test_fifty_at_once_for_the_last_attempt_leave_one(both_databases: str, site: Site) -> None:
    contest = make_contest("red", releases_in_all=3)
    for _ in range(2):
        release(contest, "red")
    user, place = captain("red"), participation(contest, "red").pk
    barrier = Barrier(N_PARALLEL)

    def submit(_: int) -> str:
        try:
            found = Participation.objects.select_related("team", "contest").get(pk=place)
            barrier.wait()
            submit_release(found, user, upload("R", "1 2 3 4 5 6"))
            return "accepted"
        except NotAllowed:
            return "refused"
        finally:
            connections["default"].close()

    with ThreadPoolExecutor(N_PARALLEL) as pool:
        outcomes = list(pool.map(submit, range(N_PARALLEL)))
    assert (outcomes.count("accepted"), outcomes.count("refused")) == (1, N_PARALLEL - 1)
    assert Submission.objects.count() == Job.objects.exclude(submission=None).count() == 3
    # The files of those that were refused are gone.
    folders = {path.name for path in (site.folder / "files" / "uploads").iterdir()}
    assert folders == set(Submission.objects.values_list("key", flat=True))


def test_attempts_of_a_day_are_new_on_the_next(site: Site) -> None:
    contest = make_contest("red", releases_a_day=2)
    for _ in range(2):
        release(contest, "red")
    with pytest.raises(NotAllowed, match="today"):
        release(contest, "red")
    Submission.objects.update(at=timezone.now() - timedelta(days=1))
    release(contest, "red")
    attempts = release_attempts(participation(contest, "red"))
    assert (attempts.today_used, attempts.in_all_used, attempts.n_left) == (1, 3, 1)


def test_day_begins_at_midnight_of_the_servers_zone(site: Site) -> None:
    contest = make_contest("red")
    release(contest, "red")
    # 23:59 and 00:01 in Tokyo.
    night = datetime(2026, 5, 1, 15, 1, tzinfo=UTC)
    Submission.objects.update(at=night - timedelta(minutes=2))
    assert release_attempts(participation(contest, "red"), night).today_used == 0
    assert release_attempts(participation(contest, "red"), night - timedelta(minutes=2)).today_used == 1


def test_refused_release_counts_and_failed_one_does_not(site: Site) -> None:
    contest = make_contest("red")
    for state in (State.REFUSED, State.FAILED, State.SCORED):
        Submission.objects.filter(pk=release(contest, "red").pk).update(state=state)
    assert release_attempts(participation(contest, "red")).in_all_used == 2


def test_guesses_are_limited_at_each_release_and_level(site: Site) -> None:
    contest = make_contest("red", "blue", guesses_on_one=1, guesses_a_day=2)
    for name in ("red", "blue"):
        evaluated(release(contest, name))
    contest = end_anonymizing(contest)
    guess(contest, "red", "blue", knowledge="half")
    with pytest.raises(NotAllowed, match="all of its 1"):
        guess(contest, "red", "blue", knowledge="half")
    guess(contest, "red", "blue", knowledge="all")
    attempts = guess_attempts(participation(contest, "red"), participation(contest, "blue").team, "all")
    assert (attempts.today_used, attempts.in_all_used) == (2, 1)
    Submission.objects.filter(knowledge="half").update(at=timezone.now() - timedelta(days=1))
    guess(contest, "blue", "red", knowledge="half")
