from __future__ import annotations

from datetime import date

import polars as pl

from tokumei.data.describe import describe_frame


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
