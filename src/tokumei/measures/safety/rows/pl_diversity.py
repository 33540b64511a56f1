"""Pℓ-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.requirement import ROUNDING
from tokumei.measures.safety.rows.pk_anonymity import PkAnonymity


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
