"""Customers under pseudonyms that live for some months."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History, period_of
from tokumei.data.release import Recipe, Release


@dataclass(frozen=True)
class Pseudonyms:
    """Give each customer a pseudonym, and a new one whenever it has lived its time.

    | original            | released, lifetime 1 |
    |---------------------|----------------------|
    | 12352, 2011/2/16    | P0731, 2011/2/16     |
    | 12352, 2011/3/1     | P0288, 2011/3/1      |

    All other cells stay as they are. Pseudonyms are numbered in random order, so that they tell neither the
    customer nor which of them belong together.
    """

    lifetime: int = field(default=1, metadata={"help": "Months a pseudonym lives, counted from the first month."})

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Replace the customers of a history; rows keep their order."""
        if self.lifetime < 1:
            raise InputError.of("at least one month", column="lifetime", value=self.lifetime)
        first = original.periods[0] if original.periods else 0
        rows = original.frame.with_columns(period=period_of(pl.col("date"))).with_columns(
            life=(pl.col("period") - first) // self.lifetime
        )
        lives = rows.select("customer", "life").drop_nulls().unique().sort("customer", "life")
        lives = lives.with_columns(pseudonym=_names(lives.height, seed))
        named = rows.join(lives, on=["customer", "life"], how="left", maintain_order="left")
        map_columns = ["customer", "period", "pseudonym"]
        return Release(
            frame=named.with_columns(customer=pl.col("pseudonym")).select(original.frame.columns),
            recipe=Recipe("pseudonyms", asdict(self), seed),
            rows=pl.Series("row", np.arange(original.n_rows)),
            pseudonyms=named.select(map_columns).drop_nulls().unique().sort(map_columns),
        )


def _names(n: int, seed: int) -> pl.Series:
    """Give n names in random order, all of one length so that the length tells nothing."""
    numbers = generator(seed, "pseudonyms").permutation(n) + 1
    width = len(str(n))
    return pl.Series("pseudonym", [f"P{number:0{width}d}" for number in numbers], pl.String)
