"""Files that are not what they seem: each is read, or refused in a sentence that says where and what to do."""

from __future__ import annotations

import gzip
import zipfile
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from tokumei.cli.main import main

ROWS = [f"{20 + n % 40},{'fm'[n % 2]},{('東京', '大阪')[n % 3 // 2]},{('flu', 'cold')[n % 5 // 3]}" for n in range(60)]
TEXT = "\n".join(["age,sex,town,illness", *ROWS, ""])


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Run a command at 80 columns; nothing it says may be a traceback."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err + printed.out
    assert isinstance(done.value.code, int)
    return done.value.code, " ".join((printed.out + printed.err).split())


def test_file_with_another_mark_between_cells_is_told_how_to_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(TEXT.replace(",", "^"))
    for command in (["data", "describe", file], ["audit", file, "--qi", "age"]):
        _, said = run(capsys, *command)
        assert "read as one column; if '^' separates its cells, say --delimiter '^'" in said
    code, said = run(capsys, "data", "describe", file, "--delimiter", "^")
    assert (code, "columns 4" in said, "read as one" in said) == (0, True, False)


@pytest.mark.parametrize("column", ["date", "time 10:05", "a"])
def test_file_of_one_column_is_read_without_a_word(
    column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(f"{column}\n2020-01-31\n2020-02-01\n")
    assert "Note" not in run(capsys, "data", "describe", file)[1]


def test_numbers_with_commas_between_thousands_are_refused_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_text('sex,pay\nf,"1,200"\nm,"12,345.5"\n')
    build = ["hierarchy", "build", "intervals", "--data", file, "--column", "pay", "--out", tmp_path / "pay.csv"]
    code, said = run(capsys, *build)
    assert (code, "found '1,200', expected a finite number, without commas between thousands" in said) == (2, True)
    asked = ["--qi", "sex,pay", "--numeric", "pay", "--k", 1, "--out", tmp_path / "y.csv"]
    assert "without commas between thousands" in run(capsys, "anonymize", "table", file, *asked)[1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "x.csv, line 1: found '', expected a file with content"),
        (b"age,sex\n", "x.csv: found 'no rows', expected a table with a row or more"),
        (b"age,age\n1,2\n", "x.csv, line 1, column 2: found 'age', expected names that differ"),
        (b"age,\n1,2\n", "x.csv, line 1, column 2: found '', expected a name for every column"),
        (
            b"Survey,,\nage,sex,town\n1,f,x\n",
            "x.csv, line 1: found 'Survey', expected a name for every column; if this",
        ),
        (b"age,sex,town\n1,f,x\n2,f\n", "x.csv, line 3: found '2 cells: 2,f', expected 3 cells"),
        (b"age,sex\n1,f\x00\n", "x.csv, line 2: found '\\x00', expected text without NUL bytes"),
    ],
)
def test_file_that_cannot_be_anonymized_is_named_with_its_line(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "x.csv", tmp_path / "y.csv"
    file.write_bytes(content)
    code, said = run(capsys, "anonymize", "table", file, "--qi", "age", "--k", 2, "--out", out)
    assert (code, says in said) == (2, True), said
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (TEXT.encode("utf-16"), "read as UTF-16"),
        (TEXT.replace(",", "|").encode("cp932"), "read as Shift-JIS"),
        (gzip.compress(TEXT.encode()), ""),
    ],
)
def test_file_in_other_bytes_gives_the_release_of_a_plain_one(
    content: bytes, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, plain = tmp_path / ("x.csv" if note else "x.csv.gz"), tmp_path / "plain.csv"
    file.write_bytes(content)
    plain.write_text(TEXT)
    asked = ["--qi", "age,sex,town", "--keep", "illness", "--k", 3, "--keep-order", "--out"]
    code, said = run(capsys, "anonymize", "table", file, *asked, tmp_path / "one.csv")
    assert (code, note in said) == (0, True)
    assert run(capsys, "anonymize", "table", plain, *asked, tmp_path / "other.csv")[0] == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_report_reads_a_release_that_is_like_its_original(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "x.csv", tmp_path / "report.json"
    file.write_text("made by an office\n" + TEXT.replace(",", "^"))
    asked = ["--qi", "age,sex", "--sensitive", "illness", "--in-order", "--skip-rows", 1, "--delimiter", "^"]
    code, said = run(capsys, "report", "--original", file, "--release", file, *asked, "--out", out)
    assert (code, "released 60" in said) == (0, True), said


def test_columns_may_have_any_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "x.csv", tmp_path / "y.csv"
    names = "k,value,column,variable,count,n,n_rows,index,mondrian,number,order,l"
    rows = [",".join(str((row + at) % (at + 2)) for at in range(12)) for row in range(60)]
    file.write_text("\n".join([names, *rows, ""]))
    code, said = run(capsys, "data", "describe", file)
    assert (code, all(f" {name} " in said for name in names.split(","))) == (0, True)
    assert run(capsys, "inspect", file)[0] == 0
    for method in ("optimal", "mondrian"):
        asked = [
            "--qi",
            "k,value,column,count,n,n_rows",
            "--keep",
            "l",
            "--k",
            5,
            "--suppress",
            0.5,
            "--method",
            method,
        ]
        code, said = run(capsys, "anonymize", "table", file, *asked, "--force", "--out", out)
        assert code == 0, said
        code, said = run(capsys, "audit", out, "--qi", "k,value,column,count,n,n_rows", "--sensitive", "l", "--k", 5)
        assert (code, "fails" in said) == (0, False), said


def test_codes_with_leading_zeros_are_described_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.csv"
    file.write_text("zip,pay\n00120,0.5\n00311,0\n")
    said = run(capsys, "data", "describe", file)[1]
    assert "zip String 0 2 00120 00311" in said
    assert "pay Float64, as text" in said


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "age,sex\n31,f,\n40,m,\n",
            "line 2: found '3 cells: 31,f,', expected 2 cells as in the header: all lines below it end in ','",
        ),
        (
            "age,sex\r31,f\r40,m\r",
            "line 1: found '\\r', expected a line end \\r\\n or \\n, not \\r alone",
        ),
    ],
)
def test_shape_that_all_lines_share_is_told_once(
    content: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(content.encode())
    code, said = run(capsys, "data", "describe", file)
    assert (code, says in said, said.count("expected")) == (2, True, 1), said


def workbook(path: Path, rows: list[list[object]], *, hidden: str | None = None) -> Path:
    """Write a sheet as Excel does; a text that starts with = is a formula, one that starts with # an error."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("data & more")
        for line, row in enumerate(rows):
            for column, value in enumerate(row):
                if isinstance(value, str) and value.startswith("="):
                    sheet.write_formula(line, column, value, None, 7)
                elif isinstance(value, str) and value.startswith("#"):
                    sheet.write_formula(line, column, "=1/0", None, value)
                elif value is not None:
                    sheet.write(line, column, value)
        if hidden:
            other = book.add_worksheet(hidden)
            other.write_formula(0, 0, "=1/0", None, "#DIV/0!")
            other.hide()
    return path


PEOPLE: list[list[object]] = [["age", "sex", "illness"], *([20 + n % 3, "fm"[n % 2], "flu"] for n in range(12))]


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (["age", "age", "illness"], "line 1, column 2: found 'age', expected names that differ"),
        (["age", None, "illness"], "line 1, column 2: found '', expected a name for every column"),
    ],
)
def test_workbook_with_a_repeated_or_merged_header_is_refused(
    header: list[object], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = workbook(tmp_path / "x.xlsx", [header, *PEOPLE[1:]]), tmp_path / "y.csv"
    for command in (["data", "describe", file], ["anonymize", "table", file, "--qi", "age", "--k", 2, "--out", out]):
        code, said = run(capsys, *command)
        assert (code, says in said, out.exists()) == (2, True, False), said


def test_columns_whose_names_end_in_numbers_are_no_repeated_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = workbook(tmp_path / "x.xlsx", [["age", "age_1", "town_2"], *PEOPLE[1:]])
    code, said = run(capsys, "data", "describe", file)
    assert (code, "age_1" in said, "town_2" in said) == (0, True, True)


def test_errors_of_a_workbook_are_told_and_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [list(row) for row in PEOPLE]
    rows[3][0] = rows[5][0] = "#DIV/0!"
    file = workbook(tmp_path / "x.xlsx", rows)
    code, said = run(capsys, "data", "describe", file, "--json")
    assert (code, "read as missing: 2 cells with an error of Excel, the first A4" in said) == (0, True)
    assert '"missing": 2' in said


def test_errors_of_another_sheet_are_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = workbook(tmp_path / "x.xlsx", PEOPLE, hidden="old")
    code, said = run(capsys, "data", "describe", file)
    assert (code, "expected the name of one sheet: data & more, old" in said) == (2, True)
    code, said = run(capsys, "data", "describe", file, "--sheet", "data & more")
    assert (code, "Note" in said) == (0, False)


def test_formulas_are_read_by_their_values_and_refused_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = workbook(tmp_path / "x.xlsx", [["age", "n"], [20, "=A2-13"], [21, "=A3-14"]])
    assert '"greatest": "7"' in run(capsys, "data", "describe", file, "--json")[1]
    # As programs write them that compute nothing.
    bare = tmp_path / "bare.xlsx"
    with zipfile.ZipFile(file) as given, zipfile.ZipFile(bare, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name).replace(b"<v>7</v>", b""))
    code, said = run(capsys, "data", "describe", bare)
    assert (code, "bare.xlsx, line 2, column B: found '', expected a cell with a value; its formula" in said) == (
        2,
        True,
    )


def test_unnamed_column_of_zeros_is_not_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = workbook(tmp_path / "x.xlsx", [["age", None], [20, 0], [21, 0]])
    assert "line 1, column 2: found '', expected a name for every column" in run(capsys, "data", "describe", file)[1]
    empty = workbook(tmp_path / "y.xlsx", [["age", None, "sex"], [20, None, "f"], [21, None, "m"]])
    assert "columns 2" in run(capsys, "data", "describe", empty)[1]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("List(Int64)", [[1], [1, 2]]),
        ("Duration(time_unit='us')", [timedelta(1), timedelta(2)]),
        ("Binary", [b"\xff", b"\x00"]),
        ("Struct({'a': Int64})", [{"a": 1}, {"a": 2}]),
    ],
)
def test_columns_that_are_no_single_values_are_described_and_refused_by_name(
    kind: str, values: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, plain, out = tmp_path / "x.parquet", tmp_path / "plain.parquet", tmp_path / "y.csv"
    pl.DataFrame({"age": values * 4, "sex": ["f", "m"] * 4}).write_parquet(file)
    pl.DataFrame({"age": [1, 2] * 4, "sex": ["f", "m"] * 4}).write_parquet(plain)
    code, said = run(capsys, "data", "describe", file)
    assert (code, kind.split()[0] in said, str(values[0]) in said) == (0, True, True), said
    asked = ["--qi", "age,sex"]
    for command in (
        ["anonymize", "table", file, *asked, "--k", 2, "--out", out],
        ["predict", file, *asked, "--k", 2],
        ["hierarchy", "build", "from-data", "--data", file, "--column", "age", "--out", out],
        ["measure", "table", "--original", plain, "--release", file, *asked, "--in-order"],
        ["attack", "table", "--original", plain, "--release", file, *asked, "--in-order"],
        ["attack", "table", "--original", file, "--release", plain, *asked, "--in-order"],
    ):
        code, said = run(capsys, *command)
        wanted = f"x.parquet, column age: found '{kind}', expected a column of text, numbers, dates or true and false"
        assert (code, wanted in said, out.exists()) == (2, True, False), said


def test_parquet_without_columns_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pl.DataFrame().write_parquet(tmp_path / "x.parquet")
    code, said = run(capsys, "data", "describe", tmp_path / "x.parquet")
    assert (code, "columns 0" in said) == (0, True)


def history(path: Path, **columns: object) -> Path:
    """Write a history of four customers over three months, with some columns replaced or taken away."""
    rows: dict[str, object] = {
        "customer": [f"c{n % 4}" for n in range(24)],
        "date": [f"2011-{n % 3 + 1:02d}-{n % 28 + 1:02d}" for n in range(24)],
        "item": [f"i{n % 5}" for n in range(24)],
        "price": [1.5] * 24,
        "quantity": [1 + n % 2 for n in range(24)],
    }
    frame = pl.DataFrame({name: value for name, value in (rows | columns).items() if value is not None})
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_csv)(path)
    return path


def test_halves_are_compared_with_whole_quantities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = history(tmp_path / "whole.csv")
    halves = history(tmp_path / "halves.csv", quantity=[1 + n % 2 * 1.5 for n in range(24)])
    for knowledge, release in ((whole, halves), (halves, whole)):
        out = tmp_path / "guesses.csv"
        pair = ["--knowledge", knowledge, "--release", release, "--out", out, "--force"]
        code, said = run(capsys, "attack", "history", "s1", *pair)
        assert code == 0, said
        # Only those who bought one of a thing on some day are found: 2 is no 2.5.
        found = {"c0": ["c0"] * 3, "c1": [""] * 3, "c2": ["c2"] * 3, "c3": [""] * 3}
        assert [line.split(",") for line in out.read_text().splitlines()[1:]] == [
            [who, *of] for who, of in found.items()
        ]


def test_measures_of_what_the_release_lacks_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original = history(tmp_path / "a.csv")
    release = history(tmp_path / "b.csv", price=None, quantity=None)
    code, said = run(capsys, "measure", "history", "--original", original, "--release", release, "--json")
    assert (code, '"statistic": "the release has no price"' in said) == (0, True), said
    assert '"rfm-table": "the release has no price and no quantity"' in said


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("item", [["i"]] * 24, "List(String)"),
        ("date", [timedelta(1)] * 24, "Duration(time_unit='us')"),
        ("customer", [b"\xff"] * 24, "Binary"),
    ],
)
def test_histories_of_what_are_no_single_values_are_refused(
    column: str, values: list[object], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, plain, out = history(tmp_path / "x.parquet", **{column: values}), history(tmp_path / "y.csv"), tmp_path / "z"
    for command in (
        ["anonymize", "history", file, "--method", "pseudonyms", "--out", out.with_suffix(".csv")],
        ["measure", "history", "--original", plain, "--release", file],
        ["attack", "history", "s4", "--knowledge", plain, "--release", file, "--out", out.with_suffix(".csv")],
        ["report", "--original", file, "--release", plain, "--out", out.with_suffix(".html")],
        ["sweep", file, "--out", out],
        ["knowledge", file],
        ["data", "draw-knowledge", file, "--share", 50, "--out", out.with_suffix(".csv")],
    ):
        code, said = run(capsys, *command)
        assert (code, f"x.parquet, column {column}: found '{kind}', expected a column of" in said) == (2, True), said
        assert {path.name for path in tmp_path.iterdir()} <= {"x.parquet", "y.csv"}


def test_empty_cell_of_an_item_is_told_in_good_english(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = history(tmp_path / "x.csv", item=["", *["i"] * 23])
    _, said = run(capsys, "knowledge", file)
    assert "x.csv, line 2, column item: found '', expected an item in every row (or --columns item= where" in said
