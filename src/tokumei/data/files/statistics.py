"""Files of statistics programs: Stata, SAS and SPSS, with the labels of their codes and their codes for missing values.

| ending | program |
|---|---|
| `.dta` | Stata |
| `.sas7bdat`, `.xpt` | SAS, and its transport format |
| `.sav`, `.zsav`, `.por` | SPSS |

A column whose values all have labels is read as these; of a column of numbers in which some codes have labels, as 98
for "don't know", the codes stay. What stands for a missing value by the file's own word is missing. Both are noted.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError, MissingExtra, shown
from tokumei.core.text import Text, counted
from tokumei.data.files.csv import check_header
from tokumei.data.files.disk import UNPACK_LIMIT, check_is_file, unchanged

log = logging.getLogger("tokumei.notes")
READERS = {
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
}
# Whose missing numbers are letters, .a to .z.
BY_LETTERS = (".dta", ".sas7bdat")
# Each cell becomes an object of Python's while it is read.
CELL_LIMIT = 50_000_000
# Larger whole numbers share floats.
LARGEST_WHOLE = 2.0**53
LISTED = 3


def read_statistics(
    path: Path | str, suffix: str, *, codes: bool = False, cell_limit: int = CELL_LIMIT, byte_limit: int = UNPACK_LIMIT
) -> pl.DataFrame:
    """Read a file of Stata, SAS or SPSS; `codes` leaves codes in place of their labels."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise MissingExtra(f"Reading {suffix} files", "statistics") from None
    path = check_is_file(path)
    read = getattr(pyreadstat, READERS[suffix])
    with unchanged(path):
        try:
            _, told = read(path, metadataonly=True, output_format="dict")
            _check_size(path, told, cell_limit, byte_limit)
            declared = {} if suffix in (".xpt", ".por") else {"user_missing": True}
            columns, told = read(path, output_format="dict", row_limit=0, **declared)
        # Each fault of the format, and text that is not in the encoding that the file states.
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, MemoryError) as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError.of(Text("a whole {suffix} file ({why})", suffix=suffix, why=reason), file=path) from None
    if not columns:
        raise InputError.of("a file with a column", file=path)
    check_header(list(columns), path)
    ranges = told.missing_ranges if suffix not in BY_LETTERS else {}
    return pl.DataFrame(
        [
            _Column(path, name, told.variable_value_labels.get(name, {}), ranges.get(name, ())).read(
                values, is_text=told.readstat_variable_types.get(name) == "string", codes=codes
            )
            for name, values in columns.items()
        ]
    )


def _check_size(path: Path, told: Any, cell_limit: int, byte_limit: int) -> None:
    """Refuse a file that would not fit into memory, by what its header says of it."""
    # A format that does not say how many rows it has does not pack them, either.
    n_rows, n_columns = told.number_rows or 0, told.number_columns or 0
    if n_rows * n_columns > cell_limit:
        found = Text("{columns} and {rows}", columns=counted(n_columns, "column"), rows=counted(n_rows, "row"))
        raise InputError.of(Text("at most {n:,} cells", n=cell_limit), file=path, value=found)
    n_bytes = n_rows * sum((told.variable_storage_width or {}).values())
    if n_bytes > byte_limit:
        raise InputError.of(
            Text("at most {n:,} bytes when unpacked", n=byte_limit), file=path, value=counted(n_bytes, "byte")
        )


class _Column:
    """What a file says of a column: the labels of its codes, and which of them stand for a missing value."""

    def __init__(self, path: Path, name: str, labels: Mapping[object, str], ranges: Sequence[object]) -> None:
        self.path, self.name, self.labels, self.ranges = path, name, labels, ranges

    def read(self, values: list[object], *, is_text: bool, codes: bool) -> pl.Series:
        """Return the values of the column, by their labels where all have one."""
        empty = {value for value in set(values) if self._is_empty(value)}
        missing = {value for value in set(values) - empty if self._is_missing(value, is_text=is_text)}
        if missing:
            self._tell_missing(Counter(value for value in values if value in missing))
        gone = empty | missing
        left = [None if value in gone else value for value in values]
        used = set(left) - {None}
        if self.labels and not codes and used:
            texts = {value: self.labels[value] for value in used if value in self.labels}
            if len(texts) == len(used) and len(set(texts.values())) == len(used):
                return pl.Series(self.name, [None if value is None else texts[value] for value in left], pl.String)
            self._tell_labels(texts)
        return self._typed(left)

    def _typed(self, values: list[object]) -> pl.Series:
        try:
            made = pl.Series(self.name, values, strict=True)
        except (TypeError, pl.exceptions.PolarsError):
            made = pl.Series(self.name, [None if value is None else str(value) for value in values], pl.String)
        if made.dtype == pl.Null:
            return made.cast(pl.String)
        # These programs know floats alone.
        is_whole = made.dtype.is_float() and ((made == made.round()) & (made.abs() < LARGEST_WHOLE)).all()
        return made.cast(pl.Int64) if is_whole else made

    def _is_empty(self, value: object) -> bool:
        return value is None or value == "" or (isinstance(value, float) and math.isnan(value))

    def _is_missing(self, value: Any, *, is_text: bool) -> bool:
        if isinstance(value, str) and not is_text:
            return True
        # Texts are compared with texts, numbers with numbers.
        for one in self.ranges:
            low, high = (one["lo"], one["hi"]) if isinstance(one, Mapping) else (one, one)
            if isinstance(value, str) == isinstance(low, str) and not hasattr(value, "year") and low <= value <= high:
                return True
        return False

    def _tell_missing(self, counts: Counter[object]) -> None:
        said = [f"{self._called(value)} in {counted(n, 'row')}" for value, n in counts.most_common(LISTED)]
        more = f" and {len(counts) - LISTED:,} more" if len(counts) > LISTED else ""
        log.info("%s, %s: read as missing, as the file says: %s%s", self.path, self.name, ", ".join(said), more)

    def _tell_labels(self, texts: Mapping[object, str]) -> None:
        said = ", ".join(self._called(value) for value in sorted(texts, key=str)[:LISTED])
        if said:
            advice = "--null-values if one stands for missing"
            form = "%s, %s: codes stay, since not each has a label of its own: %s (%s)"
            log.info(form, self.path, self.name, said, advice)

    def _called(self, value: object) -> str:
        text = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{text} ({shown(self.labels[value])})" if value in self.labels else text
