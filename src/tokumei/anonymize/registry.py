"""The anonymizers by name."""

from __future__ import annotations

from typing import Protocol

from tokumei.core.registry import Registry
from tokumei.data.history import History
from tokumei.data.release import Release


class HistoryAnonymizer(Protocol):
    """Makes a release of a purchase history; its fields are its options."""

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Make the release; the same seed makes the same one."""


HISTORY_ANONYMIZERS: Registry[HistoryAnonymizer] = Registry("history anonymizer", "tokumei.anonymize.history")
