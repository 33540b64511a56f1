"""How a rule that serves nodes by prediction fares: the four quadrants and the areas of the thesis's chapter 6.1.

|         | holds k_p           | fails               |
|---------|---------------------|---------------------|
| served  | α, as it should be  | γ, a leak           |
| refused | β, a lost chance    | δ, as it should be  |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from tokumei.core.errors import InputError
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.predictor import Fitted, Prediction

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
