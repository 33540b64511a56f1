"""Cut the table into boxes, each along the attribute of which it tells least.

Safe cuts are decided without looking at which part has which sensitive value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.engines.class_counts import Histogram
from tokumei.measures.requirement import in_words, population_of
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.measures.safety.diversity import AlphaK, LDiversity
from tokumei.methods.local.cuts import Parts, groups_hold, lengths_of, starts_of_runs, within_run
from tokumei.methods.local.splitting import Splitting, split_groups
from tokumei.methods.local.task import (
    RANGES_HELP,
    Bools,
    Ints,
    LocalRecoding,
    LocalTask,
    Ranges,
    check_ranges,
    counts_of_groups,
)


def check_safe(task: LocalTask) -> None:
    """Refuse rows left out, requirements without a known worst part, and missing values that do not count."""
    if task.n_may_suppress:
        raise InputError.of("0 with safe cuts, which leave nobody out", option="suppress", value=task.n_may_suppress)
    if task.counts_people:
        raise InputError.of("checked, where people have several rows", option="cuts", value="safe")
    for one in task.requirements:
        if type(one) is KAnonymity:
            continue
        if not isinstance(one, (LDiversity, AlphaK)):
            expected = "k-anonymity, ℓ-diversity or (α,k)-anonymity with safe cuts"
            raise InputError.of(expected, option="cuts", value=in_words(one))
        if not one.is_missing_a_value and task.counts.histograms[one.sensitive].values.null_count():
            raise InputError.of("no missing sensitive values with safe cuts", column=one.sensitive)


class SafeSplitting(Splitting):
    """Cuts a group by its values as a whole, whichever of its rows has which, so that stopping gives nothing away.

    Each part is taken to have as many rows of each value as dealing the values out at random gives it, and more by
    `margin` standard deviations; of these the most frequent ones. The group is cut if its parts would hold even so. All
    that this asks is told by the release, since every group consists of released ones. So every original with these
    released groups leads to them, and knowing why the method stopped tells nothing beyond the release.
    """

    def __init__(self, task: LocalTask, margin: float) -> None:
        self.margin = margin
        super().__init__(task)

    def parts_hold(self, parts: Parts) -> Bools:
        """Whether each part would hold with the most frequent values that it may be dealt."""
        holds: Bools = parts.rows >= self.task.least_size
        if self.task.is_only_k:
            return holds
        whole = self.task.grouped(self.open.classes, self.open.at_classes(), self.open.rows)
        worst = {
            name: with_most_frequent(one, parts.group_of, parts.rows, self.margin)
            for name, one in whole.histograms.items()
        }
        counts = counts_of_groups(parts.rows, worst)
        for requirement in self.task.requirements:
            if type(requirement) is not KAnonymity:
                holds &= requirement.holds_in(counts)
        return holds


def with_most_frequent(groups: Histogram, group_of: Ints, rows: Ints, margin: float) -> Histogram:
    """Fill parts with the most frequent values of their groups: the group and the rows of each part are given.

    margin: how many standard deviations above its share of a value a part may get; with infinity as many as there are.

    >>> import polars as pl
    >>> group = Histogram(pl.Series(["cold", "flu", "HIV"]), np.zeros(3, int), np.arange(3), np.array([1, 4, 3]))
    >>> worst = with_most_frequent(group, np.array([0, 0]), np.array([3, 5]), np.inf)
    >>> worst.class_of.tolist(), worst.values.gather(worst.value_of).to_list(), worst.counts.tolist()
    ([0, 1, 1], ['flu', 'flu', 'HIV'], [3, 4, 1])
    """
    order = np.lexsort((-groups.counts, groups.class_of))
    group_at, counts = groups.class_of[order], groups.counts[order]
    # Every group has a row, and so a value.
    first = np.flatnonzero(starts_of_runs(group_at))
    n_values = lengths_of(first, len(counts))[group_of]
    part = np.repeat(np.arange(len(rows)), n_values)
    start = np.cumsum(n_values) - n_values
    at = first[group_of[part]] + within_run(np.ones(len(part), np.int64), start)
    size, whole, own = rows[part], np.add.reduceat(counts, first)[group_of[part]], counts[at]
    # Of a hypergeometric distribution: rows are dealt out without putting any back.
    share = own / whole
    variance = size * share * (1 - share) * (whole - size) / np.maximum(1, whole - 1)
    beyond = np.multiply(margin, np.sqrt(variance), out=np.zeros(len(part)), where=variance > 0)
    most = np.minimum(np.ceil(size * share + beyond), np.minimum(own, size)).astype(np.int64)
    left = np.clip(size - within_run(most, start), 0, most)
    is_in = left > 0
    part, value, left = part[is_in], groups.value_of[order][at[is_in]], left[is_in]
    ascending = np.lexsort((value, part))
    return Histogram(groups.values, part[ascending], value[ascending], left[ascending])


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
