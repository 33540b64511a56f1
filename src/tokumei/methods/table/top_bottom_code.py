"""The largest and the smallest numbers written alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.text import Text
from tokumei.methods.perturbation import USUAL_K, Floats, Original, Perturbed, least_rows
from tokumei.methods.perturbing.bounds import check_bounds, given_bounds

Written = Literal["bound", "mean"]


@dataclass(frozen=True)
class TopBottomCode:
    """Write the largest numbers of a column as one number, and the smallest as another.

    At the top it is the values from a threshold up: those of at most the share `top` of the rows, or from a bound that
    is given in `high`. Where fewer than k rows would be written so, the threshold goes down until there are k, since
    somebody who is alone above it would still be found, and it is a value of the table. The bottom is treated alike.
    Rows are written as the threshold or as the mean of all that are beyond or at it, which keeps the mean of the
    column. k is what is asked for, else 3. What lies between the thresholds is released as it is and can still be
    unique; missing values stay. A threshold that follows from a share or from k is the value of somebody in the table,
    and is told to all; a bound in `low` or `high` that has k rows beyond it says nothing of anybody. Top coding is
    usual in the public files of census bureaus; see Hundepool et al., Statistical Disclosure Control (2012). Rows keep
    their order, and no chance is involved.

    Example: with k=2, top=0.2 and bottom=0: one row is a fifth of five, but two must be written alike

    | income   | 100 | 120 | 300 | 320 | 900 |
    |----------|-----|-----|-----|-----|-----|
    | bound    | 100 | 120 | 300 | 320 | 320 |
    | mean     | 100 | 120 | 300 | 610 | 610 |
    """

    top: float = field(
        default=0.05, metadata={"help": "Most rows that are coded at the top, as a share; 0 codes none."}
    )
    bottom: float = field(
        default=0.05, metadata={"help": "Most rows that are coded at the bottom, as a share; 0 codes none."}
    )
    low: tuple[float, ...] = field(
        default=(), metadata={"help": "The least number released of each column, instead of the share at the bottom."}
    )
    high: tuple[float, ...] = field(
        default=(), metadata={"help": "The greatest number released of each column, instead of the share at the top."}
    )
    write: Written = field(default="bound", metadata={"help": "What is written: the threshold, or the mean beyond it."})
    k: int | None = field(
        default=None, metadata={"help": f"Fewest rows coded at an end; the k asked for, else {USUAL_K}, if none."}
    )
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to code; the numeric quasi-identifiers if none."}
    )

    @property
    def gives_away(self) -> str:
        """What is written of the values of people."""
        return (
            "Numbers between the thresholds are released as they are, and a threshold that follows from a share of "
            "the rows, or from k, is the value of somebody in the table."
        )

    def perturb(self, original: Original, *, seed: int) -> Perturbed:  # noqa: ARG002
        """Code the ends of each column; CannotAnonymize where it has not enough rows for them."""
        k = least_rows(self.k, original)
        columns = original.chosen(self.columns, numeric=True)
        self._check_options(columns)
        coded, thresholds = [], {}
        for name, (low, high) in given_bounds(columns, self.low, self.high).items():
            values, thresholds[name] = self._coded(name, original.numbers(name), low, high, k)
            coded.append(original.with_numbers(name, values))
        rows = pl.Series("row", np.arange(original.n_rows))
        return Perturbed(original.frame.with_columns(coded), rows, facts={"k": k, "thresholds": thresholds})

    def _check_options(self, columns: list[str]) -> None:
        for name in ("top", "bottom"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if self.write not in get_args(Written):
            raise InputError.of(" or ".join(get_args(Written)), option="write", value=self.write)
        check_bounds(columns, self.low, self.high)

    def _coded(
        self, column: str, numbers: Floats, low: float | None, high: float | None, k: int
    ) -> tuple[Floats, list[float | None]]:
        """Return a column with its ends coded, and the thresholds; None where an end is not coded."""
        known = np.sort(numbers[~np.isnan(numbers)])
        codes_top, codes_bottom = high is not None or self.top > 0, low is not None or self.bottom > 0
        if not len(known) or not (codes_top or codes_bottom):
            return numbers, [None, None]
        if len(known) < k:
            raise CannotAnonymize(
                Text(
                    "Column {column} has {n:,} numbers, and {k} must be written alike.",
                    column=column,
                    n=len(known),
                    k=k,
                )
            )
        # The bottom of numbers is the top of their negatives.
        above = threshold(known, self.top, high, k) if codes_top else None
        below = -threshold(-known[::-1], self.bottom, None if low is None else -low, k) if codes_bottom else None
        if above is not None and below is not None and below > above:
            raise CannotAnonymize(
                Text("Column {column} has not {k} numbers at each end: its ends would overlap.", column=column, k=k)
            )
        out = numbers.copy()
        ends = [(numbers <= below, below)] if below is not None else []
        ends += [(numbers >= above, above)] if above is not None else []
        if below is not None and below == above:
            ends = [(~np.isnan(numbers), below)]
        for is_coded, bound in ends:
            out[is_coded] = bound if self.write == "bound" else _mean(numbers[is_coded])
        return out, [below, above]


def threshold(ordered: Floats, share: float, bound: float | None, k: int) -> float:
    """Return the number from which on numbers are coded, at least k of them; they come smallest first.

    Without a bound it is the least number that at most the share of them reach.
    """
    kth = float(ordered[-k])
    if bound is not None:
        return min(bound, kth)
    n_rows = len(ordered)
    # A hair more, since 0.1 of 30 rows is not quite 3 to a computer.
    n_most = int(share * n_rows + 1e-9)
    # All copies of one number are coded or none is.
    index = n_rows - n_most
    if 0 < index < n_rows and ordered[index] == ordered[index - 1]:
        index = int(np.searchsorted(ordered, ordered[index], side="right"))
    return float(min(ordered[index], kth)) if index < n_rows else kth


def _mean(numbers: Floats) -> float:
    """Return the mean: the same in any order, and of equal numbers exactly that number."""
    return float(np.clip(np.sort(numbers).mean(), numbers.min(), numbers.max()))
