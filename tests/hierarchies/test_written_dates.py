"""Columns of days in the ways people write them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.dates import Calendar, Decades
from tokumei.hierarchies.leaves import DATES, read_date
from tokumei.hierarchies.written_dates import date_reader
from tokumei.tasks.preparing import made_hierarchy

DAYS = [dt.date(1960, 1, 2) + dt.timedelta(37 * number) for number in range(300)]
WAYS: dict[str, Callable[[dt.date], str]] = {
    "ISO": str,
    "slashes": lambda day: f"{day.year}/{day.month}/{day.day}",
    "points": lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    "points and a time": lambda day: f"{day.day}.{day.month}.{day.year} 8:30",
    "day first": lambda day: f"{day.day:02}/{day.month:02}/{day.year}",
    "month first": lambda day: f"{day.month}/{day.day}/{day.year}",
    "day first, two digits of the year": lambda day: day.strftime("%d/%m/%y"),
    "points, two digits of the year": lambda day: day.strftime("%d.%m.%y"),
    "compact": lambda day: day.strftime("%Y%m%d"),
    "words": lambda day: day.strftime("%d %b %Y"),
    "Japanese": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "era": lambda day: (
        f"{'昭和' if day.year < 1989 else '平成'}{day.year - (1925 if day.year < 1989 else 1988)}年"
        f"{day.month}月{day.day}日"
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_days_are_read_in_every_way_and_released_alike(way: str) -> None:
    texts = [WAYS[way](day) for day in DAYS]
    reader = date_reader(texts)
    assert reader is not None
    assert [reader(text) for text in texts] == DAYS
    made = tk.anonymize(tk.Table(pl.DataFrame({"born": texts}), qi=["born"]), k=5, suppress=0.1, keep_order=True)
    plain = tk.anonymize(
        tk.Table(pl.DataFrame({"born": list(map(str, DAYS))}), qi=["born"]), k=5, suppress=0.1, keep_order=True
    )
    assert made.table.equals(plain.table)
    assert made.table["born"][0] == "1960"
    assert Decades().build("born", pl.Series(texts)).labels_at(1)[0] == "1960"


def test_order_that_cannot_be_told_is_not_guessed() -> None:
    texts = ["03/04/2020", "01/02/2021", "05/05/2021", "07/08/2021"]
    assert date_reader(texts) is None
    with pytest.raises(InputError, match="03/04/2011 alone could be two"):
        Calendar().build("day", pl.Series(texts))
    # Both orders occur: one of the rows is wrong, and nobody knows which.
    assert date_reader(["31/12/2020", "12/31/2020"]) is None
    # Which end is the year at? A version of a program is no day, either.
    assert date_reader(["20/04/18", "21/05/19"]) is None
    assert date_reader(["1.2.10", "1.10.3"]) is None


def test_two_digits_of_a_year_are_read_as_spreadsheets_do() -> None:
    reader = date_reader(["31/12/30", "31/12/29", "31/12/99"])
    assert reader is not None
    assert [reader(text) for text in ("31/12/30", "31/12/29")] == [dt.date(1930, 12, 31), dt.date(2029, 12, 31)]


def test_whole_numbers_are_days_where_every_one_is_a_day() -> None:
    days = [int(day.strftime("%Y%m%d")) for day in DAYS]
    hierarchy, said = made_hierarchy("born", pl.Series(days))
    assert hierarchy.leaves[0] == "19600102" and hierarchy.labels_at(1)[0] == "1960-01"
    assert said == "days, months, quarters and years, then decades"
    assert made_hierarchy("code", pl.Series([*days, 19_601_399]))[1].startswith("intervals of ")
    with pytest.raises(InputError, match="column code: found 'Int64', expected a column of dates"):
        Calendar().build("code", pl.Series([1, 2, 3]))


@pytest.mark.parametrize(
    "texts", [["31.02.2020"], ["1.1.20"], ["2020-01"], ["1.1.2020", "tea"], ["1.1/2020"], ["13.13.2020"]]
)
def test_what_is_no_day_is_read_as_none(texts: list[str]) -> None:
    assert date_reader(texts) is None


@given(st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True) | st.text("0123456789-/T:W٣ ", max_size=12))
@example("0000-01-01")
@example("2020-02-30")
@example("2020-W01-1")
@example("2020-01-٣1")
@example("2020-01-01 8:05")
def test_date_read_at_once_is_the_one_that_its_form_tells(text: str) -> None:
    found = next((found for form in DATES if (found := form.fullmatch(text))), None)
    try:
        told = None if found is None else dt.date(*map(int, found.groups()))
    except ValueError:
        told = None
    assert read_date(text) == told


@pytest.mark.parametrize(("n_years", "n_levels"), [(10, 5), (11, 6), (15, 6), (20, 6), (21, 6)])
def test_dates_over_more_than_ten_years_are_joined_by_decade_too(n_years: int, n_levels: int) -> None:
    days = pl.Series([f"{2003 + at}-{at % 12 + 1:02}-07" for at in range(n_years)])
    made, said = made_hierarchy("born", days)
    assert len(made.levels) == n_levels
    assert ("decades" in said) == (n_levels == 6)
    if n_levels == 6:
        assert made.levels[4].labels[:2] == ("2000-2009", "2010-2019")
