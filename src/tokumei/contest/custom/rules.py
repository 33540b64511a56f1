"""The files of a contest of one's own, its rules, and the checks that hold releases against them.

Files are CSV with a header, UTF-8, cells separated by commas.

| file   | holds                                                                                   |
|--------|-----------------------------------------------------------------------------------------|
| T      | the original: a history's columns by name, or the columns of a table that have a role     |
| A      | the release, row by row as T; a deleted row is DEL in its first cell and nothing else     |
| S      | what is published of it: the rows that are kept, shuffled                               |
| F, Fh  | truth and guess. History: a line a customer, a column a month. Table: a row number a line |
| T25, … | what attackers know of T, by how many per cent of the rows                              |

The rules are made from the settings. What contests with tables and those with purchases do each in their own way is
a `Strategy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol

import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.attribution import SOURCES, check_sources
from tokumei.contest.custom.kinds import ROW
from tokumei.contest.custom.settings import Settings
from tokumei.contest.edition import GuessScore, Measure, Rule
from tokumei.core.errors import Fault, FaultList, InputError
from tokumei.core.score import Score
from tokumei.core.text import counted
from tokumei.data.files.csv import TextFrame, read_csv, write_csv
from tokumei.data.files.strict import DELETED, ColumnType, misfits, read_columns
from tokumei.data.files.strict import ROW as ROW_NUMBER

FORM = "file-form"
# Beyond any price or amount, and small enough that sums and squares stay numbers.
LARGEST_NUMBER = 1e12


def bounded(kind: ColumnType, expected: str, least: float, most: float) -> ColumnType:
    """Return a type of numbers within bounds; any other number reads as nothing, which is a fault."""

    def read(cell: pl.Expr) -> pl.Expr:
        number = kind.read(cell)
        return pl.when(number.is_between(least, most)).then(number)

    return replace(kind, expected=expected, read=read)


NAME = ColumnType("a text of 1 to 60 characters", r"^[^\p{C}]{1,60}$", lambda cell: cell)


def read_original(path: Path, types_of: Callable[[list[str]], Mapping[str, ColumnType]]) -> pl.DataFrame:
    """Read T with the types of its columns."""
    text = read_csv(path, delimiter=",", mixes_line_ends=False)
    types = types_of(text.frame.columns)
    faults = FaultList(text.file)
    frame = read_columns(text, types, faults).select(list(types))
    faults.raise_if_any()
    return frame


def read_form(path: Path, columns: list[str], *, more: str | None = None) -> TextFrame:
    """Read a submitted file as text; what is wrong with its form, its header included, is told under that rule.

    more: the name of a last column that may be there.
    """
    try:
        text = read_csv(path, delimiter=",", mixes_line_ends=False)
    except InputError as error:
        raise error.under(FORM) from None
    if text.frame.columns not in (columns, [*columns, more]):
        found = ",".join(text.frame.columns)
        fault = Fault("the header {header}", str(path), 1, None, found, FORM, {"header": ",".join(columns)})
        raise InputError(fault)
    return text


def deleted_rows(text: TextFrame) -> pl.Series:
    """Mark the rows that are deleted: DEL or nothing in the first cell, and nothing in all others."""
    first, *others = text.frame.columns
    is_empty = pl.all_horizontal(pl.col(others).is_null()) if others else pl.lit(value=True)
    is_gone = pl.col(first).is_null() | (pl.col(first) == DELETED)
    return text.frame.select((is_gone & is_empty).alias("is_deleted")).to_series()


def read_release(path: Path, types: Mapping[str, ColumnType], *, more: str | None = None) -> pl.DataFrame:
    """Read a release that passed the check, or S; deleted rows are missing in every column.

    more: the name of a last column of row numbers that may be there.
    """
    text = read_form(path, list(types), more=more)
    types = _with_more(types, text, more)
    faults = FaultList(text.file)
    frame = read_columns(text, types, faults, skipped=deleted_rows(text))
    faults.raise_if_any()
    return frame


def _with_more(types: Mapping[str, ColumnType], text: TextFrame, more: str | None) -> Mapping[str, ColumnType]:
    return {**types, more: ROW_NUMBER} if more in text.frame.columns and more is not None else types


def read_known(path: Path, types: Mapping[str, ColumnType]) -> pl.DataFrame:
    """Read what attackers know: some rows of T, each with its number."""
    text = read_form(path, [ROW, *types])
    faults = FaultList(text.file)
    frame = read_columns(text, {ROW: ROW_NUMBER, **types}, faults)
    faults.raise_if_any()
    return frame


def kept_mask(released: pl.DataFrame) -> pl.Series:
    """Mark the rows that are not deleted."""
    return released.select(pl.any_horizontal(pl.all().is_not_null())).to_series()


def kept_rows(released: pl.DataFrame) -> pl.Series:
    """Return the rows that are not deleted, counted from 0."""
    return kept_mask(released).arg_true().cast(pl.Int64).alias(ROW)


def write_form(frame: pl.DataFrame, path: Path, *, is_deleted: pl.Series | None = None) -> None:
    """Write a file of the contest; the rows marked as deleted get DEL in their first cell."""
    written = frame.select(
        pl.col(name).dt.to_string("%H:%M:%S") if kind == pl.Time else pl.col(name).cast(pl.String)
        for name, kind in frame.schema.items()
    )
    if is_deleted is not None:
        first = pl.col(frame.columns[0])
        written = written.with_columns(pl.when(~is_deleted).then(pl.all()))
        written = written.with_columns(
            pl.when(is_deleted).then(pl.lit(DELETED)).otherwise(first).alias(first.meta.output_name())
        )
    write_csv(written, path)


Play = Callable[[Settings, pl.DataFrame, int], pl.DataFrame]


class Strategy(Protocol):
    """One kind of data. A guess, as the truth, is a frame: cells of pseudonyms, or rows of T counted from 1."""

    what: ClassVar[str]
    what_ja: ClassVar[str]
    guess_measures: ClassVar[Sequence[Measure]]
    """What is told of a guess."""

    def make_frame(self, settings: Settings, source: Path | None, seed: int) -> pl.DataFrame:
        """Make the original from a source, or make one up."""

    def original_types(self, settings: Settings, columns: Sequence[str]) -> dict[str, ColumnType]:
        """Return the types of the original's columns."""

    def release_types(self, settings: Settings, original: pl.DataFrame) -> dict[str, ColumnType]:
        """Return the types of the release's columns."""

    def needed_columns(self, settings: Settings, original: pl.DataFrame) -> Sequence[str]:
        """Name the columns of the original in which no cell may be empty."""

    def release_rules(self, settings: Settings) -> Sequence[Rule]:
        """Return the rules of a release that only this kind of data has."""

    def check_cells(self, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Hold the cells of a release against those rules that look at no row of T."""

    def check_rows(self, settings: Settings, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Hold a release against the same rows of T."""

    def guess_rules(self) -> tuple[Rule, ...]:
        """Return the rules of a guess."""

    def check_guess(self, original: pl.DataFrame, published: pl.DataFrame, path: Path) -> None:
        """Raise one InputError with every fault of a guess."""

    def known_frame(self, settings: Settings, original: pl.DataFrame) -> pl.DataFrame:
        """Return what attackers may know of each row."""

    def measure(self, settings: Settings, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Score]:
        """Measure every metric of the contest."""

    def truth(self, original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
        """Return the truth of a release whose rows are published in a given order."""

    def guess(
        self, settings: Settings, attack: object, known: pl.DataFrame, published: pl.DataFrame, seed: int
    ) -> pl.DataFrame:
        """Run an attack."""

    def judge(
        self,
        settings: Settings,
        guesses: pl.DataFrame,
        true: pl.DataFrame,
        original: pl.DataFrame,
        published: pl.DataFrame,
    ) -> GuessScore:
        """Hold a guess against the truth."""

    def write_guess(self, guesses: pl.DataFrame, original: pl.DataFrame, path: Path) -> None:
        """Write a guess, or the truth."""

    def read_guess(self, original: pl.DataFrame, path: Path) -> pl.DataFrame:
        """Read what `write_guess` wrote."""

    def anonymizers(self) -> Mapping[str, Play]:
        """Return the built-in anonymizers by name, simplest first; a deleted row is missing in every column."""


FILE_RULE = Rule(
    FORM,
    "The file is UTF-8 text with the header of T: cells separated by commas, as many in every line. It may be gzipped.",
    "ファイルは UTF-8 の CSV とし、T と同じヘッダーを付け、全行のセル数を揃える。gzip 圧縮も可。",
)
SAME_ROWS = Rule(
    "same-rows",
    f"The release has the rows of T in their order; a deleted row is {DELETED} in its first cell, or nothing, and "
    "nothing in all others.",
    "加工データの行数と行の順序は T と同じとする。"
    f"削除した行は先頭セルを {DELETED} または空とし、残りのセルを空にする。",
)
CELL_FORM = Rule("cell-form", "Every cell has the form of its column.", "各セルは列ごとの形式に従う。")


def release_rules(settings: Settings, strategy: Strategy) -> tuple[Rule, ...]:
    """Return the rules that the settings ask for."""
    checks = settings.checks
    rules = [
        FILE_RULE,
        SAME_ROWS,
        CELL_FORM,
        Rule(
            "least-kept",
            f"At least {checks.least_kept:.0%} of the rows are kept, and at least one.",
            f"少なくとも{checks.least_kept:.0%}の行（最低1行）を残す。",
        ),
    ]
    if checks.values_of_original:
        columns = ", ".join(checks.values_of_original)
        rules.append(
            Rule(
                "values-of-original",
                f"Values of these columns occur in the same column of T: {columns}.",
                f"次の列の値は T の同じ列に現れるものに限る：{columns}。",
            )
        )
    if checks.unchanged:
        columns = ", ".join(checks.unchanged)
        rules.append(
            Rule("unchanged", f"These columns stay as in T: {columns}.", f"次の列は T のままとする：{columns}。")
        )
    return (*rules, *strategy.release_rules(settings), *([SOURCES] if settings.attribution else []))


def check_release(settings: Settings, strategy: Strategy, original: pl.DataFrame, path: Path) -> None:
    """Raise one InputError with every fault of A."""
    more = ROW if settings.attribution else None
    text = read_form(path, original.columns, more=more)
    faults = RowFaults(text)
    # What stands behind DEL is refused, and to all other rules the row is deleted.
    is_deleted = deleted_rows(text) | faults.check_deleted(SAME_ROWS.name)
    types = _with_more(strategy.release_types(settings, original), text, more)
    cells = _read_cells(types, faults, is_deleted)
    n_least = max(1, math.ceil(settings.checks.least_kept * original.height - 1e-9))
    n_kept = text.frame.height - int(is_deleted.sum())
    if n_kept < n_least:
        known = {"n_least": n_least, "n_rows": original.height}
        faults.add(
            "least-kept", "at least {n_least:,} of {n_rows:,} rows kept", value=counted(n_kept, "row"), parameters=known
        )
    for name in settings.checks.values_of_original:
        if name in cells.columns:
            expected = "a value that T has in this column"
            faults.check_known("values-of-original", cells[name], original[name], expected, may_be_empty=True)
    strategy.check_cells(original, cells, faults)
    if text.frame.height != original.height:
        faults.check_n_rows(original.height)
    else:
        unchanged = {name: types[name] for name in settings.checks.unchanged if name in types}
        _check_unchanged(unchanged, original, cells, is_deleted, faults)
        strategy.check_rows(settings, original, cells, faults)
        if ROW in types:
            check_sources(original, cells, faults)
    faults.raise_if_any()


def _read_cells(types: Mapping[str, ColumnType], faults: RowFaults, is_deleted: pl.Series) -> pl.DataFrame:
    """Read all cells; one that does not fit is a fault and comes out missing."""
    text = faults.text.frame
    read = text.select(kind.read(pl.col(name)).alias(name) for name, kind in types.items())
    bad = misfits(text, types, read, skipped=is_deleted)
    for is_bad in bad:
        faults.add_cells(CELL_FORM.name, is_bad.name, is_bad, types[is_bad.name].expected)
    return read.select(
        pl.when(~pl.lit(bad[name]) & ~pl.lit(is_deleted)).then(pl.col(name)).alias(name) for name in types
    )


def _check_unchanged(
    types: Mapping[str, ColumnType],
    original: pl.DataFrame,
    cells: pl.DataFrame,
    is_deleted: pl.Series,
    faults: RowFaults,
) -> None:
    """Refuse a cell that differs from the same one of T, in columns that must stay as they are."""
    for name, kind in types.items():
        # A cell that could not be read, or is missing and may not be, is told already.
        is_readable = cells[name].is_not_null()
        if kind.is_optional:
            is_readable |= faults.text.frame[name].is_null()
        is_changed = cells[name].ne_missing(original[name]) & is_readable & ~is_deleted
        faults.add_cells("unchanged", name, is_changed, "{truth} as in T", _values_of(original[name]))


def _values_of(truth: pl.Series) -> Callable[[int], Mapping[str, str]]:
    return lambda row: {"truth": str(truth[row])}


def check_original(needed: Sequence[str], frame: pl.DataFrame, file: str) -> None:
    """Refuse data in which a contest cannot be held: no rows, or rows without a value that every row needs."""
    faults = FaultList(file)
    if not frame.height:
        raise InputError.of("at least one row", file=file)
    for name in needed:
        missing = frame[name].is_null().arg_true()
        if len(missing):
            faults.add("no empty cells in this column", line=int(missing[0]) + 2, column=name, value="")
            faults.count_more(len(missing) - 1)
    faults.raise_if_any()
