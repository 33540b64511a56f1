"""The source of a contest, read in whatever way its file needs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.cli.main import main
from tokumei.contest.checks import plain_source, sample_purchases
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading

COLUMNS = {"customer": "会員番号", "date": "日付", "item": "商品", "price": "単価", "quantity": "点数"}
READING = Reading(skip_rows=1, delimiter="|", columns=COLUMNS, date_format="%m/%d/%Y", encoding="cp932")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Write a shop's file as its till does: Shift-JIS, bars, a line above the header, days after months."""
    rows = [f"{one}|0{month}/15/2011|A100|12.5|2" for one in (11, 12, 13) for month in (3, 4)]
    text = "\n".join(["売上一覧", "会員番号|日付|商品|単価|点数", *rows, ""])
    path = tmp_path / "売上.csv"
    path.write_bytes(text.encode("cp932"))
    return path


def test_source_is_sampled_in_the_way_that_it_is_read(shop: Path) -> None:
    with plain_source(shop, READING) as plain:
        found = sample_purchases(plain, 2, seed=1).frame
    assert found.select("item", "price", "quantity").unique().row(0) == ("A100", 12.5, 2)
    assert (found["customer"].n_unique(), found.height) == (2, 4)
    assert set(found["date"].dt.to_string("%Y-%m-%d")) == {"2011-03-15", "2011-04-15"}


def test_source_read_twice_gives_the_same_bytes(shop: Path) -> None:
    copies = []
    for _ in range(2):
        with plain_source(shop, READING) as plain:
            assert plain is not None
            copies.append(plain.read_bytes())
    assert copies[0] == copies[1]


def test_source_as_it_is_is_not_copied(shop: Path) -> None:
    with plain_source(shop, AS_IT_IS) as plain:
        assert plain == shop


def test_fault_of_a_source_names_the_file_that_was_given(shop: Path) -> None:
    with pytest.raises(InputError) as raised, plain_source(shop, READING) as plain:
        sample_purchases(plain, 9, seed=1)
    assert [fault.file for fault in raised.value.faults] == [str(shop)]
    with (
        pytest.raises(InputError, match=r"line 3, column 日付: found '03/15/2011'"),
        plain_source(shop, Reading(skip_rows=1, delimiter="|", columns=COLUMNS, encoding="cp932")),
    ):
        pass
    with pytest.raises(InputError, match="a source, which is read so"), plain_source(None, READING):
        pass


def test_contest_of_a_shops_own_file_is_prepared_and_replayed_by_commands(shop: Path, tmp_path: Path) -> None:
    read = ["--skip-rows", "1", "--delimiter", "|", "--encoding", "cp932", "--date-format", "%m/%d/%Y"]
    columns = ["--columns", ",".join(f"{role}={name}" for role, name in COLUMNS.items())]
    source = ["--source", str(shop), *read, *columns]
    cup = tmp_path / "cup"
    edition = ["--edition", "pwscup2017", "--set", "n_customers=3", "--set", "known=50"]
    for command in (
        ["contest", "prepare", *edition, *source, "--out", str(cup), "--seed", "1"],
        ["contest", "replay", str(cup), *source],
        ["contest", "kit", *edition, *source, "--out", str(tmp_path / "kit.zip")],
    ):
        with pytest.raises(SystemExit, match="0"):
            main(command)
    data = pl.read_csv(cup / "public" / "data" / "T.csv", has_header=False)
    assert data.height == 6
