"""How long work says how far it is, without knowing who listens.

Library code writes `with step("counting", total=12) as bar: … bar.advance()`. Nobody listens unless a
program asks: the command line installs bars on its terminal, a server may install its own listener.

`Cost` is what some work is expected to take, before it starts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class Bar(Protocol):
    """One running step of work."""

    def advance(self, amount: float = 1) -> None:
        """Report that so many more units are done."""


class Listener(Protocol):
    """Whoever wants to know of progress."""

    def step(self, label: str, total: float | None) -> AbstractContextManager[Bar]:
        """Open a step of `total` units, or of unknown length."""


def memory_of_machine() -> int | None:
    """Return the bytes of memory of this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


class SilentBar:
    """A bar that nobody sees."""

    def advance(self, amount: float = 1) -> None:
        """Do nothing."""


class Silent:
    """The listener when nobody listens."""

    def step(self, label: str, total: float | None) -> AbstractContextManager[Bar]:  # noqa: ARG002
        """Open a step that is not shown."""
        return nullcontext(SilentBar())


_listener: ContextVar[Listener] = ContextVar("listener", default=Silent())  # noqa: B039 - Silent holds no state.


def step(label: str, total: float | None = None) -> AbstractContextManager[Bar]:
    """Open a step of work for whoever listens."""
    return _listener.get().step(label, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of the enclosed work to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


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

    def is_beyond(self, limit: Cost) -> bool:
        """Whether this takes more time or more memory than a limit."""
        return self.seconds > limit.seconds or self.n_bytes > limit.n_bytes

    def say(self, work: str) -> None:
        """Report the expected cost to whoever runs long work."""
        if self.seconds > LEAST_SAID or self.n_bytes > GIGABYTE:
            notes.info("%s is expected to take %s.", work, self)


# What work that nobody asked for by name may take; what takes more is left out, and the result says so.
UNASKED = Cost(15.0, 4 * GIGABYTE)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds, -1 if seconds > 20 else 0)):.0f} seconds"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3_600:.0f} hours"
