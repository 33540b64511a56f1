"""The rules of a contest of one's own, made from its settings, and the checks that hold releases against them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.forms import FORM, deleted_rows, faults_of, read_form
from tokumei.contest.custom.settings import Settings
from tokumei.contest.custom.strategy import Strategy
from tokumei.contest.edition import Rule
from tokumei.core.errors import FaultList, InputError
from tokumei.core.wording import counted
from tokumei.data.files.columns import ColumnType, does_not_fit
from tokumei.data.files.strict import DELETED

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
    return (*rules, *strategy.release_rules(settings))


def check_release(settings: Settings, strategy: Strategy, original: pl.DataFrame, path: Path) -> None:
    """Raise one InputError with every fault of A."""
    text = read_form(path, original.columns)
    faults = faults_of(text)
    is_deleted = deleted_rows(text) | _marked_rows(faults)
    types = strategy.release_types(settings, original)
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
            is_unknown = ~cells[name].is_in(original[name].unique().implode()).fill_null(True)
            faults.add_cells("values-of-original", name, is_unknown, "a value that T has in this column")
    strategy.check_cells(original, cells, faults)
    if text.frame.height != original.height:
        faults.check_n_rows(original.height)
    else:
        unchanged = {name: types[name] for name in settings.checks.unchanged if name in types}
        _check_unchanged(unchanged, original, cells, is_deleted, faults)
        strategy.check_rows(settings, original, cells, faults)
    faults.raise_if_any()


def _marked_rows(faults: RowFaults) -> pl.Series:
    """Mark the rows with DEL and refuse what stands behind it; to all other rules they are deleted."""
    frame = faults.text.frame
    first, *others = frame.columns
    is_marked = (frame[first] == DELETED).fill_null(False)
    for name in others:
        is_left = is_marked & frame[name].is_not_null()
        faults.add_cells(SAME_ROWS.name, name, is_left, f"an empty cell after {DELETED}")
    return is_marked


def _read_cells(types: Mapping[str, ColumnType], faults: RowFaults, is_deleted: pl.Series) -> pl.DataFrame:
    """Read all cells; one that does not fit is a fault and comes out missing."""
    text, columns = faults.text.frame, []
    for name, kind in types.items():
        read = text.select(kind.read(pl.col(name))).to_series()
        is_bad = does_not_fit(text[name], kind, read) & ~is_deleted
        faults.add_cells(CELL_FORM.name, name, is_bad, kind.expected)
        columns.append(pl.select(pl.when(~is_bad & ~is_deleted).then(read).alias(name)).to_series())
    return pl.DataFrame(columns)


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
