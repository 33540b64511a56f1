"""Codes whose beginning says most: postal codes, telephone numbers, article numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import hierarchy_of, leaf_texts


@dataclass(frozen=True)
class Prefix:
    """Characters are masked from the right: 12345, 1234*, 123**, …, *.

    Shorter values count as if they ended in masks, so that 12 and 12345 meet where two characters are left.
    """

    step: int = field(default=1, metadata={"help": "How many more characters each level masks."})
    mask: str = field(default="*", metadata={"help": "The character that stands for a masked one."})

    def __post_init__(self) -> None:
        if self.step < 1:
            raise InputError.of("a step of at least 1", option="step", value=self.step)
        if len(self.mask) != 1:
            raise InputError.of("one character", option="mask", value=self.mask)

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column of codes."""
        texts = leaf_texts(attribute, values)
        longest = max(len(text) for text in texts)
        padded = [text.ljust(longest, self.mask) for text in texts]
        kept = range(longest - self.step, 0, -self.step)
        columns = [[text[:n].ljust(longest, self.mask) for text in padded] for n in kept]
        return hierarchy_of(attribute, [texts, *columns])
