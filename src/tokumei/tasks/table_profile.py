"""What became of a table, column by column: its values before and after, who was left out, and who is most exposed."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from tokumei.data.table import Table
from tokumei.measures.population_uniques import population_uniques
from tokumei.report.dossier_pages import MISSING

MOST_VALUES, MOST_ROWS, MOST_GROUPS = 12, 20, 10
# Names that no column of a file has.
ROW, SIZE = "row \0", "size \0"
# A group as small as this share of all rows is a minority whose loss is told.
SMALL_GROUP = 0.05


def profile(
    original: Table, released: pl.DataFrame, rows: pl.Series | None, *, population_size: int | None = None
) -> dict[str, Any]:
    """Compare columns before and after, count whom suppression hits, and name the rows with the smallest classes.

    rows: the row of the original of each released row, counted from 0; None where no row is a person's.
    """
    return {
        "columns": {
            name: {"before": _commonest(original.frame[name]), "after": _commonest(released[name])}
            for name in released.columns
            if name in original.frame.columns
        },
        "released": released.height,
        "left_out": None if rows is None else _left_out(original, rows),
        "riskiest": [] if rows is None else _riskiest(original, released, rows),
        "class_sizes": _class_sizes(original, released),
        "population_uniques": population_size and _alone_among(original, released, population_size),
    }


def _commonest(column: pl.Series) -> dict[str, Any]:
    counted = column.cast(pl.String).alias("value").value_counts(name="n")
    counted = counted.sort("n", "value", descending=[True, False])
    n_rows = max(1, len(column))
    top = {MISSING if value is None else value: n / n_rows for value, n in counted.head(MOST_VALUES).iter_rows()}
    return {"distinct": counted.height, "shares": top, "rest": 1 - sum(top.values()) if len(column) else 0.0}


def _left_out(original: Table, rows: pl.Series) -> list[dict[str, Any]]:
    """Return how many rows of small groups of the original are left out, those that lost most first."""
    is_kept = np.zeros(original.n_rows, bool)
    is_kept[rows.drop_nulls().to_numpy()] = True
    if is_kept.all():
        return []
    found: list[pl.DataFrame] = []
    for name in [*original.quasi_identifiers, *original.sensitive]:
        counted = (
            pl.DataFrame({"value": original.frame[name].cast(pl.String), "kept": is_kept})
            .group_by("value")
            .agg(rows=pl.len(), n_kept=pl.col("kept").sum())
            .filter((pl.col("rows") <= SMALL_GROUP * original.n_rows) & (pl.col("n_kept") < pl.col("rows")))
        )
        found.append(
            counted.select(
                pl.lit(name).alias("column"), "value", "rows", left_out=pl.col("rows").cast(pl.Int64) - pl.col("n_kept")
            )
        )
    if not found:
        return []
    # By how many more are left out than of everybody: of a group of one that is one row at most.
    share = 1 - float(is_kept.mean())
    by = [pl.col("left_out") - share * pl.col("rows"), pl.col("rows"), pl.col("value").fill_null(MISSING)]
    return pl.concat(found).sort(by, descending=[True, True, False], maintain_order=True).head(MOST_GROUPS).to_dicts()


def _riskiest(original: Table, released: pl.DataFrame, rows: pl.Series) -> list[dict[str, Any]]:
    """Return the rows whose class in the release is smallest, by their number in the original, counted from 1."""
    known = [name for name in original.quasi_identifiers if name in released.columns]
    if not known or not released.height:
        return []
    numbered = released.select(known).with_columns((rows + 1).alias(ROW))
    classes = numbered.group_by(known).agg(pl.len().alias(SIZE), pl.col(ROW))
    # Of classes of one size the rows that come first, however many classes there are.
    sized = classes.filter(pl.col(SIZE) <= classes[SIZE].bottom_k(MOST_ROWS).max())
    least = sized.select(SIZE, ROW).explode(ROW).sort(SIZE, ROW).head(MOST_ROWS)
    return [{"row": row, "class": size, "risk": 1 / size} for size, row in least.iter_rows()]


def _alone_among(original: Table, released: pl.DataFrame, population: int) -> dict[str, float | None]:
    """Estimate how many of a population are alone by the columns of the original and of the release."""
    known = [name for name in original.quasi_identifiers if name in released.columns]
    found: dict[str, float | None] = {"n": population}
    for side, frame in (("before", original.frame), ("after", released)):
        sizes = frame.group_by(known).len(SIZE)[SIZE].to_list() if known else []
        estimate = population_uniques(sizes, population)
        found[side] = None if estimate is None else round(estimate)
    return found


def _class_sizes(original: Table, released: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Count rows by the size of their class before and after, in powers of two."""
    known = [name for name in original.quasi_identifiers if name in released.columns]
    return {"before": _sizes(original.frame, known), "after": _sizes(released, known)}


def _sizes(frame: pl.DataFrame, known: list[str]) -> dict[str, int]:
    if not known or not frame.height:
        return {}
    sizes = frame.group_by(known).len(SIZE)[SIZE]
    power = (sizes.log(2) + 1e-9).floor().cast(pl.Int64)
    grouped = pl.DataFrame({"power": power, "n": sizes}).group_by("power").agg(pl.col("n").sum()).sort("power")
    return {_label(p): n for p, n in grouped.iter_rows()}


def _label(power: int) -> str:
    return "1" if power == 0 else f"{2**power}-{2 ** (power + 1) - 1}"
