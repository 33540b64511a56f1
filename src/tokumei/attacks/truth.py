"""Who is who in a release that keeps the rows of its original."""

from __future__ import annotations

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.wording import counted
from tokumei.data.history import History


def truth_of(original: History, released: History) -> pl.DataFrame:
    """Give the pseudonym of each customer in each month in which the release has a row: customer, period, pseudonym."""
    if original.n_rows != released.n_rows:
        expected = f"a release with the {original.n_rows:,} rows of the original, in their order"
        raise InputError.of(expected, file=released.name, value=counted(released.n_rows, "row"))
    columns = {"customer": original.frame["customer"], "period": original.period}
    rows = pl.DataFrame({**columns, "pseudonym": released.frame["customer"]}).drop_nulls().unique()
    clash = rows.filter(pl.struct("customer", "period").is_duplicated())
    for customer, _, pseudonym in clash.sort("customer", "period").head(1).iter_rows():
        expected = (
            "the rows of the original in their order, as --out has them and --published has not, with one pseudonym "
            "for a customer and month"
        )
        raise InputError.of(expected, file=released.name, column="customer", value=f"{pseudonym} beside {customer}")
    return rows.sort("customer", "period")


def published(released: History, *, seed: int) -> History:
    """Return what is published of a release: the rows that are left, in an order that reveals nothing."""
    rows = released.kept
    order = np.asarray(generator(seed, "publish").permutation(rows.height))
    shown = History(rows[order], f"{released.name}, published")
    if released.carried is None:
        return shown
    return shown.with_more(released.carried.filter(released.frame["customer"].is_not_null())[order])
