"""Jobs stand back for pages, and are not charged for that."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tokumei.core.errors import InputError
from tokumei.platform.jobs import process
from tokumei.platform.jobs.process import ChildAnswer


def run(function: str, asked: dict[str, Any], seconds: float) -> ChildAnswer:
    return process.run(
        f"tests.platform.job_functions:{function}",
        asked,
        seconds=seconds,
        memory_bytes=8 * 1024**3,
        beat=lambda progress: True,
        is_stopping=lambda: False,
    )


def test_jobs_of_tests_keep_their_priority() -> None:
    assert run("tell_priority", {}, 60).result == {"nice": os.nice(0)}


def test_work_has_less_of_the_processors_than_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKUMEI_JOB_NICENESS", raising=False)
    assert process._niceness() == 10
    monkeypatch.setattr(process, "NICENESS", 10)
    assert run("tell_priority", {}, 60).result == {"nice": min(os.nice(0) + 10, 19)}


def test_time_that_a_job_was_delayed_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("doze", {"seconds": 30}, 0.01).failure == process.TIMEOUT
    # While this machine was busy with others for a minute.
    monkeypatch.setattr(process, "seconds_delayed", lambda pid: 60.0)
    monkeypatch.setattr(process, "MOST_WAITING", 10_000)
    assert run("doze", {"seconds": 0.1}, 0.01).result == {}
    # But not for ever.
    monkeypatch.setattr(process, "MOST_WAITING", 4)
    assert run("doze", {"seconds": 30}, 0.01).failure == process.TIMEOUT


def test_delay_of_a_process_is_what_linux_counts() -> None:
    assert process.seconds_delayed(os.getpid()) >= 0.0
    assert process.seconds_delayed(0) == 0.0


def test_niceness_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("-1", "20", "1.5", "much"):
        monkeypatch.setenv("TOKUMEI_JOB_NICENESS", wrong)
        with pytest.raises(InputError, match="from 0 to 19"):
            process._niceness()
