"""Rows in an order that nobody can guess, in memory and beyond it."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from tokumei.engines.writing import write_shuffled


def shuffled(n_rows: int, folder: Path, *, most_bytes: int, suffix: str = "parquet") -> pl.DataFrame:
    frame = pl.DataFrame({"row": range(n_rows), "text": [f"value {row % 7}" for row in range(n_rows)]})
    frame.write_parquet(folder / "in.parquet", row_group_size=max(1, n_rows // 9))
    out = folder / f"out.{suffix}"
    write_shuffled(pl.scan_parquet(folder / "in.parquet"), out, most_bytes=most_bytes, n_files=3)
    assert {path.name for path in folder.iterdir()} == {"in.parquet", out.name}
    return pl.read_parquet(out) if suffix == "parquet" else pl.read_csv(out)


@pytest.mark.parametrize("most_bytes", [1 << 30, 200_000, 60_000])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_every_row_is_written_once_and_not_in_its_place(tmp_path: Path, most_bytes: int, suffix: str) -> None:
    found = shuffled(5_000, tmp_path, most_bytes=most_bytes, suffix=suffix)
    assert found["row"].sort().to_list() == list(range(5_000))
    assert (found["text"] == "value " + (found["row"] % 7).cast(pl.String)).all()
    # Of a random order about one row stands in its place, and neighbors are a third of the table apart.
    assert (found["row"] == pl.Series(range(5_000))).sum() < 12
    assert 1_400 < found["row"].diff().abs().mean() < 1_950  # type: ignore[operator]


def test_no_rows_are_written_with_their_columns(tmp_path: Path) -> None:
    found = shuffled(0, tmp_path, most_bytes=1_000)
    assert (found.columns, found.height) == (["row", "text"], 0)


def test_each_order_of_three_rows_is_as_likely_as_any_other(tmp_path: Path) -> None:
    """Rows of which each goes to a file by lot: were a file's rows not shuffled, or the lot uneven, this would show."""
    frame = pl.DataFrame({"row": [0, 1, 2]})
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(120):
        # Two rows are a block of so few bytes, so that they are dealt out.
        write_shuffled(pl.scan_parquet(tmp_path / "in.parquet"), tmp_path / "out.parquet", most_bytes=80, n_files=2)
        seen[tuple(pl.read_parquet(tmp_path / "out.parquet")["row"].to_list())] += 1
    expected = 120 / math.factorial(3)
    chi_square = sum((seen[order] - expected) ** 2 / expected for order in seen) + (6 - len(seen)) * expected
    # Five degrees of freedom: more than 25.7 once in ten thousand times.
    assert chi_square < 25.7
