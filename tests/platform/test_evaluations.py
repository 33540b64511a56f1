"""Who may work on an evaluation, and whose result counts."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.urls import clear_url_caches, get_resolver
from django.utils import timezone
from tests.platform.odd_edition import ENDLESS, KILLED, SLOW, end_of_slow_work
from tests.platform.sites import (
    Site,
    evaluated,
    evaluated_apart,
    make_contest,
    release,
    run_at_once,
    wait_until,
)

from tokumei.platform.contests.models import State, Submission
from tokumei.platform.contests.services import phase_work
from tokumei.platform.jobs import process, queue, running
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.queue import Lease, claim
from tokumei.platform.jobs.running import end_worn_out, run


@pytest.fixture
def waiting(site: Site) -> Job:
    """An evaluation that nobody has begun."""
    return Job.objects.get(submission=release(make_contest("red"), "red"))


def take(evaluation: Job, worker: str = "one") -> Lease:
    held = claim(evaluation.pk, worker)
    assert held is not None
    return held


def freeze(evaluation: Job) -> None:
    """Make the last sign of life an old one."""
    Job.objects.filter(pk=evaluation.pk).update(beat_at=timezone.now() - timedelta(minutes=1))


def mark(row: Job) -> None:
    Submission.objects.filter(job=row).update(state=State.SCORED)


def refuse(row: Job) -> None:
    Submission.objects.filter(job=row).update(state=State.REFUSED)


def test_claim_counts_the_attempt_before_any_work(waiting: Job) -> None:
    assert take(waiting) == Lease(waiting.pk, fence=1, n_attempts=1)
    waiting.refresh_from_db()
    assert (waiting.n_attempts, waiting.is_running, waiting.worker) == (1, True, "one")
    assert Submission.objects.get().state == State.RUNNING


def test_claim_of_what_runs_is_refused_until_it_shows_no_life(waiting: Job) -> None:
    first = take(waiting)
    assert claim(waiting.pk, "two") is None
    freeze(waiting)
    second = take(waiting, "two")
    assert (second.fence, second.n_attempts) == (2, 2)
    assert not first.beat()
    assert second.beat({"step": "price", "done": 1, "total": 3})


def test_result_of_a_worker_that_woke_up_late_is_refused(waiting: Job) -> None:
    late = take(waiting)
    freeze(waiting)
    assert take(waiting, "two").finish(mark)
    assert not late.finish(refuse)
    assert not late.try_again("late")
    assert not late.give_back()
    assert Submission.objects.get().state == State.SCORED


def test_result_that_cannot_be_written_whole_is_not_written(waiting: Job) -> None:
    def break_off(row: Job) -> None:
        mark(row)
        raise OSError

    with pytest.raises(OSError):
        take(waiting).finish(break_off)
    waiting.refresh_from_db()
    assert not waiting.is_done
    assert Submission.objects.get().state == State.RUNNING


def test_pages_are_imported_before_a_result_holds_the_database(waiting: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bool] = []
    finish = Lease.finish

    def look(held: Lease, *arguments: Any) -> bool:
        looked.append("url_patterns" in vars(get_resolver()))
        return finish(held, *arguments)

    monkeypatch.setattr(Lease, "finish", look)
    clear_url_caches()
    assert "url_patterns" not in vars(get_resolver())
    assert run_at_once(waiting.pk)
    assert looked == [True]


def test_worker_whose_pages_take_long_to_import_is_not_taken_for_dead(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BEAT_SECONDS", 0.05)
    found = release(make_contest("red"), "red")
    beat = Lease.beat
    n_looks: list[int] = []

    def beat_at_the_second_try(held: Lease, progress: Any = None) -> bool:
        n_looks.append(1)
        if len(n_looks) == 1:
            raise OperationalError("the database is being restarted")
        return beat(held, progress)

    def import_slowly() -> None:
        job = Job.objects.filter(submission=found)
        job.update(beat_at=None)
        wait_until(lambda: job.get().beat_at is not None)

    monkeypatch.setattr(Lease, "beat", beat_at_the_second_try)
    monkeypatch.setattr(running, "import_pages", import_slowly)
    assert evaluated(found).state == State.SCORED
    assert len(n_looks) > 1


def test_work_given_back_costs_no_attempt_and_is_free_at_once(waiting: Job) -> None:
    assert take(waiting).give_back()
    assert take(waiting, "two") == Lease(waiting.pk, fence=2, n_attempts=1)


def test_failed_attempt_is_tried_again_a_little_later(waiting: Job) -> None:
    take(waiting).try_again("ValueError")
    assert claim(waiting.pk, "two") is None
    Job.objects.update(due_at=timezone.now())
    assert take(waiting).n_attempts == 2


def test_dead_worker_frees_what_it_held(waiting: Job) -> None:
    take(waiting, "host:1")
    assert queue.release_worker("host:2") == 0
    assert queue.release_worker("host:1") == 1
    assert take(waiting).n_attempts == 2


def test_evaluation_that_took_three_workers_with_it_fails(waiting: Job) -> None:
    for number in range(3):
        take(waiting, f"host:{number}")
        freeze(waiting)
    assert claim(waiting.pk, "four") is None
    assert queue.worn_out() == [waiting.pk]
    end_worn_out()
    submission = Submission.objects.get()
    assert (submission.state, submission.reason) == (State.FAILED, phase_work.DIED)
    assert queue.worn_out() == []


def test_jobs_are_taken_oldest_first_and_from_their_queue_alone(waiting: Job) -> None:
    assert queue.next_jobs(["contest"]) == [waiting.pk]
    assert queue.next_jobs(["exchange", "mail"]) == []
    take(waiting)
    assert queue.next_jobs(["contest"]) == []
    freeze(waiting)
    assert queue.next_jobs(["contest"]) == [waiting.pk]


@pytest.mark.slow
def test_endless_evaluation_ends_in_time_with_all_it_started(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.0)
    monkeypatch.setitem(queue.WORK, "score", replace(queue.WORK["score"], seconds=1.5))
    found = release(make_contest("red"), "red", f"{ENDLESS} 20 30 40 50 60")
    for _ in range(2):
        evaluated_apart(found)
    assert (found.state, found.reason) == (State.REFUSED, phase_work.TIMED_OUT)
    assert not [pid for pid in _children() if "jobs.child" in _command(pid)]


def test_evaluation_killed_from_within_is_noticed_at_once(site: Site) -> None:
    found = evaluated_apart(release(make_contest("red"), "red", f"{KILLED} 20 30 40 50 60"))
    assert found.state == State.RUNNING
    assert Job.objects.get(submission=found).last_failure == "ended by signal 9"


def test_worker_that_lost_its_evaluation_stops_working_on_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "BEAT_SECONDS", 0.1)
    found = release(make_contest("red"), "red", f"{SLOW} 20 30 40 50 60")
    beat = Lease.beat

    def beat_after_a_thief(held: Lease, progress: Any = None) -> bool:
        Job.objects.filter(pk=held.job).update(fence=held.fence + 1, worker="thief")
        return beat(held, progress)

    monkeypatch.setattr(Lease, "beat", beat_after_a_thief)
    evaluated_apart(found)
    row = Job.objects.get(submission=found)
    assert (row.worker, row.is_running, row.is_done) == ("thief", True, False)


def test_process_of_an_evaluation_gets_no_secret(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    found = release(make_contest("red"), "red", f"{SLOW} 20 30 40 50 60")
    seen: list[str] = []
    beat = Lease.beat

    def look(held: Lease, progress: Any = None) -> bool:
        working = [pid for pid in _children() if "jobs.child" in _command(pid)]
        seen.extend(Path(f"/proc/{pid}/environ").read_bytes().decode() for pid in working)
        end_of_slow_work().touch()
        return beat(held, progress)

    monkeypatch.setattr(Lease, "beat", look)
    run(Job.objects.get(submission=found).pk)
    found.refresh_from_db()
    assert found.state == State.SCORED
    assert seen
    for environment in seen:
        assert "DATABASE_URL" not in environment
        assert "TOKUMEI" not in environment
        assert "only-for-tests" not in environment


def _children() -> list[int]:
    tasks = Path(f"/proc/{os.getpid()}/task")
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    except FileNotFoundError:
        return ""
