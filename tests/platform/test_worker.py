"""Real workers on a real database, killed, frozen and stopped at every stage."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from tests.platform.odd_edition import KILLED, SLOW, end_of_slow_work
from tests.platform.sites import (
    Site,
    children_of,
    end_group,
    facts,
    make_contest,
    pid_of_worker,
    release,
    wait_final,
    wait_until,
)

from tokumei.platform.contests.models import Contest, Phase, State, Submission
from tokumei.platform.jobs.models import Job

pytestmark = pytest.mark.slow

SLOW_ROWS = f"{SLOW} 20 30 40 50 60"
# What the same release gets when nothing disturbs it: 901 stands for 10, 8.91 off, by six rows.
SLOW_SCORE = {"details": {"moved": 8.91}, "utility": 8.91 / 6, "safety": None, "flags": []}


def is_at_work(submission: Submission) -> Callable[[], bool]:
    """Whether an evaluation is in the middle of its work, as its progress tells."""
    return lambda: Job.objects.get(submission=submission).progress.get("step") == "slow"


def is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def consumers_of(worker_pid: int) -> list[int]:
    return [pid for pid in children_of(worker_pid) if "contest" in Path(f"/proc/{pid}/cmdline").read_text()]


def assert_one_undisturbed_result(submission: Submission, n_attempts: int) -> None:
    wait_final(submission)
    assert facts(submission) == {"state": State.SCORED, "score": SLOW_SCORE, "reason": ""}
    row = Job.objects.get(submission=submission)
    assert (row.is_done, row.is_running, row.n_attempts) == (True, False, n_attempts)


def test_killed_processes_at_each_stage_leave_one_result_equal_to_the_undisturbed(
    both_databases: str, site: Site
) -> None:
    contest = make_contest("red")
    worker = site.start_worker()

    # Before the claim: the process that waits for work dies.
    (idle,) = wait_until(lambda: consumers_of(worker.pid))
    os.kill(idle, signal.SIGKILL)
    first = release(contest, "red", SLOW_ROWS)
    wait_until(is_at_work(first))
    assert pid_of_worker(first) != idle

    # During the work: its process dies, later the child of the next one.
    os.kill(pid_of_worker(first), signal.SIGKILL)
    wait_until(lambda: Job.objects.get(submission=first).n_attempts == 2 and is_at_work(first)())
    (child,) = children_of(pid_of_worker(first))
    os.kill(child, signal.SIGKILL)
    end_of_slow_work().touch()
    assert_one_undisturbed_result(first, n_attempts=3)

    # Before the result is written: stopped while the child works, killed after the child has answered.
    end_of_slow_work().unlink()
    second = release(contest, "red", SLOW_ROWS)
    wait_until(is_at_work(second))
    pid = pid_of_worker(second)
    (child,) = children_of(pid)
    os.kill(pid, signal.SIGSTOP)
    end_of_slow_work().touch()
    wait_until(lambda: is_dead(child))
    os.kill(pid, signal.SIGKILL)
    assert_one_undisturbed_result(second, n_attempts=2)

    # The whole machine: everything dies at once, and another worker comes.
    end_of_slow_work().unlink()
    third = release(contest, "red", SLOW_ROWS)
    wait_until(is_at_work(third))
    end_group(worker)
    end_of_slow_work().touch()
    site.start_worker()
    assert_one_undisturbed_result(third, n_attempts=2)


def test_frozen_worker_that_wakes_late_is_refused(site: Site) -> None:
    contest = make_contest("red")
    site.start_worker()
    submission = release(contest, "red", SLOW_ROWS)
    wait_until(is_at_work(submission))
    frozen = pid_of_worker(submission)
    (child,) = children_of(frozen)
    os.kill(frozen, signal.SIGSTOP)
    end_of_slow_work().touch()
    wait_until(lambda: is_dead(child))
    site.start_worker()
    assert_one_undisturbed_result(submission, n_attempts=2)
    before = Submission.objects.filter(pk=submission.pk).values().get()
    os.kill(frozen, signal.SIGCONT)
    # It is told that nobody wants its work any more: when it shows life again, or with the answer in its hand.
    wait_until(lambda: '"outcome": "too late"' in site.log() or '"outcome": "taken over by another"' in site.log())
    assert Submission.objects.filter(pk=submission.pk).values().get() == before


def test_poison_fails_after_three_attempts_and_the_queue_moves_on(site: Site) -> None:
    contest = make_contest("red", "blue")
    poison = release(contest, "red", f"{KILLED} 20 30 40 50 60")
    good = release(contest, "blue", "11 20 30 40 50 60")
    site.start_worker()
    wait_final(good)
    wait_final(poison)
    assert good.state == State.SCORED
    assert poison.state == State.FAILED
    assert Job.objects.get(submission=poison).n_attempts == 3


def test_worker_told_to_stop_gives_back_its_work_and_leaves_nothing_running(site: Site) -> None:
    contest = make_contest("red")
    worker = site.start_worker()
    submission = release(contest, "red", SLOW_ROWS)
    wait_until(is_at_work(submission))
    started = [pid_of_worker(submission), *children_of(pid_of_worker(submission))]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert all(is_dead(pid) for pid in started)
    row = Job.objects.get(submission=submission)
    assert (row.n_attempts, row.is_running, row.is_done) == (0, False, False)
    end_of_slow_work().touch()
    site.start_worker()
    assert_one_undisturbed_result(submission, n_attempts=1)


def test_processes_of_a_killed_worker_end_by_themselves(site: Site) -> None:
    contest = make_contest("red")
    worker = site.start_worker()
    submission = release(contest, "red", SLOW_ROWS)
    wait_until(is_at_work(submission))
    consumer = pid_of_worker(submission)
    started = [consumer, *children_of(consumer)]
    worker.kill()
    worker.wait()
    assert wait_until(lambda: all(is_dead(pid) for pid in started))


def test_worker_changes_phases_by_the_clock(site: Site) -> None:
    contest = make_contest("red", is_prepared=False)
    site.start_worker(2, queues=None)

    def phase() -> Phase:
        return Contest.objects.get(pk=contest.pk).phase

    wait_until(lambda: phase() == Phase.ANONYMIZE)
    contest.refresh_from_db()
    wait_final(release(contest, "red"))
    now = timezone.now()
    Contest.objects.update(attacks_open_at=now + timedelta(seconds=0.1), closes_at=now + timedelta(seconds=60))
    wait_until(lambda: phase() == Phase.ATTACK)
    Contest.objects.update(closes_at=timezone.now())
    wait_until(lambda: phase() == Phase.CLOSED)
    assert Contest.objects.get().trouble == ""


def test_worker_logs_nothing_of_the_data(site: Site) -> None:
    contest = make_contest("red")
    site.start_worker()
    bad = release(contest, "red", "canary 20 30 40 50 60")
    wait_final(bad)
    assert bad.state == State.REFUSED
    wait_until(lambda: '"outcome": "refused"' in site.log())
    assert "canary" not in site.log()
    assert str(site.folder / "files") not in site.log()
