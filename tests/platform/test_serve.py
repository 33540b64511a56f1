"""The journey of `tokumei serve --demo`: started, looked at, logged in to, ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import httpx
import pytest
from tests.platform.sites import wait_until
from tests.platform.test_serving import await_end, processes_of

SERVE = [sys.executable, "-m", "tokumei", "serve", "--port", "0"]
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("TOKUMEI_") and name not in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL")
}


def token_of(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def read_until(output: IO[str], words: str) -> str:
    """Read what a server prints up to a line with these words."""
    read = ""
    while words not in read:
        line = output.readline()
        assert line, read
        read += line
    return read


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")
def test_demo_is_served_lets_its_users_in_and_ends_as_a_whole(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [*SERVE, "--demo", "--data", str(data)]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=ENVIRONMENT) as process,
    ):
        try:
            assert process.stdout is not None
            printed = read_until(process.stdout, "real contests")
            url, password = re.findall(r"http://\S+/|(?<=password of all is)\s+\S+", printed)
            with httpx.Client(base_url=url, timeout=60) as browser:
                assert "Summer Cup" in browser.get("").text
                _look_as_alice(browser, password.strip())
            # What the first page could do without is played by the worker.
            wait_until(lambda: b"Spring Cup" in httpx.get(url, timeout=60).content, 120)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    await_end(data, tmp_path / "log")
    assert '"level": "error"' not in (tmp_path / "log").read_text()


def _look_as_alice(browser: httpx.Client, password: str) -> None:
    form = {"csrfmiddlewaretoken": token_of(browser.get("login").text), "username": "alice", "password": password}
    assert browser.post("login", data=form).status_code == 302
    assert "Alice Martin" in browser.get("account").text
    board = browser.get("contests/summer-cup/scoreboard").text
    assert all(team in board for team in ("チーム桜", "Maple", "富士山", "Harbour Lab", "北斗七星", "Lattice Crew"))
    # The guesses come a moment later.
    wait_until(lambda: "<svg" in browser.get("contests/summer-cup/figures/attacks.svg").text, 120)
    assert browser.get("contests/summer-cup/attack").status_code == 200
    assert browser.get("contests/autumn-cup/submit").status_code == 200


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")
def test_pages_alone_run_no_jobs_and_a_worker_shows_itself(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with subprocess.Popen(
        [*SERVE, "--no-jobs", "--data", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        try:
            assert process.stdout is not None
            url = re.findall(r"http://\S+/", process.stdout.readline())[0]
            commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes_of(data)]
            assert not any(b"jobs" in command.split(b"\0") for command in commands)
            metrics = httpx.get(f"{url}metrics", timeout=90).text
            assert "tokumei_workers 0" in metrics
            assert "tokumei_submissions_scored 0" in metrics
            worker_command = [sys.executable, "-m", "tokumei", "worker", "--processes", "1", "--data", str(data)]
            with subprocess.Popen(worker_command, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as worker:
                try:
                    wait_until(lambda: "tokumei_workers 1" in httpx.get(f"{url}metrics", timeout=90).text, 60)
                finally:
                    worker.send_signal(signal.SIGTERM)
            assert worker.returncode == 0
            assert "tokumei_workers 0" in httpx.get(f"{url}metrics", timeout=90).text
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
