"""Records that are alone in their class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import Holds


@dataclass(frozen=True)
class Uniques:
    """No record is alone with its values; measures the share of records that are: 0 if none, 1 if all.

    The share is of all records, of which those suppressed are not unique.

    Example: of five people three are 30, one is 40, and of one the age is missing. The last two are alone, so the
    measure is 2/5. Had three more records been suppressed, it would be 2/8.
    """

    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.n_suppressed < 0:
            raise InputError.of("a number of records", option="n_suppressed", value=self.n_suppressed)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has more than one row."""
        return counts.sizes > 1

    def measure(self, counts: ClassCounts) -> Score:
        """Return the share of unique records."""
        n_records = max(1, counts.n_rows + self.n_suppressed)
        inputs = {"n_unique": counts.n_unique, "n_records": counts.n_rows + self.n_suppressed}
        return Score("uniques", counts.n_unique / n_records, best=0, worst=1, inputs=inputs)
