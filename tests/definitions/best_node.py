"""The best generalization by looking at all of them, each judged by its definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tests.definitions import losses
from tests.definitions.cases import Case, Row
from tests.definitions.generalizing import Levels, classes, generalized

LOSSES: dict[str, Callable[[Case, Levels, set[int]], float]] = {
    "prec": lambda case, levels, gone: losses.mean_over_cells(case, levels, gone, losses.prec),
    "ncp": lambda case, levels, gone: losses.mean_over_cells(case, levels, gone, losses.ncp),
    "dis": lambda case, levels, gone: losses.mean_over_cells(case, levels, gone, losses.dis),
    "entropy": losses.entropy,
    "discernibility": losses.discernibility,
    "average-class-size": losses.average_class_size,
}


def nodes(case: Case) -> list[Levels]:
    ranges = [range(len(tree)) for tree in case.trees.values()]
    return [dict(zip(case.trees, levels, strict=True)) for levels in product(*ranges)]


def suppressed(case: Case, levels: Levels, holds: Callable[[list[Row]], bool]) -> set[int]:
    """The rows of classes that fail."""
    rows = generalized(case, levels)
    failing = [row for one in classes(rows, case.quasi_identifiers) if not holds(one) for row in one]
    return {number for number, row in enumerate(rows) if any(row is one for one in failing)}


def least_loss(case: Case, holds: Callable[[list[Row]], bool], share: float, loss: str) -> float | None:
    """The least loss of a node that has few enough rows to suppress; None if there is none."""
    found = []
    for levels in nodes(case):
        gone = suppressed(case, levels, holds)
        # A release has rows, however many may be left out.
        if len(gone) <= share * len(case.rows) + 1e-9 and (len(gone) < len(case.rows) or not case.rows):
            found.append(LOSSES[loss](case, levels, gone))
    return min(found, default=None)
