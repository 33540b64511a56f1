"""What measures have in common that hold the sensitive values of each class against those of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.safety._sensitive import SensitiveValues


class ComparedWithAll:
    """Takes the sensitive values out of class counts, beside the shares that they are compared with."""

    sensitive: str
    reference: Mapping[Any, float] | None
    against: str
    is_missing_a_value: bool

    def check_whose(self) -> None:
        """Refuse shares of anybody else's."""
        if self.against not in ("both", "original", "release"):
            raise InputError.of("both, original or release", option="against", value=self.against)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    @property
    def sees_whole_release(self) -> bool:
        """Without a reference a class is compared with all rows that are released."""
        return self.reference is None

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the sensitive values out of class counts."""
        return SensitiveValues.of(
            counts, self.sensitive, is_missing_a_value=self.is_missing_a_value, reference=self.reference
        )

    def measure(self, counts: ClassCounts) -> Score:
        """Return the value of the class that differs most."""
        return self.score(self.values_in(counts))

    def score(self, values: SensitiveValues) -> Score:
        """Return the value of the class that differs most, from known values."""
        raise NotImplementedError
