"""Predictors side by side on one table, against the k of every node of its lattice, counted together.

Counting takes few attributes first, and leaves out what a 1 rules out. Telling more never makes the smallest class
larger. So a node is counted only if its k is above 1 with each of its attributes left out; else it is 1. That is
Incognito's subset join (LeFevre et al. 2005) for a k of 2. What is left of nodes over more attributes stands at coarser
levels, so that the classes they are rolled up from become few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import prod
from statistics import fmean

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import Cost, step
from tokumei.core.registry import part_options
from tokumei.core.text import Text
from tokumei.engines.class_counts import ClassCounts, ColumnMap
from tokumei.engines.grouping import WORTH, Classes, Grouping, NestedClasses, group_recoded_rows
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.predictor import (
    PREDICTORS,
    Estimated,
    Fitted,
    LatticeCounts,
    Prediction,
    Predictor,
    Quadrants,
    Rule,
    check_single_tops,
    is_served,
)

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# The classes of nodes are kept to count others from until they are so many times as many as those of the finest levels.
KEPT = 4


@dataclass(frozen=True)
class _Classes:
    """Classes of some attributes, each at a level: the labels of each attribute, and the sizes."""

    levels: Mapping[int, int]
    labels: Mapping[int, Codes]
    sizes: Ints


class NodeKs:
    """Counts the k of nodes from the counts of a lattice's values."""

    def __init__(self, counts: LatticeCounts) -> None:
        check_single_tops(counts.lattice)
        self.lattice, over, whole = counts.lattice, counts.over, counts.nested
        self.n_rows = over.n_rows
        indices = range(len(self.lattice.hierarchies))
        self.maps = [[one.at(level) for level in range(len(one.hierarchy.levels))] for one in counts.maps]
        are_leaves = [_are_leaves(own[0], over.domains[index]) for index, own in enumerate(self.maps)]
        for index in indices:
            if are_leaves[index]:
                # The codes of the values serve as they are: what is counted by them need not be counted again.
                self.maps[index][0] = ColumnMap(
                    np.arange(len(over.domains[index]), dtype=np.int32), over.domains[index]
                )
        labels = {
            index: codes if are_leaves[index] else self.maps[index][0].codes[codes]
            for index, codes in whole.whole.codes.items()
        }
        self.leaves = _Classes(dict.fromkeys(indices, 0), labels, over.sizes)
        self._nested_of = self.leaves if all(are_leaves) else None
        self._nested = whole

    def of(self, nodes: Iterable[Node] | None = None) -> dict[Node, int]:
        """Return the k of all nodes, or of some."""
        asked = set(self.lattice if nodes is None else nodes)
        by_size: dict[int, list[Node]] = {}
        for node in self._with_fewer_attributes(asked):
            by_size.setdefault(len(self._attributes(node)), []).append(node)
        ks: dict[Node, int] = {}
        classes = self.leaves
        for size in sorted(by_size):
            open_nodes: dict[tuple[int, ...], list[Node]] = {}
            for node in by_size[size]:
                attributes = self._attributes(node)
                if any(ks[self._without(node, index)] <= 1 for index in attributes):
                    ks[node] = min(1, self.n_rows)
                else:
                    open_nodes.setdefault(attributes, []).append(node)
            # Nodes of more attributes have these levels, or coarser ones.
            used = sorted({index for attributes in open_nodes for index in attributes})
            if used:
                classes = self._rolled_up(classes, used, [node for some in open_nodes.values() for node in some])
            for attributes, some in open_nodes.items():
                ks |= self._count(classes, attributes, some)
        return {node: ks[node] for node in asked}

    def _with_fewer_attributes(self, nodes: set[Node]) -> set[Node]:
        """Add for each node those with some of its attributes left out."""
        known, new = set(nodes), nodes
        while new:
            new = {self._without(node, index) for node in new for index in self._attributes(node)} - known
            known |= new
        return known

    def _count(self, classes: _Classes, attributes: Sequence[int], nodes: Sequence[Node]) -> dict[Node, int]:
        """Count nodes over the same attributes: once at the finest levels among them, and from there upward."""
        if not attributes:
            return dict.fromkeys(nodes, self.n_rows)
        finest = self._rolled_up(self._over(classes, attributes), attributes, nodes)
        room = KEPT * len(finest.sizes)
        # For each node what those above it are counted from: its own classes where they are few, else what it was from.
        fewest: dict[Node, _Classes] = {}
        out = {}
        for node in sorted(nodes, key=self.lattice.class_count, reverse=True):
            below = (fewest[one] for one in self._directly_below(node, attributes) if one in fewest)
            source = min(below, key=lambda one: len(one.sizes), default=finest)
            levels = {index: node[index] for index in attributes}
            n_possible = prod(len(self.maps[index][level].domain) for index, level in levels.items())
            if n_possible * WORTH <= len(source.sizes) and n_possible <= room:
                source = self._at(source, levels)
                room -= len(source.sizes)
                out[node] = int(source.sizes.min())
            else:
                out[node] = self._grouped(source, levels).least_sum(source.sizes)
            fewest[node] = source
        return out

    def _directly_below(self, node: Node, attributes: Sequence[int]) -> Iterator[Node]:
        for index in attributes:
            for level in self.lattice.hierarchies[index].below[node[index]]:
                yield (*node[:index], level, *node[index + 1 :])

    def _over(self, classes: _Classes, attributes: Sequence[int]) -> _Classes:
        """Return the classes of some attributes, counted from few where that can be."""
        if classes is not self._nested_of:
            radices = {index: len(self.maps[index][level].domain) for index, level in classes.levels.items()}
            self._nested, self._nested_of = NestedClasses(Classes(classes.labels, classes.sizes), radices), classes
        found = self._nested.over(attributes)
        return _Classes({index: classes.levels[index] for index in attributes}, found.codes, found.sizes)

    def _rolled_up(self, classes: _Classes, attributes: Sequence[int], nodes: Sequence[Node]) -> _Classes:
        """Return the classes of some attributes at the coarsest levels that those of the nodes follow from."""
        levels = {
            index: self._common_level(index, {node[index] for node in nodes if index in self._attributes(node)})
            for index in attributes
        }
        return classes if levels == classes.levels else self._at(classes, levels)

    def _at(self, classes: _Classes, levels: Mapping[int, int]) -> _Classes:
        """Return the classes of some attributes at coarser levels."""
        grouping = self._grouped(classes, levels)
        rows = grouping.a_row_of
        labels = {}
        for index, level in levels.items():
            own, upward = classes.labels[index][rows], self._upward(index, classes.levels[index], level)
            labels[index] = own if upward is None else upward[own]
        return _Classes(levels, labels, grouping.sums(classes.sizes))

    def _grouped(self, classes: _Classes, levels: Mapping[int, int]) -> Grouping:
        """Find which classes are one at coarser levels."""
        upward = [self._upward(index, classes.levels[index], level) for index, level in levels.items()]
        radices = [len(self.maps[index][level].domain) for index, level in levels.items()]
        return group_recoded_rows([classes.labels[index] for index in levels], upward, radices, len(classes.sizes))

    def _common_level(self, index: int, levels: set[int]) -> int:
        """Return the coarsest level that all of these follow from."""
        is_finer = self.lattice.hierarchies[index].finer
        return max(
            level
            for level in range(min(levels) + 1)
            if all(level == other or is_finer[level, other] for other in levels)
        )

    def _upward(self, index: int, fine: int, coarse: int) -> Codes | None:
        """Return for each label of a level its label at a level that follows from it."""
        if fine == coarse:
            return None
        below, above = self.maps[index][fine], self.maps[index][coarse]
        out = np.zeros(len(below.domain), np.int32)
        out[below.codes] = above.codes
        return out

    def _attributes(self, node: Node) -> tuple[int, ...]:
        """Return the attributes that a node tells of: those above one label."""
        return tuple(index for index, level in enumerate(node) if len(self.maps[index][level].domain) > 1)

    def _without(self, node: Node, index: int) -> Node:
        return (*node[:index], self.lattice.hierarchies[index].height, *node[index + 1 :])


def _are_leaves(leaves: ColumnMap, domain: pl.Series) -> bool:
    """Whether each value of a column is a leaf of its own."""
    return len(leaves.domain) == len(domain)


@dataclass(frozen=True)
class ComparedNode:
    """One node: its class count, the true k, and what each predictor says."""

    node: Node
    class_count: int
    k: int
    predictions: Mapping[str, Prediction]


@dataclass(frozen=True)
class Comparison:
    """What the predictors said of all nodes, those with fewest classes first, and the predictors themselves."""

    lattice: Lattice
    fitted: Mapping[str, Fitted]
    nodes: tuple[ComparedNode, ...]
    # Predictors that would have taken longer than was allowed, with what they were expected to take.
    skipped: Mapping[str, Cost] = field(default_factory=dict)

    def mean_error_ratio(self, name: str) -> float:
        """Return the mean over the nodes of a predictor's error ratio, 1 if it is always right."""
        if not self.nodes:
            raise InputError.of("a node of more than one class")
        return fmean(error_ratio(each.k, each.predictions[name].k) for each in self.nodes)

    def quadrants(self, name: str, k_p: float, *, by: Rule = "low") -> Quadrants:
        """Return what would come of serving nodes by a predictor at k_p."""
        return Quadrants.of((is_served(each.predictions[name], k_p, by=by), each.k >= k_p) for each in self.nodes)

    def to_frame(self) -> pl.DataFrame:
        """Return the nodes as a frame: levels, class count and k, then k, low and high by each predictor."""
        rows = []
        for each in self.nodes:
            levels = ", ".join(f"{name}={level}" for name, level in self.lattice.levels(each.node).items())
            row: dict[str, object] = {"levels": levels, "class_count": each.class_count, "k": each.k}
            for name, prediction in each.predictions.items():
                row |= {f"{name} {what}": float(getattr(prediction, what)) for what in ("k", "low", "high")}
            rows.append(row)
        return pl.DataFrame(rows)

    def summary(self) -> dict[str, dict[str, float]]:
        """Return each predictor's mean error ratio, the classes counted to fit it, and the numbers it publishes."""
        return {
            name: {
                "mean_error_ratio": self.mean_error_ratio(name),
                "n_classes_counted": fitted.n_classes_counted,
                "n_numbers_published": n_numbers(fitted.knowledge),
            }
            for name, fitted in self.fitted.items()
        }


def compare(
    lattice: Lattice,
    counts: ClassCounts,
    predictors: Mapping[str, Predictor],
    *,
    nodes: Iterable[Node] | None = None,
    limit: Cost | None = None,
) -> Comparison:
    """Fit predictors on one table and compare them on nodes of the lattice, all of them unless some are named.

    Nodes of one class are left out, since the k of the whole table is its number of rows. Where a level has one label
    and tells missing values apart, there are two classes if there are any. A predictor that is expected to take more
    than `limit` is fitted, but predicts nothing.
    """
    counted = LatticeCounts.of(lattice, counts)
    asked = sorted((lattice.class_count(node), node) for node in (lattice if nodes is None else nodes))
    # Neither waits for the other, and the large arrays of both are gone through without Python.
    with ThreadPoolExecutor(1) as beside:
        found = beside.submit(lambda: NodeKs(counted).of(node for _, node in asked))
        fitted = {name: predictor.fit(lattice, counted.classes) for name, predictor in predictors.items()}
        skipped = {} if limit is None else _beyond(limit, fitted, [node for _, node in asked])
        fitted = {name: each for name, each in fitted.items() if name not in skipped}
        with step("counting nodes"):
            ks = found.result()
    compared = []
    with step("comparing predictors", len(asked)) as bar:
        for class_count, node in asked:
            if class_count > 1 or ks[node] < counted.over.n_rows:
                predictions = {name: each.predict(node) for name, each in fitted.items()}
                compared.append(ComparedNode(node, class_count, ks[node], predictions))
            bar.advance()
    return Comparison(lattice, fitted, tuple(compared), skipped)


def _beyond(limit: Cost, fitted: Mapping[str, Fitted], nodes: Sequence[Node]) -> dict[str, Cost]:
    """Return the predictors that are expected to take more than the limit for these nodes."""
    expected = {name: each.cost(nodes) for name, each in fitted.items() if isinstance(each, Estimated)}
    return {name: cost for name, cost in expected.items() if cost.is_beyond(limit)}


def predictors_for(
    k_p: int, names: Iterable[str] | None = None, options: Mapping[str, object] | None = None
) -> dict[str, Predictor]:
    """Make registered predictors by name, all if none is named, for a k to serve where they have that option.

    Each gets those of the options that it has; one that none of them has is an InputError.
    """
    chosen = {name: {each.name for each in part_options(PREDICTORS.get(name))} for name in names or PREDICTORS}
    for option in options or {}:
        if not any(option in known for known in chosen.values()):
            known = sorted(set().union(*chosen.values()))
            expected = Text("an option of {names}: {options}", names=", ".join(chosen), options=", ".join(known))
            raise InputError.of(expected, option=option)
    given = {"k_p": k_p, **(options or {})}
    return {
        name: PREDICTORS.make(name, **{option: given[option] for option in given if option in known})
        for name, known in chosen.items()
    }


def error_ratio(k: float, predicted: float) -> float:
    """Return how many times too large or too small a prediction is: max(k/k̂, k̂/k), 1 if it is right."""
    return max(k / predicted, predicted / k)


def n_numbers(knowledge: object) -> int:
    """Count the numbers in knowledge: how much is published."""
    n, waiting = 0, [knowledge]
    while waiting:
        one = waiting.pop()
        # Most are names and numbers; to ask for a Mapping takes longest.
        if isinstance(one, (list, tuple)):
            waiting.extend(one)
        elif isinstance(one, (int, float)):
            n += 1
        elif not isinstance(one, str) and isinstance(one, Mapping):
            waiting.extend(one.values())
    return n
