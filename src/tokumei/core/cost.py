"""What some work is expected to take, before it starts."""

from __future__ import annotations

import logging
from dataclasses import dataclass

notes = logging.getLogger("tokumei.notes")

# Shorter work is not announced.
LEAST_SAID = 20.0
GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Cost:
    """Seconds of one core, as measured on a usual machine, and bytes held at once.

    An estimate: machines differ by a factor of two or three, so it is said in round numbers.
    """

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        held = f"{self.n_bytes / GIGABYTE:.1f} GB" if self.n_bytes > GIGABYTE / 10 else "little memory"
        return f"about {_duration(self.seconds)} and {held}"

    def say(self, work: str) -> None:
        """Report the expected cost to whoever runs long work."""
        if self.seconds > LEAST_SAID or self.n_bytes > GIGABYTE:
            notes.info("%s is expected to take %s.", work, self)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds, -1 if seconds > 20 else 0)):.0f} seconds"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3_600:.0f} hours"
