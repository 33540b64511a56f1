from __future__ import annotations

from collections.abc import Callable
from datetime import date, time
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei, tokumei_json

from tokumei.core.errors import InputError
from tokumei.data.files.histories import form_of, write_released_history
from tokumei.data.files.reading import Reading
from tokumei.data.files.released_histories import read_pseudonyms, write_pseudonyms
from tokumei.data.history import History, read_history, read_known_history, read_released_history
from tokumei.data.history_columns import SCHEMA
from tokumei.tasks.anonymize_history import anonymize_history
from tokumei.tasks.measure_history import measure_history

Write = Callable[..., Path]


def test_contest_files_are_told_by_their_columns(tmp_path: Path) -> None:
    (tmp_path / "2017.csv").write_text("15100,0,2010/12/1,9:09,21258,10.95,32\n")
    (tmp_path / "2016.csv").write_text("12583,536370,2010/12/1,8:45,22728,3.75,24\n")
    (tmp_path / "2018.csv").write_text("13047,2010/12/1,84879,1.69,32\n")
    assert read_history(tmp_path / "2017.csv").frame["invoice"][0] == "0"
    assert read_history(tmp_path / "2016.csv").frame["invoice"][0] == "536370"
    assert read_history(tmp_path / "2018.csv").frame["time"][0] is None


def test_table_with_a_header_is_a_history(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("customer,date,item,price,quantity\n7,2011-02-28,A,1.5,3\n")
    assert read_history(tmp_path / "shop.csv").frame["quantity"].to_list() == [3]
    (tmp_path / "bad.csv").write_text("customer,date,item,price,quantity\n7,2011-02-28,A,1.5,x\n")
    with pytest.raises(InputError) as caught:
        read_history(tmp_path / "bad.csv")
    assert (caught.value.faults[0].column, caught.value.faults[0].value) == ("quantity", "x")


@pytest.mark.parametrize("name", ["A.csv", "A.parquet"])
def test_release_is_written_and_read_back(tmp_path: Path, name: str) -> None:
    (tmp_path / "T.csv").write_text("L1,0,2010/12/1,9:09,21258,10.95,32\nDEL,,,,,,\n")
    release = read_released_history(tmp_path / "T.csv")
    write_released_history(release, tmp_path / name, "pwscup2017")
    assert read_released_history(tmp_path / name).frame.equals(release.frame)


def test_pseudonyms_of_the_contest_year_are_written_as_the_contest_does(tmp_path: Path) -> None:
    cells = pl.DataFrame({"customer": ["1"], "period": [2011 * 12], "pseudonym": ["P"]})
    write_pseudonyms(cells, ["1", "2"], tmp_path / "F.csv", "pwscup2017")
    lines = (tmp_path / "F.csv").read_text().splitlines()
    assert lines == ["1,DEL,P" + ",DEL" * 10, "2" + ",DEL" * 12]
    read, customers, periods = read_pseudonyms(tmp_path / "F.csv")
    assert read.rows() == [("1", 2011 * 12, "P")]
    assert (customers, len(periods)) == (["1", "2"], 12)


def test_pseudonyms_of_other_months_have_a_header(tmp_path: Path) -> None:
    cells = pl.DataFrame({"customer": ["1"], "period": [2020 * 12], "pseudonym": ["P"]})
    write_pseudonyms(cells, ["1"], tmp_path / "F.csv")
    assert (tmp_path / "F.csv").read_text() == "customer,2020-01\n1,P\n"
    assert read_pseudonyms(tmp_path / "F.csv")[2] == [2020 * 12]


HEAD = "customer,date,item,price,quantity\n"
DAYS = ["2010-12-01", "2010/12/1", "2010/12/01", "20101201", "2010.12.1", "2010年12月1日", " 2010-12-01 "]


@pytest.mark.parametrize("day", DAYS)
def test_usual_dates_are_read(write: Write, day: str) -> None:
    assert read_history(write(f"{HEAD}7,{day},A,1.5,3\n")).frame["date"].to_list() == [date(2010, 12, 1)]


@pytest.mark.parametrize("moment", ["2010-12-01 9:05", "2010-12-01T09:05:00Z", "2010/12/1 09:05:00", "20101201 9:05"])
def test_dates_with_a_time_give_both(write: Write, moment: str) -> None:
    frame = read_history(write(f"{HEAD}7,{moment},A,1.5,3\n")).frame
    assert (frame["date"][0], frame["time"][0]) == (date(2010, 12, 1), time(9, 5))


def test_dates_at_midnight_alone_have_no_time(write: Write) -> None:
    assert read_history(write(f"{HEAD}7,2010-12-01 00:00:00,A,1,3\n")).absent == ("invoice", "time")


@pytest.mark.parametrize("clock", ["9:05", "09:05", "09:05:00"])
def test_usual_times_are_read(write: Write, clock: str) -> None:
    history = read_history(write(f"customer,date,time\n7,2010-12-01,{clock}\n"))
    assert history.frame["time"].to_list() == [time(9, 5)]


@pytest.mark.parametrize("day", ["12/01/2010", "foo", "2010-02-30", "2010-12", "2010-12/01", "2010-12-01 25:00", "1"])
def test_other_dates_are_refused_with_line_column_value_and_count(write: Write, day: str) -> None:
    path = write(f"{HEAD}7,2010-12-01,A,1,3\n7,{day},A,1,3\n8,{day},A,1,3\n")
    with pytest.raises(InputError) as caught:
        read_history(path)
    fault = caught.value.faults[0]
    assert (fault.file, fault.line, fault.column, fault.value) == (str(path), 3, "date", day)
    assert caught.value.n_faults == 2


@pytest.mark.parametrize(
    ("form", "day", "clock"), [("%m/%d/%Y", "12/01/2010", None), ("%d.%m.%y %H:%M", "01.12.10 08:26", time(8, 26))]
)
def test_declared_date_format_is_read_and_holds_for_all(write: Write, form: str, day: str, clock: time | None) -> None:
    path = write(f"{HEAD}7,{day},A,1,3\n")
    frame = read_history(path, Reading(date_format=form)).frame
    assert (frame["date"][0], frame["time"][0]) == (date(2010, 12, 1), clock)
    with pytest.raises(InputError, match="line 3, column date: found '2010-12-01'"):
        read_history(write(f"{HEAD}7,{day},A,1,3\n7,2010-12-01,A,1,3\n"), Reading(date_format=form))


@pytest.mark.parametrize("clock", ["905", "25:00", "9:5", "noon", "9:05 PM"])
def test_other_times_are_refused(write: Write, clock: str) -> None:
    with pytest.raises(InputError, match="line 2, column time"):
        read_history(write(f"customer,date,time\n7,2010-12-01,{clock}\n"))


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (",2011-01-01,A,1,3", "customer"),
        ("7,,A,1,3", "date"),
        ("7,2011-01-01,,1,3", "item"),
        ("7,2011-01-01,A,,3", "price"),
        ("7,2011-01-01,A,1,", "quantity"),
        ("7,2011-01-01,A,1,x", "quantity"),
        ("7,2011-01-01,A,nan,3", "price"),
        ("7,2011-01-01,A,1 000,3", "price"),
    ],
)
def test_empty_or_odd_cell_of_a_row_is_refused_with_its_line(write: Write, row: str, column: str) -> None:
    with pytest.raises(InputError) as caught:
        read_history(write(f"{HEAD}7,2010-12-01,A,1,3\n{row}\n8,2010-12-01,A,1,3\n"))
    assert (caught.value.faults[0].line, caught.value.faults[0].column) == (3, column)
    assert caught.value.n_faults == 1


@pytest.mark.parametrize(
    ("days", "hint"),
    [
        (["19.05.2026 10:15", "9.1.2026 6:15"], "all are read by --date-format '%d.%m.%Y %H:%M'"),
        (["12/01/2010 8:26", "12/31/2010 23:59"], "all are read by --date-format '%m/%d/%Y %H:%M'"),
        (["01/02/2026"], "'%d/%m/%Y' or '%m/%d/%Y', which give other days"),
        (["13.02.26"], "all are read by --date-format '%d.%m.%y'"),
        (["5 Jan 2026"], "all are read by --date-format '%d %b %Y'"),
        (["19.05.2026", "soon"], "or as --date-format says"),
    ],
)
def test_dates_in_another_usual_way_are_refused_with_the_format_that_reads_them(
    write: Write, days: list[str], hint: str
) -> None:
    with pytest.raises(InputError) as refused:
        read_history(write(HEAD + "".join(f"7,{day},A,1,3\n" for day in days)))
    assert refused.value.faults[0].expected.endswith(hint)


def test_dates_that_a_declared_format_does_not_read_are_told_by_it(write: Write) -> None:
    with pytest.raises(InputError, match=r"a real date as --date-format '%d\.%m\.%Y' says; all are read without it"):
        read_history(write(f"{HEAD}7,2026-05-19,A,1,3\n"), Reading(date_format="%d.%m.%Y"))


def test_a_year_of_two_digits_is_no_year_of_the_first_century(write: Write) -> None:
    with pytest.raises(InputError, match=r"line 2, column date: found '13\.02\.26'"):
        read_history(write(f"{HEAD}7,13.02.26,A,1,3\n"), Reading(date_format="%d.%m.%Y"))


def test_columns_of_any_name_are_declared_and_others_are_said(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write(
        "household_id,store_id,product_id,quantity,sales_value,transaction_timestamp\n"
        "900,330,1095275,0.5,1.39,2017-01-01T11:53:26Z\n"
    )
    columns = {
        "customer": "household_id",
        "item": "product_id",
        "date": "transaction_timestamp",
        "price": "sales_value",
    }
    with caplog.at_level("INFO", "tokumei.notes"):
        history = read_history(path, Reading(columns=columns))
    row = ("900", None, date(2017, 1, 1), time(11, 53, 26), "1095275", 1.39, 0.5)
    assert history.frame.row(0) == row
    assert "left out store_id" in caplog.text
    with pytest.raises(InputError, match="such as household_id"):
        read_history(path, Reading(columns=columns | {"customer": "houshold_id"}))


def test_visits_without_items_are_a_history(write: Write) -> None:
    history = read_history(write("customer,date\n7,2010-12-01\n7,2010-12-02\n"))
    assert history.absent == ("invoice", "time", "item", "price", "quantity")
    with pytest.raises(InputError, match="the column item, which jaccard needs"):
        history.check_has(["item"], "jaccard")
    declared = read_history(write(f"{HEAD}7,2010-12-01,A,,3\n7,2010-12-01,A,1,3\n"), Reading(columns={"price": ""}))
    assert "price" in declared.absent


def test_header_with_seven_columns_is_no_contest_file(write: Write) -> None:
    path = write("cust,inv,day,clock,thing,cost,n\n7,1,2010/12/1,9:05,A,1,2\n")
    assert form_of(path) == "table"
    columns = {"customer": "cust", "invoice": "inv", "date": "day", "time": "clock", "item": "thing", "price": "cost"}
    assert read_history(path, Reading(columns=columns | {"quantity": "n"})).frame["price"].to_list() == [1.0]


@pytest.mark.parametrize("name", ["A.csv", "A.csv.gz", "A.tsv", "A.parquet"])
def test_invoices_and_seconds_are_written_as_a_table_and_read_back(tmp_path: Path, name: str) -> None:
    rows = {
        "customer": ["1", None, "2"],
        "invoice": ["C5", None, "C6"],
        "date": [date(2011, 1, 1), None, date(2011, 1, 2)],
        "time": [time(9, 5, 7), None, time(9, 5, 8, 500000)],
        "item": ['a,"b', None, "り"],
        "price": [1.25, None, 3.0],
        "quantity": [0.5, None, 2.0],
    }
    history = History.of(rows)
    write_released_history(history, tmp_path / name)
    assert read_released_history(tmp_path / name).frame.equals(history.frame)


def test_header_alone_is_an_empty_history(write: Write) -> None:
    history = read_history(write(HEAD))
    assert (history.n_rows, history.customers, history.periods, history.absent) == (0, [], [], ())


def test_pseudonyms_outside_the_contest_year_are_refused_in_its_form(tmp_path: Path) -> None:
    cells = pl.DataFrame({"customer": ["1"], "period": [2020 * 12], "pseudonym": ["P"]})
    with pytest.raises(InputError, match="the months of the contest"):
        write_pseudonyms(cells, ["1"], tmp_path / "F.csv", "pwscup2017")


def test_truth_with_a_customer_twice_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="line 3, column customer: found '1', expected each customer once"):
        read_pseudonyms(write("customer,2020-01\n1,P\n1,Q\n"))


@pytest.mark.parametrize("column", ["price", "quantity"])
@pytest.mark.parametrize("amount", ["9007199254740993", "-9007199254740993", "12345678901234567890"])
def test_amount_that_would_lose_digits_is_refused(write: Write, column: str, amount: str) -> None:
    row = {"customer": "7", "date": "2011-02-28", "item": "A", "price": "1.5", "quantity": "3", column: amount}
    file = write(f"{','.join(row)}\n{','.join(row.values())}\n")
    with pytest.raises(InputError, match=f"line 2, column {column}: found '{amount}', expected an amount below"):
        read_history(file)
    frame = pl.DataFrame({**{name: [cell] for name, cell in row.items()}, column: [float(amount)]})
    with pytest.raises(InputError, match=f"column {column}: .* expected an amount below"):
        History.of(frame)
    largest = History.of(frame.with_columns(pl.lit(2**53 - 1).alias(column))).frame
    assert largest[column].to_list() == [2**53 - 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_history_without_any_date_is_refused_and_not_taken_for_deleted(
    tmp_path: Path, suffix: str, engine: str
) -> None:
    file = tmp_path / f"T.{suffix}"
    columns = {"customer": ["a", "b"], "date": [None, None], "item": ["x", "y"], "price": [1.0, 2.0]}
    frame = pl.DataFrame(columns, schema_overrides={"date": pl.Date})
    _ = frame.write_csv(file) if suffix == "csv" else frame.write_parquet(file)
    with pytest.raises(InputError, match=r"column date: .*a date in every row"):
        measure_history(file, file, ["rfm-table"], engine=engine)


def test_frame_of_a_history_without_any_date_is_not_anonymized() -> None:
    # Taken as it is, since it has the columns of a history already.
    cells = {role: pl.Series([None, None], dtype=kind) for role, kind in SCHEMA.items()}
    frame = pl.DataFrame(cells | {"customer": pl.Series(["a", "b"]), "item": pl.Series(["x", "y"])})
    with pytest.raises(InputError, match="the column date, which pseudonyms needs"):
        anonymize_history(History(frame), method="pseudonyms")


KNOWN_2017 = "1,0,2011/1/5,9:00,85123A,1,2\n2,0,2011/1/7,9:05,M,1,3\n"


def test_original_of_2017_is_taken_as_what_is_known(write: Write) -> None:
    assert read_known_history(write(KNOWN_2017)).frame["item"].to_list() == ["85123A", "M"]
    # A contest's file beside an original of one's own is told by its first line all the same.
    own = Reading(columns={"customer": "household"})
    assert read_known_history(write(KNOWN_2017), own).frame["item"].to_list() == ["85123A", "M"]


def test_known_rows_of_2017_have_no_whole_items_where_others_are_unknown(write: Write) -> None:
    with pytest.raises(InputError, match="line 2, column item: found '85123A', expected the first 1 or 2 characters"):
        read_known_history(write(f"DEL,,,,,,\n{KNOWN_2017}"))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize("form", ["table", "pwscup2016", "pwscup2017"])
@pytest.mark.parametrize("reading", [Reading(), Reading(columns={"customer": "who"}), Reading(delimiter=";")])
def test_release_is_read_in_every_form_beside_any_original(
    tmp_path: Path, suffix: str, form: str, reading: Reading
) -> None:
    released = History.of(
        {"customer": ["a"], "invoice": ["0"], "date": [date(2011, 1, 5)], "time": [time(9, 5)]}
        | {"item": ["A"], "price": [1.5], "quantity": [2]}
    )
    if form == "pwscup2016":
        released = History(released.frame.with_columns(invoice=pl.lit("B1")))
    file = tmp_path / f"A.{suffix}"
    write_released_history(released, file, form)
    # A table is one whatever the form of the original beside it.
    original = "pwscup2017" if form == "table" else form
    for how in (reading, Reading(format=original)):
        assert read_released_history(file, how).frame.equals(released.frame)


def test_history_of_2016_is_released_in_its_own_form(tmp_path: Path) -> None:
    file = tmp_path / "T.csv"
    file.write_text("1,536,2011/1/5,9:00,A,1,2\n2,537,2011/1/7,9:05,B,1,3\n2,538,2011/1/8,9:05,B,1,3\n")
    words = ["anonymize", "history", file, "--method", "pseudonyms", "--seed", "1", "--truth", tmp_path / "F.csv"]
    done = tokumei(*words, "--out", tmp_path / "A.csv", "--published", tmp_path / "S.csv")
    assert (done.returncode, done.stderr) == (0, "")
    lines = (tmp_path / "A.csv").read_text().splitlines()
    assert [line.split(",", 2)[2] for line in lines] == [
        "2011/1/5,9:00,A,1,2",
        "2011/1/7,9:05,B,1,3",
        "2011/1/8,9:05,B,1,3",
    ]
    assert sorted(lines) == sorted((tmp_path / "S.csv").read_text().splitlines())
    # The contest's own truth is of the rows of M; without M it is the table that any release has.
    assert (tmp_path / "F.csv").read_text().startswith("customer,2011-01\n1,")
    guess = ["--release", tmp_path / "S.csv", "--truth", tmp_path / "F.csv", "--out", tmp_path / "Fh.csv"]
    found = tokumei_json("attack", "history", "jaccard", "--knowledge", file, *guess, "--out-format", "pwscup2016")
    assert found["success"]["found"]["value"] == 1


def test_form_without_deleted_rows_or_invoices_says_what_it_leaves_out(tmp_path: Path) -> None:
    file = tmp_path / "T.csv"
    file.write_text("".join(f"1,{n},2011/1/{n},9:00,A,1,2\n" for n in range(1, 9)))
    words = ["anonymize", "history", file, "--method", "delete", "--set", "telling=0.5", "--seed", "1"]
    done = tokumei(*words, "--out", tmp_path / "A.csv")
    n_kept = len((tmp_path / "A.csv").read_text().splitlines())
    assert 0 < n_kept < 8
    assert f"pwscup2016 has no deleted rows; they are left out ({8 - n_kept} of 8)" in done.stderr
    done = tokumei(*words, "--out", tmp_path / "B.csv", "--out-format", "pwscup2017")
    lines = (tmp_path / "B.csv").read_text().splitlines()
    assert {line.split(",")[1] for line in lines} == {"0", ""}
    assert "pwscup2017 has no invoices; all are written as 0" in done.stderr


def test_release_that_does_not_fit_a_form_is_refused_by_its_own_name(tmp_path: Path) -> None:
    file, out = tmp_path / "T.csv", tmp_path / "A.csv"
    file.write_text("customer,invoice,date,time,item,price,quantity\n1,5,2011-01-05,9:00,green tea,1,2\n")
    words = ["anonymize", "history", file, "--method", "pseudonyms", "--out", out]
    done = tokumei(*words, "--out-format", "pwscup2016")
    assert done.returncode == 2
    assert f"{out}, line 1, column item: found 'green tea'" in done.stderr
    assert "found 'pwscup2016', expected a form that can hold this release, such as table" in done.stderr
