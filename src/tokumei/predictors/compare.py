"""Predictors side by side on one table, against the k that counting gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_options
from tokumei.core.text import Text
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.counted_nodes import LatticeCounts
from tokumei.predictors.node_ks import NodeKs
from tokumei.predictors.predictor import PREDICTORS, Fitted, Prediction, Predictor
from tokumei.predictors.quadrants import Quadrants, Rule, is_served


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
            row: dict[str, Any] = {"levels": levels, "class_count": each.class_count, "k": each.k}
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
) -> Comparison:
    """Fit predictors on one table and compare them on nodes of the lattice, all of them unless some are named.

    Nodes of one class are left out, since the k of the whole table is its number of rows. Where a level has one label
    and tells missing values apart, there are two classes if there are any.
    """
    counted = LatticeCounts.of(lattice, counts)
    asked = sorted((lattice.class_count(node), node) for node in (lattice if nodes is None else nodes))
    # Neither waits for the other, and the large arrays of both are gone through without Python.
    with ThreadPoolExecutor(1) as beside:
        found = beside.submit(lambda: NodeKs(counted).of(node for _, node in asked))
        fitted = {name: predictor.fit(lattice, counted.classes) for name, predictor in predictors.items()}
        with step("counting nodes"):
            ks = found.result()
    compared = []
    with step("comparing predictors", len(asked)) as bar:
        for class_count, node in asked:
            if class_count > 1 or ks[node] < counted.over.n_rows:
                predictions = {name: each.predict(node) for name, each in fitted.items()}
                compared.append(ComparedNode(node, class_count, ks[node], predictions))
            bar.advance()
    return Comparison(lattice, fitted, tuple(compared))


def predictors_for(
    k_p: int, names: Iterable[str] | None = None, options: Mapping[str, Any] | None = None
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
