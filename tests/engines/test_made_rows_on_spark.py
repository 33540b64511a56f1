"""Rows that a cluster makes from counts are those that it would read, in an order by lot."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.engines import count, spark
from tokumei.engines.class_counts import Recoding
from tokumei.engines.connect import connect
from tokumei.engines.count import count_classes, write_recoded
from tokumei.engines.writing import SIZE

LABELS = Recoding("town", pl.Series(["a", "b", "c"]), pl.Series(["A", "A", "C"]))


def read(folder: Path) -> pl.DataFrame:
    return pl.concat(pl.read_parquet(part) for part in sorted(folder.glob("part-*")))


def test_rows_are_those_that_are_read(spark_engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame(
        {"town": ["a", "b", None, "c", "b"], "n.m `n`": [1, None, 2, 1, 1], "ill": [3, 3, None, 1, 3]},
        schema_overrides={"ill": pl.Int8},
    )
    frame.write_parquet(tmp_path / "people.parquet")
    source = str(tmp_path / "people.parquet")
    counts = count_classes(source, ["town", "n.m `n`"], sensitive=["ill"], engine=spark_engine)
    without = pl.DataFrame({"town": ["C"], "n.m `n`": [1]})
    how = {"columns": frame.columns, "without": without, "is_shuffled": True, "is_covered": True, "counts": counts}
    write_recoded(source, [LABELS], tmp_path / "made", engine=spark_engine, **how)  # type: ignore[arg-type]
    # Too many combinations to be sent to every machine: the rows are read again.
    monkeypatch.setattr(count, "MOST_SENT", 2)
    write_recoded(source, [LABELS], tmp_path / "read", engine=spark_engine, **how)  # type: ignore[arg-type]
    made, plain = read(tmp_path / "made"), read(tmp_path / "read")
    assert made.schema == plain.schema
    assert Counter(made.rows()) == Counter(plain.rows())
    assert made.height == 4


def test_parts_are_about_equal_and_their_rows_in_no_order(
    spark_engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "MOST_ALIKE", 700)
    sizes = {"a": 40_000, "b": 20_000, "c": 1}
    with connect(spark_engine) as opened:
        there = opened.open(pl.DataFrame({"n": [1]}))
        there.write_made(pl.DataFrame({"town": list(sizes), SIZE: list(sizes.values())}), tmp_path / "made")
    rows = read(tmp_path / "made")
    assert dict(rows["town"].value_counts().iter_rows()) == sizes
    parts = [pl.read_parquet(part) for part in sorted((tmp_path / "made").glob("part-*"))]
    assert len(parts) > 1
    expected = rows.height / len(parts)
    # Six standard deviations of a binomial number.
    assert all(abs(part.height - expected) < 6 * np.sqrt(expected) for part in parts)
    is_a = (rows["town"] == "a").to_numpy().astype(float)
    is_a -= is_a.mean()
    # Neighbours tell nothing of each other: what they have in common is within five standard deviations of nothing.
    assert abs((is_a[1:] * is_a[:-1]).mean() / is_a.var()) < 5 / np.sqrt(len(is_a))
