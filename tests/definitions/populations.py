"""What compares with a population: k-map (Sweeney 2002), δ-presence (Nergiz, Atzori and Clifton 2007), the three risks
of El Emam and Dankar (2008)."""

from __future__ import annotations

from fractions import Fraction

from tests.definitions.cases import Row
from tests.definitions.generalizing import classes


def people_like(row: Row, population: list[Row], columns: list[str]) -> int:
    return sum(all(one[name] == row[name] for name in columns) for one in population)


def k_map(released: list[Row], population: list[Row], columns: list[str]) -> int:
    return min((people_like(row, population, columns) for row in released), default=0)


def presence(released: list[Row], population: list[Row], columns: list[str]) -> list[Fraction]:
    """The released share of each class of the population."""
    return [Fraction(people_like(one[0], released, columns), len(one)) for one in classes(population, columns)]


def prosecutor(released: list[Row], columns: list[str]) -> float:
    return max((1 / people_like(row, released, columns) for row in released), default=0.0)


def breach(released: list[Row], columns: list[str], *, chance: float) -> float:
    return max((chance / people_like(row, released, columns) for row in released), default=0.0)


def journalist(released: list[Row], population: list[Row], columns: list[str]) -> float:
    return max((1 / people_like(row, population, columns) for row in released), default=0.0)


def marketer(released: list[Row], population: list[Row], columns: list[str]) -> float:
    found = [1 / people_like(row, population, columns) for row in released]
    return sum(found) / len(found) if found else 0.0
