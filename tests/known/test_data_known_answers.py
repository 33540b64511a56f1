"""The shared data, read and written, against its known answers."""

from __future__ import annotations

import gzip
from datetime import date, time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tokumei.contest.editions.pwscup2016 import files as pwscup2016
from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.contest.editions.pwscup2018 import files as pwscup2018
from tokumei.data.files.csv import read_csv
from tokumei.data.files.formats import read_parquet
from tokumei.data.history import History, period_name
from tokumei.data.online_retail import clean_retail, to_history, with_smallest_customers
from tokumei.data.release import GeneralizedHistory

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared data is not at {DATA}")


def unpacked(path: Path) -> bytes:
    with gzip.open(path) as handle:
        return handle.read()


@pytest.fixture(scope="module")
def retail() -> History:
    return to_history(clean_retail(read_parquet(DATA / "online_retail" / "online_retail_full.parquet")))


def test_online_retail_cleaned_has_the_known_size(retail: History) -> None:
    frame = retail.frame
    assert (retail.n_rows, len(retail.customers), frame["item"].n_unique()) == (397_625, 4_333, 3_663)
    moments = frame.select(pl.col("date").dt.combine(pl.col("time")).alias("at"))["at"].sort()
    assert (moments[0].date(), moments[0].time()) == (date(2010, 12, 1), time(8, 26))
    assert (moments[-1].date(), moments[-1].time()) == (date(2011, 12, 9), time(12, 50))


def test_pwscup2016_history_follows_from_online_retail(retail: History, tmp_path: Path) -> None:
    source = DATA / "pwscup2016" / "T.csv.gz"
    history = with_smallest_customers(retail, 400)
    assert (history.n_rows, len(history.customers)) == (38_087, 400)
    assert pwscup2016.read_history(source).frame.equals(history.frame)
    pwscup2016.write_history(history, tmp_path / "T.csv")
    assert (tmp_path / "T.csv").read_bytes() == unpacked(source)


@pytest.mark.parametrize(
    ("name", "kind", "n_rows", "n_kept"),
    [
        ("M", "master", 500, 500),
        ("T", "history", 44_917, 44_917),
        ("AT_sample", "release", 44_917, 22_458),
        ("F_sample", "truth", 500, 500),
        ("T25", "knowledge", 44_917, None),
        ("T50", "knowledge", 44_917, None),
        ("T75", "knowledge", 44_917, None),
        ("T100", "knowledge", 44_917, 44_917),
    ],
)
def test_pwscup2017_file_is_written_byte_for_byte(
    name: str, kind: str, n_rows: int, n_kept: int | None, tmp_path: Path
) -> None:
    source = DATA / "pwscup2017" / f"{name}.csv.gz"
    what: Any = getattr(pwscup2017, f"read_{kind}")(source)
    frame = what.frame if isinstance(what, History) else what
    assert frame.height == n_rows
    if n_kept is not None:
        assert frame["customer"].drop_nulls().len() == n_kept
    original = unpacked(source)
    # The organizers wrote T100 on Unix and the rest on Windows.
    line_end = "\r\n" if b"\r\n" in original else "\n"
    getattr(pwscup2017, f"write_{kind}")(what, tmp_path / "out.csv", line_end=line_end)
    assert (tmp_path / "out.csv").read_bytes() == original


def test_pwscup2017_history_has_twelve_periods() -> None:
    history = pwscup2017.read_history(DATA / "pwscup2017" / "T.csv.gz")
    assert len(history.customers) == 500
    assert tuple(period_name(period) for period in history.periods) == pwscup2017.PERIODS


def test_pwscup2017_sample_truth_names_the_customers_of_t_not_of_s() -> None:
    # The rules say DEL where a customer has no row in S that month; the organizers' sample names all 1,348
    # customers and months of T, among them 26 whose rows were all deleted.
    truth = pwscup2017.read_truth(DATA / "pwscup2017" / "F_sample.csv.gz")
    original = pwscup2017.read_history(DATA / "pwscup2017" / "T.csv.gz")
    release = pwscup2017.read_release(DATA / "pwscup2017" / "AT_sample.csv.gz")
    named = truth.unpivot(index="customer", variable_name="period", value_name="named").drop_nulls()
    periods = original.period.map_elements(period_name, return_dtype=pl.String)
    rows = pl.DataFrame({"customer": original.frame["customer"], "period": periods, "used": release.frame["customer"]})
    used = rows.unique().sort("used", nulls_last=True).unique(["customer", "period"], keep="first")
    both = named.join(used, on=["customer", "period"], how="full", coalesce=True)
    assert (both.height, both["named"].null_count(), both["used"].null_count()) == (1_348, 0, 26)
    assert both.filter(pl.col("named") != pl.col("used")).is_empty()


def test_pwscup2018_history_is_written_byte_for_byte(tmp_path: Path) -> None:
    source = DATA / "pwscup2018" / "T.csv.gz"
    history = pwscup2018.read_history(source)
    assert (history.n_rows, len(history.customers)) == (81_776, 1_000)
    pwscup2018.write_history(history, tmp_path / "T.csv")
    assert (tmp_path / "T.csv").read_bytes() == unpacked(source)


def test_pwscup2018_release_that_changes_nothing_reads_back(tmp_path: Path) -> None:
    history = pwscup2018.read_history(DATA / "pwscup2018" / "T.csv.gz")
    pwscup2018.write_release(GeneralizedHistory.of(history), tmp_path / "A.csv")
    release = pwscup2018.read_release(tmp_path / "A.csv")
    assert release.contains(history).select(pl.all().all()).row(0) == (True,) * 4
    assert (tmp_path / "A.csv").read_bytes() == unpacked(DATA / "pwscup2018" / "T.csv.gz")


def test_adult_is_read_with_its_own_delimiter() -> None:
    frame = read_csv(DATA / "adult" / "adult.csv.gz").frame
    assert frame.shape == (30_162, 9)
    assert frame.null_count().sum_horizontal().item() == 0
