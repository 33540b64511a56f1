"""Rows made from counts: the multiset that a reading of the rows would give, in an order as likely as any other."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokumei.engines.class_counts import Recoding
from tokumei.engines.count import count_classes, write_recoded
from tokumei.engines.writing import SIZE, combinations_of, write_made

ROW = st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 3), st.sampled_from(["flu", "cold", None]))
LABELS = Recoding("town", pl.Series(["a", "b", "c"]), pl.Series(["A", "A", "C"]), "*")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROW, min_size=1, max_size=40), st.booleans())
def test_rows_made_from_counts_are_those_that_are_read(
    tmp_path: Path, rows: list[tuple[object, ...]], keeps: bool
) -> None:
    frame = pl.DataFrame(rows, schema={"town": pl.String, "n": pl.Int64, "ill": pl.String}, orient="row")
    columns = ["town", "n", *(["ill"] if keeps else [])]
    without = pl.DataFrame({"town": ["C"], "n": [1]})
    counts = count_classes(frame, ["town", "n"], sensitive=["ill"])
    asked = {"columns": columns, "without": without, "is_shuffled": True}
    made, read = tmp_path / "made.parquet", tmp_path / "read.parquet"
    write_recoded(frame, [LABELS], read, **asked)  # type: ignore[arg-type]
    write_recoded(frame, [LABELS], made, counts=counts, **asked)  # type: ignore[arg-type]
    one, other = pl.read_parquet(made), pl.read_parquet(read)
    assert one.schema == other.schema
    assert Counter(one.rows()) == Counter(other.rows())


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_values_that_no_count_keeps_are_read_and_types_stay(tmp_path: Path, engine: str) -> None:
    # As a float the last digits would be gone.
    paid = Decimal("12345678901234567.89")
    kinds = {"paid": pl.Series([paid, paid, None]), "n": pl.Series([1, 2, 2], dtype=pl.Int8)}
    for name, values in kinds.items():
        pl.DataFrame({"town": ["a", "b", "b"], name: values}).write_parquet(tmp_path / "people.parquet")
        source = str(tmp_path / "people.parquet")
        counts = count_classes(source, ["town"], sensitive=[name], engine=engine)
        how = {"columns": ["town", name], "is_shuffled": True, "counts": counts, "engine": engine}
        write_recoded(source, [LABELS], tmp_path / "out.parquet", **how)  # type: ignore[arg-type]
        found = pl.read_parquet(tmp_path / "out.parquet")[name]
        assert found.dtype == values.dtype
        assert Counter(found) == Counter(values)


def test_a_file_is_not_read_again(tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    pl.DataFrame({"town": ["a", "b", "b"]}).write_parquet(source)
    counts = count_classes(source, ["town"])
    pl.DataFrame({"town": ["x"] * 9}).write_parquet(source)
    write_recoded(source, [LABELS], tmp_path / "out.csv", is_covered=True, is_shuffled=True, counts=counts)
    assert (tmp_path / "out.csv").read_text().split() == ["town", "A", "A", "A"]


def test_two_columns_beside_the_classes_are_not_told_by_counts() -> None:
    frame = pl.DataFrame({"town": ["a", "b"], "ill": ["flu", "cold"], "paid": [1, 2]})
    counts = count_classes(frame, ["town"], sensitive=["ill", "paid"])
    assert combinations_of(counts, ["town", "ill", "paid"]) is None
    assert combinations_of(counts, ["town", "age"]) is None


@pytest.mark.thorough
@pytest.mark.parametrize("piece_rows", [1, 2, 10])
def test_each_order_is_as_likely_as_any_other(tmp_path: Path, piece_rows: int) -> None:
    combinations = pl.DataFrame({"town": ["a", "b"], SIZE: [2, 1]})
    seen: Counter[str] = Counter()
    for _ in range(300):
        write_made(combinations, tmp_path / "out.parquet", piece_rows=piece_rows)
        seen["".join(pl.read_parquet(tmp_path / "out.parquet")["town"])] += 1
    assert set(seen) == {"aab", "aba", "baa"}
    expected = 300 / math.comb(3, 1)
    # Two degrees of freedom: more than 18.4 once in ten thousand times.
    assert sum((n - expected) ** 2 / expected for n in seen.values()) < 18.4


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_no_rows_are_written_with_their_columns(tmp_path: Path, suffix: str) -> None:
    combinations = pl.DataFrame(schema={"town": pl.String, SIZE: pl.Int64})
    write_made(combinations, tmp_path / f"out.{suffix}")
    read = pl.read_parquet if suffix == "parquet" else pl.read_csv
    assert read(tmp_path / f"out.{suffix}").columns == ["town"]
