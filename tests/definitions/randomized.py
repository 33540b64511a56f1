"""Pk-anonymity and Pℓ-diversity (Ikarashi, Kikuchi, Chida and Takahashi 2015), by going through all assignments of
people to records; values are kept with a probability or else drawn from all alike."""

from __future__ import annotations

from itertools import permutations
from math import prod

Record = tuple[str, ...]


def likelihood(original: Record, released: Record, retentions: list[float], domains: list[list[str]]) -> float:
    """How likely one record becomes another, its columns being drawn independently."""
    chances = []
    for before, after, kept, domain in zip(original, released, retentions, domains, strict=True):
        chances.append((kept if before == after else 0.0) + (1 - kept) / len(domain))
    return prod(chances)


def posteriors(
    people: list[Record], released: list[Record], retentions: list[float], domains: list[list[str]]
) -> list[list[float]]:
    """The probability that each person's record is each released one, all orders being alike before."""
    n = len(people)
    weights = [[0.0] * n for _ in range(n)]
    total = 0.0
    for order in permutations(range(n)):
        weight = prod(likelihood(one, released[to], retentions, domains) for one, to in zip(people, order, strict=True))
        total += weight
        for person, record in enumerate(order):
            weights[person][record] += weight
    return [[weight / total for weight in row] for row in weights]


def likeliest_link(
    people: list[Record], released: list[Record], retentions: list[float], domains: list[list[str]]
) -> float:
    return max(max(row) for row in posteriors(people, released, retentions, domains))


def likeliest_value(
    people: list[Record],
    released: list[Record],
    sensitive: list[str],
    retentions: list[float],
    domains: list[list[str]],
) -> float:
    """The probability of the likeliest sensitive value of anybody; released record n has the nth value."""
    found = posteriors(people, released, retentions, domains)
    return max(
        sum(p for p, own in zip(row, sensitive, strict=True) if own == value) for row in found for value in sensitive
    )


def worst_case(n: int, retentions: list[float], domains: list[list[str]]) -> float:
    """The likeliest link of the worst table of n people: one is u, all others u′, and so are their records."""
    one, others = tuple(domain[0] for domain in domains), tuple(domain[-1] for domain in domains)
    return likeliest_link([one] + [others] * (n - 1), [one] + [others] * (n - 1), retentions, domains)
