"""Whether an attack proves a release unsafe: the hypothesis test of PWSCUP 2018, in exact arithmetic.

A release is safe (H₀) if nobody can name any s of its pseudonyms rightly with a chance above pˢ. Of n guesses, s or
more are then right with a chance of at most u(p, n, s) = Σ C(n, k) pᵏ over k = s … n, and an attack that has so many
right that u < α disproves it.

| guesses n | 6 | 7 | 24 | 99 | 999 |
|-----------|---|---|----|----|-----|
| r(n)      | – | 7 | 18 | 64 | 612 |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, factorial

import polars as pl

from tokumei.core.errors import InputError

# The contest's: a third, and 0.01 shared among up to twenty attacks.
CHANCE = Fraction(1, 3)
LEVEL = Fraction(1, 100) / 20


@dataclass(frozen=True)
class HypothesisVerdict:
    """What an attack proved: `n_needed` right guesses were needed, which is more than there are where none suffice."""

    n_guesses: int
    n_right: int
    n_needed: int

    @property
    def is_unsafe(self) -> bool:
        """Whether the release is proven unsafe."""
        return self.n_right >= self.n_needed


def fraction_of(value: str | float | Fraction, option: str) -> Fraction:
    """Read a chance between 0 and 1, exactly as it is written: 1/3, 0.0005 or 0.01/20.

    >>> fraction_of("0.01/20", "alpha")
    Fraction(1, 2000)
    """
    try:
        # A float by its shortest digits: 0.1 is a tenth.
        above, _, below = str(value).partition("/")
        found = Fraction(above) / Fraction(below or 1)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1:
        raise InputError.of("a chance between 0 and 1, as 1/3 or 0.0005", option=option, value=value)
    return found


@cache
def n_needed(n: int, p: Fraction = CHANCE, level: Fraction = LEVEL) -> int:
    """Return r(n): the fewest right guesses of n that prove a release unsafe, and n + 1 where none suffice."""
    if n < 0 or not 0 < p < 1 or not 0 < level < 1:
        raise InputError.of("n of 0 or more, and p and the level between 0 and 1", value=f"{n}, {p}, {level}")
    # Everything times the denominator of pⁿ, so that whole numbers are added: fractions would be reduced each time.
    a, b = p.numerator, p.denominator
    limit = level * b**n
    total, term, s = 0, a**n, n
    while s >= 0 and total + term < limit:
        total += term
        # C(n, s−1) a^(s−1) b^(n−s+1) from C(n, s) a^s b^(n−s).
        term = term * s * b // ((n - s + 1) * a)
        s -= 1
    return s + 1


def judge_guesses(
    guesses: pl.DataFrame, truth: pl.DataFrame, p: Fraction = CHANCE, level: Fraction = LEVEL
) -> HypothesisVerdict:
    """Hold guesses of pseudonym and customer against the truth in the same form."""
    if guesses["pseudonym"].is_duplicated().any():
        raise InputError.of("one customer for each pseudonym", column="pseudonym")
    keys = ["pseudonym", "customer"]
    right = guesses.select(keys).join(truth.select(keys).unique(), on=keys, how="inner")
    return HypothesisVerdict(guesses.height, right.height, n_needed(guesses.height, p, level))


def chances_in_class(size: int) -> list[Fraction]:
    """Return the chance of 0, 1, … right when a class of indistinguishable customers is assigned blindly."""
    return [Fraction(comb(size, right) * _n_derangements(size - right), factorial(size)) for right in range(size + 1)]


def chance_of_proof(sizes: Iterable[int], p: Fraction = CHANCE, level: Fraction = LEVEL) -> Fraction:
    """Return the chance that assigning all members of classes of these sizes blindly proves a release unsafe."""
    total, n = [Fraction(1)], 0
    for size in sizes:
        total, n = convolve(total, chances_in_class(size)), n + size
    return sum(total[n_needed(n, p, level) :], Fraction(0))


def convolve(one: Sequence[Fraction], other: Sequence[Fraction]) -> list[Fraction]:
    """Add two independent counts given by their chances of 0, 1, …."""
    total = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            total[i + j] += a * b
    return total


def _n_derangements(n: int) -> int:
    """Count the permutations of n things that leave none in its place."""
    return sum((-1) ** k * factorial(n) // factorial(k) for k in range(n + 1))
