"""How a figure is measured: best of a few runs, each heavy one in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """A measured number, beside what it should not exceed."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def is_met(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f" (at most {self.limit:g}{'' if self.is_met else ': MISSED'})"
        note = f"  {self.note}" if self.note else ""
        value = f"{self.value:,.0f}" if self.value >= 1000 else f"{self.value:.3g}"
        return f"{self.name:<58} {value:>9} {self.unit}{limit}{note}"


def run_command(command: list[str]) -> float:
    """Run a command as a user would, with compiled modules kept from run to run; give the seconds of the processor.

    Those count what the command did, whatever else the machine does meanwhile.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}: {said.read().decode()[-500:]}")
    return used.ru_utime + used.ru_stime


def reading_seconds(file: Path, *, n_above: int = 0) -> float:
    """Return the seconds of the processor that Polars takes to read a file as text, in a new process: the floor."""
    work = f"import polars as pl\npl.read_csv({str(file)!r}, infer_schema=False, skip_rows={n_above})"
    return min(run_command([sys.executable, "-c", work]) for _ in range(3))


def best_seconds(work: Callable[[], object], *, repeat: int = 5) -> float:
    """Time the fastest of several runs: the others measure what else the machine does."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def in_new_process(code: str) -> tuple[float, float]:
    """Run code that sets `seconds` in a new process; give those seconds and the most memory used, in gigabytes."""
    # Not getrusage: its peak starts at that of the process which started the new one.
    tail = (
        "\nimport json\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM:'))\n"
        "print(json.dumps([seconds, int(peak.split()[1]) / 1024**2]))\n"
    )
    # What goes wrong there is shown here, with its traceback.
    done = subprocess.run([sys.executable, "-c", code + tail], stdout=subprocess.PIPE, text=True, check=True)
    seconds, memory = json.loads(done.stdout.strip().splitlines()[-1])
    return float(seconds), float(memory)
