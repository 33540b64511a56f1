from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.data import column_summary
from tokumei.data.column_summary import FACTS, describe_frame


def test_numbers_in_text_are_described_as_numbers_and_missing_is_counted() -> None:
    frame = pl.DataFrame(
        {
            "age": ["9", "10", "10", None],
            "paid": ["1.5", "+2", "-3", "2"],
            "name": ["b", "a", "10", "10"],
            "day": [date(2011, 1, 2), date(2011, 1, 1), None, None],
            "none": pl.Series([None] * 4, dtype=pl.String),
        }
    )
    found = describe_frame(frame.lazy())
    assert found["rows"] == 4
    age, paid, name, day, none = found["columns"]
    assert (age["type"], age["least"], age["greatest"], age["missing"]) == ("Int64, as text", "9", "10", 1)
    assert (age["distinct"], age["commonest"], age["times"]) == (2, "10", 2)
    assert (paid["type"], paid["least"], paid["greatest"]) == ("Float64, as text", "-3", "2")
    assert (name["type"], name["least"], name["greatest"], name["commonest"]) == ("String", "10", "b", "10")
    assert (day["least"], day["greatest"], day["missing"]) == ("2011-01-01", "2011-01-02", 2)
    assert (none["distinct"], none["missing"], none["least"]) == (0, 4, None)


def test_wide_table_and_one_without_rows_are_described() -> None:
    wide = pl.DataFrame({f"c{number}": ["1", str(number)] for number in range(3000)})
    found = describe_frame(wide.lazy())["columns"]
    assert [column["name"] for column in found] == wide.columns
    assert found[2999]["greatest"] == "2999"
    assert describe_frame(wide.clear().lazy())["columns"][7]["distinct"] == 0


CELLS = st.one_of(
    st.none(), st.sampled_from(["1", "1.0", "+1", "01", "-0", "0", "9", "10", "1e999", "a", "b", "ab", "あ"])
)


@given(st.integers(0, 5).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=4)))
def test_columns_together_are_described_as_each_by_itself_in_plain_words(columns: list[list[str | None]]) -> None:
    frame = pl.DataFrame({f"c{at}": pl.Series(cells, dtype=pl.String) for at, cells in enumerate(columns)})
    found = describe_frame(frame.lazy())
    assert found["rows"] == frame.height
    assert found["columns"] == [_described(f"c{at}", cells) for at, cells in enumerate(columns)]


def _described(name: str, cells: list[str | None]) -> dict[str, Any]:
    present = [cell for cell in cells if cell is not None]
    is_number = bool(present) and all(re.fullmatch(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?", cell) for cell in present)
    kind = "Int64, as text" if all("." not in cell for cell in present) else "Float64, as text"
    ordered = sorted(set(present), key=lambda cell: (float(cell) if is_number else 0, cell.encode()))
    times = Counter(present)
    commonest = max(ordered, key=lambda cell: times[cell], default=None)
    facts = (name, kind if is_number else "String", len(cells) - len(present), len(ordered))
    ends = (ordered[0], ordered[-1]) if ordered else (None, None)
    return dict(zip(FACTS, (*facts, *ends, commonest, times[commonest] if commonest else 0), strict=True))


def test_table_larger_than_memory_is_described_as_one_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({f"c{at}": [str(at * row % 7) for row in range(9)] for at in range(20)}).lazy()
    whole = describe_frame(frame)
    monkeypatch.setattr(column_summary, "CELLS_AT_ONCE", 100)
    assert describe_frame(frame) == whole


def test_more_distinct_values_than_two_bytes_number_are_described() -> None:
    n = 70_000
    found = describe_frame(pl.DataFrame({"id": [str(n - at) for at in range(n)], "one": ["1"] * n}).lazy())["columns"]
    assert [(one["least"], one["greatest"], one["distinct"], one["times"]) for one in found] == [
        ("1", str(n), n, 1),
        ("1", "1", 1, n),
    ]
