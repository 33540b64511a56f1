"""Which groupings of people a method looked at and refused, as whoever knows the people can tell.

A search by levels takes the node that comes first, by its loss or along its walk: every node before it failed. Mondrian
takes the first cut whose parts all hold: of every other one that k would have allowed some part failed. What fails by k
alone fails for everybody to see and tells nothing of sensitive values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.candidates import classes_of
from tokumei.attacks.disclosure.possible_worlds import Refused
from tokumei.attacks.threat_model import KnownMethod
from tokumei.core.errors import InputError
from tokumei.engines.class_counts import Histogram
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.measures.losses import LOSSES
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.local.cuts import Parts
from tokumei.methods.local.encoding import encode_rows
from tokumei.methods.local.mondrian import Mondrian, SafeSplitting, check_safe
from tokumei.methods.local.splitting import Splitting, split_groups
from tokumei.methods.local.task import Bools, Ints, LocalTask
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.rows import whole_trees
from tokumei.methods.search.predicted import Pak, nodes_before
from tokumei.methods.search.problem import Problem

# Searches that, with nobody left out, take the node of least loss, whatever their way there.
BEST = ("optimal", "exhaustive", "ola", "incognito", "prediction-guided")
WALKS = ("pak", "datafly")
CUTS = ("mondrian",)
RETRACED = (*BEST, *WALKS, *CUTS)
MOST_NODES = 1_000_000


@dataclass(frozen=True, eq=False)
class Kinds:
    """People by their quasi-identifiers: the kind of each person, and the kinds as a task that asks for k alone."""

    frame: pl.DataFrame
    trees: Mapping[str, Hierarchy]
    task: LocalTask
    kind_of: Ints

    @classmethod
    def of(cls, frame: pl.DataFrame, hierarchies: Mapping[str, Hierarchy], method: KnownMethod, k: int) -> Kinds:
        """Encode the quasi-identifiers of people as a method does."""
        trees = whole_trees(frame.columns, hierarchies, frame.get_column, [])
        numeric = [name for name in frame.columns if name in (method.ranged or ())]
        encoded = encode_rows(frame, trees, [KAnonymity(k)], numeric=numeric, weights=method.weights)
        return cls(frame, trees, encoded.task, encoded.class_of)


def refused_groupings(
    kinds: Kinds, class_of: Ints, labels: Mapping[str, Sequence[str | None]], method: KnownMethod, k: int
) -> list[Refused]:
    """Return the groupings that a method refused; InputError where the release cannot be one of the method's.

    class_of: the released class of each kind of people. labels: those of each column that were released.
    """
    if method.name in CUTS:
        return list(_refused_cuts(kinds, class_of, method))
    problem = Problem(
        Lattice.of({name: kinds.trees[name] for name in kinds.frame.columns}),
        count_classes(kinds.frame, kinds.frame.columns),
        [KAnonymity(k)],
        LOSSES.make(method.loss),
        weights=method.weights,
        numeric=[name for name in kinds.frame.columns if name in (method.ranged or ())],
        preference=method.preference,
    )
    if problem.lattice.n_nodes > MOST_NODES:
        raise InputError.of(f"a lattice of at most {MOST_NODES:,} nodes", value=f"{problem.lattice.n_nodes:,}")
    node = _released_node(kinds, labels)
    before = _nodes_before(problem, node, method)
    holding = [one for one in before if problem.judge(one).holds]
    return [Refused(np.arange(kinds.task.n_classes), _classes_at(kinds, one)) for one in holding]


def _released_node(kinds: Kinds, labels: Mapping[str, Sequence[str | None]]) -> Node:
    """Finest levels at which people's values are the labels that were released."""
    node = []
    for column, told in labels.items():
        tree, values = kinds.trees[column], kinds.frame[column].unique()
        found = [
            level
            for level in range(len(tree.levels))
            if set(tree.recoding(level).labels_of(values).cast(pl.String).to_list()) == set(told)
        ]
        if not found:
            raise InputError.of("labels of one level of its hierarchy", column=column)
        node.append(found[0])
    return tuple(node)


def _nodes_before(problem: Problem, node: Node, method: KnownMethod) -> list[Node]:
    """Coarsest nodes that a search judged, or ruled out by proof, before the one that it took.

    Finer ones need not be told: every requirement that is retraced fails at a finer node if it does at a coarser one.
    """
    if method.name == "datafly":
        made = _climb(problem, node)
    elif method.name == "pak":
        own = TABLE_ANONYMIZERS.make("pak", **dict(method.options or {}))
        assert isinstance(own, Pak)  # noqa: S101 - it was made by this name.
        if own.table:
            raise InputError.of("no table of earlier runs, which nobody outside knows", option="table", value=own.table)
        n_classes = problem.lattice.class_count(node)
        if own.finer:
            made = [one for one in problem.lattice if problem.lattice.class_count(one) > n_classes]
        else:
            walk = nodes_before(problem, own, node)
            if walk is None:
                raise InputError.of("a node that the method comes by", option="method", value=method.name)
            made = walk
    else:
        made = _better(problem, node)
    before = set(made)
    return [one for one in made if not any(above in before for above in problem.lattice.coarser_neighbors(one))]


def _better(problem: Problem, node: Node) -> list[Node]:
    """All nodes with less loss than a node, or as much and preferred."""

    def loss(one: Node) -> float:
        return problem.rise_of_levels(one) if problem.is_cell_loss else problem.judge(one).rise

    own = loss(node)
    slack = 1e-12 * max(1.0, abs(own))
    out = []
    for one in problem.lattice:
        found = loss(one)
        if found < own - slack or (found <= own + slack and problem.is_preferred(one, node)):
            out.append(one)
    return out


def _climb(problem: Problem, node: Node) -> list[Node]:
    """Nodes that Datafly passed."""
    from tokumei.methods.search.climbing import next_up

    passed, at = [], problem.lattice.bottom
    while at != node:
        passed.append(at)
        above = next_up(problem, at)
        if above is None:
            raise InputError.of("a node that the method comes by", option="method", value="datafly")
        at = above
    return passed


def _classes_at(kinds: Kinds, node: Node) -> Ints:
    """Class of each kind of people at a node."""
    codes = [
        one.hierarchy.codes_with_missing(level)[one.leaf_of]
        for one, level in zip(kinds.task.attributes, node, strict=True)
    ]
    return classes_of(codes, kinds.task.n_classes)[1]


@dataclass(frozen=True, eq=False)
class _Retraced(LocalTask):
    """The task of a method as somebody sees it who knows the groups that it led to, and no sensitive value.

    A part holds if it has k rows and consists of released groups. Another part may hold as well; but then one beside it
    did not, or else it would consist of released groups, too.
    """

    released: Ints | None = None

    @property
    def is_only_k(self) -> bool:
        """Nobody may judge by the sizes alone."""
        return False

    def holds(self, group_of: Ints, n_groups: int) -> Bools:
        """Whether each part has k rows and consists of released groups."""
        assert self.released is not None  # noqa: S101 - it has a default since fields before it have.
        is_in = group_of >= 0
        parts, groups, sizes = group_of[is_in], self.released[is_in], self.sizes[is_in]
        n_released = int(self.released.max()) + 1
        whole = np.bincount(self.released, self.sizes, n_released)
        pairs, at = np.unique(parts * n_released + groups, return_inverse=True)
        is_torn = np.bincount(at.reshape(-1), sizes) < whole[pairs % n_released]
        holds: Bools = np.bincount(parts, sizes, n_groups) >= self.least_size
        holds[(pairs // n_released)[is_torn]] = False
        return holds


class _Retracing(Splitting):
    """Cuts as the method did, and notes the cuts that were refused though k would have allowed them."""

    def __init__(self, task: LocalTask) -> None:
        self.refused: list[Refused] = []
        super().__init__(task, is_relaxed=False)

    def allowed(self, parts: Parts, holds: Bools) -> tuple[Bools, Ints]:
        """Which groups are cut."""
        is_cut, n_gone = super().allowed(parts, holds)
        n_groups = self.open.n_groups
        n_parts = np.bincount(parts.group_of, minlength=n_groups)
        is_large = np.bincount(parts.group_of, parts.rows < self.task.least_size, n_groups) == 0
        group_at = parts.group_of[parts.at_classes()]
        classes, part_at = self.open.classes[parts.order], parts.at_classes()
        starts = np.searchsorted(group_at, np.arange(n_groups + 1))
        for group in np.flatnonzero(~is_cut & is_large & (n_parts > 1)).tolist():
            own = slice(starts[group], starts[group + 1])
            self.refused.append(Refused(classes[own], part_at[own] - part_at[own].min()))
        return is_cut, n_gone


def _refused_cuts(kinds: Kinds, class_of: Ints, method: KnownMethod) -> Iterator[Refused]:
    task = _on_ranges(kinds.task, method)
    retraced = _Retraced(**{name: getattr(task, name) for name in LocalTask.__dataclass_fields__}, released=class_of)
    retracing = _Retracing(retraced)
    while retracing.open.n_groups:
        retracing.do_round()
    retracing.close(np.ones(retracing.open.n_groups, np.bool_))
    _check_same(retracing.group_of, class_of, method)
    yield from retracing.refused


def check_safe_cuts(
    kinds: Kinds,
    class_of: Ints,
    values: pl.Series,
    counts: Ints,
    requirements: Sequence[Requirement],
    method: KnownMethod,
) -> None:
    """Check that every cut, made or refused, follows from the values of the released classes.

    The values of each class are dealt out to its people in some way: if safe cuts lead to the released groups then,
    they do so in every way, and no refused cut rules one out. counts: rows of each class with each value.
    """
    order = np.argsort(class_of, kind="stable")
    kind_of_row = np.repeat(order, kinds.task.sizes[order])
    value_of_row = np.concatenate([np.repeat(np.arange(len(values)), own) for own in counts])
    pairs, rows = np.unique(kind_of_row * len(values) + value_of_row, return_counts=True)
    dealt = Histogram(values, pairs // len(values), (pairs % len(values)).astype(np.int32), rows.astype(np.int64))
    (column,) = {name for one in requirements for name in one.sensitive_columns}
    task = replace(
        _on_ranges(kinds.task, method),
        counts=replace(kinds.task.counts, histograms={column: dealt}),
        requirements=[*kinds.task.requirements, *requirements],
    )
    check_safe(task)
    margin: Any = (method.options or {}).get("margin", Mondrian.margin)
    _check_same(split_groups(SafeSplitting(task, float(margin)))[0], class_of, method)


def _on_ranges(task: LocalTask, method: KnownMethod) -> LocalTask:
    return task.with_ranges("tight" if (method.options or {}).get("ranges", "grid") == "tight" else "grid")


def _check_same(group_of: Ints, class_of: Ints, method: KnownMethod) -> None:
    pairs = np.unique(np.column_stack([group_of, class_of]), axis=0)
    if len(pairs) != len(np.unique(class_of)) or len(pairs) != len(np.unique(group_of)):
        raise InputError.of("the groups that this method makes of these people", option="method", value=method.name)
