"""Aligned rows written as cells that fit every member of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from tokumei.anonymize.generalizing.alignment import line_costs
from tokumei.anonymize.generalizing.purchases import GRID, Indices, Purchases
from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.files.generalized import LARGEST_SET
from tokumei.data.generalized import DELETED, GeneralizedHistory


def write_groups(
    original: pl.DataFrame, purchases: Purchases, alignments: Sequence[Indices], pseudonyms: Mapping[str, str]
) -> GeneralizedHistory:
    """Write aligned rows alike, under the pseudonyms of their customers; all other rows are deleted."""
    is_kept = np.zeros(original.height, dtype=bool)
    is_kept[np.concatenate([rows.ravel() for rows in alignments])] = True
    named = original["customer"].replace_strict(pseudonyms, default=None, return_dtype=pl.String)
    customer = pl.DataFrame({"name": named, "kept": is_kept}).select(
        pl.when("kept").then("name").otherwise(pl.lit(DELETED)).alias("customer")
    )["customer"]
    date, price, quantity = (
        _ranges(original[column], number, purchases, alignments) for number, column in enumerate(GRID)
    )
    return GeneralizedHistory(customer, date, _sets(original["item"], alignments), price, quantity)


def _ranges(truth: pl.Series, number: int, purchases: Purchases, alignments: Sequence[Indices]) -> RangeCells:
    """Write one column of ranges, from the least value of each line to the greatest."""
    values = purchases.values[number]
    # The bounds are taken over as rows of the original, so that no arithmetic can move them off the truth.
    low, high = np.full(len(truth), -1), np.full(len(truth), -1)
    for rows in alignments:
        line = np.arange(len(rows))
        costs = line_costs(values[rows], float(purchases.width[number]))
        # A range that costs as much as a star still tells more; the hair is rounding.
        is_written = (costs <= rows.shape[1] + 1e-9)[:, None]
        low[rows] = np.where(is_written, rows[line, values[rows].argmin(axis=1)][:, None], -1)
        high[rows] = np.where(is_written, rows[line, values[rows].argmax(axis=1)][:, None], -1)
    bounds = pl.DataFrame({"low": low, "high": high}).select(
        pl.when(pl.col(bound) >= 0).then(pl.col(bound)).alias(bound) for bound in ("low", "high")
    )
    cells = pl.DataFrame({"low": truth.gather(bounds["low"]), "high": truth.gather(bounds["high"])})
    kind = (
        pl.when(pl.col("low").is_null())
        .then(Kind.SUPPRESSED.value)
        .when(pl.col("low") < pl.col("high"))
        .then(Kind.RANGE.value)
        .otherwise(Kind.VALUE.value)
    )
    return RangeCells(cells.select(kind.cast(pl.UInt8).alias("kind"))["kind"], cells["low"], cells["high"])


def _sets(truth: pl.Series, alignments: Sequence[Indices]) -> SetCells:
    """Write the items of each line as a set in alphabetical order, so that the order tells nothing."""
    names = truth.to_list()
    members: list[list[str] | None] = [None] * len(names)
    for rows in alignments:
        for line in rows.tolist():
            items = sorted({names[row] for row in line})
            for row in line if len(items) <= LARGEST_SET else ():
                members[row] = items
    column = pl.Series("members", members, pl.List(pl.String))
    size = pl.col("members").list.len()
    kind = (
        pl.when(size.is_null())
        .then(Kind.SUPPRESSED.value)
        .when(size > 1)
        .then(Kind.SET.value)
        .otherwise(Kind.VALUE.value)
    )
    return SetCells(pl.DataFrame({"members": column}).select(kind.cast(pl.UInt8).alias("kind"))["kind"], column)
