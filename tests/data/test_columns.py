from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from tokumei.core.errors import Fault, FaultList, InputError
from tokumei.data.files.csv import read_csv
from tokumei.data.files.strict import TYPES, add_value_faults, read_columns

Write = Callable[..., Path]


def test_read_columns_reads_declared_types_and_leaves_the_rest_text(write: Write) -> None:
    text = read_csv(write("n,x,d,b,t,rest\n+7,-1.5e2,2011-02-28,true,a,1\n-0,.5,2012-02-29,false,b,2\n"))
    faults = FaultList(text.file)
    names = {"n": "integer", "x": "number", "d": "date", "b": "boolean", "t": "text"}
    frame = read_columns(text, {column: TYPES[kind] for column, kind in names.items()}, faults)
    faults.raise_if_any()
    assert frame.rows() == [
        (7, -150.0, date(2011, 2, 28), True, "a", "1"),
        (0, 0.5, date(2012, 2, 29), False, "b", "2"),
    ]


def test_missing_cell_is_a_fault_unless_the_type_is_optional(write: Write) -> None:
    text = read_csv(write("a,b\n1,1\n,\n"))
    faults = FaultList("file")
    frame = read_columns(text, {"a": TYPES["integer"], "b": TYPES["integer"].optional()}, faults)
    assert faults.faults == [Fault("a whole number", "file", 3, "a", "")]
    assert frame["b"].to_list() == [1, None]


def test_skipped_rows_are_not_checked_and_come_out_missing(write: Write) -> None:
    text = read_csv(write("a,b\n1,x\nbad,y\n3,z\n"))
    faults = FaultList("file")
    frame = read_columns(text, {"a": TYPES["integer"]}, faults, skipped=pl.Series([False, True, False]))
    assert faults.n_faults == 0
    assert frame.rows() == [(1, "x"), (None, None), (3, "z")]


def test_type_of_a_column_that_is_not_there_is_refused(write: Write) -> None:
    text = read_csv(write("a,b\n1,2\n"))
    with pytest.raises(InputError, match="found 'c', expected a column of the file: a, b"):
        read_columns(text, {"c": TYPES["integer"]}, FaultList("file"))


def test_value_faults_count_rows_from_one_and_list_twenty() -> None:
    faults = FaultList("frame")
    add_value_faults(pl.Series("a", range(30)), pl.repeat(True, 30, eager=True), "nothing", faults)
    assert (len(faults.faults), faults.n_faults) == (20, 30)
    assert faults.faults[0] == Fault("nothing", "frame", 1, "a", "0")
