"""What a table holds, column by column, in one pass."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.core.progress import step


def describe_frame(frame: pl.LazyFrame) -> dict[str, Any]:
    """Give the number of rows and for each column its type, missing and distinct values, ends and commonest value."""
    schema = frame.collect_schema()
    n_rows = frame.select(pl.len()).collect(engine="streaming").item()
    columns = []
    with step("describing", len(schema)) as bar:
        for name, dtype in schema.items():
            # One column at a time: distinct values of all columns at once may not fit memory.
            values = frame.select(pl.col(name).alias("value")).group_by("value").agg(pl.len().alias("n"))
            counted = values.sort("n", "value", descending=[True, False]).collect(engine="streaming")
            present = counted.filter(pl.col("value").is_not_null())
            columns.append(
                {
                    "name": name,
                    "type": str(dtype),
                    "missing": n_rows - int(present["n"].sum()),
                    "distinct": present.height,
                    "least": _shown(present["value"].min()),
                    "greatest": _shown(present["value"].max()),
                    "commonest": _shown(present["value"][0]) if present.height else None,
                    "times": int(present["n"][0]) if present.height else 0,
                }
            )
            bar.advance()
    return {"rows": n_rows, "columns": columns}


def _shown(value: object) -> str | None:
    return None if value is None else str(value)
