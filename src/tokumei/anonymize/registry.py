"""The anonymizers by name."""

from __future__ import annotations

from typing import Protocol

from tokumei.anonymize.search.problem import Problem
from tokumei.anonymize.search.result import Found
from tokumei.core.registry import Registry
from tokumei.data.history import History
from tokumei.data.release import Release


class HistoryAnonymizer(Protocol):
    """Makes a release of a purchase history; its fields are its options.

    There are two kinds. A step (`tokumei.anonymize.steps.HistoryStep`) changes rows and keeps customers; alone it
    ends with one pseudonym for each. All others name the customers themselves and can only come last in a pipeline.
    """

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Make the release; the same seed makes the same one."""


class TableSearch(Protocol):
    """Finds a node of the lattice that holds; its fields are its options."""

    def search(self, problem: Problem) -> Found:
        """Give the node found; CannotAnonymize if none holds."""


HISTORY_ANONYMIZERS: Registry[HistoryAnonymizer] = Registry("history anonymizer", "tokumei.anonymize.history")
TABLE_SEARCHES: Registry[TableSearch] = Registry("table search", "tokumei.anonymize.table")
