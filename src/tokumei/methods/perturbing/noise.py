"""Random numbers added to numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.score import Score
from tokumei.core.seeds import DRAWN_BY, generator
from tokumei.core.text import Text
from tokumei.measures.safety.pk_anonymity import clamped_gaussian_ratio, laplace_ratio, pk_of_ratio
from tokumei.methods.perturbing.perturbation import (
    LARGEST_WHOLE,
    Floats,
    NumberCounts,
    Original,
    RowByRow,
    RowChange,
    are_whole,
    as_column,
    check_bounds,
    check_enough,
    check_inside,
    fewest_alike,
    known_bounds,
    last_that_holds,
    standard_deviation,
)

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
# No draw of a float is further from 0 than so many standard deviations.
FARTHEST = 60


@dataclass(frozen=True)
class Noise(RowByRow):
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

    def change(self, original: Original, *, seed: int) -> RowChange:
        """Decide by counts how much noise is added; each column goes on with its own stream as rows go by."""
        names = original.chosen(self.columns, numeric=True)
        self._check_options(names)
        bounds = known_bounds(original, names, self.low, self.high)
        columns = [NoisyColumn(name, original.counted_numbers(name), *bounds[name]) for name in names]
        for one in columns:
            check_inside(original, one.name, one.counts, one.low, one.high)
        n_alike = fewest_alike(original, names, missing_stays=True)
        scale = self._scale(columns, n_alike)
        unbounded = [one.name for one in columns if one.width is None]
        facts = {
            "scale": scale,
            "deviations": {one.name: scale * one.deviation for one in columns},
            "bounds": {one.name: [one.low, one.high] for one in columns},
            "no_promise_for_want_of_bounds": unbounded,
            "drawn_by": DRAWN_BY,
        }
        promises = {}
        if not unbounded:
            k = self._pk(columns, scale, n_alike)
            inputs = {"n_alike": n_alike, "columns": names}
            promises = {"pk-anonymity": Score("pk-anonymity", k, best=math.inf, worst=0, inputs=inputs)}
        streams = [_Stream(self.kind, one, scale, generator(seed, "noise", one.name)) for one in columns]
        return RowChange(
            next=lambda rows, first: [one.next(original.read_numbers(rows[one.column.name])) for one in streams],  # noqa: ARG005
            promises=lambda released: promises,  # noqa: ARG005
            facts=facts,
        )

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


@dataclass(frozen=True, eq=False)
class NoisyColumn:
    """The numbers of a column, and bounds as far as they are known."""

    name: str
    counts: NumberCounts
    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        """How far two numbers can be apart."""
        return None if self.low is None or self.high is None else self.high - self.low

    @cached_property
    def deviation(self) -> float:
        """The standard deviation."""
        return standard_deviation(self.counts.numbers, self.counts.n_rows)


class _Stream:
    """The noisy numbers of a column, as far as its rows have gone by."""

    def __init__(self, kind: Kind, column: NoisyColumn, scale: float, random: np.random.Generator) -> None:
        self.kind, self.column, self.random = kind, column, random
        self.size = scale * column.deviation
        numbers = column.counts.numbers
        self.decimals = decimals_kept(numbers, self.size) if self.size else 0
        farthest = float(np.abs(numbers).max(initial=0.0)) + FARTHEST * self.size
        self.is_whole = are_whole(numbers) and farthest <= LARGEST_WHOLE

    def next(self, numbers: Floats) -> pl.Series:
        """Return what the next rows are released with."""
        size, n_rows = self.size, len(numbers)
        laplace = self.kind == "laplace"
        added = self.random.laplace(0.0, size / ROOT_2, n_rows) if laplace else self.random.normal(0.0, size, n_rows)
        sums = written(numbers, added, size, self.column.low, self.column.high, self.decimals)
        return as_column(self.column.name, sums, is_whole=self.is_whole)


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
