"""What a table holds, column by column."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.core.progress import step
from tokumei.data.files.columns import NUMBER

# So many cells are looked at together: few passes over a wide table, and never more in memory than this.
CELLS_AT_ONCE = 20_000_000
LEAST_AT_ONCE = 8
WHOLE = r"^[+-]?[0-9]{1,18}$"
# Private-use characters, which no column of a file is named by.
COLUMN, VALUE = "\ue000column", "\ue000value"
FACTS = ("name", "type", "missing", "distinct", "least", "greatest", "commonest", "times")
AS_TEXT = {True: "Int64, as text", False: "Float64, as text"}


def describe_frame(frame: pl.LazyFrame) -> dict[str, Any]:
    """Give the number of rows and for each column its type, missing and distinct values, ends and commonest value.

    Text that is a number in every row is described as numbers: 9 is less than 10.
    """
    names = list(frame.collect_schema())
    n_rows = frame.select(pl.len()).collect(engine="streaming").item()
    n_at_once = max(LEAST_AT_ONCE, CELLS_AT_ONCE // max(1, n_rows))
    columns: list[dict[str, Any]] = []
    with step("describing", len(names)) as bar:
        for start in range(0, len(names), n_at_once):
            some = names[start : start + n_at_once]
            # Asking for all columns by name costs more than reading them where there are thousands.
            chosen = frame if len(some) == len(names) else frame.select(some)
            columns += _describe(chosen.collect(engine="streaming"))
            bar.advance(len(some))
    return {"rows": n_rows, "columns": columns}


def _describe(some: pl.DataFrame) -> list[dict[str, Any]]:
    """Describe columns together: those of one type stand below each other in one long column of cells."""
    found: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(some.dtypes):
        names = [name for name, one in some.schema.items() if one == kind]
        indices = pl.Series(range(len(names)), dtype=pl.UInt32)
        values = some.unpivot(on=names, variable_name=COLUMN, value_name=VALUE).get_column(VALUE)
        column = indices.gather(pl.select(pl.int_range(len(values)) // max(1, some.height)).to_series())
        cells = pl.DataFrame({"column": column, "value": values}).drop_nulls("value")
        told = str(kind)
        for at, n_present, is_number, is_whole, *rest in _facts(cells).iter_rows():
            written = AS_TEXT[is_whole] if is_number else told
            found[names[at]] = dict(zip(FACTS, (names[at], written, some.height - n_present, *rest), strict=True))
        found |= {name: _empty(name, kind, some.height) for name in names if name not in found}
    return [found[name] for name in some.columns]


def _facts(cells: pl.DataFrame) -> pl.DataFrame:
    """Give the facts of each column that has a value."""
    counted = cells.group_by("column", "value").agg(n=pl.len())
    if counted.schema["value"] == pl.String:
        # 0120 is a code: as a number it would lose its zero.
        looks = pl.col("value").str.contains(NUMBER.pattern) & ~pl.col("value").str.contains(r"^[+-]?0[0-9]")
        number = pl.col("value").str.strip_prefix("+").cast(pl.Float64, strict=False)
        counted = counted.with_columns(number=pl.when(looks & number.is_finite()).then(number))
        counted = counted.with_columns(
            is_number=pl.col("number").is_not_null().all().over("column"),
            is_whole=pl.col("value").str.contains(WHOLE).all().over("column"),
        )
        order: pl.Expr = pl.when("is_number").then(pl.col("number"))
    else:
        counted = counted.with_columns(is_number=pl.lit(False), is_whole=pl.lit(False))
        order = pl.lit(0.0)
    # Numbers by their size, all else as it is; of values that are equally common the least is named.
    ordered = counted.with_columns(order=order).sort("column", "order", "value")
    shown = pl.col("value").cast(pl.String)
    return ordered.group_by("column", maintain_order=True).agg(
        n_present=pl.col("n").sum(),
        is_number=pl.col("is_number").first(),
        is_whole=pl.col("is_whole").first(),
        distinct=pl.len(),
        least=shown.first(),
        greatest=shown.last(),
        commonest=shown.gather(pl.col("n").arg_max()).first(),
        times=pl.col("n").max(),
    )


def _empty(name: str, kind: pl.DataType, n_rows: int) -> dict[str, Any]:
    return dict(zip(FACTS, (name, str(kind), n_rows, 0, None, None, None, 0), strict=True))
