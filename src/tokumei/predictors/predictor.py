"""What a predictor of k is, the nodes counted for it, and how a rule that serves nodes by prediction fares.

A predictor is fitted on a few counts and tells the k of any node without counting it. Two sides use it. A data provider
fits it on counts and publishes its knowledge; a data user has only the knowledge and the lattice, and predicts the same
digits.

A rule has four quadrants (thesis, chapter 6.1), and areas between the lines of most that hold:

|         | holds k_p           | fails               |
|---------|---------------------|---------------------|
| served  | α, as it should be  | γ, a leak           |
| refused | β, a lost chance    | δ, as it should be  |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import Cost
from tokumei.core.registry import Registry
from tokumei.core.text import Json, JsonView
from tokumei.engines.class_counts import ClassCounts, ColumnMap
from tokumei.engines.grouping import Classes, NestedClasses
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node

Knowledge = Json
"""All that is published when a predictor is published; it can be written as JSON and read back."""

Counter = Callable[[Node], int | ClassCounts]
"""Counts one node: gives its k or, where a predictor needs more than that, its classes by their labels."""


@dataclass(frozen=True)
class Prediction:
    """The k expected at a node and the band it is likely to lie in: 1 ≤ low ≤ k ≤ high; none need be whole.

    `low` is the cautious promise: a node is served where `low` is at least the k asked for.
    """

    k: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.k <= self.high:
            raise ValueError(f"not 1 ≤ {self.low} ≤ {self.k} ≤ {self.high}")

    @classmethod
    def exactly(cls, k: float) -> Prediction:
        """Make the prediction of a k that is known."""
        return cls(k, k, k)


class Fitted(Protocol):
    """A predictor that knows one table, as far as its knowledge goes."""

    @property
    def knowledge(self) -> Knowledge:
        """Exactly what is published with this predictor; under `method` stands the predictor's name."""

    @property
    def n_classes_counted(self) -> int:
        """The thesis's cost of fitting: the class counts of all nodes counted, added up; 0 if made from knowledge."""

    def predict(self, node: Node) -> Prediction:
        """Predict the k of a node."""


@runtime_checkable
class Estimated(Protocol):
    """A fitted predictor that says what predicting nodes takes before it predicts them."""

    def cost(self, nodes: Sequence[Node]) -> Cost:
        """Estimate what predicting these nodes takes."""


class Predictor(Protocol):
    """Learns from the counts of some nodes; its fields are its options."""

    def fit(self, lattice: Lattice, counter: Counter | ClassCounts) -> Fitted:
        """Count what the predictor needs to know of a table and keep no more than that.

        All attributes of the lattice must end in a level of one label, since a node over few attributes has the
        others there.
        """

    @classmethod
    def from_knowledge(cls, lattice: Lattice, knowledge: JsonView) -> Fitted:
        """Make the predictor of one who has only what was published."""


PREDICTORS: Registry[Predictor] = Registry(
    "predictor",
    "tokumei.predictors",
    {"margins": ["margins"], "power_law": ["power-law"]},
    group="tokumei.predictors.methods",
)


def from_knowledge(lattice: Lattice, knowledge: JsonView) -> Fitted:
    """Make the predictor that published this knowledge, whichever it is."""
    return PREDICTORS.get(str(knowledge.get("method"))).from_knowledge(lattice, knowledge)


def check_caution(caution: float) -> None:
    """Refuse a chance that is none, or that leaves the band upside down."""
    if not 0 < caution <= 0.5:
        raise InputError.of("a chance above 0 and at most 0.5", option="caution", value=caution)


class CountedNodes:
    """Counts nodes and adds up what that cost: the class count of each, as the thesis reckons it.

    Counts of the lattice's values are rolled up; a counter is asked.
    """

    def __init__(self, lattice: Lattice, counter: Counter | ClassCounts) -> None:
        check_single_tops(lattice)
        self.lattice = lattice
        self.n_classes_counted = 0
        self._count: Counter = (
            LatticeCounts.of(lattice, counter).classes if isinstance(counter, ClassCounts) else counter
        )

    def k(self, node: Node) -> int:
        """Count the k of a node; a table without rows is an InputError."""
        self.n_classes_counted += self.lattice.class_count(node)
        counted = self._count(node)
        k = counted.k if isinstance(counted, ClassCounts) else counted
        if k < 1:
            raise InputError.of("a table with rows", option="k", value=k)
        return k

    def classes(self, node: Node) -> ClassCounts:
        """Count the classes of a node."""
        self.n_classes_counted += self.lattice.class_count(node)
        counted = self._count(node)
        if not isinstance(counted, ClassCounts):
            raise TypeError("this predictor needs a counter that gives the classes of a node, not only its k")
        return counted


def check_single_tops(lattice: Lattice) -> None:
    """Refuse a hierarchy that does not end in one label: a node over few attributes has the others there."""
    for hierarchy in lattice.hierarchies:
        if not hierarchy.has_single_top:
            raise InputError.of("a hierarchy whose last level has one label", column=hierarchy.attribute)


@dataclass(frozen=True, eq=False)
class LevelMaps:
    """What the values of a column become at each level of its hierarchy; a text is looked up once for all levels."""

    hierarchy: Hierarchy
    domain: pl.Series
    _made: dict[int, ColumnMap] = field(default_factory=dict)

    def at(self, level: int) -> ColumnMap:
        """Return the map to the labels of a level."""
        if level not in self._made:
            is_text = self.domain.dtype == pl.String
            self._made[level] = (
                self._through_leaves(level) if is_text else ColumnMap.of(self.domain, self.hierarchy.recoding(level))
            )
        return self._made[level]

    @cached_property
    def _leaf_of(self) -> npt.NDArray[np.int64]:
        """The leaf of each value, missing last."""
        index: dict[str | None, int] = {leaf: at for at, leaf in enumerate((*self.hierarchy.leaves, None))}
        texts = self.hierarchy.recoding(0).labels_of(self.domain)
        return np.fromiter(map(index.__getitem__, texts.to_list()), np.int64, len(texts))

    def _through_leaves(self, level: int) -> ColumnMap:
        found = self.hierarchy.codes_with_missing(level)[self._leaf_of]
        labels = pl.Series([*self.hierarchy.levels[level].labels, None], dtype=pl.String)
        used = np.flatnonzero(np.bincount(found, minlength=len(labels)))
        texts = labels.gather(used)
        order = texts.arg_sort(nulls_last=True).to_numpy()
        place = np.empty(len(labels), np.int32)
        place[used[order]] = np.arange(len(used), dtype=np.int32)
        return ColumnMap(place[found], texts.gather(order))


@dataclass(frozen=True, eq=False)
class LatticeCounts:
    """The counts of a lattice's values, and what is counted and looked up once for all its nodes."""

    lattice: Lattice
    over: ClassCounts
    nested: NestedClasses
    maps: Sequence[LevelMaps]

    @classmethod
    def of(cls, lattice: Lattice, counts: ClassCounts) -> LatticeCounts:
        """Take the counts of the lattice's attributes."""
        over = counts.over(lattice.attributes)
        radices = {index: len(domain) for index, domain in enumerate(over.domains)}
        nested = NestedClasses(Classes(dict(enumerate(over.codes)), over.sizes), radices)
        return cls(lattice, over, nested, [LevelMaps(one, over.domain(one.attribute)) for one in lattice.hierarchies])

    def classes(self, node: Node) -> ClassCounts:
        """Roll the counts up to a node."""
        used = [self.maps[index].at(level) for index, level in enumerate(node)]
        telling = [index for index, one in enumerate(used) if len(one.domain) > 1]
        few = self.nested.over(telling)
        # What is not told of has one label, which any code leads to.
        codes = np.stack([few.codes.get(index, np.zeros(len(few.sizes), np.int32)) for index in range(len(used))])
        counted = ClassCounts(self.over.columns, self.over.domains, codes, few.sizes)
        return counted.roll_up(dict(zip(self.lattice.attributes, used, strict=True)))


Rule = Literal["low", "k"]
"""What a node is served by: the low end of the band, as is cautious, or the predicted k itself, as the thesis does."""


@dataclass(frozen=True)
class Quadrants:
    """How many nodes were served and hold (α), refused and hold (β), served and fail (γ), refused and fail (δ)."""

    alpha: int
    beta: int
    gamma: int
    delta: int

    @classmethod
    def of(cls, answers: Iterable[tuple[bool, bool]]) -> Quadrants:
        """Count answers, each given by whether the node was served and whether it holds."""
        counted = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
        for answer in answers:
            counted[answer] += 1
        return cls(*counted.values())

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.alpha + self.beta + self.gamma + self.delta

    @property
    def shares(self) -> dict[str, float]:
        """The share of nodes in each quadrant."""
        if not self.n_nodes:
            raise InputError.of("at least one node")
        return {name: count / self.n_nodes for name, count in asdict(self).items()}

    def as_dict(self) -> dict[str, int]:
        """List the counts for JSON, where α and β are the law's."""
        names = ("served_holds", "refused_holds", "served_fails", "refused_fails")
        return dict(zip(names, self._counts, strict=True))

    def __add__(self, other: Quadrants) -> Quadrants:
        """Count the nodes of two tables together."""
        return Quadrants(*(ours + theirs for ours, theirs in zip(self._counts, other._counts, strict=True)))

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        return self.alpha, self.beta, self.gamma, self.delta


def deciding(prediction: Prediction, by: Rule = "low") -> float:
    """Choose the number that a rule holds against k_p."""
    return prediction.low if by == "low" else prediction.k


def is_served(prediction: Prediction, k_p: float, *, by: Rule = "low") -> bool:
    """Whether the rule promises that the node holds k_p."""
    return deciding(prediction, by) >= k_p


def quadrants(fitted: Fitted, ks: Mapping[Node, float], k_p: float, *, by: Rule = "low") -> Quadrants:
    """Compare what a predictor would serve at k_p with the true k of some nodes."""
    return Quadrants.of((is_served(fitted.predict(node), k_p, by=by), k >= k_p) for node, k in ks.items())


def area_without_prediction(k_p: float, k_u: float, x_u: float, x_n: float) -> float:
    """Return S₁ = (k_p − k_u)(x_u − x_n): what a user who asks for too much could learn of, 0 if the request holds.

    The user asks for x_u classes and would get k_u; x_n classes are the most that hold k_p.
    """
    return max(k_p - k_u, 0) * max(x_u - x_n, 0)


def area_with_prediction(k_p: float, k_u: float, x_u: float, x_n: float, x_p: float) -> float:
    """Return S₂ = (k_p − k_u)(x_p − x_n): what is left if no more than the predicted x_p classes can be asked for.

    Nobody asks for more than x_u and nothing leaks below x_n, so that x_p counts as no more than the one and no less
    than the other: S₂ lies between 0 and S₁.
    """
    return area_without_prediction(k_p, k_u, min(x_p, x_u), x_n)


def most_that_hold(k_p: float, k_by_class_count: Mapping[int, float]) -> int:
    """Return x_n: the largest class count that holds k_p and so do all smaller ones; 0 if none does."""
    out = 0
    for class_count, k in sorted(k_by_class_count.items()):
        if k < k_p:
            break
        out = class_count
    return out
