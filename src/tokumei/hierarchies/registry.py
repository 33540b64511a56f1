"""The hierarchy builders by name: each makes the hierarchy of a column from its values and a few options."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from tokumei.core.registry import Registry
from tokumei.hierarchies.hierarchy import Hierarchy


class Builder(Protocol):
    """Makes the hierarchy of one column; its fields are its options."""

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of an attribute with these values.

        Values may repeat and be missing. The hierarchy holds every value that is not missing, perhaps more,
        and its last level is a single `*`. A value that the builder cannot place is an InputError.
        """
        ...


BUILDERS: Registry[Builder] = Registry("hierarchy builder", "tokumei.hierarchies.builders")
