"""The server under load: a hundred users on this machine, one submission in ten page views, on both databases.

A real server, its web and its job processes, over loopback; the users run in this process and share the machine with
it: how much of a processor they took is printed. `python -m benchmarks load --minutes 15` shows whether memory or
descriptors grow; one minute is too short for that.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from statistics import mean

from tests.postgres_server import postgres_programs, postgres_server

from benchmarks import platform
from benchmarks.measure import Figure

SUBMITS_PER_CENT = 10
DEFAULT_MINUTES = 1.0
BETWEEN_LOOKS = 5.0
# A quarter of an hour must not cost a web process more than this.
MOST_MEGABYTES, MOST_DESCRIPTORS = 20.0, 20.0
# An evaluation is overtaken by those that run beside it, of which some take longer than others.
MOST_OVERTAKEN = 10
# Seconds to wait for what is left to be evaluated: after a quarter of an hour it would be most of another hour.
TIME_TO_DRAIN = 120.0


def run() -> list[Figure]:
    minutes = float(os.environ.get("BENCHMARK_MINUTES", DEFAULT_MINUTES))
    figures = _under_load("SQLite", None, minutes)
    programs = postgres_programs()
    if programs is None:
        return [*figures, Figure("PostgreSQL is not installed: not measured", 1, "", 0)]
    with postgres_server(programs) as address:
        return figures + _under_load("PostgreSQL", address, minutes)


def _under_load(name: str, address: str | None, minutes: float) -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "data"
        with platform.server(data, address, ["small"]) as url:
            watcher = Watcher(data)
            watcher.start()
            release = (data / "small.csv").read_bytes()
            crowd = platform.crowd(url, release, seconds=60 * minutes, submits_per_cent=SUBMITS_PER_CENT)
            before, started = _own_seconds(), time.perf_counter()
            watched = asyncio.run(crowd)
            taken = (_own_seconds() - before) / (time.perf_counter() - started)
            watcher.is_over.set()
            watcher.join()
            found = _after_all(data, address)
    pages = watched.seconds["page"] + watched.seconds["submit"]
    lost = watched.n_submitted - found["n_scored"] - found["n_waiting"]
    handed_in = f"{watched.n_submitted:,} handed in, {found['n_scored']:,} scored, {found['n_waiting']:,} still wait"
    is_long = minutes >= 15
    name = f"{name}, {platform.N_USERS} users"
    return [
        Figure(f"{name}: page, p95", 1000 * platform.p95(pages), "ms", 500, f"{len(pages):,} pages"),
        Figure(f"{name}: log-in, p95", 1000 * platform.p95(watched.seconds["log-in"]), "ms", 1000),
        Figure(f"{name}: errors", len(watched.errors), "", 0, "; ".join(sorted(set(watched.errors))[:3])),
        Figure(f"{name}: submissions lost", abs(lost), "", 0, handed_in),
        Figure(f"{name}: most later ones that overtook one", found["overtaken"], "", MOST_OVERTAKEN),
        Figure(f"{name}: share of one processor that the users took", taken, "", None),
        Figure(f"{name}: growth of a web process", watcher.growth(0), "MB", MOST_MEGABYTES if is_long else None),
        Figure(f"{name}: growth of its descriptors", watcher.growth(1), "", MOST_DESCRIPTORS if is_long else None),
    ]


def _own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _after_all(data: Path, address: str | None) -> dict[str, int]:
    """Wait a while for evaluations, and tell what became of all that was handed in."""
    environment = platform.environment(data, address)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"], env=environment, check=True, capture_output=True, text=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


def tell() -> None:
    """Print how many submissions of the crowd were scored and how many wait, and how far any was overtaken."""
    from tokumei.platform.start import configure

    configure()
    from tokumei.platform.contests.models import State, Submission

    give_up = time.monotonic() + TIME_TO_DRAIN
    waiting = Submission.objects.filter(contest__slug="small", state__in=(State.WAITING, State.RUNNING))
    while waiting.exists() and time.monotonic() < give_up:
        time.sleep(1.0)
    # Those that the site was made with came before.
    rows = list(Submission.objects.filter(contest__slug="small").order_by("at", "pk")[platform.N_TEAMS // 3 :])
    n_scored = sum(row.state == State.SCORED for row in rows)
    # What waits is overtaken by all later ones that are done.
    ends = [inf if row.finished_at is None else row.finished_at.timestamp() for row in rows]
    overtaken = [sum(later < end for later in ends[place + 1 :]) for place, end in enumerate(ends)]
    n_waiting = sum(row.state in (State.WAITING, State.RUNNING) for row in rows)
    print(json.dumps({"n_scored": n_scored, "n_waiting": n_waiting, "overtaken": max(overtaken, default=0)}))


@dataclass(eq=False)
class Watcher(threading.Thread):
    """Looks at the web processes every few seconds: the mean of their megabytes, and of their descriptors."""

    data: Path
    looks: list[tuple[float, float]] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def run(self) -> None:
        while not self.is_over.wait(BETWEEN_LOOKS):
            found = [look for pid in _web_processes(self.data) if (look := _look(pid)) is not None]
            if found:
                self.looks.append((mean(look[0] for look in found), mean(look[1] for look in found)))

    def growth(self, what: int) -> float:
        """How much more the last third of the time had than the middle one: the first is for warming up."""
        third = len(self.looks) // 3
        if third == 0:
            return 0.0
        middle, last = self.looks[third : 2 * third], self.looks[-third:]
        return mean(look[what] for look in last) - mean(look[what] for look in middle)


def _web_processes(data: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = f"TOKUMEI_DATA={data}".encode() in (entry / "environ").read_bytes().split(b"\0")
            if is_ours and b"tokumei.platform.serving" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _look(pid: int) -> tuple[float, float] | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
        return kilobytes / 1024, float(len(list(Path(f"/proc/{pid}/fd").iterdir())))
    except (OSError, StopIteration):
        return None


if __name__ == "__main__":
    tell()
