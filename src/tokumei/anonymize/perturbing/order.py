"""An order of rows that tells nothing."""

from __future__ import annotations

import numpy as np
import polars as pl


def in_random_order(frame: pl.DataFrame, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.Series]:
    """Give the rows in an order that is drawn, and which row each was.

    Else whoever knows the order of the original would know whose row is whose, however much the cells were changed.
    """
    rows = rng.permutation(frame.height)
    return frame[rows], pl.Series("row", rows)
