"""Pk-anonymity and Pℓ-diversity: how likely it is that anybody is linked to their randomized record or value.

A table is Pk-anonymous if no link between a person and a record has a probability of more than 1/k (Ikarashi, Kikuchi,
Chida and Takahashi, k-anonymous Microdata Release via Post Randomization Method, 2015). The attacker is given more than
anyone could have: all n records of the original, how values were drawn, and the released table. Only which released
record is whose is unknown, so the release must be in an order that says nothing, and each record must be drawn on its
own. Then an assignment of people to records is as likely as the product of A[u, v] over all people, u being their
record and v the one assigned to them.

Swap the records v and v' of two people u and u'. An assignment becomes less likely at most by

    ρ = least A[u, v'] · A[u', v] / (A[u, v] · A[u', v'])

Each assignment that gives person i the record j has n − 1 such swaps, and every assignment that gives i another record
is the swap of exactly one of them. So those with i and j are at most 1/(1 + (n − 1)·ρ) of all, and the table is
Pk-anonymous with k = 1 + (n − 1)·ρ. No larger k is promised to all tables: where one person is u, all others are u',
and their records are v and v', the share is just that. What the attacker does not know of the original only mixes such
shares. Columns that are drawn independently multiply their ρ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import counted
from tokumei.data.table import Table
from tokumei.measures.requirement import ROUNDING


def pk_of_ratio(ratio: float, n_records: int) -> float:
    """Return the k of a table of which no record is more than `ratio` times as likely from one original than another.

    A swap changes two records, each by at most the ratio, so ρ is at least 1/ratio². The ratios of columns that are
    drawn independently multiply; where one is infinite, k is 1.
    """
    if math.isnan(ratio) or ratio < 1:
        raise InputError.of("a likelihood ratio of at least 1", option="ratio", value=ratio)
    return pk_of_odds((1 / ratio) ** 2, n_records)


def pk_of_odds(odds: float, n_records: int) -> float:
    """Return k = 1 + (n − 1)·ρ from the least odds ρ of a swap; 0 for no records."""
    if n_records < 0:
        raise InputError.of("a number of records", option="n_records", value=n_records)
    return 1 + (n_records - 1) * odds if n_records else 0.0


def retention_odds(retention: float, shares: npt.NDArray[np.float64]) -> float:
    """Return ρ of a column whose values are kept with one probability, or else drawn anew by these shares.

    A kept value v is p + (1 − p)·π as likely from v as (1 − p)·π from any other, so the two values that are drawn
    least often are the worst to swap. The same as the least odds of all swaps of the whole matrix.
    """
    if not 0 <= retention <= 1:
        raise InputError.of("a probability from 0 to 1", option="retention", value=retention)
    drawn = np.sort((1 - retention) * np.asarray(shares, np.float64))[:2]
    if len(drawn) < 2 or retention == 0:
        return 1.0
    return float(np.prod(drawn / (retention + drawn)))


def laplace_ratio(width: float, scale: float) -> float:
    """Return the likelihood ratio of Laplace noise on numbers of which any two differ by at most `width`."""
    _check_noise(width, scale)
    return _exp(width / scale)


def clamped_gaussian_ratio(width: float, deviation: float) -> float:
    """Return the likelihood ratio of normal noise on numbers in a range, the sum being put back into the range.

    The range is `width` wide. An end of it is released with probability ½ from that end and Φ(−width/σ) from the
    other; nothing in between is further apart. Without putting back, the ratio is infinite and k is 1.
    """
    from scipy.special import log_ndtr

    _check_noise(width, deviation)
    return _exp(-math.log(2) - float(log_ndtr(-width / deviation)))


def _check_noise(width: float, scale: float) -> None:
    if not 0 <= width < math.inf:
        raise InputError.of("the width of a bounded range", option="width", value=width)
    if not 0 < scale < math.inf:
        raise InputError.of("more than 0", option="scale", value=scale)


def _exp(power: float) -> float:
    try:
        return math.exp(power)
    except OverflowError:
        return math.inf


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


@dataclass(frozen=True)
class PlDiversity:
    """Nobody's sensitive value is told with a probability of more than 1/ℓ, since what leads to it was randomized.

    Answers attribute linkage by the attacker of `pk-anonymity`, who knows the original but for whose sensitive value is
    whose, and how the other columns were randomized (Ikarashi, Chida and Takahashi 2010). The sensitive column is
    released as it is, in rows whose order says nothing. Swapping two people's records makes an assignment at most 1/ρ
    times less likely, ρ being the product over the columns; each assignment that gives a person one of the c records
    with a value can be swapped with the n − c others, so the value has a probability of at most c / (c + (n − c)·ρ).
    Measures ℓ, one over the largest. 0 for no rows, 1 if a column is kept as it is, one over the share of the most
    frequent value if nothing is kept; the more the better.

    Example: one column of two values, each kept with probability 1/3: ρ is 1/4 (see `pk-anonymity`). Of five people two
    have flu, so flu is told with at most 2 / (2 + 3/4) = 0.73, and a cold, which three have, with 3 / (3 + 2/4) = 0.86:
    ℓ is 7/6. Were nothing kept, it would be 5/3.

    | original | released | illness |
    |----------|----------|---------|
    | f        | m        | flu     |
    | f        | f        | cold    |
    | f        | f        | cold    |
    | m        | m        | flu     |
    | m        | f        | cold    |
    """

    l: float = field(metadata={"help": "One over the largest probability of a value; at least 1."})  # noqa: E741 - its name
    sensitive: str = field(metadata={"help": "The sensitive column, released as it is."})
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
        if not self.l >= 1:
            raise InputError.of("at least 1", option="l", value=self.l)
        self._links()
        if self.sensitive in self.columns:
            raise InputError.of("a column that was not randomized", option="sensitive", value=self.sensitive)

    def holds(self, original: Table, released: Table) -> bool:
        """Whether no value is more likely than 1/ℓ."""
        return not released.n_rows or self.measure(original, released).value >= self.l - ROUNDING

    def measure(self, original: Table, released: Table) -> Score:
        """Return the ℓ that is guaranteed whatever was drawn; the inputs have ρ of each column and the likeliest."""
        odds = self._links().measure(original, released).inputs["odds"]
        if self.sensitive not in released.frame.columns:
            expected = f"one of the columns {', '.join(released.frame.columns)}"
            raise InputError.of(expected, file=released.name, column=self.sensitive)
        counts = released.frame[self.sensitive].alias("value").value_counts(name="n").sort("n", "value")
        n, swap = released.n_rows, math.prod(odds.values())
        most = counts["n"][-1] if n else 0
        value = (most + (n - most) * swap) / most if n else 0.0
        told = counts["value"][-1] if n else None
        inputs = {"odds": odds, "told": None if told is None else str(told), "n_records": n}
        return Score("pl-diversity", value, best=math.inf, worst=0, inputs=inputs)

    def _links(self) -> PkAnonymity:
        return PkAnonymity(1, self.columns, self.retentions, self.replacement, self.n_values)
