from __future__ import annotations

from collections.abc import Callable
from datetime import date, time
from pathlib import Path

import polars as pl
import pytest

from tokumei.contest.editions.pwscup2016 import files as pwscup2016
from tokumei.core.errors import Fault, InputError

Write = Callable[..., Path]

MASTER = "12347,f,1962/3/17,Iceland\n12348,m,1980/12/1,United Kingdom\n"
HISTORY = "12583,536370,2010/12/1,8:45,22728,3.75,24\n12583,C536371,2010/12/1,8:46,POST,18,3\n"


def test_master_and_history_are_read(write: Write) -> None:
    assert pwscup2016.read_master(write(MASTER)).row(0) == ("12347", "f", date(1962, 3, 17), "Iceland")
    history = pwscup2016.read_history(write(HISTORY))
    assert history.frame.row(1) == ("12583", "C536371", date(2010, 12, 1), time(8, 46), "POST", 18.0, 3)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("master", MASTER),
        ("history", HISTORY),
        ("released_master", MASTER.replace("12347", "p_1")),
        ("released_history", HISTORY.replace("12583", "p-1")),
        ("permutation", "3\n1\n2\n"),
        ("guess", "3\n3\n1\n"),
    ],
)
def test_file_written_is_the_file_read(kind: str, content: str, write: Write) -> None:
    source = write(content)
    what = getattr(pwscup2016, f"read_{kind}")(source)
    target = source.with_name("out.csv.gz")
    getattr(pwscup2016, f"write_{kind}")(what, target)
    assert getattr(pwscup2016, f"read_{kind}")(target).__class__ is what.__class__
    getattr(pwscup2016, f"write_{kind}")(what, source)
    assert source.read_bytes() == content.encode()


def test_permutation_counts_rows_from_one(write: Write) -> None:
    rows = pwscup2016.read_permutation(write("2\n3\n1\n"))
    assert rows.equals(pl.Series("row", [2, 3, 1]))


@pytest.mark.parametrize(
    ("read", "content", "line", "value", "expected"),
    [
        (pwscup2016.read_permutation, "1\n2\n1\n", 3, "1", "each row number once"),
        (pwscup2016.read_permutation, "1\n4\n2\n", 2, "4", "a row number of at most 3, the number of lines"),
        (pwscup2016.read_guess, "1\n0\n", 2, "0", "a row number, counted from 1"),
        (pwscup2016.read_guess, "1\n\n2\n", 2, "", "a row number, counted from 1"),
        (pwscup2016.read_guess, "1\n01\n", 2, "01", "a row number, counted from 1"),
    ],
)
def test_row_numbers_of_another_form_are_refused(
    read: Callable[..., pl.Series], content: str, line: int, value: str, expected: str, write: Write
) -> None:
    path = write(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.faults == (Fault(expected, str(path), line, "row", value),)


@pytest.mark.parametrize(
    ("kind", "content", "column"),
    [
        ("master", "12347,F,1962/3/17,Iceland", "sex"),
        ("master", "12347,f,1962/3/32,Iceland", "birth"),
        ("master", "12347,f,1962/3/17,123", "country"),
        ("master", "p1,f,1962/3/17,Iceland", "customer"),
        ("released_master", "p 1,f,1962/3/17,Iceland", "customer"),
        ("history", "12583,53-70,2010/12/1,8:45,22728,3.75,24", "invoice"),
        ("released_history", "é,536370,2010/12/1,8:45,22728,3.75,24", "customer"),
    ],
)
def test_cell_of_another_form_is_refused(kind: str, content: str, column: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        getattr(pwscup2016, f"read_{kind}")(write(content + "\n"))
    assert [(fault.line, fault.column) for fault in caught.value.faults] == [(1, column)]
