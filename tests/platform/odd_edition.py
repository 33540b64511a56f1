"""An edition that misbehaves when a release asks for it, registered as another package would register its own."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from tests.contest.tiny_edition import Tiny

from tokumei.contest.edition import Files, ReleaseScore
from tokumei.core.progress import step

# What the first row of a release asks for.
SLOW, KILLED, HUNGRY, ENDLESS, BROKEN = 901, 902, 903, 904, 905
# Long enough that whoever looks now and then sees it at work, on a machine that has much else to do, too.
SLOW_STEPS, SLOW_SECONDS = 20, 0.25


@dataclass(frozen=True)
class Odd(Tiny):
    """Tiny, but slow, deadly, hungry, endless or broken on demand."""

    n_releases: int = 20
    n_guesses: int = 10

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        first = int(release["R"].read_text().split()[0])
        if first == SLOW:
            with step("slow", SLOW_STEPS) as bar:
                for _ in range(SLOW_STEPS):
                    time.sleep(SLOW_SECONDS)
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
