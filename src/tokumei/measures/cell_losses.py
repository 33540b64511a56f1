"""The losses that add up over the cells of a generalized table: heights, ranges, steps, bits and prices.

Each says what one level of one attribute costs; a table's loss is the mean over its attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.csv import check_has_columns, read_csv
from tokumei.data.files.strict import NUMBER, TEXT, read_columns
from tokumei.hierarchies.leaves import numbers_of
from tokumei.measures.losses import Attribute, Floats, LevelCost


@dataclass(frozen=True)
class Prec:
    """Mean over all cells of level / height: 0 if untouched, 1 if fully generalized (Sweeney's Prec as a loss).

    A suppressed record counts as fully generalized.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s, and `*` above. That is one of two levels, so each cell
    and the whole column lose 1/2.
    """

    name: ClassVar[str] = "prec"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return level / height, the same for every label."""
        height = max(1, attribute.hierarchy.height)
        cost = level / height
        return LevelCost(cost, np.full(len(attribute.label_sizes(level)), 1 - cost))


@dataclass(frozen=True)
class Ncp:
    """Mean over all cells of the share of values a label covers: 0 if untouched, 1 if all (certainty penalty).

    A label of a category that covers u of A leaves costs u/A, and nothing while it covers one. A label of a numeric
    attribute costs the width of its leaves over the width of all. A label that says nothing, such as `*`, covers the
    missing value, too, and costs 1, even over a single leaf: whether there is a value is no longer told. A suppressed
    record covers everything.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s. As categories the 20s cover two of three ages and the
    30s one, which is no loss: (2/3 + 2/3 + 0 + 0) / 4 = 1/3. As numbers the 20s cover 1 of 15 years:
    (1/15 + 1/15 + 0 + 0) / 4 = 1/30.
    """

    name: ClassVar[str] = "ncp"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the mean cover over all records, and the cover each label lacks."""
        if attribute.hierarchy.says_nothing(level):
            # Of a single value nothing but whether it is there can be lost, and here that is.
            cost = np.ones(1)
        else:
            cost = _widths(attribute, level) if attribute.is_numeric else _covers(attribute, level)
            # A missing value stands for itself until it stands with all.
            cost = np.append(cost, 0.0)
        sizes = attribute.label_sizes(level)
        return LevelCost(float(cost @ sizes) / max(1, attribute.n_rows), 1 - cost)


def _covers(attribute: Attribute, level: int) -> Floats:
    n_leaves = np.bincount(attribute.hierarchy.levels[level].codes)
    return np.where(n_leaves > 1, n_leaves / len(attribute.hierarchy.leaves), 0.0)


def _widths(attribute: Attribute, level: int) -> Floats:
    numbers = numbers_of(attribute.hierarchy)
    at = attribute.hierarchy.levels[level]
    low, high = np.full(len(at), np.inf), np.full(len(at), -np.inf)
    np.minimum.at(low, at.codes, numbers)
    np.maximum.at(high, at.codes, numbers)
    whole = numbers.max() - numbers.min()
    return (high - low) / whole if whole else np.zeros(len(at))


@dataclass(frozen=True)
class Dis:
    """Mean over all cells of a label's height in its value tree / that of the tree: 0 if untouched, 1 at the top.

    The height of a label is the longest chain of ever smaller labels within it (Muramoto, Kamidoi and Wakabayashi 2007;
    Oguri's thesis, formula 2). Unlike Prec it asks what a label covers and not at which level it stands: a level at
    which a value's group does not grow costs nothing, and labels of levels that cross are compared by what lies in
    them. `*` is the top, even over a single value; a suppressed record costs 1 in each cell.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s, and `*` above. 35 is the only age of the 30s, which
    are no higher than it, and the tree has two steps: the loss is (1 + 1 + 0 + 0) / 2 / 4 = 1/4. At the top it is 1.
    """

    name: ClassVar[str] = "dis"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the mean height of the labels at a level, over that of the tree."""
        heights = attribute.hierarchy.label_heights
        cost = heights[level] / max(1, *(int(one.max()) for one in heights))
        if not attribute.hierarchy.says_nothing(level):
            # A missing value stands for itself until it stands with all.
            cost = np.append(cost, 0.0)
        rise = float(cost @ attribute.label_sizes(level)) / max(1, attribute.n_rows)
        return LevelCost(rise, 1 - cost)


@dataclass(frozen=True)
class Entropy:
    """Share of the bits that tell a value, gone: 0 if untouched, 1 if none is left (non-uniform entropy).

    A record with value v under label L lost log(n_L / n_v) of its log(N / n_v) bits, n being numbers of records; the
    mean over an attribute is divided by the attribute's entropy. A suppressed record lost all its bits.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s. The ages tell 2, 2, 1 and 1 bits, 1.5 on average, and
    the bands 1 bit each: the loss is 1 − 1/1.5 = 1/3. People of 35 lost nothing, since the 30s have no other age.
    """

    name: ClassVar[str] = "entropy"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the mean share of bits lost, and what each label still tells."""
        n_rows = max(1, attribute.n_rows)
        bits = _bits(attribute.leaf_sizes, n_rows)
        entropy = float(bits @ attribute.leaf_sizes) / n_rows
        left = _bits(attribute.label_sizes(level), n_rows)
        if entropy == 0:
            return LevelCost(0.0, np.zeros(len(left)))
        told = float(left @ attribute.label_sizes(level)) / n_rows
        return LevelCost(max(0.0, 1 - told / entropy), left / entropy)


def _bits(sizes: object, n_rows: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return −log2 of the share of records, and 0 where there is none."""
    counts = np.asarray(sizes, np.float64)
    return np.log2(n_rows / np.where(counts > 0, counts, n_rows))


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
