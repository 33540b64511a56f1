"""The measures by name."""

from __future__ import annotations

from typing import Protocol

from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.data.history import History


class HistoryUtility(Protocol):
    """Measures how much use a released history lost; its fields are its options."""

    def measure(self, original: History, released: History) -> Score:
        """Compare a release with its original, row by row where the measure needs it."""


HISTORY_UTILITIES: Registry[HistoryUtility] = Registry("history utility", "tokumei.measure.utility")
