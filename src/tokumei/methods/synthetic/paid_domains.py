"""Which values occur in a column, where nobody can say it beforehand: counted with noise, and paid for.

A value is told if its noisy count is above a threshold that the rows of one person reach with chance δ at most. Without
that person their own values could not have been told at all; so this is ρ-zCDP but for a chance of δ (Bun and Steinke
2016, section 8, on the histogram of Korolova et al. 2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.text import Text
from tokumei.methods.perturbing.perturbation import Ints, Original
from tokumei.methods.synthetic.domains import EXPECTED, Domain, even_edges
from tokumei.methods.synthetic.private_noise import Coins, discrete_gaussian

PAID = "?"
# Shares of ρ and δ that are spent for all columns that are paid for together.
SHARE_OF_RHO, SHARE_OF_DELTA = 0.1, 0.1
# Numbers end at a power of two of so many, below 0 and above.
N_POWERS = 53
# The chance that noise alone makes the range of a column wider than it is.
TOO_WIDE = 0.01


@dataclass(frozen=True)
class Payment:
    """What is spent to count which values occur: ρ and δ for all columns together, the noise and the threshold.

    One person moves the counts of a column by m rows at most (L2 norm), so that noise of σ = m·√(k/2ρ) spends ρ/k for
    each of k columns. A value of this person alone has m rows at most, and the person has m such values at most in each
    column; noise of σ is above t with chance e^(−t²/2σ²) at most, so that all of them stay below m + σ·√(2·ln(m·k/δ))
    but for a chance of δ.

    Example: of one column, ρ = 1/8, m = 1 and δ = 10⁻⁴ the noise has σ = 2, and values of more than
    1 + 2·√(2·9.21) = 9.6 rows are told.
    """

    rho: float
    delta: float
    n_columns: int
    most_rows: int

    @property
    def sigma(self) -> float:
        """The deviation of the noise of each count."""
        return self.most_rows * math.sqrt(self.n_columns / (2 * self.rho))

    @property
    def threshold(self) -> float:
        """Values of no more than this noisy count are not told."""
        return self.most_rows + self.sigma * math.sqrt(2 * math.log(self.most_rows * self.n_columns / self.delta))


def paid_columns(declared: Sequence[str], columns: Sequence[str]) -> dict[str, int | None]:
    """Return the columns whose domain is to be counted: the bins of numbers, None for labels."""
    found: dict[str, int | None] = {}
    for text in declared:
        name, _, said = (part.strip() for part in text.partition("="))
        if not said.startswith(PAID) or name not in columns:
            continue
        bins = said[len(PAID) :]
        if bins and not (bins.startswith("/") and bins[1:].isdecimal() and int(bins[1:])):
            raise InputError.of(EXPECTED, option="domain", value=text)
        found[name] = int(bins[1:]) if bins else None
    return found


def paid_domains(
    original: Original, wanted: Mapping[str, int | None], payment: Payment, coins: Coins, *, is_complete: bool
) -> dict[str, Domain]:
    """Count which values occur in each column; CannotAnonymize if no value is frequent enough."""
    found = {}
    for name, n_bins in wanted.items():
        if n_bins is not None:
            found[name] = _range_of(original, name, n_bins, payment, coins, has_missing=not is_complete)
            continue
        counts = original.column(name).cast(pl.String).drop_nulls().value_counts(name="n").sort(name)
        noisy = counts["n"].to_numpy() + discrete_gaussian(payment.sigma, counts.height, coins)
        labels = counts[name].filter(pl.Series(noisy > payment.threshold)).to_list()
        if not labels:
            form = "No value of column {column} is frequent enough to be told: declare its values, or leave it out."
            raise CannotAnonymize(Text(form, column=name))
        found[name] = Domain(name, tuple(labels), has_missing=not is_complete)
    return found


def _range_of(
    original: Original, name: str, n_bins: int, payment: Payment, coins: Coins, *, has_missing: bool
) -> Domain:
    """Find the powers of two between which numbers lie: which of these have rows is counted, all of them with noise."""
    numbers = original.numbers(name)
    known = np.round(numbers[~np.isnan(numbers)])
    cells = np.bincount(_power(known) + N_POWERS, minlength=2 * N_POWERS + 1)
    noisy = cells + discrete_gaussian(payment.sigma, len(cells), coins)
    # These cells are the same for every table, so that no chance of δ is needed: only noise is to be kept out.
    there = np.flatnonzero(noisy > payment.sigma * math.sqrt(2 * math.log(len(cells) / TOO_WIDE))) - N_POWERS
    if not len(there):
        form = "No value of column {column} is frequent enough to be told: declare its values, or leave it out."
        raise CannotAnonymize(Text(form, column=name))
    low, high = int(there[0]), int(there[-1])
    first = 0 if low == 0 else 2 ** (low - 1) if low > 0 else 1 - 2**-low
    last = 0 if high == 0 else 2**high - 1 if high > 0 else -(2 ** (-high - 1))
    return Domain(name, edges=even_edges(first, last, n_bins), has_missing=has_missing)


def _power(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """Return the power of two that each whole number lies below: 0 for 0, 1 for 1, 2 for 2 and 3, -2 for -2 and -3."""
    power = np.floor(np.log2(np.maximum(np.abs(numbers), 0.5))) + 1
    return np.asarray(np.sign(numbers) * np.clip(power, 0, N_POWERS), np.int64)
