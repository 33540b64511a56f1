"""Folders of part files counted one run of files after the other: the counts of all of them at once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.data.files.formats import scan_in_turn
from tokumei.engines import local
from tokumei.engines.count import count_classes
from tokumei.engines.local import LocalEngine

ROW = st.tuples(st.none() | st.sampled_from(["a", "花"]), st.none() | st.integers(0, 2))
PARTS = st.lists(st.lists(ROW, max_size=6), min_size=1, max_size=5)
SCHEMA = {"town": pl.String, "n": pl.Int64}


def written(folder: Path, parts: list[list[tuple[str | None, int | None]]]) -> Path:
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for number, rows in enumerate(parts):
        pl.DataFrame(rows, schema=SCHEMA, orient="row").write_parquet(folder / f"{number}.parquet")
    return folder


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PARTS, st.integers(1, 8))
def test_counts_in_turn_are_those_of_all_rows(
    tmp_path: Path, parts: list[list[tuple[str | None, int | None]]], n_rows: int
) -> None:
    folder = written(tmp_path / "parts", parts)
    rows = [row for part in parts for row in part]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "TURN_ROWS", n_rows)
        relation = LocalEngine().open(folder)
        for columns in ([], ["town"], ["n", "town"]):
            found = relation.group_sizes(columns, {})
            asked = LocalEngine().open(frame).group_sizes(columns, {})
            assert sorted(found.rows(), key=repr) == sorted(asked.rows(), key=repr)
        some = relation.within("town", pl.Series(["a", None], dtype=pl.String))
        alike = LocalEngine().open(frame).within("town", pl.Series(["a", None], dtype=pl.String))
        assert sorted(some.group_sizes(["n"], {}).rows(), key=repr) == sorted(
            alike.group_sizes(["n"], {}).rows(), key=repr
        )
        # Of more than two combinations, no fewer than three are told, so that whoever asks sees that they are too many.
        n_distinct = len(set(rows))
        assert (relation.group_sizes(["town", "n"], {}, most=2).height > 2) == (n_distinct > 2)


def test_files_of_few_rows_are_scanned_together_and_large_ones_alone(tmp_path: Path) -> None:
    folder = written(tmp_path / "parts", [[("a", n) for n in range(size)] for size in (2, 2, 9, 1, 1, 1)])
    heights = [scan.collect().height for scan in scan_in_turn(folder, 3)]
    assert heights == [4, 9, 3]


def test_values_of_partitions_are_counted_and_a_part_of_other_columns_is_refused(tmp_path: Path) -> None:
    for year in ("2023", "2024"):
        (tmp_path / "sales" / f"year={year}").mkdir(parents=True)
        pl.DataFrame({"town": ["a", "b"]}).write_parquet(tmp_path / "sales" / f"year={year}" / "0.parquet")
    assert count_classes(tmp_path / "sales", ["year"]).sizes.tolist() == [2, 2]
    pl.DataFrame({"village": ["a"]}).write_parquet(tmp_path / "sales" / "year=2024" / "1.parquet")
    with pytest.raises(InputError, match="the columns of"):
        count_classes(tmp_path / "sales", ["year"])
