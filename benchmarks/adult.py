"""Adult, the table that the field measures itself on, where the shared data holds it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tokumei.data.files.formats import read_frame

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
HIERARCHIES = FOLDER / "hierarchies"
COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
COLUMNS.append("salary-class")


def adult() -> pl.DataFrame | None:
    """Return the table, or None with a line that says it is absent."""
    if FOLDER.is_dir():
        return read_frame(FOLDER / "adult.csv.gz")
    print("  Adult skipped: the shared data is not beside the checkout")
    return None


def write_resampled(table: pl.DataFrame, n_rows: int, path: Path) -> None:
    """Write so many rows drawn from a table with replacement."""
    parts = 10
    drawn = (table.sample(n_rows // parts, with_replacement=True, seed=part) for part in range(parts))
    pl.concat(drawn).write_parquet(path)
