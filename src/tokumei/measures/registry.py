"""The measures by name: of use, and of safety where more than the class counts of one release is seen.

The measures of safety that see class counts alone are in `measures/requirement.py`.

| registry | sees | answers |
|---|---|---|
| `RELEASES_SAFETY` | several releases or tables of the same people, row by row | who compares them |
| `ROWS_SAFETY` | the rows of an original and of its release | who knows how values were changed |
| `HISTORY_SAFETY` | the purchases of a released history | who knows some purchases |

Each says by `holds` whether what its options ask for is kept, and by `measure` how far. Of nobody nothing fails, and
where more is better the measure is 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar, Protocol, runtime_checkable

import polars as pl

from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.engines.history_rows import HistoryRows, rows_of
from tokumei.measures.several_releases import SeveralReleases


@runtime_checkable
class HistoryUtility(Protocol):
    """Measures how much use a released history lost; its fields are its options."""

    def measure(self, original: History, released: History) -> Score:
        """Compare a release with its original, row by row where the measure needs it."""


class EngineUtility(ABC):
    """A measure of use that asks for counts of rows alone, so that it runs in memory and on every engine."""

    def measure(self, original: History | HistoryRows, released: History | HistoryRows) -> Score:
        """Compare a release with its original, row by row where the measure needs it."""
        self.check_options()
        return self.compare(rows_of(original), rows_of(released))

    def check_options(self) -> None:  # noqa: B027 - Most take all that their types allow.
        """Refuse options that cannot be measured."""

    @abstractmethod
    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare both by what is counted of their rows."""


class Sees(StrEnum):
    """What must be handed over to compute a number: the original X, the release Y, the row numbers I of Y."""

    RELEASE = "Y"
    """What is published anyhow."""
    BOTH = "X and Y"
    """The original as well, so whoever computes it must be trusted with it."""
    ROWS = "X, Y and I"
    """Also which row is whose: the secret of the release."""


class TableUtility(Protocol):
    """Measures how much use a released table lost; its fields are its options."""

    sees: ClassVar[Sees]

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Compare a release with its original, both with the same columns in the same roles.

        `rows` holds for each released row the row of the original that it came from, counted from 0; a measure that
        does not see rows does not look at them.
        """


HISTORY_UTILITIES: Registry[HistoryUtility] = Registry(
    "history utility",
    "tokumei.measures.utility",
    {
        "customers": ["buyers", "crosstab", "rfm-table"],
        "item_similarity": ["item-cf", "item-cf-retail", "item-cf-supply", "item-cf-top", "item-item"],
        "itemsets": ["association-rules", "frequent-itemsets"],
        "purchases": ["date", "price", "rows", "statistic", "top-items"],
    },
)
TABLE_UTILITIES: Registry[TableUtility] = Registry(
    "table utility",
    "tokumei.measures.table",
    {
        "crosstab_error": ["crosstab-error"],
        "generalized": ["correlation-error", "statistics"],
        "model": ["model"],
        "row_by_row": [
            "aya",
            "correlation-mae",
            "cross-count",
            "cross-mean",
            "information-loss",
            "mean-mae",
            "row-count",
        ],
    },
)


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
    "safety measure of several releases",
    "tokumei.measures.safety",
    {
        "releases": ["m-invariance", "multi-r-k-anonymity", "sequential-k"],
    },
    group="tokumei.measures.safety.releases",
)
ROWS_SAFETY: Registry[RowsSafety] = Registry(
    "safety measure of rows",
    "tokumei.measures.safety",
    {
        "c_t_isolation": ["c-t-isolation"],
        "pk_anonymity": ["pk-anonymity", "pl-diversity"],
    },
    group="tokumei.measures.safety.rows",
)
HISTORY_SAFETY: Registry[HistorySafety] = Registry(
    "safety measure of histories",
    "tokumei.measures.safety",
    {
        "k_t_privacy": ["k-t-privacy"],
        "known_items": ["hkp-coherence", "km-anonymity", "lkc-privacy"],
    },
    group="tokumei.measures.safety.history",
)
