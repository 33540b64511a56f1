"""The safety measures that see more than the class counts of one release, by name.

| registry | sees | answers |
|---|---|---|
| `RELEASES_SAFETY` | several releases or tables of the same people, row by row | who compares them |
| `ROWS_SAFETY` | the rows of an original and of its release | who knows how values were changed |
| `HISTORY_SAFETY` | the purchases of a released history | who knows some purchases |

Each says by `holds` whether what its options ask for is kept, and by `measure` how far. Of nobody nothing fails, and
where more is better the measure is 0.
"""

from __future__ import annotations

from typing import Protocol

from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.measures.several_releases import SeveralReleases


class ReleasesSafety(Protocol):
    """What several releases of the same people must satisfy together; its fields are its options."""

    def holds(self, releases: SeveralReleases) -> bool:
        """Whether everybody is as safe as asked for."""

    def measure(self, releases: SeveralReleases) -> Score:
        """Return the value achieved over all people."""


class RowsSafety(Protocol):
    """What a released table must satisfy beside its original; its fields are its options.

    Which released row is whose is not looked at.
    """

    def holds(self, original: Table, released: Table) -> bool:
        """Whether the release is as safe as asked for."""

    def measure(self, original: Table, released: Table) -> Score:
        """Return the value achieved."""


class HistorySafety(Protocol):
    """What a released history must satisfy; its fields are its options."""

    def holds(self, released: History) -> bool:
        """Whether the release is as safe as asked for."""

    def measure(self, released: History) -> Score:
        """Return the value achieved over all combinations of items."""


RELEASES_SAFETY: Registry[ReleasesSafety] = Registry(
    "safety measure of several releases", "tokumei.measures.safety.releases"
)
ROWS_SAFETY: Registry[RowsSafety] = Registry("safety measure of rows", "tokumei.measures.safety.rows")
HISTORY_SAFETY: Registry[HistorySafety] = Registry("safety measure of histories", "tokumei.measures.safety.history")
