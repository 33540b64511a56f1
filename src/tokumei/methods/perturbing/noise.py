"""Random numbers added to numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.score import Score
from tokumei.core.seeds import DRAWN_BY, generator
from tokumei.core.text import Text
from tokumei.measures.safety.pk_anonymity import clamped_gaussian_ratio, laplace_ratio, pk_of_ratio
from tokumei.methods.perturbing.perturbation import (
    Floats,
    Original,
    Perturbed,
    check_bounds,
    check_enough,
    check_inside,
    fewest_alike,
    in_random_order,
    known_bounds,
    last_that_holds,
    standard_deviation,
)

Ints = np.typing.NDArray[np.int64]
Kind = Literal["laplace", "gaussian"]

# The standard deviation of a Laplace distribution is so many times its parameter.
ROOT_2 = math.sqrt(2)
USUAL_SCALE = 0.5
# More would be a slip, and far more would overflow.
LARGEST_SCALE = 1000.0
# The last digits of a sum of two floats tell what was added: at most so many below the size of the noise are written.
DIGITS_BELOW_NOISE = 3
# Of numbers near the smallest that a float can hold.
MOST_DECIMALS = 300


@dataclass(frozen=True)
class Noise:
    """Add random numbers with mean 0 to numbers.

    The standard deviation of what is added is `scale` times that of the column, so that the variance of the column
    becomes 1 + scale² times as large (Kim 1986). Where bounds of a column are known, sums beyond them are put onto
    them: bounds are the options `low` and `high`, one number for each column, else the least and the greatest leaf of
    the column's hierarchy. They are published, so they must not come from the table. Numbers are written with as many
    decimals as the column had, so that whole numbers stay whole, and never with digits far below the noise. Missing
    values stay.

    If every changed column has both bounds, the promise is Pk-anonymity (Ikarashi, Kikuchi, Chida and Takahashi 2015):
    whoever knows all rows of the original links no person to a released row with more than 1/k. For Laplace noise of
    standard deviation s on a range of width w that is k = 1 + (n − 1)·exp(−2√2·w/s), n being the fewest rows that agree
    on the quasi-identifiers left as they are and on which values are missing; the exponents of columns add up. The
    option `pk` asks for such a k, with the smallest scale that gives it. Without bounds there is no promise, and the
    recipe says for which columns. Rows are released in an order drawn at random, and whoever knows the seed can undo
    all of it: keep it secret.

    Example: scale=0.5 and seed=2 for ages from 0 to 100; their standard deviation is 10 and that of the noise 5

    | age      | 30   | 30   | 50  | 50  |
    |----------|------|------|-----|-----|
    | noise    | −2.7 | −3.3 | 1.1 | 4.1 |
    | released | 27   | 27   | 51  | 54  |

    k = 1 + 3·exp(−2√2·100/5) is hardly more than 1: so little noise promises nothing. With scale=20 it is 1.73.
    """

    scale: float | None = field(
        default=None,
        metadata={
            "help": "Standard deviation of the noise, in those of the column; "
            f"{USUAL_SCALE} if neither it nor pk is given."
        },
    )
    pk: float | None = field(
        default=None,
        metadata={"help": "The k of Pk-anonymity to reach, with as little noise as does; instead of scale."},
    )
    kind: Kind = field(default="laplace", metadata={"help": "The distribution of the noise."})
    low: tuple[float, ...] = field(default=(), metadata={"help": "The least number that each column can hold."})
    high: tuple[float, ...] = field(default=(), metadata={"help": "The greatest number that each column can hold."})
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to change; the numeric quasi-identifiers if none."}
    )

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Add noise to each column."""
        names = original.chosen(self.columns, numeric=True)
        columns = self.columns_of(original, names, {name: (original.numbers(name), None) for name in names})
        decided = self.decide(columns, fewest_alike(original, names, missing_stays=True))
        noisy = [
            original.with_numbers(one.name, self.noisy(one, one.numbers, decided.scale, noise_stream(seed, one.name)))
            for one in columns
        ]
        frame, rows = in_random_order(original.frame.with_columns(noisy), seed, "noise")
        return Perturbed(frame, rows, decided.promises, {**decided.facts, "drawn_by": DRAWN_BY})

    def columns_of(
        self, original: Original, names: Sequence[str], numbers: Mapping[str, tuple[Floats, Ints | None]]
    ) -> list[NoisyColumn]:
        """Return the columns with their bounds; numbers that stand once come with how many rows have each."""
        self._check_options(names)
        bounds = known_bounds(original, names, self.low, self.high)
        columns = [NoisyColumn(name, *numbers[name], *bounds[name]) for name in names]
        for one in columns:
            check_inside(one.name, one.numbers, one.low, one.high)
        return columns

    def decide(self, columns: Sequence[NoisyColumn], n_alike: int) -> Decided:
        """Decide how much noise there is, and say what it promises of the fewest rows that agree on all else."""
        scale = self._scale(columns, n_alike)
        unbounded = [one.name for one in columns if one.width is None]
        facts = {
            "scale": scale,
            "deviations": {one.name: scale * one.deviation for one in columns},
            "bounds": {one.name: [one.low, one.high] for one in columns},
            "no_promise_for_want_of_bounds": unbounded,
        }
        if unbounded:
            return Decided(scale, {}, facts)
        k = self._pk(columns, scale, n_alike)
        names = [one.name for one in columns]
        score = Score("pk-anonymity", k, best=math.inf, worst=0, inputs={"n_alike": n_alike, "columns": names})
        return Decided(scale, {score.name: score}, facts)

    def _check_options(self, names: Sequence[str]) -> None:
        if self.scale is not None and self.pk is not None:
            raise InputError.of("either scale or pk", option="pk", value=self.pk)
        if self.scale is not None and not 0 < self.scale <= LARGEST_SCALE:
            raise InputError.of(f"more than 0 and at most {LARGEST_SCALE:g}", option="scale", value=self.scale)
        if self.pk is not None and not 1 < self.pk < math.inf:
            raise InputError.of("a number above 1", option="pk", value=self.pk)
        if self.kind not in get_args(Kind):
            raise InputError.of(" or ".join(get_args(Kind)), option="kind", value=self.kind)
        check_bounds(names, self.low, self.high)

    def _scale(self, columns: Sequence[NoisyColumn], n_alike: int) -> float:
        """Return the scale asked for, or the smallest that reaches the k asked for."""
        if self.pk is None:
            return USUAL_SCALE if self.scale is None else self.scale
        wanted = self.pk
        for one in columns:
            if one.width is None:
                raise InputError.of(
                    f"low and high of {one.name}, without which noise promises no k", option="pk", value=wanted
                )
        if not any(one.deviation for one in columns):
            # Of equal rows, or none, nothing is told without noise.
            return USUAL_SCALE
        check_enough(wanted, n_alike)
        if self._pk(columns, LARGEST_SCALE, n_alike) < wanted:
            raise CannotAnonymize(
                Text(
                    "The bounds are so wide that no noise up to scale {n:g} gives k = {k:g}.", n=LARGEST_SCALE, k=wanted
                )
            )
        return last_that_holds(lambda scale: self._pk(columns, scale, n_alike) >= wanted, LARGEST_SCALE, 0.0)

    def _pk(self, columns: Sequence[NoisyColumn], scale: float, n_alike: int) -> float:
        """Return the promised k; columns are drawn independently, so that their odds multiply."""
        return pk_of_ratio(math.prod(self._ratio(one, scale) for one in columns), n_alike)

    def _ratio(self, column: NoisyColumn, scale: float) -> float:
        """Return how much likelier a released number can be from one original number than from another."""
        size, width = scale * column.deviation, column.width
        if not column.deviation:
            # All rows are equal: nothing is added, and nothing is told.
            return 1.0
        if not size or width is None:
            return math.inf
        return clamped_gaussian_ratio(width, size) if self.kind == "gaussian" else laplace_ratio(width, size / ROOT_2)

    def noisy(
        self,
        column: NoisyColumn,
        numbers: Floats,
        scale: float,
        rng: np.random.Generator,
        decimals: int | None = None,
    ) -> Floats:
        """Return numbers of a column as they are released; of some of them, the decimals are those that all keep."""
        size, n_rows = scale * column.deviation, len(numbers)
        laplace = self.kind == "laplace"
        added = rng.laplace(0.0, size / ROOT_2, n_rows) if laplace else rng.normal(0.0, size, n_rows)
        return written(numbers, added, size, column.low, column.high, decimals)


def noise_stream(seed: int, column: str) -> np.random.Generator:
    """Return the random stream of a column's noise, row by row."""
    return generator(seed, "noise", column)


@dataclass(frozen=True, eq=False)
class Decided:
    """How much noise is added, what it promises, and what the recipe says."""

    scale: float
    promises: Mapping[str, Score]
    facts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class NoisyColumn:
    """The numbers of a column, how many rows have each if each stands once, and bounds as far as they are known."""

    name: str
    numbers: Floats
    n_each: Ints | None
    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        """How far two numbers can be apart."""
        return None if self.low is None or self.high is None else self.high - self.low

    @cached_property
    def deviation(self) -> float:
        """The standard deviation."""
        return standard_deviation(self.numbers, self.n_each)


def written(
    numbers: Floats, added: Floats, size: float, low: float | None, high: float | None, decimals: int | None = None
) -> Floats:
    """Return the sums within bounds, with so many decimals or those the numbers had, as far as the noise allows."""
    if not size:
        return numbers
    decimals = decimals_kept(numbers, size) if decimals is None else decimals
    least, greatest = -math.inf if low is None else low, math.inf if high is None else high
    sums = np.round(np.clip(numbers + added, least, greatest), decimals)
    # Rounding may go beyond a bound that has more decimals.
    unit = 10.0**decimals
    return np.clip(sums, np.ceil(least * unit - 1e-9) / unit, np.floor(greatest * unit + 1e-9) / unit)


def decimals_kept(numbers: Floats, size: float) -> int:
    """Return how many decimals the numbers keep beside noise of a size above 0."""
    most = min(MOST_DECIMALS, max(0, DIGITS_BELOW_NOISE - math.floor(math.log10(size))))
    return n_decimals(numbers, most)


def n_decimals(numbers: Floats, most: int) -> int:
    """Return how many decimals the numbers have, at most so many."""
    known = numbers[~np.isnan(numbers)]
    return next((indices for indices in range(most) if np.array_equal(np.round(known, indices), known)), most)
