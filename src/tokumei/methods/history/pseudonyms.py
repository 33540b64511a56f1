"""Customers under pseudonyms that live for some months."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.data.release import Release
from tokumei.methods.pseudonymizing import customer_periods, release_under_pseudonyms
from tokumei.methods.steps import recipe_of


@dataclass(frozen=True)
class Pseudonyms:
    """Name customers by pseudonyms that change whenever they have lived their time.

    | original            | released, lifetime 1 |
    |---------------------|----------------------|
    | 12352, 2011/2/16    | P0731, 2011/2/16     |
    | 12352, 2011/3/1     | P0288, 2011/3/1      |

    Invoices are named anew under each pseudonym, since a receipt's number tells whose row it is; all other cells stay
    as they are. Pseudonyms are numbered in random order, so that they tell neither the customer nor which of them
    belong together. With a risk limit, a life that is too easily found is halved, and its halves again, down to one
    month. The risk of a life is the chance that an attacker who knows each row with the chance `known` knows at least
    one and places it: with u customers who bought the same quantity on the same day, a known row is placed with the
    chance 1/u.
    """

    lifetime: int = field(default=1, metadata={"help": "Months a pseudonym lives, counted from the first month."})
    risk_limit: float | None = field(
        default=None, metadata={"help": "Halve lives found with a greater chance, 0 to 1; none: all live equally long."}
    )
    known: float = field(default=0.25, metadata={"help": "Share of the rows an attacker knows, for the risk limit."})

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Replace the customers of a history; rows keep their order."""
        self.check_options()
        first = original.periods[0] if original.periods else 0
        cells = customer_periods(original).with_columns(
            start=(pl.col("period") - first) // self.lifetime * self.lifetime, length=pl.lit(self.lifetime, pl.Int32)
        )
        if self.risk_limit is not None:
            cells = _halve_risky_lives(cells, _log_safety(original, self.known), first, self.risk_limit)
        lives = cells.with_columns(life=pl.struct("customer", "start").rank("dense").cast(pl.Int64) - 1)
        return release_under_pseudonyms(original, lives, recipe=recipe_of(self, seed), seed=seed)

    def check_options(self) -> None:
        """Refuse options beyond their ends."""
        if self.lifetime < 1:
            raise InputError.of("at least one month", option="lifetime", value=self.lifetime)
        if self.risk_limit is not None and not 0 <= self.risk_limit <= 1:
            raise InputError.of("a chance from 0 to 1", option="risk_limit", value=self.risk_limit)
        if not 0 <= self.known <= 1:
            raise InputError.of("a share from 0 to 1", option="known", value=self.known)


def _log_safety(history: History, known: float) -> pl.DataFrame:
    """Return for each customer and month the logarithm of the chance that no row of it is known and placed.

    Logarithms add up, so that the safety of a life is the sum over its months.
    """
    alike = pl.col("customer").n_unique().over("date", "quantity")
    rows = history.frame.with_columns(period=history.period).filter(pl.col("customer").is_not_null())
    return (
        rows.with_columns(log_safety=(1 - known / alike).log())
        .group_by("customer", "period", maintain_order=True)
        .agg(pl.col("log_safety").sum())
    )


def _halve_risky_lives(cells: pl.DataFrame, log_safety: pl.DataFrame, first: int, limit: float) -> pl.DataFrame:
    """Halve the lives of more than one month that are found with a chance above the limit, until none is left."""
    cells = cells.join(log_safety, on=["customer", "period"], how="left", maintain_order="left")
    half = (pl.col("length") + 1) // 2
    is_late = pl.col("period") - first >= pl.col("start") + half
    while True:
        # The sum is rounded, since the order of adding must not decide at the limit.
        risk = 1 - pl.col("log_safety").sum().over("customer", "start").round(12).exp()
        is_halved = cells.select((risk > limit) & (pl.col("length") > 1)).to_series()
        if not is_halved.any():
            return cells
        cells = cells.with_columns(
            start=pl.when(is_halved & is_late).then(pl.col("start") + half).otherwise("start"),
            length=pl.when(is_halved & is_late)
            .then(pl.col("length") - half)
            .otherwise(pl.when(is_halved).then(half).otherwise("length")),
        )
