"""JSON lines and JSON: one object a row, read with the digits that stand in the file.

| form | as written by |
|---|---|
| `{"age": 31}` line by line | JSON lines, `to_json(orient="records", lines=True)` |
| `[{"age": 31}, …]` | `to_json(orient="records")` |
| `{"age": [31, …]}` | a mapping of columns |
| `{"age": {"0": 31, …}}` | `to_json()` of pandas |
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text, counted
from tokumei.data.files.csv import check_header
from tokumei.data.files.disk import check_is_file, read_bytes
from tokumei.data.files.text_bytes import to_utf8

# Objects take about ten times the bytes of the text they are read from.
JSON_LIMIT = 512 * 1024**2
# Of the whole rectangle of rows and columns, however few cells have a value.
CELL_LIMIT = 50_000_000
SHOWN = 60
WHOLE = re.compile(r"-?[0-9]{1,18}")
FLOAT_DIGITS = 17
FLAT = "a single value (flatten nested objects first, as by pandas.json_normalize)"
ROWS = "rows as JSON lines, an array of objects, or columns as arrays (pandas: orient='records')"


class Number(str):
    """A number as it is written."""

    __slots__ = ()


def read_json(
    path: Path | str, *, is_lines: bool, limit: int = JSON_LIMIT, cell_limit: int = CELL_LIMIT
) -> pl.DataFrame:
    """Read rows of JSON; a key that a row lacks is missing there, and nested values are refused.

    A column of numbers and text comes out as text, each number as it is written.
    """
    path = check_is_file(path)
    text = to_utf8(read_bytes(path, unpack_limit=limit), path, None).decode("utf-8", "strict")
    if len(text) > limit:
        raise InputError.of(Text("at most {n:,} characters of JSON (else Parquet or CSV)", n=limit), file=path)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError.of("a file with content, not an empty one", file=path, line=1)
    columns = _Columns(path, cell_limit)
    if is_lines or _is_lines(text):
        for line, one in enumerate(text.split("\n"), start=1):
            if one.strip():
                columns.add(_parsed(one, path, line), line)
    else:
        for row, one in enumerate(_rows_of(_parsed(text, path, 1), path), start=1):
            columns.add(one, row)
    return columns.frame()


class _Columns:
    """The cells of rows, column by column."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self.limit = path, limit
        self.cells: dict[str, list[object]] = {}
        self.n_rows = 0

    def add(self, row: object, line: int) -> None:
        """Add the cells of an object; what is no object of single values is refused."""
        if not isinstance(row, Mapping):
            raise InputError.of('an object, as {"age": 31}', file=self.path, line=line, value=_shown(row))
        n_columns = len(self.cells) + sum(name not in self.cells for name in row)
        if (self.n_rows + 1) * n_columns > self.limit:
            found = Text("{n} and {m}", n=counted(n_columns, "column"), m=counted(self.n_rows + 1, "row"))
            raise InputError.of(Text("at most {n:,} cells", n=self.limit), file=self.path, line=line, value=found)
        for name, cell in row.items():
            if isinstance(cell, (dict, list)):
                raise InputError.of(FLAT, file=self.path, line=line, column=name, value=_shown(cell))
            column = self.cells.setdefault(name, [])
            column.extend([None] * (self.n_rows - len(column)))
            column.append(cell)
        self.n_rows += 1

    def frame(self) -> pl.DataFrame:
        """Return the columns, each of one type."""
        if not self.cells:
            raise InputError.of("a row with a column", file=self.path)
        check_header(list(self.cells), self.path)
        filled = ((name, [*cells, *[None] * (self.n_rows - len(cells))]) for name, cells in self.cells.items())
        return pl.DataFrame([_typed(name, cells) for name, cells in filled])


def _typed(name: str, cells: list[Any]) -> pl.Series:
    """Return a column of truths, whole numbers or numbers where all cells are such, else of text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return pl.Series(name, cells, pl.Boolean)
    texts = pl.Series(name, [str(one).lower() if isinstance(one, bool) else one for one in cells], pl.String)
    if kinds != {Number}:
        return texts
    if all(cell is None or WHOLE.fullmatch(cell) for cell in cells):
        return texts.cast(pl.Int64)
    # Digits that no float holds, such as those of a code of twenty, stay as they are written.
    return texts.cast(pl.Float64) if all(map(_is_float, texts.drop_nulls().unique())) else texts


def _is_float(written: str) -> bool:
    """Whether a float has all digits of a number."""
    number = Decimal(written)
    n_digits = max(1, len("".join(map(str, number.as_tuple().digits)).strip("0")))
    return n_digits <= FLOAT_DIGITS and Context(prec=n_digits).create_decimal(float(written)) == number


def _is_lines(text: str) -> bool:
    """Whether each line is an object by itself, of which there are several."""
    first, _, rest = text.lstrip().partition("\n")
    return first.startswith("{") and first.rstrip().endswith("}") and rest.lstrip().startswith("{")


def _rows_of(found: Any, path: Path) -> Iterator[Any]:
    if isinstance(found, list):
        yield from found
        return
    columns = list(found.values()) if isinstance(found, dict) else []
    if columns and all(isinstance(one, list) for one in columns) and len({len(one) for one in columns}) == 1:
        yield from (dict(zip(found, cells, strict=True)) for cells in zip(*columns, strict=True))
    elif columns and all(isinstance(one, dict) and list(one) == list(columns[0]) for one in columns):
        yield from ({name: one[key] for name, one in found.items()} for key in columns[0])
    elif columns and not any(isinstance(one, (dict, list)) for one in columns):
        yield found
    else:
        raise InputError.of(ROWS, file=path, value=_shown(found))


def _parsed(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=lambda name: _refuse(InputError.of("a number or null", file=path, line=line, value=name)),
            object_pairs_hook=lambda pairs: _object(pairs, path, line),
        )
    except json.JSONDecodeError as error:
        found = error.doc[error.pos : error.pos + SHOWN].partition("\n")[0]
        at = line + error.lineno - 1
        raise InputError.of(Text("JSON ({why})", why=error.msg), file=path, line=at, value=found) from None
    except RecursionError:
        raise InputError.of(FLAT, file=path, line=line, value=text[:SHOWN]) from None


def _object(pairs: list[tuple[str, object]], path: Path, line: int) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError.of("each name once in an object", file=path, line=line, column=twice)
    return made


def _refuse(error: InputError) -> None:
    raise error


def _shown(value: object) -> str:
    # A part of it, since all of it may be the whole file.
    return str(value)[:SHOWN] if not isinstance(value, (dict, list)) else f"{type(value).__name__} of {len(value):,}"
