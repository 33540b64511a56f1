"""How far the sensitive values of each class are from the reference: 0 if alike, 1 if they could not be further.

All three are earth mover's distances (Li, Li and Venkatasubramanian, t-Closeness, ICDE 2007); they differ in what
it costs to turn one value into another.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tokumei.engines.grouping import Indices
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.safety._sensitive import Numbers, SensitiveValues


def equal_distance(values: SensitiveValues) -> Numbers:
    """Return the total variation of each class: every value is equally far from every other."""
    # What some values gain others lose, so half the sum of all differences is the sum of the gains.
    return np.minimum(values.sums(values.gains), 1)


def ordered_distance(values: SensitiveValues, indices: Indices) -> Numbers:
    """Return the distance of each class where values stand in a row, one step from their neighbors.

    Normalized by the m − 1 steps between the m values that occur in the classes or in the reference.
    """
    occurs = values.reference > 0
    occurs[values.value_of] = True
    order = np.argsort(indices, kind="stable")
    order = order[occurs[order]]
    m = len(order)
    if m < 2:
        return np.zeros(values.n_classes)
    index_of = np.zeros(len(indices), np.int64)
    index_of[order] = np.arange(m)
    index, counts = index_of[values.value_of], values.counts
    if (np.diff(order) < 0).any():
        pairs = np.argsort(values.class_of * m + index)
        index, counts = index[pairs], counts[pairs]
    total = np.cumsum(counts)
    before = values.repeated(total[values.starts] - counts[values.starts])
    share_up_to = (total - before) / values.repeated(values.totals)
    next_index = np.append(index[1:], m)
    next_index[np.append(values.starts[1:], len(index)) - 1] = m
    return _areas_between(values, np.cumsum(values.reference[order]), index, next_index, share_up_to) / (m - 1)


def _areas_between(
    values: SensitiveValues, reference_up_to: Numbers, index: Indices, next_index: Indices, share_up_to: Numbers
) -> Numbers:
    """Add up, over all indices, how far each class's share up to there is from the reference's.

    From one value of a class to its next the class's share stays, while the reference's only grows, so it is below
    up to some index and above from there on; both sides are differences of running sums, whatever lies between.
    """
    area = np.concatenate(([0.0], np.cumsum(reference_up_to)))
    turn = np.clip(np.searchsorted(reference_up_to, share_up_to), index, next_index)
    between = share_up_to * (2 * turn - index - next_index) - 2 * area[turn] + area[index] + area[next_index]
    # Before a class's first value its share is 0.
    before_first = values.in_all(area[index[values.starts]])
    return np.maximum(values.sums(between) + before_first, 0)


def hierarchical_distance(values: SensitiveValues, hierarchy: Hierarchy) -> Numbers:
    """Return the distance of each class where values are as far as the level of their lowest common label.

    Li et al. move what a label's children have too much to those that have too little, at the cost level/height.
    What a label cannot settle within itself is its own gain, so with Vₗ the total variation among the labels of
    level l the costs are Σ l/H · (Vₗ₋₁ − Vₗ), which telescopes to the mean of V₀ … V_{H−1}.
    """
    tree = hierarchy.with_top()
    tree.check_nested()
    leaves = leaf_indices(tree, values.domain)
    distance = equal_distance(values)
    for level in tree.levels[1:-1]:
        # A missing value is in no label but the top.
        codes = np.append(level.codes, np.int32(len(level)))[leaves]
        distance += equal_distance(values.recoded(codes, len(level) + 1))
    # A tree of one leaf has no height, and then only a missing value differs from it.
    return distance / max(1, tree.height)


def leaf_indices(hierarchy: Hierarchy, domain: pl.Series) -> Indices:
    """Return the index of each value among the leaves, missing last; a value that is no leaf is an InputError."""
    index = {leaf: index for index, leaf in enumerate(hierarchy.leaves)}
    known = domain.drop_nulls()
    found = [index[label] for label in hierarchy.recoding(0).labels_of(known)]
    return np.array(found + [len(index)] * (len(domain) - len(known)), np.int64)


def natural_indices(domain: pl.Series) -> Indices | None:
    """Return the index of each value in its natural order, missing last; None for text that is no number or date.

    Text that is all numbers is in the order of the numbers, since a CSV file gives nothing but text.
    """
    if domain.dtype in (pl.Null, pl.Boolean) or domain.dtype.is_numeric() or domain.dtype.is_temporal():
        return np.arange(len(domain))
    if domain.dtype != pl.String:
        return None
    numbers = domain.cast(pl.Float64, strict=False)
    if numbers.null_count() == domain.null_count():
        indices = np.empty(len(domain), np.int64)
        indices[numbers.arg_sort(nulls_last=True).to_numpy()] = np.arange(len(domain))
        return indices
    dates = domain.str.to_date("%Y-%m-%d", strict=False)
    return np.arange(len(domain)) if dates.null_count() == domain.null_count() else None
