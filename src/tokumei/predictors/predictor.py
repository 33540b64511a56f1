"""What a predictor of k is: fitted on a few counts, it tells the k of any node without counting it.

Two sides use it. A data provider fits it on counts and publishes its knowledge; a data user has only the knowledge
and the lattice, and predicts the same digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tokumei.core.errors import InputError
from tokumei.core.registry import Registry
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Lattice, Node

Knowledge = dict[str, Any]
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


class Predictor(Protocol):
    """Learns from the counts of some nodes; its fields are its options."""

    def fit(self, lattice: Lattice, counter: Counter | ClassCounts) -> Fitted:
        """Count what the predictor needs to know of a table and keep no more than that.

        All attributes of the lattice must end in a level of one label, since a node over few attributes has the
        others there.
        """

    @classmethod
    def from_knowledge(cls, lattice: Lattice, knowledge: Mapping[str, Any]) -> Fitted:
        """Make the predictor of one who has only what was published."""


PREDICTORS: Registry[Predictor] = Registry("predictor", "tokumei.predictors.methods")


def from_knowledge(lattice: Lattice, knowledge: Mapping[str, Any]) -> Fitted:
    """Make the predictor that published this knowledge, whichever it is."""
    return PREDICTORS.get(str(knowledge.get("method"))).from_knowledge(lattice, knowledge)


def check_caution(caution: float) -> None:
    """Refuse a chance that is none, or that leaves the band upside down."""
    if not 0 < caution <= 0.5:
        raise InputError.of("a chance above 0 and at most 0.5", option="caution", value=caution)
