"""What a search is asked and how it ends: the lattice over counted rows, what must hold, and what may be lost."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.text import Text
from tokumei.engines.class_counts import PERSON, ClassCounts, Recoding
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.measures.losses import Attribute, CellLoss, LevelCost, Loss, SizeLoss
from tokumei.measures.requirement import PopulationRequirement, Requirement, classes_to_keep, sees_whole_release
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.search.packed import NodeClasses, PackedLattice


@dataclass(frozen=True)
class JudgedNode:
    """What was found out about a node by counting it."""

    node: Node
    # The smallest class, before and after classes that fail are suppressed.
    smallest: int
    k: int
    n_suppressed: int
    # Whether few enough records have to be suppressed.
    holds: bool
    rise: float
    penalty: float

    @property
    def loss(self) -> float:
        """The loss of a release at this node."""
        return self.rise + self.penalty


@dataclass
class Problem:
    """A search problem, and the count of what was done to solve it."""

    lattice: Lattice
    counts: ClassCounts
    requirements: Sequence[Requirement]
    loss: Loss
    # The share of records that may be suppressed.
    suppression: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    # Attributes whose leaves are numbers, for losses that measure widths.
    numeric: Sequence[str] = ()
    # Attributes from the one to keep finest to the one to give up first; decides between equal losses.
    preference: Sequence[str] = ()
    n_nodes_checked: int = 0
    n_classes_checked: int = 0

    def __post_init__(self) -> None:
        if not self.requirements:
            raise InputError.of("at least one requirement, such as k")
        check_asked(self.lattice.attributes, self.suppression, self.weights, (*self.preference, *self.numeric))
        self.started = time.perf_counter()
        self._judged: dict[Node, JudgedNode] = {}

    @cached_property
    def packed(self) -> PackedLattice:
        """The classes of any node."""
        return PackedLattice(self.lattice, self.counts)

    @cached_property
    def n_rows(self) -> int:
        """Number of records."""
        return self.counts.n_rows

    @cached_property
    def n_may_suppress(self) -> int:
        """Number of records that may be suppressed: never all, since a release has records."""
        return min(self.counts.most_left_out(self.suppression), max(0, self.n_rows - 1))

    @cached_property
    def is_monotone(self) -> bool:
        """Whether a node holds wherever a finer one does."""
        # Two classes may have people in common, so that the shares in both together are no mix of theirs.
        mixes = not self.n_may_suppress and self.counts.n_people is None
        return all(self._is_strong(one) or (one.is_monotone and mixes) for one in self.requirements)

    @cached_property
    def suppresses_less_above(self) -> bool:
        """Whether a coarser node never suppresses a record that a finer one keeps."""
        return not self.n_may_suppress or all(self._is_strong(one) for one in self.requirements)

    def judge(self, node: Node) -> JudgedNode:
        """Count a node and say whether it holds and what it loses; a node is counted once."""
        if node not in self._judged:
            self.n_nodes_checked += 1
            self.n_classes_checked += self.lattice.class_count(node)
            self._judged[node] = self._judge(self.packed.at(node))
        return self._judged[node]

    def counted_nodes(self) -> list[Node]:
        """Return the nodes counted so far."""
        return list(self._judged)

    def note_checked(self, n_nodes: int, n_classes: int) -> None:
        """Count nodes as checked whose small classes were counted without judging them one by one."""
        self.n_nodes_checked += n_nodes
        self.n_classes_checked += n_classes

    def kept(self, classes: NodeClasses) -> npt.NDArray[np.bool_]:
        """Return for each class of a node whether it can be released, the others being suppressed."""
        kept = classes.classes.sizes >= self.k
        others = [one for one in self.requirements if PERSON in classes.pairs or type(one) is not KAnonymity]
        if not others:
            return kept
        recodings = self.recodings(classes.node)
        at_node = [recoded_requirement(one, recodings) for one in others]
        return classes_to_keep(self.packed.counts(classes), at_node, kept)

    @cached_property
    def k(self) -> int:
        """The fewest rows of a class, as far as k-anonymity asks for it."""
        return max((one.k for one in self.requirements if type(one) is KAnonymity), default=0)

    def recodings(self, node: Node) -> list[Recoding]:
        """Return what happens to the values at a node."""
        return [h.recoding(level) for h, level in zip(self.lattice.hierarchies, node, strict=True)]

    def rise_of_levels(self, node: Node) -> float:
        """Return the rise of a node without counting it; only for losses that add up over cells."""
        return sum(costs[level].rise for costs, level in zip(self.level_costs, node, strict=True))

    @cached_property
    def attributes(self) -> list[Attribute]:
        """The quasi-identifiers as a loss sees them."""
        return [
            Attribute(hierarchy, sizes, hierarchy.attribute in self.numeric)
            for hierarchy, sizes in zip(self.lattice.hierarchies, self.packed.leaf_sizes, strict=True)
        ]

    @cached_property
    def level_costs(self) -> list[list[LevelCost]]:
        """For each attribute and level what it costs, weights included: they add up to the loss."""
        loss: CellLoss = self.loss  # type: ignore[assignment]
        attributes = self.attributes
        own = getattr(loss, "weight", lambda attribute: 1.0)  # noqa: ARG005 - only prices weigh attributes.
        weights = [self.weights.get(one.hierarchy.attribute, 1.0) * own(one) for one in attributes]
        total = sum(weights) or 1.0
        out = []
        for attribute, weight in zip(attributes, weights, strict=True):
            costs = [loss.level_cost(attribute, level) for level in range(len(attribute.hierarchy.levels))]
            out.append([LevelCost(cost.rise * weight / total, cost.rest * (weight / total)) for cost in costs])
        return out

    @cached_property
    def is_cell_loss(self) -> bool:
        """Whether the loss adds up over cells."""
        return hasattr(self.loss, "level_cost")

    @cached_property
    def is_rising(self) -> bool:
        """Whether a coarser node never has a smaller rise, and no record has more to lose there: not by any prices."""
        if not self.is_cell_loss:
            return True
        for attribute, costs in zip(self.attributes, self.level_costs, strict=True):
            there = attribute.leaf_sizes > 0
            rests = [cost.rest[attribute.leaf_labels(level)][there] for level, cost in enumerate(costs)]
            for finer, coarser in np.argwhere(attribute.hierarchy.finer).tolist():
                if (rests[coarser] > rests[finer] + 1e-12).any():
                    return False
        return True

    @cached_property
    def penalty_shrinks(self) -> bool:
        """Whether a coarser node never has a larger penalty."""
        return self.is_rising and self.suppresses_less_above and getattr(self.loss, "penalty_shrinks", True)

    def is_better(self, judged: JudgedNode, best: JudgedNode | None) -> bool:
        """Whether a node that holds is better than the best so far: less loss, or as much and preferred."""
        if best is None or judged.loss < best.loss - self.slack(best):
            return True
        return judged.loss <= best.loss + self.slack(best) and self.is_preferred(judged.node, best.node)

    def slack(self, best: JudgedNode) -> float:
        """Losses that differ by less are equal: they are sums of the same numbers in another order."""
        return 1e-12 * max(1.0, abs(best.loss))

    def is_preferred(self, node: Node, other: Node) -> bool:
        """Whether a node comes before another of equal loss: preferred attributes finer, then the smaller levels."""
        first = [self.lattice.attributes.index(name) for name in self.preference]
        return ([node[index] for index in first], node) < ([other[index] for index in first], other)

    def _judge(self, classes: NodeClasses) -> JudgedNode:
        sizes = classes.classes.sizes
        kept = self.kept(classes)
        kept_sizes = sizes[kept]
        n_suppressed = self.n_rows - int(kept_sizes.sum())
        holds = n_suppressed <= self.n_may_suppress
        k = int(kept_sizes.min()) if n_suppressed < self.n_rows else 0
        size_loss: SizeLoss = self.loss  # type: ignore[assignment]
        rise = self.rise_of_levels(classes.node) if self.is_cell_loss else size_loss.rise(sizes, self.n_rows)
        penalty = 0.0
        if not holds:
            # Nobody asks what a node would lose that cannot be released.
            penalty = math.inf
        elif n_suppressed and self.is_cell_loss:
            penalty = self._cell_penalty(classes, kept)
        elif n_suppressed:
            penalty = size_loss.penalty(kept_sizes, sizes[~kept], self.n_rows)
        return JudgedNode(classes.node, int(sizes.min()) if len(sizes) else 0, k, n_suppressed, holds, rise, penalty)

    def _cell_penalty(self, classes: NodeClasses, kept: npt.NDArray[np.bool_]) -> float:
        """Add up what the suppressed records still had to lose."""
        gone = classes.classes.taken(np.flatnonzero(~kept))
        even, rest = 0.0, np.zeros(len(gone))
        for index, level in enumerate(classes.node):
            of_label, of_any = self.level_costs[index][level].rest, self._even_rests[index][level]
            if of_any is None:
                rest += np.take(of_label, self.packed.labels(gone, index), mode="clip")
            else:
                even += of_any
        return float((rest + even) @ gone.sizes) / self.n_rows

    @cached_property
    def _even_rests(self) -> list[list[float | None]]:
        """For each attribute and level what any record still had to lose, where that is the same for all labels."""
        return [
            [float(cost.rest[0]) if (cost.rest == cost.rest[0]).all() else None for cost in costs]
            for costs in self.level_costs
        ]

    def _is_strong(self, requirement: Requirement) -> bool:
        # Of what compares with the whole release nothing is known once some of it is suppressed.
        return requirement.is_strongly_monotone and not (self.n_may_suppress and sees_whole_release(requirement))


def check_asked(
    columns: Sequence[str], suppression: float, weights: Mapping[str, float], named: Sequence[str] = ()
) -> None:
    """Refuse shares and weights that cannot be, and names that are not among the columns that may be named."""
    if not 0 <= suppression <= 1:
        raise InputError.of("a share of rows from 0 to 1", option="suppress", value=suppression)
    for name, weight in weights.items():
        if not weight >= 0 or math.isinf(weight):
            raise InputError.of("a weight of 0 or more", column=name, value=weight)
    for name in (*weights, *named):
        if name not in columns:
            raise InputError.of(f"a quasi-identifier or another released column: {', '.join(columns)}", value=name)


def recoded_requirement(requirement: Requirement, recodings: Sequence[Recoding]) -> Requirement:
    """Return a requirement at some levels: one that knows a population knows it generalized likewise."""
    return requirement.recoded(recodings) if isinstance(requirement, PopulationRequirement) else requirement


@dataclass(frozen=True)
class Found:
    """The node a search settled on, and whether no other that holds loses less."""

    judged: JudgedNode
    is_proven: bool

    @classmethod
    def of(cls, problem: Problem, judged: JudgedNode | None, *, is_proven: bool) -> Found:
        """Return what was found, or raise CannotAnonymize with how far even the coarsest node is from holding."""
        if judged is not None:
            return cls(judged, is_proven)
        top = problem.judge(problem.lattice.top)
        raise CannotAnonymize(
            Text(
                "No node of the lattice holds: even fully generalized, {n:,} of {m:,} records would have to be "
                "suppressed, and at most {p:,} may be.",
                n=top.n_suppressed,
                m=problem.n_rows,
                p=problem.n_may_suppress,
            )
        )


def check_monotone(problem: Problem, method: str) -> None:
    """Refuse a problem in which a node may fail although a finer one holds, for a method that relies on it."""
    if not problem.is_monotone:
        raise InputError.of(
            f"a monotone requirement for '{method}'; with records to suppress, or with several rows a person, entropy "
            "and recursive diversity, closeness and likeness are not: use 'optimal'",
            option="method",
            value=method,
        )
