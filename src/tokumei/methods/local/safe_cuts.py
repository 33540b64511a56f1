"""Cuts that are decided without looking at which part has which sensitive value."""

from __future__ import annotations

import numpy as np

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import Histogram
from tokumei.measures.requirement import in_words
from tokumei.measures.safety.alpha_k import AlphaK
from tokumei.measures.safety.k_anonymity import KAnonymity
from tokumei.measures.safety.l_diversity import LDiversity
from tokumei.methods.local.parts import Parts
from tokumei.methods.local.segments import lengths_of, starts_of_runs, within_run
from tokumei.methods.local.splitting import Splitting
from tokumei.methods.local.task import Bools, Ints, LocalTask, counts_of_groups


def check_safe(task: LocalTask) -> None:
    """Refuse rows left out, requirements without a known worst part, and missing values that do not count."""
    if task.n_may_suppress:
        raise InputError.of("0 with safe cuts, which leave nobody out", option="suppress", value=task.n_may_suppress)
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
