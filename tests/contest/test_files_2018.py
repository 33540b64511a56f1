from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from tokumei.contest.editions.pwscup2018 import files as pwscup2018
from tokumei.core.errors import InputError
from tokumei.data.cells import Kind, RangeCells
from tokumei.data.release import GeneralizedHistory

Write = Callable[..., Path]

HISTORY = "13047,2010/12/1,84879,1.69,32\r\n13047,2011/11/30,C2,2.1,6\r\n"
RELEASE = (
    "1,2010/12/1,84879,1.69,32\r\n"
    "*,*,*,*,*\r\n"
    "22,[2010/12/1;2011/1/31],{84879;C2},[1.5;3],[6;12]\r\n"
    "22,*,*,*,*\r\n"
    "1,2011/1/5,{M},[0.42;0.42],*\r\n"
)


def test_history_has_neither_invoice_nor_time(write: Write) -> None:
    history = pwscup2018.read_history(write(HISTORY))
    assert history.frame.row(1) == ("13047", None, date(2011, 11, 30), None, "C2", 2.1, 6)


def test_release_is_read_as_cells(write: Write) -> None:
    release = pwscup2018.read_release(write(RELEASE))
    assert release.n_rows == 5
    assert release.customer.to_list() == ["1", "*", "22", "22", "1"]
    assert release.is_deleted.to_list() == [False, True, False, False, False]
    assert release.date.kind.to_list() == [Kind.VALUE, Kind.SUPPRESSED, Kind.RANGE, Kind.SUPPRESSED, Kind.VALUE]
    assert (release.date.low[2], release.date.high[2]) == (date(2010, 12, 1), date(2011, 1, 31))
    assert release.item.members.to_list() == [["84879"], None, ["84879", "C2"], None, ["M"]]
    assert (release.price.low[2], release.price.high[2]) == (1.5, 3.0)
    assert (release.quantity.low[2], release.quantity.high[2]) == (6, 12)


def test_files_written_are_the_files_read(write: Write) -> None:
    target = write("", "out.csv")
    pwscup2018.write_history(pwscup2018.read_history(write(HISTORY)), target)
    assert target.read_bytes() == HISTORY.encode()
    pwscup2018.write_release(pwscup2018.read_release(write(RELEASE, "in.csv.gz")), target)
    assert target.read_bytes() == RELEASE.encode()
    pwscup2018.write_guess(pwscup2018.read_guess(write("1,13047\n22,12352\n")), target, line_end="\n")
    assert target.read_bytes() == b"1,13047\n22,12352\n"


def test_published_release_is_kept_rows_sorted_as_text(write: Write) -> None:
    target = write("", "out.csv")
    pwscup2018.write_published(pwscup2018.read_release(write(RELEASE)), target)
    lines = target.read_text().splitlines()
    assert lines == sorted(line for line in RELEASE.splitlines() if line != "*,*,*,*,*")
    assert pwscup2018.read_published(target).customer.to_list() == ["1", "1", "22", "22"]


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        ("0,*,*,*,*", "customer", "0"),
        ("1234567890,*,*,*,*", "customer", "1234567890"),
        ("*,2010/12/1,*,*,*", "customer", "*"),
        ("1,[2010/12/2;2010/12/1],*,*,*", "date", "[2010/12/2;2010/12/1]"),
        ("1,[2011/2/1;2011/2/30],*,*,*", "date", "[2011/2/1;2011/2/30]"),
        ("1,2011/2/30,*,*,*", "date", "2011/2/30"),
        ("1,{2011/2/1},*,*,*", "date", "{2011/2/1}"),
        ("1,*,{A;A},*,*", "item", "{A;A}"),
        ("1,*,{},*,*", "item", "{}"),
        ("1,*,{A;*},*,*", "item", "{A;*}"),
        ("1,*,[A;B],*,*", "item", "[A;B]"),
        ("1,*,a,*,*", "item", "a"),
        ("1,*,*,[2;1],*", "price", "[2;1]"),
        ("1,*,*,[1;1.234],*", "price", "[1;1.234]"),
        ("1,*,*,*,[1]", "quantity", "[1]"),
        ("1,*,*,*,", "quantity", ""),
    ],
)
def test_cell_of_another_form_is_refused(row: str, column: str, value: str, write: Write) -> None:
    path = write(f"1,*,*,*,*\r\n{row}\r\n")
    with pytest.raises(InputError) as caught:
        pwscup2018.read_release(path)
    error = caught.value
    assert error.n_faults == 1
    fault = error.faults[0]
    assert (fault.file, fault.line, fault.column, fault.value) == (str(path), 2, column, value)


def test_set_of_a_hundred_items_is_read_and_one_more_is_not(write: Write) -> None:
    def row(n_items: int) -> str:
        return "1,*,{" + ";".join(str(item) for item in range(n_items)) + "},*,*\n"

    assert pwscup2018.read_release(write(row(100))).item.sizes().to_list() == [100]
    with pytest.raises(InputError, match="of 1 to 100 different ones"):
        pwscup2018.read_release(write(row(101)))


def test_line_of_more_than_8000_bytes_is_refused(write: Write) -> None:
    items = ";".join(f"{item:09d}" for item in range(800))
    with pytest.raises(InputError, match="line 1: found '8,009 bytes', expected lines of at most 8,000 bytes"):
        pwscup2018.read_release(write("1,*,{" + items + "},*,*\n"))


def test_deleted_row_in_published_release_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match=r"column customer: found '\*'"):
        pwscup2018.read_published(write(RELEASE))


def test_release_with_a_range_upside_down_is_not_written(write: Write) -> None:
    history = pwscup2018.read_history(write(HISTORY))
    exact = GeneralizedHistory.of(history)
    odd = RangeCells(pl.Series([Kind.RANGE, Kind.VALUE]), pl.Series([9, 1]), pl.Series([3, 1]))
    release = GeneralizedHistory(exact.customer, exact.date, exact.item, exact.price, odd)
    with pytest.raises(InputError, match=r"line 1, column quantity: found '\[9;3\]'"):
        pwscup2018.write_release(release, write("", "out.csv"))
