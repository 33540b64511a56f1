"""Every label that a method writes is read by `tk.parse_label`, stands for its value, and has a middle where it can."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.hierarchies.builders.dates import Calendar, Decades
from tokumei.hierarchies.parsed_labels import Label
from tokumei.hierarchies.written_dates import date_reader
from tokumei.methods.registry import TABLE_ANONYMIZERS

N_ROWS = 120
RNG = np.random.default_rng(1)
BORN = [dt.date(1890, 1, 1) + dt.timedelta(int(days)) for days in RNG.integers(0, 40_000, N_ROWS)]
SEEN = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(one)) for one in RNG.integers(0, 500_000, N_ROWS)]
COLUMNS: dict[str, list[Any]] = {
    "age": RNG.integers(18, 95, N_ROWS).tolist(),
    "pay": np.round(RNG.lognormal(8, 1, N_ROWS), 2).tolist(),
    "change": RNG.integers(-300, 300, N_ROWS).tolist(),
    "loss": (-RNG.random(N_ROWS).round(3)).tolist(),
    "huge": [int(one) + 10**15 for one in RNG.integers(0, 10**6, N_ROWS)],
    "born": BORN,
    "seen": SEEN,
    "zoned": [one.replace(tzinfo=dt.timezone(dt.timedelta(hours=9))) for one in SEEN],
    "clock": [one.time() for one in SEEN],
    "slashed": [f"{day.day:02}/{day.month:02}/{day.year}" for day in BORN],
    "japanese": [f"平成{1 + n % 30}年{1 + n % 12}月{1 + n % 28}日" for n in range(N_ROWS)],
    "zip": [f"{one:05}" for one in RNG.integers(0, 99_999, N_ROWS)],
    "code": [f"T{one}" for one in RNG.integers(0, 90, N_ROWS)],
    "income": RNG.choice(["under 5", "5 to 9", "10 to 19", "20 to 49", "50+"], N_ROWS).tolist(),
    "town": RNG.choice(["大宮", "New, York", "a;b", "x..y", "{q}", "20-24", "1960s", "a*b", " "], N_ROWS).tolist(),
    "flag": (RNG.random(N_ROWS) < 0.5).tolist(),
}
NUMBERS = ("age", "pay", "change", "loss", "huge")
MOMENTS = ("born", "seen", "zoned", "slashed", "japanese")
# Two columns each, so that methods have something to weigh.
PAIRS = [("age", "town"), ("pay", "born"), ("change", "zip"), ("loss", "code"), ("seen", "income"), ("zoned", "flag")]
PAIRS += [("slashed", "huge"), ("japanese", "clock")]
GENERALIZING = [
    name
    for name in TABLE_ANONYMIZERS
    if not hasattr(TABLE_ANONYMIZERS.get(name), "perturb") and name not in ("exhaustive", "marginal-recoding")
]


def is_read(cell: Any, value: Any) -> Label:
    """Whether a cell is read, written back as it was, and stands for the value; its label."""
    label = tk.parse_label(cell)
    assert str(label) == ("" if cell is None else str(cell))
    assert label == tk.parse_label(None if cell is None else str(label))
    assert label.covers(value), f"{cell} does not cover {value}"
    return label


@pytest.mark.parametrize("name", [*GENERALIZING, "microaggregate", "top-bottom-code"])
@pytest.mark.parametrize("columns", PAIRS, ids="-".join)
def test_every_label_is_read_and_stands_for_its_value(name: str, columns: tuple[str, str]) -> None:
    frame = pl.DataFrame({column: COLUMNS[column] for column in columns})
    # Some values are missing, in other rows of each.
    holes = [pl.Series(np.arange(N_ROWS) % 17 == at) for at in range(2)]
    holed = [
        pl.when(hole).then(None).otherwise(pl.col(one)).alias(one) for one, hole in zip(columns, holes, strict=True)
    ]
    frame = frame.with_columns(holed)
    options: dict[str, Any] = {}
    if name in GENERALIZING:
        options = {"k": 3, "suppress": 0.1}
    try:
        r = tk.anonymize(frame, list(columns), method=name, **options)
    except tk.errors.TokumeiError:
        # What takes numbers alone, or needs classes first.
        assert name in ("microaggregate", "top-bottom-code")
        return
    assert r.rows is not None
    middles = r.numeric()
    for column in columns:
        values = frame[column].gather(r.rows).to_list()
        days = (
            date_reader([str(one) for one in frame[column].drop_nulls()]) if column in ("slashed", "japanese") else None
        )
        for cell, value, middle in zip(r.table[column].to_list(), values, middles[column].to_list(), strict=True):
            if name in ("microaggregate", "top-bottom-code"):
                assert str(tk.parse_label(cell)) == ("" if cell is None else str(cell))
                continue
            asked = days(value) if days is not None and value is not None and str(cell) != value else value
            label = is_read(cell, asked)
            if column in (*NUMBERS, *MOMENTS):
                assert (middle is None) == ((value is None and cell is None) or label.is_anything), (cell, middle)
            if middle is not None and column in NUMBERS:
                assert label.covers(middle) or abs(middle - value) < 1
            if middle is not None and column in MOMENTS:
                assert str(cell) == str(value) or label.covers(middle)


@pytest.mark.parametrize(
    ("column", "builder"),
    [("born", Calendar(decades=True)), ("born", Decades(half_centuries=True)), ("seen", Calendar())],
)
def test_labels_of_calendars_hold_their_days_and_no_others(column: str, builder: Calendar | Decades) -> None:
    hierarchy = builder.build(column, pl.Series(COLUMNS[column]))
    for level in hierarchy.levels[1:-1]:
        for label in map(tk.parse_label, level.labels):
            held = [label.covers(leaf) for leaf in hierarchy.leaves]
            code = level.labels.index(str(label))
            assert held == (np.asarray(level.codes) == code).tolist()
            assert label.moment is not None


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("2011-03", ["2011-03-01", dt.date(2011, 3, 31), dt.datetime(2011, 3, 31, 23, 59)], ["2011-04-01", "2011"]),
        ("2011-Q4", ["2011-12-31", "2011-11"], ["2012-01-01", "2011-09-30"]),
        ("1960s", ["1969-12-31", 1960, "1965", "1960-Q1"], [1970, "1970-01-01"]),
        ("2010-2019", [2019, "2019-12-31"], ["2020-01-01", 2020]),
        ("2011-03..2011-05", ["2011-05-31"], ["2011-06-01"]),
        ("9999", ["9999-12-30"], ["9998-12-31"]),
        ("0001-01-01", ["0001-01-01"], ["0001-01-02"]),
        ("T9..T10", ["T9", "T10"], ["T1", "T11", "U9"]),
        ("..T10", ["T2"], ["T11"]),
        ("under 5..10 to 19", ["5 to 9"], ["20 to 49"]),
        ("{20-24;31}", [22, 31], [30, "20"[:1]]),
        ("13***", ["13999"], ["1399", "14000"]),
        ("(2.5, 5]", [5, 2.51], [2.5]),
        ("*", [None, 1, "x"], []),
        (None, [None, float("nan")], ["", 0]),
    ],
)
def test_a_label_covers_what_it_says(label: str | None, inside: list[Any], outside: list[Any]) -> None:
    read = tk.parse_label(label)
    assert [one for one in inside if not read.covers(one)] == []
    assert [one for one in outside if read.covers(one)] == []


def test_moments_have_middles() -> None:
    assert tk.parse_label("2011").moment == dt.datetime(2011, 7, 2, 12)
    assert tk.parse_label("2011-03-09").moment == dt.datetime(2011, 3, 9, 12)
    assert tk.parse_label("2024-01-01 08:30:00").moment == dt.datetime(2024, 1, 1, 8, 30)
    assert [tk.parse_label(one).moment for one in ("20-24", "2011-13", "x", None, "..2011-03", "2011-02-30")] == [
        None
    ] * 6
