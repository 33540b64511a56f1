"""How long work says how far it is, without knowing who listens.

Library code writes `with step("counting", total=12) as bar: … bar.advance()`. Nobody listens unless a
program asks: the command line installs bars on its terminal, a server may install its own listener.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol


class Bar(Protocol):
    """One running step of work."""

    def advance(self, amount: float = 1) -> None:
        """Report that so many more units are done."""


class Listener(Protocol):
    """Whoever wants to know of progress."""

    def step(self, label: str, total: float | None) -> AbstractContextManager[Bar]:
        """Open a step of `total` units, or of unknown length."""


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
