"""An edition that misbehaves when a release asks for it, registered as another package would register its own."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tests.contest.tiny_edition import Tiny

from tokumei.contest.edition import Files, ReleaseScore
from tokumei.core.progress import step

# What the first row of a release asks for.
SLOW, KILLED, HUNGRY, ENDLESS, BROKEN = 901, 902, 903, 904, 905
# Slow work looks so often, and so many times at most, for the file that lets it end.
SECONDS_BETWEEN_LOOKS, MOST_LOOKS = 0.05, 6000


def end_of_slow_work() -> Path:
    """Where the file is that lets slow work end: beside the tests' packages, the first place where Python looks."""
    return Path(os.environ["PYTHONPATH"].partition(os.pathsep)[0]).parent / "let-go"


@dataclass(frozen=True)
class Odd(Tiny):
    """Tiny, but slow until it is let go, deadly, hungry, endless or broken on demand."""

    n_releases: int = 20
    n_guesses: int = 10

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        first = int(release["R"].read_text().split()[0])
        if first == SLOW:
            with step("slow", MOST_LOOKS) as bar:
                for _ in range(MOST_LOOKS):
                    if end_of_slow_work().exists():
                        break
                    time.sleep(SECONDS_BETWEEN_LOOKS)
                    bar.advance()
        elif first == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        elif first == HUNGRY:
            bytearray(64 * 1024**3)
        elif first == ENDLESS:
            while True:
                pass
        elif first == BROKEN:
            raise ValueError(f"the rows are {knowledge['K100'].read_text()}")
        return super().score(data, knowledge, release)
