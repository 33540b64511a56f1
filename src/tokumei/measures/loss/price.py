"""What the data would still fetch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.columns import NUMBER, TEXT, read_columns
from tokumei.data.files.csv import check_has_columns, read_csv
from tokumei.measures.losses import Attribute, Floats, LevelCost

COLUMNS = ("attribute", "label", "price")


@dataclass(frozen=True)
class Price:
    """Share of the data's price that is gone: 0 if untouched, 1 if it fetches nothing.

    Every value and every label has a price, such as what advertisers pay for people with it (the SEM method of Oguri
    and Sonehara 2014). The price of a release is the sum over its cells, so that dear attributes are kept fine and
    cheap ones given up. A label without a price fetches nothing, and so does a missing value or a suppressed record.
    A label may be dearer than what is under it: then generalizing pays, the loss can be below 0, and no node can be
    ruled out for being coarser than another. `optimal`, `exhaustive` and `best-effort` still prove the best one.

    Example: the ages 20 and 21 fetch 4 each and 35 fetches 1, the 20s 2 and the 30s 1. People of 20, 21, 35 and 35 are
    worth 4 + 4 + 1 + 1 = 10, as bands 2 + 2 + 1 + 1 = 6: the loss is 0.4. At the top it is 1, since `*` has no price.
    """

    file: str = field(metadata={"help": "CSV with the columns attribute, label and price."})

    name: ClassVar[str] = "price"

    @cached_property
    def prices(self) -> dict[str, dict[str, float]]:
        """The price of each label of each attribute."""
        text = read_csv(self.file)
        check_has_columns(COLUMNS, text.frame.columns, self.file)
        faults = FaultList(self.file)
        frame = read_columns(text, {"attribute": TEXT, "label": TEXT, "price": NUMBER}, faults)
        faults.raise_if_any()
        out: dict[str, dict[str, float]] = {}
        for row, (attribute, label, price) in enumerate(frame.select(COLUMNS).iter_rows()):
            if price < 0:
                faults.add("a price of 0 or more", line=text.line_of(row), column="price", value=price)
            out.setdefault(attribute, {})[label] = price
        faults.raise_if_any()
        return out

    def weight(self, attribute: Attribute) -> float:
        """Return what all records of an attribute fetch: dear attributes count more."""
        return float(self._of_labels(attribute, 0) @ attribute.label_sizes(0))

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the share of the attribute's price that is gone, and what each label still fetches."""
        whole = self.weight(attribute)
        left = self._of_labels(attribute, level)
        fetched = float(left @ attribute.label_sizes(level))
        if whole == 0:
            if fetched > 0:
                expected = "a price above 0 for a value that occurs, which the prices of labels are compared with"
                raise InputError.of(expected, file=self.file, column=attribute.hierarchy.attribute, value="none")
            return LevelCost(0.0, np.zeros(len(left)))
        return LevelCost(1 - fetched / whole, left * (attribute.n_rows / whole))

    def _of_labels(self, attribute: Attribute, level: int) -> Floats:
        prices = self.prices.get(attribute.hierarchy.attribute, {})
        of_labels = [prices.get(label, 0.0) for label in attribute.hierarchy.levels[level].labels]
        # A missing value tells nothing, so it fetches nothing.
        return np.array(of_labels + [0.0] * (len(attribute.label_sizes(level)) - len(of_labels)))
