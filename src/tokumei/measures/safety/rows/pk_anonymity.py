"""Pk-anonymity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.wording import counted
from tokumei.data.table import Table
from tokumei.measures.requirement import ROUNDING
from tokumei.measures.safety._pk import pk_of_odds, retention_odds


@dataclass(frozen=True)
class PkAnonymity:
    """Nobody is linked to a record with a probability of more than 1/k, since values were kept or replaced by chance.

    Answers record linkage by an attacker who knows the whole original and how values were replaced, but not what was
    drawn (Ikarashi, Kikuchi, Chida and Takahashi 2015). Each value of a column is kept with the column's retention
    probability, or else drawn anew from all values; other columns are not known to attackers. Rows must be released
    in an order that says nothing. Measures k = 1 + (n − 1)·Π ρ: ρ of a column is the least factor by which swapping
    two people's records can make an assignment less likely. 0 for no rows, 1 if a column is kept as it is, n if
    nothing is kept; the more the better. For noise on numbers see `pk_of_ratio`, which the method `noise` uses.

    Example: one column of two values, each kept with probability 1/3. Then a value is released as itself with 2/3
    and as the other with 1/3, a swap makes an assignment at most four times less likely, and k = 1 + 4/4 = 2.

    | original | released |
    |----------|----------|
    | f        | m        |
    | f        | f        |
    | f        | f        |
    | m        | m        |
    | m        | f        |
    """

    k: float = field(metadata={"help": "One over the largest probability of a link; at least 1."})
    columns: tuple[str, ...] = field(metadata={"help": "The columns that were randomized and may be known."})
    retentions: tuple[float, ...] = field(metadata={"help": "The probability that a value is kept, for each column."})
    replacement: Literal["uniform", "shares"] = field(
        default="uniform",
        metadata={"help": "What replaces a value: any value equally often, or as often as in the original."},
    )
    n_values: tuple[int, ...] = field(
        default=(), metadata={"help": "How many values replacements were drawn from; those that occur if not given."}
    )

    def __post_init__(self) -> None:
        if not self.k >= 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        if len(self.retentions) != len(self.columns):
            raise InputError.of(
                f"{counted(len(self.columns), 'probability', 'probabilities')}, one for each column",
                option="retentions",
            )
        if self.n_values and len(self.n_values) != len(self.columns):
            raise InputError.of(f"{counted(len(self.columns), 'number')}, one for each column", option="n_values")
        if self.replacement not in ("uniform", "shares"):
            raise InputError.of("uniform or shares", option="replacement", value=self.replacement)

    def holds(self, original: Table, released: Table) -> bool:
        """Whether no link is more likely than 1/k."""
        return not released.n_rows or self.measure(original, released).value >= self.k - ROUNDING

    def measure(self, original: Table, released: Table) -> Score:
        """Return the k that is guaranteed whatever was drawn; the inputs have ρ of each column."""
        if original.n_rows != released.n_rows:
            expected = f"as many rows as the original, {original.n_rows:,}"
            raise InputError.of(expected, file=released.name, value=f"{released.n_rows:,}")
        odds = {
            column: retention_odds(retention, self._shares(original, released, column, index))
            for index, (column, retention) in enumerate(zip(self.columns, self.retentions, strict=True))
        }
        value = pk_of_odds(math.prod(odds.values()), released.n_rows)
        return Score("pk-anonymity", value, best=math.inf, worst=0, inputs={"odds": odds, "n_records": released.n_rows})

    def _shares(self, original: Table, released: Table, column: str, index: int) -> npt.NDArray[np.float64]:
        """Return the probability with which each value of a column is drawn."""
        ours, theirs = _column(original, column), _column(released, column)
        new = theirs.filter(~theirs.is_in(ours.unique().implode(), nulls_equal=True)).unique().sort()
        if self.replacement == "shares":
            for value in new[:1]:
                raise InputError.of("a value of the original", file=released.name, column=column, value=value)
            counts = ours.alias("value").value_counts(name="n")["n"].to_numpy()
            return counts / max(1, len(ours))
        n_there = ours.n_unique() + len(new)
        n_values = self.n_values[index] if self.n_values else n_there
        if n_values < n_there:
            expected = f"at least the {n_there:,} values of {column}"
            raise InputError.of(expected, option="n_values", value=n_values)
        return np.full(n_values, 1 / max(1, n_values))


def _column(table: Table, column: str) -> pl.Series:
    if column not in table.frame.columns:
        raise InputError.of(f"one of the columns {', '.join(table.frame.columns)}", file=table.name, column=column)
    return table.frame[column].cast(pl.String)
