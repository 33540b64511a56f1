"""What the data would still fetch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.columns import NUMBER, TEXT, read_columns
from tokumei.data.files.csv import check_has_columns, read_csv
from tokumei.measure.losses import Attribute, Floats, LevelCost

COLUMNS = ("attribute", "label", "price")


@dataclass(frozen=True)
class Price:
    """Share of the data's price that is gone: 0 if untouched, 1 if it fetches nothing.

    Every value and every label has a price, such as what advertisers pay for people with it (the SEM method of Oguri
    and Sonehara 2014). The price of a release is the sum over its cells, so that dear attributes are kept fine and
    cheap ones given up. A label without a price fetches nothing; none may be dearer than a value or a label under it,
    for then generalizing would pay, and no search could tell by a node what coarser ones lose. A suppressed record
    fetches nothing, nor does a missing value, so that with missing values the label that says nothing has no price.

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
        """Give what all records of an attribute fetch: dear attributes count more."""
        return float(self._of_labels(attribute, 0) @ attribute.label_sizes(0))

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Give the share of the attribute's price that is gone, and what each label still fetches."""
        whole = self.weight(attribute)
        left = self._of_labels(attribute, level)
        for finer in np.flatnonzero(attribute.hierarchy.finer[:, level]).tolist():
            self._check_falls(attribute, finer, level)
        if whole == 0:
            return LevelCost(0.0, np.zeros(len(left)))
        rise = 1 - float(left @ attribute.label_sizes(level)) / whole
        return LevelCost(rise, left * (attribute.n_rows / whole))

    def _of_labels(self, attribute: Attribute, level: int) -> Floats:
        prices = self.prices.get(attribute.hierarchy.attribute, {})
        of_labels = [prices.get(label, 0.0) for label in attribute.hierarchy.levels[level].labels]
        # A missing value tells nothing, so it fetches nothing.
        return np.array(of_labels + [0.0] * (len(attribute.label_sizes(level)) - len(of_labels)))

    def _check_falls(self, attribute: Attribute, finer: int, level: int) -> None:
        """Refuse a label that is dearer than one under it: generalizing must not pay."""
        hierarchy = attribute.hierarchy
        before = self._of_labels(attribute, finer)[attribute.leaf_labels(finer)]
        after = self._of_labels(attribute, level)[attribute.leaf_labels(level)]
        is_dearer = after > before
        # A missing value matters only where there is one.
        is_dearer[-1] &= attribute.leaf_sizes[-1] > 0
        for leaf in np.flatnonzero(is_dearer)[:1]:
            labels = hierarchy.levels[level].labels
            is_missing = leaf == len(hierarchy.leaves)
            label = labels[0] if is_missing else labels[hierarchy.levels[level].codes[leaf]]
            under = hierarchy.levels[finer]
            whose = "a missing value" if is_missing else f"'{under.labels[under.codes[leaf]]}'"
            expected = f"a price of at most {before[leaf]:g}, that of {whose} under it"
            raise InputError.of(expected, file=self.file, column=hierarchy.attribute, value=f"{label}: {after[leaf]:g}")
