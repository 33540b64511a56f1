"""The thesis's predictor: k falls as a power of the class count."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.text import JsonView, Text
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.predictor import CountedNodes, Counter, Knowledge, Prediction, check_caution


@dataclass(frozen=True)
class PowerLaw:
    """A straight line of ln k over ln x, fitted on the smallest nodes (Oguri's thesis, chapter 4): k = α·x^β + 1.

    x is the class count of a node. The line is drawn by least squares through ln k, not ln(k − 1), and the whole
    table (x = 1) is one of its points; the 1 is added to what the line predicts.

    Knowledge: α, β and four numbers for the band, seven numbers in all with the caution. They are sums over the
    sampled nodes, but of three nodes or fewer they give every k away: sample more, or nodes known to hold.
    Weakness: nodes of one class count get one k, though it is the rare values that decide, not how many there are.
    The band is that of the sampled nodes, so that it is too narrow where finer nodes do not follow the line.
    """

    largest: int = field(default=9, metadata={"help": "Largest class count that is sampled."})
    n_nodes: int | None = field(
        default=None, metadata={"help": "How many nodes are sampled, smallest first, whatever their class counts."}
    )
    caution: float = field(default=0.1, metadata={"help": "Chance that k lies below the band, and above it."})

    def __post_init__(self) -> None:
        check_caution(self.caution)
        if self.largest < 2:
            raise InputError.of("a class count of 2 or more", option="largest", value=self.largest)
        if self.n_nodes is not None and self.n_nodes < 2:
            raise InputError.of("2 nodes or more", option="n_nodes", value=self.n_nodes)

    def fit(self, lattice: Lattice, counter: Counter | ClassCounts) -> FittedPowerLaw:
        """Count the smallest nodes and draw the line through them."""
        counted = CountedNodes(lattice, counter)
        sampled = self.sampled(lattice)
        ks = [counted.k(node) for node in sampled]
        return self.fit_points(
            lattice, [lattice.class_count(node) for node in sampled], ks, n_classes_counted=counted.n_classes_counted
        )

    def sampled(self, lattice: Lattice) -> list[Node]:
        """Return the nodes to be counted, by class count, the whole table first."""
        nodes = sorted(lattice, key=lambda node: (lattice.class_count(node), node))
        if self.n_nodes is not None:
            return nodes[: self.n_nodes]
        return [node for node in nodes if lattice.class_count(node) <= self.largest]

    def fit_points(
        self, lattice: Lattice, class_counts: Sequence[int], ks: Sequence[float], *, n_classes_counted: int = 0
    ) -> FittedPowerLaw:
        """Draw the line through any class counts and their k, such as those of nodes that were counted anyway."""
        x, y = np.log(np.asarray(class_counts, float)), np.log(np.asarray(ks, float))
        if len(set(class_counts)) < 2:
            raise InputError.of("sampled nodes of two different class counts", value=len(set(class_counts)))
        from_middle = x - x.mean()
        extent = float(from_middle @ from_middle)
        beta = float(from_middle @ y) / extent
        offset = float(y.mean()) - beta * float(x.mean())
        residuals = y - offset - beta * x
        # Two numbers were fitted. Two points leave no residual, and so no band.
        spread = math.sqrt(float(residuals @ residuals) / max(len(x) - 2, 1))
        return FittedPowerLaw(
            lattice, math.exp(offset), beta, spread, float(x.mean()), extent, len(x), self.caution, n_classes_counted
        )

    @classmethod
    def from_knowledge(cls, lattice: Lattice, knowledge: JsonView) -> FittedPowerLaw:
        """Make the law of one who has only its numbers."""
        try:
            return FittedPowerLaw(
                lattice=lattice,
                alpha=float(knowledge["alpha"]),
                beta=float(knowledge["beta"]),
                spread=float(knowledge["spread"]),
                middle=float(knowledge["middle"]),
                extent=float(knowledge["extent"]),
                n_sampled=int(knowledge["n_sampled"]),
                caution=float(knowledge["caution"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError.of("the knowledge of a power law", value=str(error)) from None


@dataclass(frozen=True)
class FittedPowerLaw:
    """A power law of one table: `alpha`, `beta`, and what its band needs.

    `spread` is the standard deviation of ln k around the line, `middle` and `extent` are the mean of the sampled
    ln x and the sum of squares around it: the band widens away from the sampled nodes, as that of any line does.
    """

    lattice: Lattice
    alpha: float
    beta: float
    spread: float
    middle: float
    extent: float
    n_sampled: int
    caution: float
    n_classes_counted: int = 0

    @property
    def knowledge(self) -> Knowledge:
        """The seven numbers."""
        names = ("alpha", "beta", "spread", "middle", "extent", "n_sampled", "caution")
        return {"method": "power-law"} | {name: getattr(self, name) for name in names}

    def predict(self, node: Node) -> Prediction:
        """Predict k by the node's class count alone."""
        return self.predict_at(self.lattice.class_count(node))

    def predict_at(self, class_count: float) -> Prediction:
        """Predict the k of any node with this class count."""
        x = math.log(class_count)
        on_line = self.alpha * math.exp(self.beta * x)
        error = self.spread * math.sqrt(1 + 1 / self.n_sampled + (x - self.middle) ** 2 / self.extent)
        factor = math.exp(-NormalDist().inv_cdf(self.caution) * error)
        return Prediction(on_line + 1, on_line / factor + 1, on_line * factor + 1)

    @property
    def correlation(self) -> float | None:
        """R: how closely ln k follows the line at the sampled nodes, 1 if exactly; None where all have one k."""
        explained = self.beta**2 * self.extent
        left = self.spread**2 * max(self.n_sampled - 2, 1)
        # What is left of equal k is rounding.
        return math.sqrt(explained / (explained + left)) if explained + left > 1e-20 else None

    def numbers(self, k: float, *, slope: float = 0.0) -> dict[str, float | None]:
        """List α, β and R of the law as it is turned by a slope, and the class count x at which it predicts k."""
        turned = replace(self, beta=self.beta - slope)
        x = turned.inverse(k) if turned.beta < 0 and k > 1 else None
        # A law that hardly falls reaches k beyond any number of classes.
        return {
            "alpha": self.alpha,
            "beta": turned.beta,
            "x_for_k": x if x != math.inf else None,
            "r": self.correlation,
        }

    def inverse(self, k: float) -> float:
        """Return the class count at which k is predicted, ((k − 1) / α)^(1/β): infinite for a k of 1, or beyond floats.

        Of a law that is all but flat it is 0 or infinite: no class count has this k, or all have more.
        """
        if self.beta >= 0:
            raise InputError.of("a law that falls, with β below 0", option="beta", value=self.beta)
        if k < 1:
            raise InputError.of("a k of 1 or more", option="k", value=k)
        if k == 1:
            return math.inf
        power = (math.log(k - 1) - math.log(self.alpha)) / self.beta
        # Beyond this a float has no room for it.
        return math.inf if power > math.log(sys.float_info.max) else math.exp(power)


def law_in_words(numbers: Mapping[str, float | None], k: float) -> str:
    """Write a law as a formula, with the class count for a k and R."""
    x, r = numbers["x_for_k"], numbers["r"]
    at = Text("k = {k:,} at no x", k=k) if x is None else Text("k = {k:,} at x = {x:,.3g}", k=k, x=x)
    formula = "k = {alpha:,.4g}·x^{beta:.4g} + 1; {at}"
    told = {"alpha": numbers["alpha"], "beta": numbers["beta"], "at": at}
    return Text(formula, **told) if r is None else Text(formula + "; R = {r:.4f}", **told, r=r)
