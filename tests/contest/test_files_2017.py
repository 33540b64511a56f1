from __future__ import annotations

from collections.abc import Callable
from datetime import date, time
from pathlib import Path

import polars as pl
import pytest

from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.data.history_columns import SCHEMA

Write = Callable[..., Path]

MASTER = "12352,f,1950/1/1,Others\r\n18276,m,1980/1/1,United Kingdom\r\n"
HISTORY = "15100,0,2010/12/1,9:09,21258,10.95,32\r\n12431,0,2011/11/30,16:00,35004C,12,6\r\n"
RELEASE = "L15100DE,0,2010/12/1,9:09,21258,10.95,32\r\nDEL,,,,,,\r\np_-1,0,2011/1/2,23:59,M,0.4,999999\r\n"
PUBLISHED = "p_-1,0,2011/1/2,23:59,M,0.4,999999\r\nL15100DE,0,2010/12/1,9:09,21258,10.95,32\r\n"
KNOWLEDGE = "15100,0,2010/12/1,9:09,21,10.95,32\r\nDEL,,,,,,\r\n12431,0,2011/1/2,10:03,M,8.5,6\r\n"
TRUTH = "12352,DEL,A,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,K12352NO\r\n"


def test_master_has_birth_as_date(write: Write) -> None:
    master = pwscup2017.read_master(write(MASTER))
    assert master.rows() == [
        ("12352", "f", date(1950, 1, 1), "Others"),
        ("18276", "m", date(1980, 1, 1), "United Kingdom"),
    ]


def test_history_has_the_columns_of_every_history(write: Write) -> None:
    history = pwscup2017.read_history(write(HISTORY))
    assert history.frame.schema == pl.Schema(SCHEMA)
    assert history.frame.row(1) == ("12431", "0", date(2011, 11, 30), time(16, 0), "35004C", 12.0, 6)


def test_release_is_missing_where_a_row_is_deleted(write: Write) -> None:
    release = pwscup2017.read_release(write(RELEASE))
    assert release.frame.row(1) == (None,) * 7
    assert (release.n_rows, release.customers) == (3, ["L15100DE", "p_-1"])


def test_knowledge_has_items_of_two_characters(write: Write) -> None:
    knowledge = pwscup2017.read_knowledge(write(KNOWLEDGE))
    assert knowledge.frame["item"].to_list() == ["21", None, "M"]
    with pytest.raises(InputError, match="column item: found '212'"):
        pwscup2017.read_knowledge(write(KNOWLEDGE.replace(",21,", ",212,")))


def test_truth_has_a_column_for_each_month_and_nothing_for_del(write: Write) -> None:
    truth = pwscup2017.read_truth(write(TRUTH))
    assert truth.columns == ["customer", "2010-12", *(f"2011-{month:02d}" for month in range(1, 12))]
    assert truth.row(0) == ("12352", None, "A", *[None] * 9, "K12352NO")
    assert pwscup2017.read_truth(write(TRUTH)).equals(truth)


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("master", MASTER),
        ("history", HISTORY),
        ("release", RELEASE),
        ("published", PUBLISHED),
        ("knowledge", KNOWLEDGE),
        ("truth", TRUTH),
    ],
)
def test_file_written_is_the_file_read(kind: str, content: str, packed: str, end: str, write: Write) -> None:
    source = write(content.replace("\r\n", end), f"in.csv{packed}")
    what = getattr(pwscup2017, f"read_{kind}")(source)
    target = source.with_name("out.csv")
    getattr(pwscup2017, f"write_{kind}")(what, target, line_end=end)
    assert target.read_bytes() == content.replace("\r\n", end).encode()


@pytest.mark.parametrize(
    ("kind", "content", "column", "value"),
    [
        ("master", "12352,x,1950/1/1,Others", "sex", "x"),
        ("master", "12352,f,1955/1/1,Others", "birth", "1955/1/1"),
        ("master", "12352,f,1950/1/1,Norway", "country", "Norway"),
        ("release", "DEL,0,,,,,", "invoice", "0"),
        ("release", "DEL,,,,,,1", "quantity", "1"),
        ("release", "a b,0,2010/12/1,9:09,21258,10.95,32", "customer", "a b"),
        ("release", ",,,,,,", "customer", ""),
        ("published", "DEL,,,,,,", "customer", "DEL"),
        ("history", "L15100DE,0,2010/12/1,9:09,21258,10.95,32", "customer", "L15100DE"),
        ("truth", TRUTH.replace("12352,DEL,", "12352,,").strip(), "2010-12", ""),
        ("truth", TRUTH.replace(",A,", ",a b,").strip(), "2011-01", "a b"),
    ],
)
def test_cell_of_another_form_is_refused(kind: str, content: str, column: str, value: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        getattr(pwscup2017, f"read_{kind}")(write(content + "\r\n"))
    fault = caught.value.faults[0]
    assert (fault.line, fault.column, fault.value) == (1, column, value)


def test_truth_without_a_month_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found '2010-12'"):
        pwscup2017.write_truth(pl.DataFrame({"customer": ["1"]}), tmp_path / "F.csv")


def test_release_with_the_pseudonym_del_is_not_written(write: Write) -> None:
    release = pwscup2017.read_release(write(RELEASE))
    frame = release.frame.with_columns(customer=pl.col("customer").str.replace("p_-1", "DEL", literal=True))
    with pytest.raises(InputError, match="line 3, column customer: found 'DEL'"):
        pwscup2017.write_release(History(frame), write("", "out.csv"))
