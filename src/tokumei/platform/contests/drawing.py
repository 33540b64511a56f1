"""Figures are drawn in a process beside the pages: what draws holds Python's lock, and nobody's page waits for it.

The process is started by the first figure, takes one after the other as lines of JSON, and ends when nobody asked for
long or when whoever started it is gone.
"""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from tokumei.platform.jobs.process import little_environment, lower_priority

if TYPE_CHECKING:
    import polars as pl

# Seconds without a question after which the process ends, and gives its memory back.
IDLE_SECONDS = 600.0
# It may have ended, or been killed, just now.
MOST_ATTEMPTS = 2
# Seconds that a figure may take: one of them, but the process stands back for all others.
MOST_SECONDS = 120.0


class DrawingFailed(Exception):
    """The process that draws ended, or did not, twice over one figure: no fault of whoever asked for it."""


class Drawer:
    """The process that draws for this one; threads ask it one after the other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The number of the process; 0 where none runs."""
        return 0 if self._process is None else self._process.pid

    def draw(self, figure: str, rows: Sequence[Mapping[str, object]], titles: Mapping[str, str]) -> str:
        """Draw a figure of `tokumei.reports.figures`, by its name, and give it as SVG."""
        asked = json.dumps([figure, rows, titles]).encode() + b"\n"
        for _attempt in range(MOST_ATTEMPTS):
            answer = self._ask(asked)
            if answer.endswith(b"\n"):
                return str(json.loads(answer))
            self.end()
        raise DrawingFailed("The figure could not be drawn; see the log.")

    def _ask(self, asked: bytes) -> bytes:
        """Return the line that was answered; less than a line if the process is gone or takes too long."""
        if self._process is None:
            self._process = _start()
        if self._process.stdin is None or self._process.stdout is None:
            return b""
        with suppress(BrokenPipeError):
            self._process.stdin.write(asked)
            self._process.stdin.flush()
            if _is_heard(self._process.stdout, MOST_SECONDS):
                return self._process.stdout.readline()
        return b""

    def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        # What is left to be written has nobody to read it.
        with suppress(BrokenPipeError), process:
            pass


def _start() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tokumei.platform.contests.drawing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=little_environment(),
        # Only as one of its own can it stand back alone. It ends when nobody holds the other end any more.
        start_new_session=True,
    )
    lower_priority(process.pid)
    return process


def main() -> None:
    """Be the process: draw what each line asks for."""
    from tokumei.reports import figures

    while _is_heard(sys.stdin.buffer, IDLE_SECONDS):
        line = sys.stdin.buffer.readline()
        if not line:
            break
        figure, rows, titles = json.loads(line)
        drawn = getattr(figures, figure)(_frame(rows), **titles)
        sys.stdout.buffer.write(json.dumps(drawn).encode() + b"\n")
        sys.stdout.buffer.flush()


def _is_heard(pipe: IO[bytes], seconds: float) -> bool:
    """Wait until there is something to read, or nobody writes any more."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def _frame(rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Make a frame of rows in which times are written as text and a score may be missing everywhere."""
    import polars as pl

    points = pl.DataFrame(rows, infer_schema_length=None)
    if "at" not in points.columns:
        return points
    return points.with_columns(pl.col("at").str.to_datetime(), pl.col("best").cast(pl.Float64))


if __name__ == "__main__":
    main()
