"""Which purchases an attacker knows."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator

Draw = Literal["contest", "uniform"]


def known_rows(customers: pl.Series, share: float, *, seed: int, draw: Draw = "contest") -> pl.Series:
    """Mark a share of the rows as known.

    `contest` draws as the organizers of PWSCUP did: at random, but so that every customer has at least one known row
    (if the share is too small for that, exactly one each). `uniform` gives each row the same chance; of customers with
    few purchases it leaves many wholly unknown. Deleted rows are never known.
    """
    if draw not in ("contest", "uniform"):
        raise InputError.of("contest or uniform", option="draw", value=draw)
    order = generator(seed, "knowledge", str(share)).permutation(len(customers))
    n_known = round(share * len(customers))
    if draw == "uniform" or not n_known:
        return pl.Series(order < n_known)
    shuffled = pl.DataFrame({"customer": customers, "order": order}).with_row_index("row").sort("order")
    ranked = shuffled.filter(pl.col("customer").is_not_null()).with_columns(
        is_first=pl.col("customer").is_first_distinct()
    )
    # One row of each customer first, then the others in the order that was drawn.
    chosen = ranked.sort(~pl.col("is_first"), "order")["row"].head(max(n_known, int(ranked["is_first"].sum())))
    is_known = np.zeros(len(customers), np.bool_)
    is_known[chosen.to_numpy()] = True
    return pl.Series(is_known)
