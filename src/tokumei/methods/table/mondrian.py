"""Cut the table into boxes, each along the attribute of which it tells least."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.measures.requirement import population_of
from tokumei.methods.local.judging import groups_hold
from tokumei.methods.local.recoding import LocalRecoding
from tokumei.methods.local.safe_cuts import SafeSplitting, check_safe
from tokumei.methods.local.splitting import Splitting, split_groups
from tokumei.methods.local.task import RANGES_HELP, Ints, LocalTask, Ranges, check_ranges


@dataclass(frozen=True)
class Mondrian:
    """Cut all rows into parts, and these again, as long as every part still meets what is asked.

    A group is cut along the attribute whose label costs it most, that is, covers the largest share of the attribute's
    width or values, times the weight of the column; where the parts would not hold, the next one is tried. Numbers are
    cut at the median: at the place that leaves most rows on the smaller side. Categories are cut into the labels one
    level below the closest that covers them all; without a hierarchy that is every value for itself. A missing value is
    cut off from the others if it can be, else it goes with the last part, where only `*` covers it. At the end each
    group is written by the closest labels. Ranges of numbers consist of cells of a public grid, and numbers are cut
    between cells, so that no range ends with the value of a member because it is one; `ranges=tight` cuts and ends
    them anywhere, as the paper does, and gives members away. Every requirement can be asked for. One that speaks of
    the whole release, such as the mean class size, is judged on all parts of a round together, and the last rounds are
    undone until it holds.

    Strict, equal values stay together in every cut, and a group is cut only if all of its parts hold: no two groups
    share a combination of values. Relaxed, groups may overlap, and tell more. Rows at the median may go to either side;
    since rows that are equal in all columns are one class, that is done class by class, in the order of their other
    values. Categories that fail stay together under the label they had, joined by the smallest that holds if they fail
    even so. Values then do not tell where people of a population belong, so no requirement may speak of one.

    Where rows may be left out, each group may leave out its share of them: parts that fail, if the group loses less cut
    than whole though a row left out counts twice. What a group does not use goes to its parts by their rows.

    A group that is not cut since a part would fail tells something of the sensitive values in it. Safe cuts (ours, not
    the paper's) do not: whether a group is cut is decided by the values of the group as a whole, as if its parts had
    the most frequent of them, as far as chance would deal these out (`margin`). Where a part fails even so, there is no
    release, for undoing that cut would give it away. The larger the margin, the rarer that is, and the larger the
    groups; with `inf` it never is. Safe cuts are strict, leave nobody out, and are there for k-anonymity, ℓ-diversity
    and (α,k)-anonymity.

    LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity (ICDE 2006).

    Example: eight people in groups of two, Kyoto and Osaka being `west`, Tokyo and Chiba `east`. Age and city both tell
    nothing at first, and the first column goes first: four people are under 41. Of these the cities cover half of all,
    the ages 8 of 40 years, so the cities are cut. Of the others ages and cities cover half each, and the ages are cut.
    The grid of so few rows has cells of five years. There 41 is alone, and so is 61: no cut of the older four holds.

    | age | city | tight | | on the grid | |
    |---|---|---|---|---|---|
    | 21 | Kyoto | 21-23 | Kyoto | 20-24 | Kyoto |
    | 23 | Kyoto | 21-23 | Kyoto | 20-24 | Kyoto |
    | 25 | Osaka | 25-29 | Osaka | 25-29 | Osaka |
    | 29 | Osaka | 25-29 | Osaka | 25-29 | Osaka |
    | 41 | Tokyo | 41-45 | Tokyo | 40-64 | east |
    | 45 | Tokyo | 41-45 | Tokyo | 40-64 | east |
    | 47 | Chiba | 47-61 | east | 40-64 | east |
    | 61 | Tokyo | 47-61 | east | 40-64 | east |
    """

    kind: Literal["strict", "relaxed"] = field(
        default="strict", metadata={"help": "Whether groups share no values (strict) or may overlap (relaxed)."}
    )

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    cuts: Literal["checked", "safe"] = field(
        default="checked",
        metadata={
            "help": "Whether a group is cut if its parts meet what is asked (checked), or by its values as a whole, so "
            "that stopping gives nothing away (safe)."
        },
    )
    margin: float = field(
        default=3.0,
        metadata={
            "help": "For safe cuts: by how many standard deviations parts may differ from chance in their values."
        },
    )

    def __post_init__(self) -> None:
        check_ranges(self.ranges)
        if self.kind not in ("strict", "relaxed"):
            raise InputError.of("strict or relaxed", option="kind", value=self.kind)
        if self.cuts not in ("checked", "safe"):
            raise InputError.of("checked or safe", option="cuts", value=self.cuts)
        if self.cuts == "safe" and self.kind != "strict":
            raise InputError.of("strict, with safe cuts", option="kind", value=self.kind)
        if not self.margin >= 0:
            raise InputError.of("a number of 0 or more", option="margin", value=self.margin)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Cut until no part can be cut; CannotAnonymize if even all rows together do not hold."""
        if self.kind == "relaxed" and any(population_of(one) is not None for one in task.requirements):
            raise InputError.of("strict, for a requirement of a population", option="kind", value=self.kind)
        if self.cuts == "safe":
            check_safe(task)
        task = task.with_ranges(self.ranges)
        with step("cutting groups"):
            group_of = self._groups(task)
        n_out = int(task.sizes[group_of < 0].sum())
        if n_out > task.n_may_suppress:
            raise task.too_many_out(n_out)
        return LocalRecoding.of_groups(task, group_of)

    def _groups(self, task: LocalTask) -> Ints:
        """Return the group of each class after as many rounds as can be done."""
        if self.cuts == "safe":
            return self._safe_groups(task)
        is_relaxed = self.kind == "relaxed"
        group_of, n_rounds = split_groups(Splitting(task, is_relaxed=is_relaxed))
        if _all_hold(task, group_of):
            return group_of
        # Groups only get finer, so what holds after some rounds held after fewer.
        low, high = 0, n_rounds
        while high - low > 1:
            middle = (low + high) // 2
            group_of, _ = split_groups(Splitting(task, is_relaxed=is_relaxed), n_rounds=middle)
            low, high = (middle, high) if _all_hold(task, group_of) else (low, middle)
        return split_groups(Splitting(task, is_relaxed=is_relaxed), n_rounds=low)[0]

    def _safe_groups(self, task: LocalTask) -> Ints:
        """Return the groups of safe cuts; CannotAnonymize where one that was made breaks the promise."""
        group_of, _ = split_groups(SafeSplitting(task, self.margin))
        if not _all_hold(task, group_of):
            raise CannotAnonymize(
                Text(
                    "A safe cut with a margin of {margin:g} left a group that does not meet what was asked. "
                    "Choose a larger margin.",
                    margin=self.margin,
                )
            )
        return group_of


def _all_hold(task: LocalTask, group_of: Ints) -> bool:
    """Whether all groups hold together."""
    classes = np.flatnonzero(group_of >= 0)
    n_groups = int(group_of.max(initial=-1)) + 1
    rows = np.bincount(group_of[classes], task.sizes[classes], n_groups).astype(np.int64)
    return bool(groups_hold(task, classes, group_of[classes], rows).all())
