"""What a released column says to somebody who reads its labels closely: ends of ranges, sets, and nodes of a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.core.errors import InputError
from tokumei.core.registry import part_options
from tokumei.core.text import Text
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.label_semantics import LeafSets, Vocabulary
from tokumei.hierarchies.labels import ENDLESS, NumberRange, read_range, set_members
from tokumei.hierarchies.leaves import read_number
from tokumei.methods.registry import TABLE_ANONYMIZERS

# Methods that write each group by the closest labels that cover it.
CLOSEST = ("mondrian", "partition", "min-dis", "utility-clustering")
Ranges = Literal["", "tight", "grid"]


@dataclass(frozen=True, eq=False)
class Children:
    """The nodes one level below a label: the text of each, and its leaves as indices of the vocabulary."""

    texts: Sequence[str]
    leaves: Sequence[frozenset[int]]


@dataclass(frozen=True, eq=False)
class LabelReading:
    """The labels of one released column: those that are ranges, those that are sets, and those that are nodes."""

    column: str
    labels: Sequence[str | None]
    vocabulary: Vocabulary
    hierarchy: Hierarchy | None
    is_numeric: bool
    file: str

    @classmethod
    def of(cls, public: PublicKnowledge, column: str) -> LabelReading:
        """Read the labels of a column."""
        tree, is_numeric, file = public.hierarchies.get(column), public.is_numeric(column), public.release.name
        return cls(column, public.labels[column], public.vocabulary(column), tree, is_numeric, file)

    @cached_property
    def ranges(self) -> list[NumberRange | None]:
        """For each label its range if it is one of more than one number."""
        found = [read_range(label) if self.is_numeric and label is not None else None for label in self.labels]
        return [one if one is not None and one.low < one.high else None for one in found]

    @cached_property
    def sets(self) -> list[list[str] | None]:
        """For each label its members if it is a set of several values."""
        found = [None if label is None else set_members(label) for label in self.labels]
        return [one if one is not None and len(one) > 1 else None for one in found]

    @cached_property
    def unit(self) -> Fraction:
        """The step of the scale: the last decimal place that any label has."""
        numbers = [number for label in self.labels if label is not None and (number := read_number(label)) is not None]
        ends = [end for one in self.ranges if one is not None for end in (one.low, one.high) if abs(end) < ENDLESS]
        places = max((_places(number) for number in (*numbers, *ends)), default=0)
        return Fraction(1, 10**places)

    @cached_property
    def leaf_sets(self) -> LeafSets:
        """What each label stands for; one that means nothing is an InputError of the file."""
        try:
            return self.vocabulary.leaf_sets(list(self.labels))
        except InputError as error:
            raise error.within(self.file) from None

    @cached_property
    def n_values(self) -> list[float]:
        """The number of values that each label may stand for, missing ones aside."""
        sizes = np.minimum(self.leaf_sets.sizes, self.vocabulary.n_leaves).tolist()
        if self.hierarchy is not None:
            return [float(size) for size in sizes]
        if not self.is_numeric:
            # Of a mask nobody knows the values: each hidden character may be one of ten digits.
            n_hidden = [0 if label in (None, SUPPRESSED) else str(label).count(SUPPRESSED) for label in self.labels]
            return [float(size * 10**n) for size, n in zip(sizes, n_hidden, strict=True)]
        out = []
        for size, found in zip(sizes, self.ranges, strict=True):
            if found is None or max(abs(found.low), abs(found.high)) >= ENDLESS:
                out.append(float(size))
            else:
                n_steps = (found.high - found.low) / self.unit + 1
                out.append(float(n_steps - found.is_open - found.is_open_below))
        return out

    @cached_property
    def n_possible(self) -> list[float]:
        """The number of values that each label may stand for to somebody who does not know which of them occur.

        A hierarchy that was made from the values lists only those; within a range all steps of its scale are possible.
        """
        if self.hierarchy is None or not any(self.ranges):
            return self.n_values
        numbers = sorted(n for leaf in self.hierarchy.leaves if (n := read_number(leaf)) is not None)
        steps = {high - low for low, high in pairwise(numbers) if high > low}
        if not steps:
            return self.n_values
        scale = math.lcm(*(one.denominator for one in steps))
        step = Fraction(math.gcd(*(int(one * scale) for one in steps)), scale)
        out = []
        for size, found in zip(self.n_values, self.ranges, strict=True):
            if found is None:
                out.append(size)
                continue
            low, high = max(found.low, numbers[0]), min(found.high, numbers[-1])
            first, last = math.ceil((low - numbers[0]) / step), math.floor((high - numbers[0]) / step)
            out.append(max(size, float(last - first + 1)))
        return out

    @cached_property
    def is_generalized(self) -> list[bool]:
        """Whether each label leaves open which value stood there."""
        return [
            label is not None and (label == SUPPRESSED or self.ranges[at] is not None or size > 1)
            for at, (label, size) in enumerate(zip(self.labels, self.n_values, strict=True))
        ]

    @cached_property
    def ends(self) -> list[list[Fraction]]:
        """For each label the ends of its range that belong to it."""
        return [[] if one is None else _own_ends(one) for one in self.ranges]

    @cached_property
    def are_of_a_tree(self) -> bool:
        """Whether every range and set is a label of the hierarchy, so that nobody in the group made it."""
        if self.hierarchy is None:
            return False
        known = {label for level in self.hierarchy.levels for label in level.labels}
        made = [label for at, label in enumerate(self.labels) if self.ranges[at] is not None or self.sets[at]]
        return bool(made) and all(label in known for label in made)

    @property
    def has_made_labels(self) -> bool:
        """Whether there are ranges or sets at all."""
        return any(one is not None for one in (*self.ranges, *self.sets))

    def looks_tight(self) -> tuple[bool, Text]:
        """Judge by the labels alone whether ranges and sets are made of the values in each group, and say why."""
        if self.are_of_a_tree:
            return False, Text("all labels are of the hierarchy")
        ranges = [one for one in self.ranges if one is not None]
        if any(one.is_open or one.is_open_below or max(abs(one.low), abs(one.high)) >= ENDLESS for one in ranges):
            return False, Text("ranges without an end of their own")
        if ranges:
            edges = sorted({edge for one in ranges for edge in (one.low, one.high + self.unit)})
            step = math.gcd(*(int((edge - edges[0]) / self.unit) for edge in edges))
            if step > 1:
                return False, Text(
                    "all ends lie on a grid of {step}", step=str(float(step * self.unit)).removesuffix(".0")
                )
        pairs = sorted({(one.low, -one.high) for one in ranges})
        spans = [(low, -high) for low, high in pairs]
        if _cross(spans) or _sets_cross([one for one in self.sets if one is not None]):
            return True, Text("labels overlap without one holding the other")
        if any(
            low > high + self.unit
            for (_, high), (low, _) in zip(_outermost(spans), _outermost(spans)[1:], strict=False)
        ):
            return True, Text("ranges have irregular ends and leave gaps")
        return False, Text("the labels may come from public bands")

    def children(self, label: int) -> Children | None:
        """Return the nodes below a label of the hierarchy; None for a value, or where there is no hierarchy.

        A label that says nothing has those of the coarsest level that tells anything.
        """
        text = self.labels[label]
        if self.hierarchy is None or text is None:
            return None
        if text not in self._children:
            self._children[text] = self._nodes_below(self.hierarchy, text)
        return self._children[text]

    @cached_property
    def _children(self) -> dict[str, Children | None]:
        return {}

    def _nodes_below(self, tree: Hierarchy, text: str) -> Children | None:
        at = [level for level, one in enumerate(tree.levels) if text in one.labels]
        if at:
            level = at[0] - 1
            codes = tree.levels[at[0]].codes
            is_below = np.zeros(len(tree.leaves), bool)
            for one in at:
                is_below |= tree.levels[one].codes == tree.levels[one].labels.index(text)
        elif text == SUPPRESSED:
            level, is_below = tree.height, np.ones(len(tree.leaves), bool)
        else:
            return None
        if level < 0:
            return None
        codes, names = tree.levels[level].codes, tree.levels[level].labels
        found = np.unique(codes[is_below])
        if len(found) < 2:
            return None
        index_of = self.vocabulary.index_of_leaf
        leaves = [frozenset(index_of[is_below & (codes == code)].tolist()) for code in found]
        return Children([names[code] for code in found], leaves)


def are_tight(public: PublicKnowledge, reading: LabelReading, ranges: Ranges) -> tuple[bool, Text]:
    """Whether the labels of a column are assumed to be made of the values in each group, and why.

    ranges: what was said of them; empty to judge by the method and the labels.
    """
    method = public.method
    if reading.column in method.on_grid:
        return False, Text("put on a public grid afterwards")
    if ranges:
        return ranges == "tight" and not reading.are_of_a_tree, Text("told")
    if searches_levels(method.name) or _writes_all_rows_alike(method.name):
        return False, Text("told by the method")
    if method.options is not None and method.name in CLOSEST:
        is_ranged = method.ranged is None or reading.column in method.ranged
        return is_ranged and method.options.get("ranges", "tight") == "tight", Text("told by the method")
    return reading.looks_tight()


def searches_levels(method: str) -> bool:
    """Whether a method finds one level for each column."""
    return bool(method) and hasattr(TABLE_ANONYMIZERS.get(method), "search")


def _writes_all_rows_alike(method: str) -> bool:
    """Whether a method makes ranges, but each of all rows that have it, so that its ends need not be in every class."""
    takes_ranges = bool(method) and any(one.name == "ranges" for one in part_options(TABLE_ANONYMIZERS.get(method)))
    return takes_ranges and method not in CLOSEST


def _own_ends(found: NumberRange) -> list[Fraction]:
    ends = [*([] if found.is_open_below else [found.low]), *([] if found.is_open else [found.high])]
    return [end for end in ends if abs(end) < ENDLESS]


def _places(number: Fraction) -> int:
    """Count the decimal places of a number that is written with finitely many."""
    places, denominator = 0, number.denominator
    while denominator > 1:
        denominator = (number * 10 ** (places + 1)).denominator
        places += 1
    return places


def _cross(spans: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Whether two spans overlap and neither holds the other; they come by their low ends, the wider first."""
    open_ends: list[Fraction] = []
    for low, high in spans:
        while open_ends and open_ends[-1] < low:
            open_ends.pop()
        if open_ends and open_ends[-1] < high:
            return True
        open_ends.append(high)
    return False


def _outermost(spans: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    out: list[tuple[Fraction, Fraction]] = []
    for low, high in spans:
        if not out or low > out[-1][1]:
            out.append((low, high))
    return out


def _sets_cross(sets: Sequence[Sequence[str]]) -> bool:
    """Whether two sets have a member in common and neither holds the other."""
    # By size: the smallest set that a member was seen in must lie within the next one.
    last: dict[str, frozenset[str]] = {}
    for one in sorted((frozenset(members) for members in sets), key=len):
        if any(member in last and not last[member] <= one for member in one):
            return True
        last |= dict.fromkeys(one, one)
    return False
