"""Attackers who match: exactly (the sample attackers of PWSCUP 2017), by item sets (algorithm 1 of Ito, Kikuchi et al.
2016), by tf-idf, and the attackers of tables of PWSCUP 2015."""

from __future__ import annotations

import math
from collections import Counter

from tests.definitions.cases import Row
from tests.definitions.history_utility import Purchase

# Customer (or pseudonym) and month to whom is guessed.
Cell = tuple[str, int]
Guess = dict[Cell, str]


def month(row: Purchase) -> int:
    return 12 * row.date.year + row.date.month - 1


def matched(known: list[Purchase], published: list[Purchase], fields: tuple[str, ...]) -> Guess:
    """For each known row the last published one that agrees; a later known row overwrites the guess of an earlier."""
    longest = max((len(row.item) for row in known), default=0)

    def key(row: Purchase) -> tuple[object, ...]:
        seen = {**vars(row), "item": row.item[:longest], "month": month(row)}
        return tuple(seen[name] for name in fields)

    guess: Guess = {}
    for row in known:
        for other in published:
            if key(row) == key(other):
                guess[row.customer, month(row)] = other.customer
    # The last agreeing row of the last known row: later ones have overwritten.
    return guess


def items_of(rows: list[Purchase], longest: int) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row.customer, Counter())[row.item[:longest]] += 1
    return dict(sorted(found.items()))


def jaccard(one: Counter[str], other: Counter[str]) -> float:
    return len(one.keys() & other.keys()) / len(one.keys() | other.keys())


def tf_idf(own: Counter[str], everybody: dict[str, Counter[str]]) -> dict[str, float]:
    """An item's share of the customer's rows times ln(n / buyers) + 1."""
    n = len(everybody)
    rarity = {item: math.log(n / max(1, sum(item in one for one in everybody.values()))) + 1 for item in own}
    return {item: count / own.total() * rarity[item] for item, count in own.items()}


def cosine(one: dict[str, float], other: dict[str, float]) -> float:
    size = math.hypot(*one.values()) * math.hypot(*other.values())
    return sum(one[item] * other[item] for item in one.keys() & other.keys()) / size


def most_similar(known: list[Purchase], published: list[Purchase], by: str) -> dict[str, dict[str, float]]:
    """How similar each customer is to each pseudonym; only those who share an item."""
    longest = max((len(row.item) for row in known), default=0)
    ours, theirs = items_of(known, longest), items_of(published, longest)
    found: dict[str, dict[str, float]] = {}
    for pseudonym, items in theirs.items():
        for customer, own in ours.items():
            if items.keys() & own.keys():
                like = jaccard(items, own) if by == "jaccard" else cosine(tf_idf(items, ours), tf_idf(own, ours))
                found.setdefault(pseudonym, {})[customer] = like
    return found


def nearest_row(amount: float, among: list[tuple[int, float]]) -> int | None:
    """The row with the nearest amount: the lower of two as near, the first of equals."""
    return min(among, key=lambda one: (abs(one[1] - amount), one[1], one[0]))[0] if among else None


def id_sa(
    before: list[Row], after: list[Row], columns: list[str], ours: list[float], theirs: list[float]
) -> list[int | None]:
    """The nearest in one sensitive column of those with the same quasi-identifiers."""
    return [
        nearest_row(
            amount, [(n, ours[n]) for n, one in enumerate(before) if all(one[name] == row[name] for name in columns)]
        )
        for row, amount in zip(after, theirs, strict=True)
    ]


def sa21(ours: list[float], theirs: list[float]) -> list[int | None]:
    return [nearest_row(amount, list(enumerate(ours))) for amount in theirs]


def by_rank(ours: list[float], theirs: list[float]) -> list[int]:
    """The row of the same rank by the sum of amounts; ranks are stretched where rows are gone."""
    order, released = (sorted(range(len(sums)), key=lambda row: (sums[row], row)) for sums in (ours, theirs))
    guess = [0] * len(theirs)
    for rank, row in enumerate(released):
        guess[row] = order[(2 * rank + 1) * len(ours) // (2 * len(theirs))]
    return guess


def id_rand_expected(before: list[Row], after: list[Row], columns: list[str], came_from: list[int]) -> float:
    """The chance to draw the right row among those with the same quasi-identifiers."""
    chances = []
    for row, source in zip(after, came_from, strict=True):
        alike = [n for n, one in enumerate(before) if all(one[name] == row[name] for name in columns)]
        chances.append(1 / len(alike) if source in alike else 0.0)
    return sum(chances) / len(chances)
