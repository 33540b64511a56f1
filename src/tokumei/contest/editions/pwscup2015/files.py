"""The files of PWSCUP 2015: UTF-8 CSV, plain or gzipped.

| file | holds                                          | header | read as               |
|------|------------------------------------------------|--------|-----------------------|
| X    | microdata: a person a row                      | yes    | Table                 |
| Y    | the released rows, which may be fewer          | yes    | Table                 |
| I    | which row of X each row of Y was               | no     | series of row numbers |
| Q    | an attacker's guess of I, Y being shuffled     | no     | series of row numbers |

Quasi-identifiers are codes or words, sensitive columns are numbers; the roles are declared by name and in the order of
the header. I and Q have one row number a line, counted from 1: line i names the row of X that row i of Y came from.
Only the form is checked here; the rules are checked by the contest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from tokumei.core.errors import FaultList
from tokumei.data.files.columns import ColumnType, read_columns
from tokumei.data.files.csv import check_header, read_csv
from tokumei.data.files.row_numbers import LINE_END
from tokumei.data.files.strict import StrictFile
from tokumei.data.made.survey import AMOUNTS, QUASI_IDENTIFIERS
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
        text = read_csv(path)
        faults = FaultList(text.file)
        frame = read_columns(text, self.file.types, faults)
        faults.raise_if_any()
        return frame.select(self.columns)

    def write(self, frame: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
        """Write X or Y."""
        self.file.write(frame, path, line_end=line_end)


SURVEY = Microdata(QUASI_IDENTIFIERS, (AMOUNTS[0], "spending", *AMOUNTS[1:]))
