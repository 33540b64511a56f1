"""The files of PWSCUP 2015, its rules, and the checks that hold submissions against them.

Files are UTF-8 CSV, plain or gzipped.

| file | holds                                          | header | read as               |
|------|------------------------------------------------|--------|-----------------------|
| X    | microdata: a person a row                      | yes    | Table                 |
| Y    | the released rows, which may be fewer          | yes    | Table                 |
| I    | which row of X each row of Y was               | no     | series of row numbers |
| Q    | an attacker's guess of I, Y being shuffled     | no     | series of row numbers |

Quasi-identifiers are codes or words, sensitive columns are numbers; the roles are declared by name and in the order of
the header. I and Q have one row number a line, counted from 1: line i names the row of X that row i of Y came from.

Whether the row numbers are true is no rule, since noise may leave a row nearer to another one than to its own; what
speaks against them is told by the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import polars as pl

from tokumei.contest.checks import ALIKE, ALIKE_JA, RowFaults, Together, read_submitted_rows
from tokumei.contest.edition import Files, Rule
from tokumei.core.errors import FaultList, InputError
from tokumei.core.text import counted
from tokumei.data.files.csv import TextFrame, check_header, read_csv
from tokumei.data.files.strict import ROW, ROWS, ROWS_LINE_END, ColumnType, StrictFile, read_columns, take_header
from tokumei.data.made_survey import AMOUNTS, QUASI_IDENTIFIERS
from tokumei.data.table import Table

# A value may not start like a formula, since people open such files in spreadsheets.
CODE = ColumnType(
    "a word of 1 to 40 characters, the first a letter, a digit, < or >, without commas and quotes",
    r"^[\p{L}\p{N}<>][\p{L}\p{N} ._+/<>=()'’&-]{0,39}$",
    lambda cell: cell,
    takes_names=True,
)
AMOUNT = ColumnType(
    "a number of at most 9 digits and 2 decimals",
    r"^-?[0-9]{1,9}(\.[0-9]{1,2})?$",
    # Adding 0 makes of −0 the 0 that it is.
    lambda cell: cell.cast(pl.Float64, strict=False) + 0.0,
)


@dataclass(frozen=True)
class Microdata:
    """The form of X and Y: which columns they have, in this order, and their roles."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]

    def __post_init__(self) -> None:
        check_header(self.columns, "the declared columns")

    @property
    def columns(self) -> list[str]:
        """The columns in the order of the header."""
        return [*self.quasi_identifiers, *self.sensitive]

    @cached_property
    def file(self) -> StrictFile:
        """The columns with their types."""
        kinds = [*[CODE] * len(self.quasi_identifiers), *[AMOUNT] * len(self.sensitive)]
        return StrictFile(dict(zip(self.columns, kinds, strict=True)), has_header=True)

    def table(self, frame: pl.DataFrame, name: str) -> Table:
        """Assign the roles of these columns to a frame."""
        return Table.with_quasi_identifiers(frame, self.quasi_identifiers, sensitive=self.sensitive, name=name)

    def read(self, path: Path | str, name: str) -> Table:
        """Read X or Y."""
        return self.table(self.file.read(path), name)

    def read_source(self, path: Path | str) -> pl.DataFrame:
        """Read these columns of any CSV file with a header; others are left out."""
        text = read_csv(path, mixes_line_ends=False)
        faults = FaultList(text.file)
        frame = read_columns(text, self.file.types, faults)
        faults.raise_if_any()
        return frame.select(self.columns)

    def write(self, frame: pl.DataFrame, path: Path | str, *, line_end: str = ROWS_LINE_END) -> None:
        """Write X or Y."""
        self.file.write(frame, path, line_end=line_end)


SURVEY = Microdata(QUASI_IDENTIFIERS, (AMOUNTS[0], "spending", *AMOUNTS[1:]))


Read = TypeVar("Read")

FILE_FORM = Rule(
    "file-form",
    "The files are UTF-8 text without byte order mark: cells without quotes, separated by commas, as many in every "
    f"line. {ALIKE}; the last line end may be missing. Only Y has a header. They may be gzipped.",
    "ファイルは BOM なしの UTF-8 の CSV とし、全行のセル数を揃え、セルを引用符で囲まない。"
    f"{ALIKE_JA}、最終行の改行は省略できる。ヘッダーは Y だけに付ける。gzip 圧縮も可。",
)
ONE_NUMBER_EACH = Rule(
    "one-number-each",
    "There is one row number for each row of Y, in the order of Y.",
    "行番号は Y の各行に1つずつ、Y と同じ順序で書く。",
)
ROW_OF_X = Rule(
    "row-of-x", "A row number is that of a row of X, counted from 1.", "行番号は X の行番号（1から数える）とする。"
)
RELEASE_RULES = (
    FILE_FORM,
    Rule("columns", "Y has the columns of X in their order.", "Y の列とその順序は X と同じとする。"),
    Rule(
        "rows-added",
        "Y has at most as many rows as X: nobody is made up.",
        "Y の行数は X の行数以下とし、架空の行を追加しない。",
    ),
    Rule(
        "half-kept",
        "Y has at least half as many rows as X, rounded up.",
        "Y には X の半数（端数切り上げ）以上の行を残す。",
    ),
    Rule(
        "code-form",
        "A quasi-identifier is written as in X and never empty.",
        "準識別子は X と同じ表記とし、空にしない。",
    ),
    Rule(
        "code-of-x",
        "A quasi-identifier has a value that occurs in the same column of X.",
        "準識別子の値は X の同じ列に現れるものに限る。",
    ),
    Rule(
        "amount-form",
        "A sensitive value is a number with at most 9 digits before and 2 after the point.",
        "センシティブ属性は整数部9桁以内、小数部2桁以内の数とする。",
    ),
    ONE_NUMBER_EACH,
    ROW_OF_X,
    Rule("each-row-once", "No row of X has two rows in Y.", "X の1つの行を Y の複数の行に対応させない。"),
)
GUESS_RULES = (FILE_FORM, ONE_NUMBER_EACH, ROW_OF_X)


def fewest_rows(n_rows: int) -> int:
    """Return how many rows a release of this size must keep."""
    return (n_rows + 1) // 2


def check_release(original: Table, form: Microdata, release: Files) -> None:
    """Raise one InputError with every fault of Y and I."""
    faults = Together()
    released = faults.try_to(lambda: _read_table(form, release["Y"]))
    numbers = faults.try_to(lambda: read_submitted_rows(ROWS, release["I"]))
    if released is not None:
        faults.try_to(lambda: _check_table(original, form, released))
    if numbers is not None:
        n_released = None if released is None else released.frame.height
        faults.try_to(lambda: _check_numbers(numbers, original.n_rows, n_released, is_once=True))
    faults.raise_if_any()


def check_guess(n_rows: int, n_published: int, path: Path) -> None:
    """Raise one InputError with every fault of Q, in which one row may stand for several."""
    _check_numbers(read_submitted_rows(ROWS, path), n_rows, n_published, is_once=False)


def _read_table(form: Microdata, path: Path) -> TextFrame:
    """Read the cells of Y as text, the header being that of X."""
    text = _under(FILE_FORM.name, lambda: read_csv(path, delimiter=",", columns=form.columns, mixes_line_ends=False))
    return _under("columns", lambda: take_header(text))


def _under(rule: str, read: Callable[[], Read]) -> Read:
    """Do it; what fails is told as a fault of the rule."""
    try:
        return read()
    except InputError as error:
        raise error.under(rule) from None


def _check_table(original: Table, form: Microdata, text: TextFrame) -> None:
    """Refuse what Y must not hold."""
    faults = RowFaults(text)
    n_found, n_rows = text.frame.height, original.n_rows
    if n_found > n_rows:
        found = counted(n_found, "row")
        faults.add(
            "rows-added", "at most {n_rows:,} rows, as X has", row=n_rows, value=found, parameters={"n_rows": n_rows}
        )
    if n_found < fewest_rows(n_rows):
        expected = "at least {n_least:,} rows, half of those of X"
        faults.add("half-kept", expected, value=counted(n_found, "row"), parameters={"n_least": fewest_rows(n_rows)})
    codes = dict.fromkeys(form.quasi_identifiers, ("code-form", CODE))
    amounts = dict.fromkeys(form.sensitive, ("amount-form", AMOUNT))
    read = faults.read({**codes, **amounts})
    for column in form.quasi_identifiers:
        expected, named = "a value of {column_name} in X", {"column_name": column}
        faults.check_known("code-of-x", read[column], original.frame[column], expected, named, may_be_empty=True)
    faults.raise_if_any()


def _check_numbers(text: TextFrame, n_rows: int, n_released: int | None, *, is_once: bool) -> None:
    """Refuse row numbers that are none, too many or too few, and repeated ones where each may stand once."""
    faults = RowFaults(text)
    if n_released is not None:
        faults.check_n_rows(n_released, ONE_NUMBER_EACH.name, "{n_rows:,} row numbers, one for each row of Y", "line")
    expected = "a row number from 1 to {n_rows:,}"
    numbers = faults.read_row_numbers(ROW_OF_X.name, "row", ROW, n_rows, expected)
    if is_once:
        is_repeated = ~numbers.is_first_distinct() & numbers.is_not_null()
        faults.add_cells("each-row-once", "row", is_repeated, "a row of X that no earlier line names")
    faults.raise_if_any()
