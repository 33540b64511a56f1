"""k-anonymity (Sweeney 2002): each record shares its values with k − 1 others."""

from __future__ import annotations

from tests.definitions.cases import Row


def k(classes: list[list[Row]]) -> int:
    return min((len(one) for one in classes), default=0)


def holds(one: list[Row], k: int) -> bool:
    return len(one) >= k


def uniques(classes: list[list[Row]]) -> int:
    return sum(len(one) == 1 for one in classes)


def mean_class_size(classes: list[list[Row]]) -> float:
    return sum(map(len, classes)) / len(classes) if classes else 0.0
