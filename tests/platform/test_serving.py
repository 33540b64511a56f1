"""The server as a whole, as `tokumei serve` starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tokumei.core.errors import InputError
from tokumei.platform.processes import STARTED_BY
from tokumei.platform.serving import bind

SERVE = [sys.executable, "-m", "tokumei", "serve", "--port", "0"]


@dataclass
class Server:
    process: subprocess.Popen[str]
    url: str
    data: Path
    log: Path

    def get(self, path: str) -> tuple[int, dict[str, str], bytes]:
        with urllib.request.urlopen(self.url + path.lstrip("/"), timeout=90) as answer:
            return answer.status, dict(answer.headers), answer.read()


def processes_of(data: Path) -> list[int]:
    """Find the processes that serve from a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TOKUMEI_DATA={data}".encode() in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    data, log = tmp_path / "data", tmp_path / "log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOKUMEI_")}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    environment.pop("DATABASE_URL", None)
    # What does not end says where it is, when asked by SIGABRT.
    environment["PYTHONFAULTHANDLER"] = "1"
    with log.open("w") as written:
        process = subprocess.Popen(
            [*SERVE, "--data", str(data)], stdout=subprocess.PIPE, stderr=written, text=True, env=environment
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+/", line)
    assert found is not None, log.read_text()
    yield Server(process, found[0], data, log)
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()


def await_end(data: Path, log: Path) -> None:
    """Wait until no process serves from a folder; one that stays says in the log where it is."""
    give_up = time.monotonic() + 90
    while (left := processes_of(data)) and time.monotonic() < give_up:
        time.sleep(0.1)
    for process in left:
        os.kill(process, signal.SIGABRT)
    time.sleep(1 if left else 0)
    assert not left, log.read_text()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")
def test_server_answers_runs_jobs_and_ends_as_a_whole(server: Server) -> None:
    status, headers, body = server.get("/")
    assert status == 200
    assert "somebody should have tried to find the people in it" in body.decode()
    sheet = re.search(r'href="(/static/tokumei\.[0-9a-f]{12}\.css)"', body.decode())
    assert sheet is not None
    status, headers, _ = server.get(sheet[1])
    assert "immutable" in headers["Cache-Control"]
    assert json.loads(server.get("/health")[2])["status"] == "ok"
    assert b"tokumei_requests_total" in server.get("/metrics")[2]
    # This one, the web server with two processes, and the job cluster with its own.
    assert len(processes_of(server.data)) >= 5
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(120) == 0
    await_end(server.data, server.log)
    assert not any(word in server.log.read_text() for word in ("Traceback", "error"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_server_killed_leaves_nothing_behind(server: Server) -> None:
    server.process.kill()
    server.process.wait()
    await_end(server.data, server.log)


def test_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "tokumei", "serve", "--port", str(port), "--data", str(tmp_path / "data")]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == f"Error: option --port: found '127.0.0.1:{port}', expected a port that is free\n"
    assert not (tmp_path / "data").exists()


def test_host_that_is_not_ours_is_refused() -> None:
    with pytest.raises(InputError, match="address of this machine"):
        bind("192.0.2.1", 0)
    with pytest.raises(InputError, match="name or address"):
        bind("no such host", 0)


def test_listening_at_all_addresses_asks_for_names(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TOKUMEI_HOSTS"}
    command = [*SERVE, "--host", "0.0.0.0", "--data", str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "TOKUMEI_HOSTS" in done.stderr


@pytest.mark.parametrize("is_gone", [False, True])
def test_process_whose_starter_was_gone_before_it_could_ask_ends(is_gone: bool) -> None:
    words = "from tokumei.platform.processes import end_with_parent as end; end(); print('goes on', end='')"
    environment = {**os.environ, STARTED_BY: "1" if is_gone else str(os.getpid())}
    done = subprocess.run([sys.executable, "-c", words], env=environment, check=True, stdout=subprocess.PIPE)
    assert done.stdout == (b"" if is_gone else b"goes on")


HANGS = """
import signal, time
from tokumei.platform import processes
processes.TIME_TO_END = 0.5
signal.signal(signal.SIGTERM, lambda *_: None)
processes.end_with_parent()
print('started', flush=True)
while True: time.sleep(1)
"""
STARTS = f"""
import os, subprocess, sys
environment = {{**os.environ, {STARTED_BY!r}: str(os.getpid())}}
subprocess.Popen([sys.executable, "-c", {HANGS!r}], env=environment, start_new_session=True).wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_process_that_does_not_heed_the_end_of_its_starter_ends_and_says_where_it_was() -> None:
    command = [sys.executable, "-c", STARTS]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        starter.stdout.readline()
        starter.kill()
        # The pipes are closed once both have ended.
        _, said = starter.communicate(timeout=60)
    assert "most recent call first" in said


def test_told_while_it_looks_whether_it_was_told_does_not_wait_for_itself() -> None:
    """A signal may come between any two steps: of an event that holds its lock, `set` would wait for ever."""
    words = (
        "import signal, os, sys; from tokumei.platform.processes import Told; told = Told().by(signal.SIGUSR1)\n"
        "def tell(frame, event, argument):\n"
        "    frame.f_trace_opcodes = True\n"
        "    if event == 'opcode' and frame.f_code.co_name in ('wait', 'is_set'): signal.raise_signal(signal.SIGUSR1)\n"
        "    return tell\n"
        "sys.settrace(tell)\n"
        "print(told.wait(0.01) or told.wait(0.01), end='')"
    )
    done = subprocess.run([sys.executable, "-c", words], stdout=subprocess.PIPE, timeout=60, check=True)
    assert done.stdout == b"True"
