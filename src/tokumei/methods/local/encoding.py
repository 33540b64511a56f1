"""Rows, or classes that were counted elsewhere, as the task of a local recoding: the same task either way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import PERSON, ClassCounts, Histogram, encode, read_as
from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.hierarchy import Hierarchy, Level
from tokumei.hierarchies.leaves import leaf_texts, numbers_of, read_number
from tokumei.measures.requirement import Requirement, population_of, with_population
from tokumei.methods.local.grid import Grid
from tokumei.methods.local.task import Codes, Ints, LocalAttribute, LocalTask, counts_of_groups


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """The rows of a frame, or classes of rows, as a task, and the class of each there."""

    task: LocalTask
    class_of: Ints


def encode_rows(
    frame: pl.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    requirements: Sequence[Requirement],
    *,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    numeric: Sequence[str] = (),
    suppression: float = 0.0,
    weights: Mapping[str, float] | None = None,
) -> EncodedRows:
    """Make the task of a frame, by its classes; a value that its hierarchy does not hold is an InputError."""
    counts, class_of = count_rows_of(frame, list(hierarchies), sensitive, person)
    encoded = encode_classes(
        counts, hierarchies, requirements, numeric=numeric, suppression=suppression, weights=weights
    )
    return replace(encoded, class_of=encoded.class_of[class_of])


def count_rows_of(
    frame: pl.DataFrame, columns: Sequence[str], sensitive: Sequence[str], person: str | None
) -> tuple[ClassCounts, Ints]:
    """Count the classes of a frame as an engine does, and return the class of each row as well."""
    plain = frame.with_columns(pl.selectors.categorical().cast(pl.String), pl.selectors.enum().cast(pl.String))
    domains, codes = zip(*(encode(plain[name]) for name in columns), strict=True)
    grouping = group_rows(codes, [len(one) for one in domains], frame.height)
    class_of, n_classes = grouping.group_of, len(grouping.a_row_of)
    whose = None if person is None else frame[person]
    histograms = {name: Histogram.of_rows(class_of, n_classes, frame[name], whose) for name in sensitive}
    if whose is not None:
        histograms[PERSON] = Histogram.of_rows(class_of, n_classes, whose)
    taken = np.array([one[grouping.a_row_of] for one in codes], np.int32)
    sizes = np.bincount(class_of, minlength=n_classes)
    return ClassCounts(tuple(columns), domains, taken, sizes, histograms), class_of


def encode_classes(
    counts: ClassCounts,
    hierarchies: Mapping[str, Hierarchy],
    requirements: Sequence[Requirement],
    *,
    numeric: Sequence[str] = (),
    suppression: float = 0.0,
    weights: Mapping[str, float] | None = None,
    grids: Mapping[str, Grid] | None = None,
) -> EncodedRows:
    """Make the task of rows that were counted on their engine: the one that the rows themselves would make.

    grids: of numeric columns, where these classes are a part of a table that has them.

    >>> import tokumei as tk
    >>> counts = tk.count_classes({"age": [31, 31, 52]}, ["age"])
    >>> encode_classes(counts, {"age": flat_hierarchy("age", counts.domain("age"))}, []).task.sizes.tolist()
    [2, 1]
    """
    trees = [_in_order(tree) if name in numeric else tree for name, tree in hierarchies.items()]
    populations = [population_of(one) for one in requirements]
    people = [one.over(list(hierarchies)) for one in populations if one is not None]
    columns = []
    for index, tree in enumerate(trees):
        at = counts.columns.index(tree.attribute)
        own = _leaf_codes(tree, counts.domains[at])[counts.codes[at]]
        domains = (people_domain(one, counts.domains[at]) for one in people)
        others = [_leaf_codes(tree, domain)[one.codes[index]] for one, domain in zip(people, domains, strict=True)]
        columns.append(np.concatenate([own, *others]))
    n_all = counts.n_classes + sum(one.n_classes for one in people)
    grouping = group_rows(columns, [len(tree.leaves) + 1 for tree in trees], n_all)
    group_of, a_row_of = grouping.group_of, grouping.a_row_of
    class_of, n_groups = group_of[: counts.n_classes], len(a_row_of)
    attributes = tuple(
        LocalAttribute(tree, tree.attribute in numeric, codes[a_row_of], (grids or {}).get(tree.attribute))
        for tree, codes in zip(trees, columns, strict=True)
    )
    by_leaf = ClassCounts(
        tuple(hierarchies),
        tuple(pl.Series(tree.attribute, [*tree.leaves, None], pl.String) for tree in trees),
        np.array([one.leaf_of for one in attributes], np.int32).reshape(len(attributes), n_groups),
        # Added up as floats, which is exact below 2^53 rows.
        np.bincount(class_of, counts.sizes, n_groups).astype(np.int64),
        {name: one.in_groups(class_of, n_groups) for name, one in counts.histograms.items()},
    )
    told = _with_population_sizes(requirements, people, group_of[counts.n_classes :], n_groups)
    return EncodedRows(LocalTask(attributes, by_leaf, told, by_leaf.most_left_out(suppression), weights), class_of)


def people_domain(population: ClassCounts, values: pl.Series) -> pl.Series:
    """Convert the values of a population to the type of a table's column; one that does not fit is an InputError."""
    theirs = population.domain(values.name)
    if theirs.dtype.is_numeric() and values.dtype.is_numeric():
        read = theirs.cast(values.dtype, strict=False)
        # A fraction must not become a whole number.
        is_same = (read.cast(theirs.dtype, strict=False) == theirs).fill_null(False)
    else:
        read = read_as(theirs.cast(pl.String), values.dtype)
        is_same = read.is_not_null()
    for value in theirs.filter(theirs.is_not_null() & ~is_same)[:1]:
        raise InputError.of(f"a value of type {values.dtype} in the population", column=values.name, value=value)
    return read.alias(values.name)


def flat_hierarchy(attribute: str, values: pl.Series) -> Hierarchy:
    """Return a hierarchy for a column without one: the values themselves, and nothing at all."""
    leaves = leaf_texts(attribute, values)
    return Hierarchy.of_levels(attribute, [leaves]).with_top()


def _in_order(tree: Hierarchy) -> Hierarchy:
    """Sort the leaves of a hierarchy by their numbers."""
    floats = numbers_of(tree)
    indices = np.argsort(floats, kind="stable")
    if len(np.unique(floats)) < len(floats):
        # Long numbers may share a float and differ.
        numbers = [read_number(leaf) or Fraction(0) for leaf in tree.leaves]
        indices = np.array(sorted(range(len(numbers)), key=numbers.__getitem__))
    if (indices == np.arange(len(indices))).all():
        return tree
    return Hierarchy(
        tree.attribute,
        tuple(Level.of([level.labels[code] for code in level.codes[indices]]) for level in tree.levels),
    )


def _leaf_codes(tree: Hierarchy, domain: pl.Series) -> Codes:
    """Return the leaf of each value of a domain, one past the last for a missing one."""
    # Labels of level 0 are the leaves as the hierarchy writes them, whatever the type of the column.
    labels = tree.recoding(0).labels_of(domain)
    index = {leaf: code for code, leaf in enumerate(tree.leaves)}
    pairs = zip(domain, labels, strict=True)
    return np.array([len(index) if value is None else index[str(label)] for value, label in pairs], np.int32)


def _with_population_sizes(
    requirements: Sequence[Requirement], people: Sequence[ClassCounts], class_of: Ints, n_classes: int
) -> list[Requirement]:
    """Return the requirements with their populations counted in the classes of the task."""
    told, start = [], 0
    populations = iter(people)
    for requirement in requirements:
        if population_of(requirement) is None:
            told.append(requirement)
            continue
        population = next(populations)
        classes = class_of[start : start + population.n_classes]
        start += population.n_classes
        sizes = np.bincount(classes, population.sizes, n_classes)
        told.append(with_population(requirement, counts_of_groups(sizes)))
    return told
