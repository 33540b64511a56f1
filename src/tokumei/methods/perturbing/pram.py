"""Post-randomization: categories kept with one probability and otherwise drawn anew from all values of their column.

The probability that the value u is released as v is r + (1 − r)/m where v = u and (1 − r)/m elsewhere, with r the
probability to keep and m the number of values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import DRAWN_BY, key_of, words_of_rows
from tokumei.engines.class_counts import read_as
from tokumei.hierarchies.leaves import check_covers
from tokumei.measures.safety.pk_anonymity import pk_of_odds, retention_odds
from tokumei.methods.perturbing.perturbation import (
    Floats,
    Original,
    RowByRow,
    RowChange,
    check_enough,
    fewest_alike,
    last_that_holds,
)


def retention_pk(retain: float, n_values: Sequence[int], n_records: int) -> float:
    """Return the k of Pk-anonymity of columns with these numbers of values, each kept with the same probability."""
    # Only the two values that are drawn least often matter, and here all are drawn alike.
    odds = (retention_odds(retain, np.full(min(n, 2), 1 / max(n, 1))) for n in n_values)
    return pk_of_odds(math.prod(odds), n_records)


def largest_retention(pk: float, n_values: Sequence[int], n_records: int) -> float:
    """Return the largest probability to keep a value that gives Pk-anonymity with k = `pk`."""
    if retention_pk(1.0, n_values, n_records) >= pk or not n_records:
        return 1.0
    check_enough(pk, n_records)
    # At 0 the released values tell nothing, and k is the number of records.
    return last_that_holds(lambda retain: retention_pk(retain, n_values, n_records) >= pk, 0.0, 1.0)


def estimated_counts(counts: npt.ArrayLike, retain: Sequence[float]) -> Floats:
    """Estimate the counts of the original from those of the release, without bias.

    `counts` has an axis for each column, over all values that could be drawn, and `retain` the probability with which
    each column's values were kept. Undoes each matrix: an original count is (released − (1 − r)·total/m)/r. The
    estimates add up to the number of rows; of rare values they may be below 0, which is no fault: cut off, they would
    be biased.
    """
    estimate = np.asarray(counts, np.float64)
    if estimate.ndim != len(retain):
        raise InputError.of(f"a probability for each of {estimate.ndim} axes", option="retain", value=list(retain))
    for axis, kept in enumerate(retain):
        if not 0 < kept <= 1:
            raise InputError.of(
                "a probability above 0, since values drawn anew tell nothing", option="retain", value=kept
            )
        drawn = (1 - kept) * estimate.mean(axis=axis, keepdims=True)
        estimate = (estimate - drawn) / kept
    return estimate


USUAL_RETAIN = 0.8


@dataclass(frozen=True)
class Pram(RowByRow):
    """Keep each value with one probability, and else draw it evenly from all values of its column.

    The post-randomization method (Gouweleeuw, Kooiman, Willenborg and de Wolf 1998) with the matrix that keeps or
    replaces. A drawn value may be the old one again. A column's values are the leaves of its hierarchy, which say
    nothing about the table if they were written down without looking at it; without a hierarchy they are the values
    that occur, so that the release tells which do. A missing value is a value like others where a column has any.

    The promise is Pk-anonymity (Ikarashi, Kikuchi, Chida and Takahashi 2015): whoever knows all rows of the original
    and all probabilities links no person to a released row with more than 1/k. It is over the quasi-identifiers and
    the columns that are changed; of quasi-identifiers that are not changed, over the fewest rows that agree on them.
    The option `pk` asks for such a k, with the largest probability to keep values that gives it. Rows are released in
    an order drawn at random, and whoever knows the seed can undo all of it: keep it secret.

    Counts of the release can be turned into estimates of the original's, without bias:
    `tokumei.methods.perturbing.pram.estimated_counts`.

    Example: ten rows, one column with the values flu and cold, retain=0.5: a value is released as it is with
    probability 0.75 and as the other with 0.25. Two people whose values were kept could have swapped them, which is
    (0.25/0.75)² = 1/9 as likely, and k = 1 + 9·1/9 = 2.
    """

    retain: float | None = field(
        default=None,
        metadata={"help": f"Probability that a value is kept; {USUAL_RETAIN} if neither it nor pk is given."},
    )
    pk: float | None = field(
        default=None, metadata={"help": "The k of Pk-anonymity to reach, with as few changes as do; instead of retain."}
    )
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to change; the quasi-identifiers that are not numeric if none."}
    )

    def change(self, original: Original, *, seed: int) -> RowChange:
        """Choose the probability to keep a value; which row keeps its own is drawn as rows go by."""
        self._check_options()
        columns = original.chosen(self.columns, numeric=False)
        domains = {name: domain_of(original, name) for name in columns}
        n_values = {name: len(domain) for name, domain in domains.items()}
        n_alike = fewest_alike(original, columns, missing_stays=False)
        numbers = list(n_values.values())
        retain = USUAL_RETAIN if self.retain is None else self.retain
        if self.pk is not None:
            retain = largest_retention(self.pk, numbers, n_alike)
        k = retention_pk(retain, numbers, n_alike)
        score = Score("pk-anonymity", k, best=math.inf, worst=0, inputs={"n_alike": n_alike, "columns": columns})
        facts = {
            "retain": retain,
            "n_values": n_values,
            "values_that_occur": [name for name in columns if name not in original.hierarchies],
            "drawn_by": DRAWN_BY,
        }

        def drawn(rows: pl.DataFrame, first: int) -> list[pl.Series]:
            return [_drawn(rows[name], one, retain, key_of(seed, "pram", name), first) for name, one in domains.items()]

        return RowChange(next=drawn, promises=lambda released: {score.name: score}, facts=facts)  # noqa: ARG005

    def _check_options(self) -> None:
        if self.retain is not None and self.pk is not None:
            raise InputError.of("either retain or pk", option="pk", value=self.pk)
        if self.retain is not None and not 0 <= self.retain <= 1:
            raise InputError.of("a probability from 0 to 1", option="retain", value=self.retain)
        if self.pk is not None and not 1 <= self.pk < math.inf:
            raise InputError.of("a number from 1 up", option="pk", value=self.pk)


def domain_of(original: Original, column: str) -> pl.Series:
    """Return the values that can be drawn, each once and in order; a missing one last, if there is any."""
    # Engines give some types back as wider ones.
    kind = _comparable(original.frame[column]).dtype
    values = _comparable(original.weighted([column])[column].unique()).cast(kind)
    hierarchy = original.hierarchies.get(column)
    if hierarchy is None:
        domain = values.drop_nulls().unique().sort()
    else:
        check_covers(hierarchy, values)
        leaves = read_as(pl.Series(list(hierarchy.leaves), dtype=pl.String), values.dtype)
        domain = leaves.drop_nulls().unique(maintain_order=True)
    return domain.extend_constant(None, 1) if values.null_count() else domain


def _drawn(values: pl.Series, domain: pl.Series, retain: float, key: str, first: int) -> pl.Series:
    """Return a column of which each value was kept or drawn, by the number of its row alone."""
    values = _comparable(values)
    luck, lot, _, _ = words_of_rows(key, len(values), first)
    is_kept = luck / 2.0**32 < retain
    indices = (lot * np.uint64(max(1, len(domain)))) >> np.uint64(32)
    drawn = domain.gather(indices) if len(values) else domain.clear()
    return pl.select(pl.when(pl.Series(is_kept)).then(values).otherwise(drawn).alias(values.name)).to_series()


def _comparable(values: pl.Series) -> pl.Series:
    """Return categories as their text, which is what hierarchies are written in."""
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values
